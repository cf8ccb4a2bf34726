//! The clock of the queue: the database's, so that servers whose clocks differ do not claim each other's jobs.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use attestry_domain::Time;
use attestry_storage::jobs;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// Milliseconds by which a server's clock may differ from the database's before the server stops running jobs.
const MAX_SKEW: i64 = 5_000;
/// Upper bound on the wait of a job that is not recurring; the longest backoff is an hour.
const MAX_WAIT: Duration = Duration::from_mins(65);
/// Upper bound on a lease. Leases are renewed every few seconds, so one that ends later came from a clock that was
/// ahead.
const MAX_LEASE: Duration = Duration::from_mins(2);

/// Intervals at which a worker compares its clock with the database's, and looks for jobs that an incorrect clock
/// postponed.
const CHECK_EVERY: Duration = Duration::from_secs(30);
const PULL_BACK_EVERY: Duration = Duration::from_hours(1);

/// The difference between the clock of the database and this process's own.
#[derive(Debug, Default)]
pub(crate) struct QueueClock {
    /// Milliseconds by which the database is ahead.
    skew: AtomicI64,
}

impl QueueClock {
    /// Converts a time of this process to the database's clock.
    pub(crate) fn time(&self, own: Time) -> Time {
        Time::from_millis(own.as_millis() + self.skew.load(Ordering::Relaxed))
    }
}

impl Ctx {
    /// Converts a time of this process to the queue's clock.
    pub(crate) fn queue_time(&self, own: Time) -> Time {
        self.part::<QueueClock>().time(own)
    }

    /// Returns the current time of the queue.
    pub(crate) fn queue_now(&self) -> Time {
        self.queue_time(self.now())
    }
}

/// Returns the milliseconds by which the database's clock is ahead of this process's; `None` where the process has
/// the only clock.
#[boxed]
pub async fn clock_skew(ctx: &Ctx) -> Result<Option<i64>, Error> {
    let before = ctx.now().as_millis();
    let engine = ctx.db.engine();
    let Some(time) = ctx.db.read(async move |t| jobs::database_time(t, engine).await).await? else {
        return Ok(None);
    };
    let after = ctx.now().as_millis();
    Ok(Some(time.as_millis() - i64::midpoint(before, after)))
}

pub fn is_tolerable(skew: i64) -> bool {
    skew.abs() <= MAX_SKEW
}

/// Synchronizes with the clock of the database. Returns false if this process's clock is too far off to run jobs.
pub(super) async fn synchronize(ctx: &Ctx) -> Result<bool, Error> {
    let skew = clock_skew(ctx).await?.unwrap_or(0);
    if !is_tolerable(skew) {
        tracing::warn!(
            skew_ms = skew,
            "this clock differs from the database's; no jobs are run until it is set"
        );
        return Ok(false);
    }
    ctx.part::<QueueClock>().skew.store(skew, Ordering::Relaxed);
    Ok(true)
}

/// Periodic check of a worker's clock.
#[derive(Debug, Default)]
pub(super) struct Watch {
    checked: Option<(Instant, bool)>,
    pulled_back: Option<Instant>,
}

impl Watch {
    /// Returns true if the clock is accurate enough to run jobs.
    pub(super) async fn is_right(&mut self, ctx: &Ctx) -> bool {
        let is_right = match self.checked {
            Some((at, is_right)) if at.elapsed() < CHECK_EVERY => return is_right,
            // An unreachable database is no reason to distrust the clock.
            before => synchronize(ctx).await.unwrap_or(before.is_none_or(|(_, is_right)| is_right)),
        };
        self.checked = Some((Instant::now(), is_right));
        let pulled_back = *self.pulled_back.get_or_insert_with(Instant::now);
        if is_right && pulled_back.elapsed() >= PULL_BACK_EVERY && pull_back(ctx).await.is_ok() {
            self.pulled_back = Some(Instant::now());
        }
        is_right
    }
}

/// Corrects what a clock that was ahead has postponed: makes jobs due and ends leases that exceed their upper bounds,
/// and recomputes the schedules of automations.
pub(super) async fn pull_back(ctx: &Ctx) -> Result<(), Error> {
    let (now, recurring) = (ctx.queue_now(), ctx.recurring());
    let pulled = ctx
        .db
        .write(async move |t| {
            let mut pulled = jobs::pull_back_leases(t, now, now.plus(MAX_LEASE)).await?;
            pulled += jobs::pull_back(t, now, now.plus(MAX_WAIT)).await?;
            for (kind, period) in &recurring {
                let latest = now.plus(*period + Duration::from_mins(1));
                pulled += jobs::pull_back_recurring(t, kind, now, latest).await?;
            }
            Ok::<_, Error>(pulled)
        })
        .await?;
    if pulled == 0 {
        return Ok(());
    }
    tracing::warn!(jobs = pulled, "a clock was ahead: jobs that it had put off are run now");
    ctx.job_bell.notify_one();
    (ctx.jobs().clock_corrected)(ctx).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_seconds_of_skew_are_tolerable_either_way() {
        for (skew, expected) in [(0, true), (5_000, true), (-5_000, true), (5_001, false), (-5_001, false)] {
            assert_eq!(is_tolerable(skew), expected, "{skew}");
        }
    }
}
