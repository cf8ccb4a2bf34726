//! A watchdog that stops long statements on a connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::Error;

/// The number of SQLite virtual machine steps between two checks of the clock.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

/// Makes SQLite interrupt a statement that exceeds its deadline or whose caller has stopped waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch(Arc<Mutex<Option<Watched>>>);

/// The deadline of the statement, and a flag that is set when the caller has stopped waiting.
type Watched = (Option<Instant>, Arc<AtomicBool>);

impl Watch {
    pub(super) fn start(&self, limit: Option<Duration>, gone: Arc<AtomicBool>) {
        let deadline = limit.map(|limit| Instant::now() + limit);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((deadline, gone));
    }

    pub(super) fn stop(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn install(&self, connection: &mut Connection) -> Result<(), Error> {
        let watched = Arc::clone(&self.0);
        connection.progress_handler(
            STEPS_BETWEEN_CHECKS,
            Some(move || {
                let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
                watched.as_ref().is_some_and(|(deadline, gone)| {
                    gone.load(Ordering::Relaxed) || deadline.is_some_and(|at| Instant::now() >= at)
                })
            }),
        )?;
        Ok(())
    }
}
