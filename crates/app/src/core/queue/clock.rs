//! The clock of the queue: the database's, so that servers whose clocks differ do not take each other's jobs.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use attestry_domain::Time;
use attestry_storage::jobs;

use crate::core::context::Ctx;
use crate::core::error::Error;

/// Milliseconds by which a server's clock may differ from the database's before it leaves jobs to others.
const MAX_SKEW: i64 = 5_000;
/// A job that is not recurring waits for less than this: an hour after a failure.
const MAX_WAIT: Duration = Duration::from_mins(65);
/// A lease is renewed every few seconds: one that ends later than this was taken by a clock that was ahead.
const MAX_LEASE: Duration = Duration::from_mins(2);

/// Intervals at which a worker compares its clock with the database's, and looks for jobs that a wrong clock postponed.
const CHECK_EVERY: Duration = Duration::from_secs(30);
const PULL_BACK_EVERY: Duration = Duration::from_hours(1);

/// The difference between the clock of the database and this process's own.
#[derive(Debug, Default)]
pub(crate) struct QueueClock {
    /// Milliseconds by which the database is ahead.
    skew: AtomicI64,
}

impl QueueClock {
    /// A time of this process as the database counts it.
    pub(crate) fn time(&self, own: Time) -> Time {
        Time::from_millis(own.as_millis() + self.skew.load(Ordering::Relaxed))
    }
}

impl Ctx {
    /// A time of this process as the queue counts it.
    pub(crate) fn queue_time(&self, own: Time) -> Time {
        self.part::<QueueClock>().time(own)
    }

    /// The time of the queue.
    pub(crate) fn queue_now(&self) -> Time {
        self.queue_time(self.now())
    }
}

/// Milliseconds by which the database's clock is ahead of this process's; none where the process has the only clock.
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

/// Reads the clock of the database. False: this process's own is so far off that it leaves jobs alone.
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

/// Looks at the clock of a worker now and then.
#[derive(Debug, Default)]
pub(super) struct Watch {
    checked: Option<(Instant, bool)>,
    pulled_back: Option<Instant>,
}

impl Watch {
    /// Tells if the clock is right enough to run jobs.
    pub(super) async fn is_right(&mut self, ctx: &Ctx) -> bool {
        let is_right = match self.checked {
            Some((at, is_right)) if at.elapsed() < CHECK_EVERY => return is_right,
            // A database that cannot be asked is no reason to distrust the clock.
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

/// Pulls back what a clock that was ahead has put off: jobs that wait for longer than they ever do, leases that end
/// later, and the schedules of automations.
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
