//! Detects that the script ran out of memory.

use std::cell::Cell;

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};

/// Measures the memory touched by the script. The engine throws `null` when it has no memory left for an error, and
/// frees everything before it can be measured; a script may throw `null` as well.
#[derive(Debug)]
pub(super) struct MemoryMeter {
    memory: usize,
    before: Cell<usize>,
}

impl MemoryMeter {
    pub(super) fn new(memory: usize) -> Self {
        Self { memory, before: Cell::new(0) }
    }

    /// Starts measuring.
    pub(super) fn start(&self) {
        self.before.set(touched());
    }

    pub(super) fn was_full(&self) -> bool {
        touched().saturating_sub(self.before.get()) >= self.memory / 2
    }
}

/// The total size of the pages that this process has touched since it was forked.
fn touched() -> usize {
    let number = |count: i64| usize::try_from(count).unwrap_or_default();
    let pages = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| number(usage.minor_page_faults()));
    let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().map_or(4096, number);
    pages.saturating_mul(page)
}
