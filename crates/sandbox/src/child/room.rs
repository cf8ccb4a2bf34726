//! Whether the script's memory was full at some time.

use std::cell::Cell;

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};

/// Knows how much memory was touched. The engine throws `null` when it has no room left for an error, and frees everything
/// before anybody can ask; a script may throw `null` as well.
#[derive(Debug)]
pub(super) struct Room {
    memory: usize,
    before: Cell<usize>,
}

impl Room {
    pub(super) fn new(memory: usize) -> Self {
        Self { memory, before: Cell::new(0) }
    }

    /// What is touched from now on is the script's doing.
    pub(super) fn start(&self) {
        self.before.set(touched());
    }

    pub(super) fn was_full(&self) -> bool {
        touched().saturating_sub(self.before.get()) >= self.memory / 2
    }
}

/// The bytes of all pages that this process has used since it was forked.
fn touched() -> usize {
    let number = |count: i64| usize::try_from(count).unwrap_or_default();
    let pages = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| number(usage.minor_page_faults()));
    let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().map_or(4096, number);
    pages.saturating_mul(page)
}
