//! The CPU time of this process.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use rquickjs::Runtime;

use super::pipe;
use crate::Code;

/// The CPU time at which the script must end.
#[derive(Clone, Debug)]
pub(super) struct Clock(Rc<Cell<Duration>>);

impl Clock {
    /// Installs an interrupt handler that checks the clock.
    pub(super) fn watched_by(runtime: &Runtime) -> Self {
        let clock = Self(Rc::new(Cell::new(Duration::MAX)));
        let end = Rc::clone(&clock.0);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            if used() >= end.get() {
                pipe::exceeded(Code::CpuTimeLimit);
            }
            false
        })));
        clock
    }

    /// Starts the script's time limit.
    pub(super) fn start(&self, time: Duration) {
        self.0.set(used().saturating_add(time));
    }
}

fn used() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
