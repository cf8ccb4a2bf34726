//! System calls of the engine and the allocator, found by tracing them.

use std::collections::BTreeMap;

use libc::{
    SYS_brk, SYS_clock_gettime, SYS_exit, SYS_exit_group, SYS_faccessat, SYS_faccessat2, SYS_fstat,
    SYS_futex, SYS_getcwd, SYS_getpid, SYS_getrandom, SYS_getrusage, SYS_gettid, SYS_gettimeofday, SYS_ioctl,
    SYS_madvise, SYS_mmap, SYS_mprotect, SYS_mremap, SYS_munmap, SYS_newfstatat, SYS_openat, SYS_ppoll,
    SYS_prctl, SYS_prlimit64, SYS_read, SYS_readlinkat, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_sched_getaffinity, SYS_sched_yield, SYS_sigaltstack, SYS_statx, SYS_sysinfo,
    SYS_tgkill, SYS_tkill, SYS_uname, SYS_write,
};
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::{BackendError, BpfProgram, SeccompCmpOp, SeccompCondition, SeccompRule, sock_filter};

pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub(super) const EPERM: u32 = libc::EPERM.unsigned_abs();

/// A system call that an ending thread does not need.
pub(super) const HARMLESS: i64 = libc::SYS_acct;

const ALLOWED: [i64; 17] = [
    SYS_brk,
    SYS_clock_gettime,
    SYS_exit,
    SYS_exit_group,
    SYS_futex,
    SYS_getpid,
    SYS_getrandom,
    SYS_getrusage,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_madvise,
    SYS_mremap,
    SYS_munmap,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
];

/// Calls that fail with EPERM: the C library tries them and does without, for example to read the time zone file.
const REFUSED: [i64; 15] = [
    SYS_faccessat,
    SYS_faccessat2,
    SYS_fstat,
    SYS_getcwd,
    SYS_ioctl,
    SYS_newfstatat,
    SYS_openat,
    SYS_ppoll,
    SYS_prlimit64,
    SYS_readlinkat,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_statx,
    SYS_sysinfo,
    SYS_uname,
];

/// The same calls in their older form, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const REFUSED_BEFORE: [i64; 6] =
    [libc::SYS_access, libc::SYS_lstat, libc::SYS_open, libc::SYS_poll, libc::SYS_readlink, libc::SYS_stat];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_BEFORE: [i64; 0] = [];

/// Placeholder for the process id in a filter that is compiled before the fork. It is above every process id and
/// every other number in a filter.
const OWN: u32 = 0x7fff_fffe;

/// Replaces the placeholder with the id of this process.
pub(super) fn of_this_process(filter: &BpfProgram) -> BpfProgram {
    let own = std::process::id();
    let filled = |k| if k == OWN { own } else { k };
    filter.iter().map(|instruction| sock_filter { k: filled(instruction.k), ..instruction.clone() }).collect()
}

pub(super) fn allowed() -> Result<Rules, BackendError> {
    let mut rules: Rules = ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(SYS_read, vec![first_is(0)?]);
    rules.insert(SYS_write, vec![first_is(1)?, first_is(2)?]);
    rules.insert(SYS_mprotect, vec![SeccompRule::new(vec![not_executable()?])?]);
    rules.insert(SYS_mmap, vec![SeccompRule::new(vec![not_executable()?, private_memory()?])?]);
    // A process that aborts sends itself a signal.
    rules.insert(SYS_tgkill, vec![first_is(u64::from(OWN))?]);
    rules.insert(SYS_tkill, vec![first_is(u64::from(OWN))?]);
    Ok(rules)
}

pub(super) fn refused() -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.into_iter().chain(REFUSED_BEFORE).map(|call| (call, Vec::new())).collect();
    // Allocators try to name their mappings.
    rules.insert(SYS_prctl, vec![first_is(u64::from(libc::PR_SET_VMA.unsigned_abs()))?]);
    Ok(rules)
}

fn first_is(value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(0, Dword, SeccompCmpOp::Eq, value)?])
}

fn not_executable() -> Result<SeccompCondition, BackendError> {
    let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
    SeccompCondition::new(2, Qword, SeccompCmpOp::MaskedEq(executable), 0)
}

/// Matches private anonymous mappings: neither a file nor shared memory.
fn private_memory() -> Result<SeccompCondition, BackendError> {
    let wanted = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS).unsigned_abs();
    let ignored = libc::MAP_NORESERVE.unsigned_abs();
    SeccompCondition::new(3, Dword, SeccompCmpOp::MaskedEq(u64::from(!ignored)), u64::from(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_process_is_filled_in() {
        let arch = std::env::consts::ARCH.try_into().expect("it is known");
        let allow = seccompiler::SeccompAction::Allow;
        let kill = seccompiler::SeccompAction::KillProcess;
        let rules = allowed().expect("they are rules");
        let filter = seccompiler::SeccompFilter::new(rules, kill, allow, arch).expect("a filter");
        let filter: BpfProgram = filter.try_into().expect("it can be compiled");
        let with = |filter: &BpfProgram, number| filter.iter().filter(|one| one.k == number).count();
        assert_eq!(with(&filter, OWN), 2, "tgkill and tkill");
        let filled = of_this_process(&filter);
        assert_eq!((with(&filled, OWN), with(&filled, std::process::id())), (0, 2));
    }
}
