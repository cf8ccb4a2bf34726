//! Landlock and seccomp.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::thread;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreated, RulesetError, Scope};
use nix::sys::prctl;
use nix::sys::resource::Resource;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use super::{Confinement, limit, syscalls};

/// Two seccomp programs, in the order in which they are installed.
pub(super) type Filters = [BpfProgram; 2];

pub(super) fn build() -> Result<Filters, String> {
    // Prevents other processes of the same user from reading the memory of this one.
    prctl::set_dumpable(false).map_err(|error| format!("dumpable: {error}"))?;
    // Memory use is measured in page faults, so pages must be small. If this fails, only an error message is less
    // precise.
    let _ = prctl::set_thp_disable(true);
    prctl::set_no_new_privs().map_err(|error| format!("no_new_privs: {error}"))?;
    filters()
}

pub(super) fn close(filters: &Filters) -> Result<(), String> {
    // Landlock is a second layer: where the kernel lacks it, seccomp is the only one.
    let _ = ruleset().and_then(RulesetCreated::restrict_self);
    // Not earlier, because Landlock needs a descriptor.
    limit(Resource::RLIMIT_NOFILE, 3, 3)?;
    for filter in filters {
        apply_filter(&syscalls::of_this_process(filter)).map_err(|error| format!("seccomp: {error}"))?;
    }
    Ok(())
}

/// A ruleset that handles every access right and allows none.
fn ruleset() -> Result<RulesetCreated, RulesetError> {
    const ABI: ABI = ABI::V7;
    Ruleset::default()
        .handle_access(AccessFs::from_all(ABI))?
        .handle_access(AccessNet::from_all(ABI))?
        .scope(Scope::from_all(ABI))?
        .create()
}

/// Builds two filters, of which the stricter result applies: the first makes some calls fail, so that libraries do
/// without them; the second kills the process for every other call that is not allowed.
fn filters() -> Result<Filters, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let arch = std::env::consts::ARCH.try_into().map_err(|error| wrong(&error))?;
    let refused = syscalls::refused().map_err(|error| wrong(&error))?;
    let mut allowed = syscalls::allowed().map_err(|error| wrong(&error))?;
    allowed.extend(refused.clone());
    let soft = compile(refused, SeccompAction::Allow, SeccompAction::Errno(syscalls::EPERM), arch);
    let hard = compile(allowed, SeccompAction::KillProcess, SeccompAction::Allow, arch);
    Ok([soft.map_err(|error| wrong(&error))?, hard.map_err(|error| wrong(&error))?])
}

fn compile(
    rules: syscalls::Rules,
    otherwise: SeccompAction,
    listed: SeccompAction,
    arch: seccompiler::TargetArch,
) -> Result<BpfProgram, seccompiler::BackendError> {
    SeccompFilter::new(rules, otherwise, listed, arch)?.try_into()
}

pub(super) fn offered() -> Confinement {
    // Filters apply to the thread that installs them, and this one ends immediately.
    let tried =
        thread::Builder::new().name("seccomp".to_owned()).spawn(try_seccomp).map(thread::JoinHandle::join);
    if !matches!(tried, Ok(Ok(true))) {
        return Confinement::Refused;
    }
    match ruleset().map(Option::<OwnedFd>::from) {
        Ok(Some(_)) => Confinement::Full,
        _ => Confinement::WithoutLandlock,
    }
}

/// Installs a harmless filter and returns true if the kernel accepts it.
fn try_seccomp() -> bool {
    let harmless = || {
        let arch = std::env::consts::ARCH.try_into().ok()?;
        let rules = BTreeMap::from([(syscalls::HARMLESS, Vec::new())]);
        compile(rules, SeccompAction::Allow, SeccompAction::Errno(syscalls::EPERM), arch).ok()
    };
    prctl::set_no_new_privs().is_ok() && harmless().is_some_and(|filter| apply_filter(&filter).is_ok())
}
