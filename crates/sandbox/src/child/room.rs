//! Whether the script's memory was full at some time.

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};

/// Knows how much memory was touched. The engine throws `null` when it has no room left for an error, and frees everything
/// before anybody can ask; a script may throw `null` as well.
#[derive(Debug)]
pub(super) struct Room {
    memory: usize,
    touched: usize,
}

impl Room {
    pub(super) fn new(memory: usize) -> Self {
        Self { memory, touched: touched() }
    }

    pub(super) fn was_full(&self) -> bool {
        touched().saturating_sub(self.touched) >= self.memory / 2
    }
}

/// The bytes of all pages that were ever used.
fn touched() -> usize {
    let number = |count: i64| usize::try_from(count).unwrap_or_default();
    let pages = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| number(usage.minor_page_faults()));
    let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().map_or(4096, number);
    pages.saturating_mul(page)
}
