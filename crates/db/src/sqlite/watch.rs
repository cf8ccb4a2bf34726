//! A clock beside a connection: it stops what takes too long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::Error;

/// How many steps of SQLite's machine pass between two looks at the clock.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

/// Tells SQLite to stop a statement: when it took too long, or nobody waits for it any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch(Arc<Mutex<Option<Watched>>>);

/// When the statement is stopped at the latest, and whether somebody still waits for it.
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
