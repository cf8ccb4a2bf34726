//! Landlock and seccomp.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::thread;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreated, RulesetError, Scope};
use nix::sys::prctl;
use nix::sys::resource::Resource;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use super::{Confinement, limit, syscalls};

/// Programs for the kernel, in the order in which they are handed over.
pub(super) type Filters = [BpfProgram; 2];

pub(super) fn build() -> Result<Filters, String> {
    // No other process of the same user reads the memory of this one.
    prctl::set_dumpable(false).map_err(|error| format!("dumpable: {error}"))?;
    // Pages are counted one by one. Where they cannot be kept small, only a message is less exact.
    let _ = prctl::set_thp_disable(true);
    prctl::set_no_new_privs().map_err(|error| format!("no_new_privs: {error}"))?;
    filters()
}

pub(super) fn close(filters: &Filters) -> Result<(), String> {
    // A second wall: where the kernel lacks it, seccomp stands alone.
    let _ = ruleset().and_then(RulesetCreated::restrict_self);
    // Landlock needed a descriptor.
    limit(Resource::RLIMIT_NOFILE, 3, 3)?;
    for filter in filters {
        apply_filter(&syscalls::of_this_process(filter)).map_err(|error| format!("seccomp: {error}"))?;
    }
    Ok(())
}

/// Handles everything and allows nothing.
fn ruleset() -> Result<RulesetCreated, RulesetError> {
    const ABI: ABI = ABI::V7;
    Ruleset::default()
        .handle_access(AccessFs::from_all(ABI))?
        .handle_access(AccessNet::from_all(ABI))?
        .scope(Scope::from_all(ABI))?
        .create()
}

/// Two filters, of which the stricter verdict holds: some calls fail, so that libraries go on without them; whatever is not
/// allowed kills.
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
    // Filters hold for the thread that sets them, and this one ends at once.
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

/// Sets a filter that allows everything.
fn try_seccomp() -> bool {
    let harmless = || {
        let arch = std::env::consts::ARCH.try_into().ok()?;
        let rules = BTreeMap::from([(syscalls::HARMLESS, Vec::new())]);
        compile(rules, SeccompAction::Allow, SeccompAction::Errno(syscalls::EPERM), arch).ok()
    };
    prctl::set_no_new_privs().is_ok() && harmless().is_some_and(|filter| apply_filter(&filter).is_ok())
}
