//! Privileges that a process drops before it reads its input.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod syscalls;

use std::fmt;
use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};

use crate::limits::ProcessLimits;

/// The maximum memory of the process beyond its limit: engine, allocator, messages.
#[cfg(target_os = "linux")]
const EXTRA_PROCESS_MEMORY_BYTES: u64 = 64 << 20;

/// The confinement that this operating system supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Seccomp and Landlock.
    Full,
    /// The kernel has no Landlock.
    WithoutLandlock,
    /// Linux without seccomp: scripts and uploaded PDFs are rejected.
    Refused,
    /// Another operating system: scripts run, confined by the engine only, and PDFs are read unconfined.
    Absent,
}

impl Confinement {
    /// Returns true if the operating system confines input that takes over the process.
    pub fn is_confined(self) -> bool {
        matches!(self, Self::Full | Self::WithoutLandlock)
    }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => {
                "Scripts run, and PDFs are read, in processes of their own, confined by seccomp and Landlock."
            }
            Self::WithoutLandlock => {
                "Scripts run, and PDFs are read, in processes of their own, confined by seccomp; this kernel has \
                 no Landlock."
            }
            Self::Refused => {
                "This system offers no seccomp filters, so scripts are not run and uploaded PDFs are not read."
            }
            Self::Absent => {
                "Scripts run, and PDFs are read, in processes of their own, but this operating system cannot \
                 confine them: run only scripts that you trust."
            }
        })
    }
}

/// Returns the confinement that this operating system supports, by trying it; nothing stays confined.
pub fn confinement() -> Confinement {
    #[cfg(target_os = "linux")]
    return linux::offered();
    #[cfg(not(target_os = "linux"))]
    Confinement::Absent
}

/// The confinement, prepared as far as possible before children are forked.
#[derive(Debug)]
pub struct PreparedConfinement {
    #[cfg(target_os = "linux")]
    filters: linux::Filters,
}

impl PreparedConfinement {
    /// Drops the privileges that the template does not need either.
    pub fn build() -> Result<Self, String> {
        close_inherited();
        limit(Resource::RLIMIT_CORE, 0, 0)?;
        limit(Resource::RLIMIT_FSIZE, 0, 0)?;
        Ok(Self {
            #[cfg(target_os = "linux")]
            filters: linux::build()?,
        })
    }

    /// Drops all other privileges.
    pub fn close(&self, limits: ProcessLimits) -> Result<(), String> {
        limit_resources(limits)?;
        #[cfg(target_os = "linux")]
        linux::close(&self.filters)?;
        Ok(())
    }
}

/// Closes every descriptor except the three standard ones.
fn close_inherited() {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let open: Vec<i32> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in open {
        // The descriptor that listed the folder is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

fn limit_resources(limits: ProcessLimits) -> Result<(), String> {
    // The engine stops at the limit by itself; the extra second is for code it cannot interrupt.
    let cpu = limits.cpu.saturating_add(Duration::from_millis(999)).as_secs().saturating_add(1);
    // The soft limit sends its own signal, which tells the cause.
    limit(Resource::RLIMIT_CPU, cpu, cpu.saturating_add(1))?;
    #[cfg(target_os = "linux")]
    {
        // Not the address space: allocators reserve far more than they use.
        let memory =
            u64::try_from(limits.memory).unwrap_or(u64::MAX).saturating_add(EXTRA_PROCESS_MEMORY_BYTES);
        limit(Resource::RLIMIT_DATA, memory, memory)?;
        limit(Resource::RLIMIT_NPROC, 0, 0)?;
    }
    Ok(())
}

fn limit(resource: Resource, soft: u64, hard: u64) -> Result<(), String> {
    let set = |soft, hard| setrlimit(resource, soft, hard);
    // A lower limit set by the operator applies.
    let (_, highest) = nix::sys::resource::getrlimit(resource).map_err(|error| error.to_string())?;
    set(soft.min(highest), hard.min(highest)).map_err(|error| format!("{resource:?}: {error}"))
}
