//! Outages in the log: one line when an outage begins, one every 30 s while it lasts, and one when it is over,
//! regardless of the number of failed requests.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The minimum time between two warnings.
const INTERVAL: Duration = Duration::from_secs(30);

/// The current outage, if there is one.
#[derive(Debug, Default)]
pub struct Outages(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    since: Option<Instant>,
    /// Requests and other work that failed during it.
    count: u64,
    warned: Option<Instant>,
    /// A warning about this outage was logged.
    is_known: bool,
}

impl Outages {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports that work failed because the database or the object storage is unavailable. `work` names the work.
    pub fn met(&self, work: &str, cause: &str) {
        let (seconds, count) = {
            let mut state = self.lock();
            let now = Instant::now();
            let since = *state.since.get_or_insert(now);
            state.count += 1;
            if state.warned.is_some_and(|warned| now.duration_since(warned) < INTERVAL) {
                return;
            }
            (state.warned, state.is_known) = (Some(now), true);
            (now.duration_since(since).as_secs(), state.count)
        };
        tracing::warn!(work, cause, seconds, count, "requests are refused for now");
    }

    /// Reports that the database responded.
    pub fn ended(&self) {
        let State { since, count, is_known, .. } = {
            let mut state = self.lock();
            if state.since.is_none() {
                return;
            }
            let warned = state.warned;
            std::mem::replace(&mut *state, State { warned, ..State::default() })
        };
        if is_known {
            let seconds = since.map_or(0, |since| since.elapsed().as_secs());
            tracing::info!(seconds, count, "requests are served again");
        }
    }
}
