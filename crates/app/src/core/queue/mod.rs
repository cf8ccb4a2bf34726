//! The workers of the queue. A job is a row, enqueued in the transaction that needs it; a worker claims it with a
//! lease, runs it, and completes it. A worker that dies loses its lease, and the job is claimed again: jobs are
//! idempotent.

mod account_entry;
mod clock;
mod mail;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::id::{JobId, OrganizationId, kind};
use attestry_storage::jobs::{self, ClaimLimits, ClaimedJob};
use attestry_storage::{Error as DbError, Tx};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

pub(crate) use account_entry::AccountEntry;
pub(crate) use clock::QueueClock;
pub use clock::{clock_skew, is_tolerable};
pub(crate) use mail::Mail;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

const LEASE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_secs(5);
pub(crate) const CHANNEL: &str = "attestry_jobs";

/// A kind of job: its payload and its handler.
pub(crate) trait Job: Serialize + DeserializeOwned + Send + Sync + Sized + 'static {
    /// Its name in the queue.
    const KIND: &'static str;
    /// The maximum number of attempts.
    const MAX_ATTEMPTS: i64 = 12;
    /// The maximum number of concurrent jobs of this kind per process, so that a slow kind delays no other kind.
    const MAX_CONCURRENT: usize = 2;
    /// The maximum number of concurrent jobs of one organization, across all processes.
    const MAX_CONCURRENT_PER_ORGANIZATION: i64 = i64::MAX;
    /// The interval between two runs of a recurring job.
    const PERIOD: Option<Duration> = None;

    fn run(self, ctx: &Ctx, lease: &JobLease) -> impl Future<Output = Result<Outcome, Failure>> + Send;
}

/// The lease of a claimed job.
#[derive(Clone, Debug)]
pub(crate) struct JobLease {
    job: JobId,
    /// The unique name of the lease: only its holder can complete the job.
    name: String,
}

impl JobLease {
    /// Completes the job in the transaction of its change, so that it takes effect once. Fails if the lease was lost.
    pub(crate) async fn complete(&self, t: &Tx<'_>) -> Result<(), Error> {
        match jobs::complete(t, self.job, &self.name).await? {
            true => Ok(()),
            false => Err(Error::Unavailable("the lease of the job was lost".to_owned())),
        }
    }
}

/// The successful end of a job.
#[derive(Debug)]
pub(crate) enum Outcome {
    Done,
    /// Done, and already completed by [`JobLease::complete`].
    Ended,
    /// Done for now; the same job runs again at this time.
    Again(Time),
}

/// The failure of a job.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Transient: the job is retried.
    Retry(String),
    /// Permanent: the job is not retried.
    Fail(String),
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Self::Retry(error.to_string())
    }
}

impl From<attestry_blobs::Error> for Failure {
    fn from(error: attestry_blobs::Error) -> Self {
        Self::Retry(error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.is_outage() {
            true => Self::Retry(error.to_string()),
            false => Self::Fail(error.to_string()),
        }
    }
}

type Run = for<'a> fn(&'a Ctx, &'a JobLease, &'a [u8]) -> BoxFuture<'a, Result<Outcome, Failure>>;

/// A kind of job in the worker's table.
#[derive(Debug)]
pub(crate) struct JobKind {
    kind: &'static str,
    max_attempts: i64,
    max_concurrent: usize,
    max_concurrent_per_organization: i64,
    period: Option<Duration>,
    run: Run,
}

pub(crate) const fn kind_of<J: Job>() -> JobKind {
    JobKind {
        kind: J::KIND,
        max_attempts: J::MAX_ATTEMPTS,
        max_concurrent: J::MAX_CONCURRENT,
        max_concurrent_per_organization: J::MAX_CONCURRENT_PER_ORGANIZATION,
        period: J::PERIOD,
        run: |ctx, lease, payload| {
            async move {
                let job: J = unseal(ctx, payload)?;
                job.run(ctx, lease).await
            }
            .boxed()
        },
    }
}

/// The queue's extension points, filled in by the features.
#[derive(Debug)]
pub(crate) struct Jobs {
    /// Every kind of job.
    pub(crate) kinds: &'static [JobKind],
    /// Runs when a worker starts in this process.
    pub(crate) started: fn(&Ctx),
    /// Recomputes times that were derived from a clock that was ahead.
    pub(crate) clock_corrected: for<'a> fn(&'a Ctx) -> BoxFuture<'a, Result<(), Error>>,
}

impl Ctx {
    fn jobs(&self) -> &'static Jobs {
        self.part::<&'static Jobs>()
    }

    fn kinds(&self) -> &'static [JobKind] {
        self.jobs().kinds
    }

    /// Returns the recurring kinds, each with its period.
    fn recurring(&self) -> Vec<(String, Duration)> {
        self.kinds().iter().filter_map(|known| Some((known.kind.to_owned(), known.period?))).collect()
    }
}

/// Encrypts the payload of a job, which may hold personal data or secrets.
pub(crate) fn seal<J: Job>(ctx: &Ctx, job: &J) -> Result<Vec<u8>, Error> {
    ctx.keys.seal(J::KIND, &serde_json::to_vec(job)?)
}

fn unseal<J: Job>(ctx: &Ctx, payload: &[u8]) -> Result<J, Failure> {
    // A recurring job has no payload.
    let plain = if payload.is_empty() { b"null".to_vec() } else { ctx.keys.open(J::KIND, payload)? };
    serde_json::from_slice(&plain)
        .map_err(|error| Failure::Fail(format!("not a payload of {}: {error}", J::KIND)))
}

/// Enqueues the recurring jobs, and makes due those that a clock that was ahead has postponed.
#[boxed]
pub async fn schedule(ctx: &Ctx) -> Result<(), Error> {
    if clock::synchronize(ctx).await? {
        clock::pull_back(ctx).await?;
    }
    let recurring = ctx.recurring();
    ctx.work(async move |work| {
        for (kind, _) in &recurring {
            work.put_job(kind, None::<OrganizationId>, &[], Some(kind)).await?;
        }
        Ok(())
    })
    .await
}

/// Creates the semaphores that limit the concurrency of each kind.
fn places(ctx: &Ctx) -> Vec<Arc<Semaphore>> {
    ctx.kinds().iter().map(|known| Arc::new(Semaphore::new(known.max_concurrent))).collect()
}

/// Runs jobs until `stop` is set, then waits for the running jobs to end.
#[boxed]
pub async fn work(ctx: Ctx, mut stop: watch::Receiver<bool>) {
    let (places, mut running) = (places(&ctx), JoinSet::new());
    (ctx.jobs().started)(&ctx);
    tokio::spawn(relay_wakeups(ctx.clone(), stop.clone()));
    let mut clock = clock::Watch::default();
    while !*stop.borrow() {
        while running.try_join_next().is_some() {}
        if !clock.is_right(&ctx).await {
            wait(&ctx, &mut stop, &mut running).await;
            continue;
        }
        let claimed = claim(&ctx, &places).await;
        if claimed.is_ok() {
            ctx.outages.ended();
        }
        match claimed {
            Ok(claimed) if claimed.is_empty() => wait(&ctx, &mut stop, &mut running).await,
            Ok(claimed) => {
                for (kind, lease, job) in claimed {
                    let (ctx, places) = (ctx.clone(), Arc::clone(&places[kind]));
                    // Only this loop acquires permits, so there is one for each claimed job.
                    let place = places.try_acquire_owned();
                    running.spawn(async move {
                        perform(&ctx, kind, lease, job).await;
                        drop(place);
                    });
                }
            }
            Err(error) => {
                ctx.outages.met("the queue of jobs", &error.to_string());
                wait(&ctx, &mut stop, &mut running).await;
            }
        }
    }
    while running.join_next().await.is_some() {}
}

/// Sleeps until it is woken, the next job is due, a running job ends, or the poll interval is over.
async fn wait(ctx: &Ctx, stop: &mut watch::Receiver<bool>, running: &mut JoinSet<()>) {
    let due = ctx.db.read(async |t| jobs::next(t).await).await.ok().flatten();
    let nap = due.map_or(POLL, |at| at.since(ctx.queue_now()).clamp(Duration::from_millis(20), POLL));
    // A due job that was not claimed waits for a permit, and so for the end of a running job.
    let nap = if running.is_empty() { nap } else { nap.max(Duration::from_secs(1)) };
    let ended = async {
        if running.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = ctx.job_bell.notified() => {}
        () = tokio::time::sleep(nap) => {}
        () = ended => {}
        _ = stop.changed() => {}
    }
}

/// Wakes this worker when another process enqueues a job, where the database supports notifications.
async fn relay_wakeups(ctx: Ctx, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        match ctx.db.listen(CHANNEL).await {
            None => return,
            Some(Ok(mut wakeups)) => loop {
                tokio::select! {
                    said = wakeups.next() => if said.is_some() { ctx.job_bell.notify_one() } else { break },
                    _ = stop.changed() => return,
                }
            },
            Some(Err(_)) => {}
        }
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            _ = stop.changed() => {}
        }
    }
}

/// The index of the kind, the lease, and the job.
type Claimed = (usize, JobLease, ClaimedJob);

/// Claims due jobs, as far as their kinds have free permits.
async fn claim(ctx: &Ctx, places: &[Arc<Semaphore>]) -> Result<Vec<Claimed>, DbError> {
    let now = ctx.queue_now();
    let due = ctx.db.read(async move |t| jobs::due(t, now).await).await?;
    let mut all = Vec::new();
    for (kind, known) in ctx.kinds().iter().enumerate() {
        let free = i64::try_from(places[kind].available_permits()).unwrap_or(1);
        let (name, most) = (
            known.kind.to_owned(),
            ClaimLimits { in_all: free, of_one: known.max_concurrent_per_organization },
        );
        if free == 0 || !due.contains(&name) {
            continue;
        }
        let name_of_lease = ctx.ids.next::<kind::Lease>().to_string();
        let ours = name_of_lease.clone();
        let claimed = ctx
            .db
            .write(async move |t| jobs::claim(t, &name, &ours, now, now.plus(LEASE), most).await)
            .await?;
        all.extend(
            claimed.into_iter().map(|job| (kind, JobLease { job: job.id, name: name_of_lease.clone() }, job)),
        );
    }
    Ok(all)
}

/// Renews the lease of a job repeatedly; returns when the lease is lost.
async fn keep(ctx: &Ctx, lease: &JobLease) {
    let mut until = ctx.queue_now().plus(LEASE);
    loop {
        tokio::time::sleep(LEASE / 3).await;
        let (lease, next) = (lease.clone(), ctx.queue_now().plus(LEASE));
        match ctx.db.write(async move |t| jobs::extend(t, lease.job, &lease.name, next).await).await {
            Ok(true) => until = next,
            Ok(false) => return,
            Err(_) if ctx.queue_now() >= until => return,
            Err(_) => {}
        }
    }
}

/// Runs one claimed job and stores its outcome.
async fn perform(ctx: &Ctx, kind: usize, lease: JobLease, job: ClaimedJob) {
    let ClaimedJob { id, payload, attempts, .. } = job;
    let known = &ctx.kinds()[kind];
    let kind = known.kind;
    let guarded = async {
        if attempts > known.max_attempts {
            return Err(Failure::Fail("its worker died each time".to_owned()));
        }
        AssertUnwindSafe((known.run)(ctx, &lease, &payload))
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(Failure::Retry("the job panicked".to_owned())))
    };
    let result = tokio::select! {
        result = guarded => result,
        () = keep(ctx, &lease) => {
            tracing::warn!(job = %id, kind, "a job was stopped because another worker has taken it over");
            return;
        }
    };
    let name = lease.name;
    let written: Result<(), DbError> = match result {
        Ok(Outcome::Ended) => Ok(()),
        Ok(Outcome::Done) => ctx.db.write(async move |t| jobs::complete(t, id, &name).await.map(drop)).await,
        Ok(Outcome::Again(at)) => {
            let at = ctx.queue_time(at);
            ctx.db.write(async move |t| jobs::again(t, id, &name, at).await.map(drop)).await
        }
        // A recurring job is always retried.
        Err(failure)
            if known.period.is_some()
                || (attempts < known.max_attempts && matches!(failure, Failure::Retry(_))) =>
        {
            let (Failure::Retry(error) | Failure::Fail(error)) = failure;
            let (at, cause) = (ctx.queue_now().plus(back_off(attempts)), error.clone());
            let written =
                ctx.db.write(async move |t| jobs::retry(t, id, &name, at, &error).await.map(drop)).await;
            // If even this write failed, it is an outage, and logged as one.
            if written.is_ok() {
                tracing::warn!(job = %id, kind, error = cause, attempts, "a job will be tried again");
            }
            written
        }
        Err(Failure::Retry(error) | Failure::Fail(error)) => {
            tracing::error!(job = %id, kind, %error, attempts, "a job failed for good");
            ctx.db.write(async move |t| jobs::fail(t, id, &name, &error).await.map(drop)).await
        }
    };
    if let Err(error) = written {
        tracing::debug!(job = %id, %error, "the end of a job was not written down; it will run again");
        ctx.outages.met("the end of a job", &error.to_string());
    }
}

/// 2 s, 4 s, 8 s … at most an hour.
fn back_off(attempts: i64) -> Duration {
    Duration::from_secs(1_u64 << attempts.clamp(1, 12)).min(Duration::from_hours(1))
}

/// Returns the number of jobs, and the number of those that failed permanently.
#[boxed]
pub async fn counts(ctx: &Ctx) -> Result<(i64, i64), Error> {
    Ok(ctx.db.read(async |t| jobs::counts(t).await).await?)
}

/// Runs every job that is due, in this task, until none is left; for tests.
#[boxed]
pub async fn drain(ctx: &Ctx) -> Result<usize, Error> {
    let mut count = 0;
    loop {
        let claimed = claim(ctx, &places(ctx)).await?;
        if claimed.is_empty() {
            return Ok(count);
        }
        for (kind, lease, job) in claimed {
            count += 1;
            perform(ctx, kind, lease, job).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_up_to_an_hour() {
        for (attempts, seconds) in
            [(i64::MIN, 2), (0, 2), (1, 2), (2, 4), (11, 2048), (12, 3600), (13, 3600), (i64::MAX, 3600)]
        {
            assert_eq!(back_off(attempts), Duration::from_secs(seconds), "{attempts}");
        }
    }
}
