//! The queue's working side. A job is a row enqueued in the transaction that wants it; a worker
//! claims it with a lease, runs it, and completes it. A worker that dies loses its lease, and the
//! job is claimed again: jobs are idempotent.

mod account_entry;
mod clock;
mod mail;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::id::{JobId, OrganizationId, kind};
use attestry_storage::jobs::{self, ClaimedJob, Most};
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

use crate::core::context::Ctx;
use crate::core::error::Error;

const LEASE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_secs(5);
pub(crate) const CHANNEL: &str = "attestry_jobs";

/// A kind of job: what it needs to know, and what it does.
pub(crate) trait Job: Serialize + DeserializeOwned + Send + Sync + Sized + 'static {
    /// Its name in the queue.
    const KIND: &'static str;
    /// How often it is tried.
    const MAX_ATTEMPTS: i64 = 12;
    /// How many of the kind a process runs at once: a slow kind holds up nobody but itself.
    const MAX_CONCURRENT: usize = 2;
    /// How many of one organization run at once, in all processes together.
    const MAX_CONCURRENT_PER_ORGANIZATION: i64 = i64::MAX;
    /// The time from one run to the next of a job that is always in the queue.
    const PERIOD: Option<Duration> = None;

    fn run(self, ctx: &Ctx, lease: &JobLease) -> impl Future<Output = Result<Outcome, Failure>> + Send;
}

/// A job that is ours for as long as its lease lasts.
#[derive(Clone, Debug)]
pub(crate) struct JobLease {
    job: JobId,
    /// Each lease has a name of its own: an end is written by its holder and nobody else.
    name: String,
}

impl JobLease {
    /// Ends the job in the transaction of what it does, so that it is done once; refused when it is no longer ours.
    pub(crate) async fn complete(&self, t: &Tx<'_>) -> Result<(), Error> {
        match jobs::complete(t, self.job, &self.name).await? {
            true => Ok(()),
            false => Err(Error::Unavailable("the lease of the job was lost".to_owned())),
        }
    }
}

/// How a job ended; there is no other way.
#[derive(Debug)]
pub(crate) enum Outcome {
    Done,
    /// Done, and its end is written down already.
    Ended,
    /// Done for now: the same job comes again.
    Again(Time),
}

/// Why a job did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It may go better later.
    Retry(String),
    /// It will never go better.
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

/// A kind of job as the worker knows it.
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

/// What the features give to the queue.
#[derive(Debug)]
pub(crate) struct Jobs {
    /// Every kind of job.
    pub(crate) kinds: &'static [JobKind],
    /// A worker starts in this process.
    pub(crate) started: fn(&Ctx),
    /// A clock was ahead, and times that were computed from it are wrong.
    pub(crate) clock_corrected: for<'a> fn(&'a Ctx) -> BoxFuture<'a, Result<(), Error>>,
}

impl Ctx {
    fn jobs(&self) -> &'static Jobs {
        self.part::<&'static Jobs>()
    }

    fn kinds(&self) -> &'static [JobKind] {
        self.jobs().kinds
    }

    /// The kinds that are always in the queue, and how often each runs.
    fn recurring(&self) -> Vec<(String, Duration)> {
        self.kinds().iter().filter_map(|known| Some((known.kind.to_owned(), known.period?))).collect()
    }
}

/// What a job needs to know, encrypted: it may tell of somebody, or open something.
pub(crate) fn seal<J: Job>(ctx: &Ctx, job: &J) -> Result<Vec<u8>, Error> {
    ctx.keys.seal(J::KIND, &serde_json::to_vec(job)?)
}

fn unseal<J: Job>(ctx: &Ctx, payload: &[u8]) -> Result<J, Failure> {
    // A job that needs to know nothing has no payload.
    let plain = if payload.is_empty() { b"null".to_vec() } else { ctx.keys.open(J::KIND, payload)? };
    serde_json::from_slice(&plain)
        .map_err(|error| Failure::Fail(format!("not a payload of {}: {error}", J::KIND)))
}

/// Makes sure that the recurring jobs are in the queue, and not put off by a clock that was ahead.
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

/// A place for each job of a kind that can run at once.
fn places(ctx: &Ctx) -> Vec<Arc<Semaphore>> {
    ctx.kinds().iter().map(|known| Arc::new(Semaphore::new(known.max_concurrent))).collect()
}

/// Works until told to stop, then lets the running jobs end.
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
                    // Nobody else takes places, so there is one for each that was claimed.
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

/// Sleeps until a bell rings, the next job is due, a running job ends, or it is time to look.
async fn wait(ctx: &Ctx, stop: &mut watch::Receiver<bool>, running: &mut JoinSet<()>) {
    let due = ctx.db.read(async |t| jobs::next(t).await).await.ok().flatten();
    let nap = due.map_or(POLL, |at| at.since(ctx.queue_now()).clamp(Duration::from_millis(20), POLL));
    // What is due and was not claimed waits for a place, and so for the end of a running job.
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

/// Lets other processes ring our bell, where the database can carry it.
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

/// Its kind, our lease, and what is to be done.
type Claimed = (usize, JobLease, ClaimedJob);

/// Claims what is due, as far as there is a free place for its kind.
async fn claim(ctx: &Ctx, places: &[Arc<Semaphore>]) -> Result<Vec<Claimed>, DbError> {
    let now = ctx.queue_now();
    let due = ctx.db.read(async move |t| jobs::due(t, now).await).await?;
    let mut all = Vec::new();
    for (kind, known) in ctx.kinds().iter().enumerate() {
        let free = i64::try_from(places[kind].available_permits()).unwrap_or(1);
        let (name, most) =
            (known.kind.to_owned(), Most { in_all: free, of_one: known.max_concurrent_per_organization });
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

/// Extends the lease of a job again and again; ends when the lease is lost.
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

/// Runs one claimed job to its end and writes down how it went.
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
        // What recurs is never given up.
        Err(failure)
            if known.period.is_some()
                || (attempts < known.max_attempts && matches!(failure, Failure::Retry(_))) =>
        {
            let (Failure::Retry(error) | Failure::Fail(error)) = failure;
            let (at, cause) = (ctx.queue_now().plus(back_off(attempts)), error.clone());
            let written =
                ctx.db.write(async move |t| jobs::retry(t, id, &name, at, &error).await.map(drop)).await;
            // If not even that could be written, it is an outage, and logged as one.
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
    Duration::from_secs(1_u64 << attempts.clamp(1, 11)).min(Duration::from_hours(1))
}

/// How many jobs there are, and how many of them failed for good.
pub async fn counts(ctx: &Ctx) -> Result<(i64, i64), Error> {
    Ok(ctx.db.read(async |t| jobs::counts(t).await).await?)
}

/// Runs every job that is due, in this task, until none is left: what tests do instead of waiting.
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
