//! The queue's working side. A job is a row enqueued in the transaction that wants it; a worker
//! claims it with a lease, runs it, and completes it. A worker that dies loses its lease, and the
//! job is claimed again: jobs are idempotent.

pub mod housekeeping;
pub mod mail;
pub(crate) mod password_reset;
pub mod removal;
pub(crate) mod sign_in_failure;
pub mod sweep;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use attestry_domain::Time;
use attestry_storage::Error as DbError;
use attestry_storage::jobs::{self, ClaimedJob};
use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::context::Ctx;
use crate::error::Error;

const LEASE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 4;
pub(crate) const CHANNEL: &str = "attestry_jobs";

/// How a job ended; there is no other way.
#[derive(Debug)]
pub enum Outcome {
    Done,
    /// Done for now: the same job comes again.
    Again(Time),
}

/// Why a job did not end well.
#[derive(Debug)]
pub enum Failure {
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
        match error {
            Error::Unavailable(_) => Self::Retry(error.to_string()),
            other => Self::Fail(other.to_string()),
        }
    }
}

/// Every kind of job: its name in the queue, how often it is tried.
const KINDS: &[(&str, i64)] = &[
    (mail::KIND, 12),
    (password_reset::KIND, 12),
    (sign_in_failure::KIND, 12),
    (removal::KIND, 100),
    (housekeeping::KIND, i64::MAX),
    (sweep::KIND, i64::MAX),
];

/// The kinds that are always in the queue.
const RECURRING: &[&str] = &[housekeeping::KIND, sweep::KIND];

async fn run(ctx: &Ctx, job: &ClaimedJob) -> Result<Outcome, Failure> {
    match job.kind.as_str() {
        mail::KIND => mail::run(ctx, &job.payload).await,
        password_reset::KIND => password_reset::run(ctx, &job.payload).await,
        sign_in_failure::KIND => sign_in_failure::run(ctx, &job.payload).await,
        removal::KIND => removal::run(ctx, &job.payload).await,
        housekeeping::KIND => housekeeping::run(ctx).await,
        sweep::KIND => sweep::run(ctx).await,
        other => Err(Failure::Fail(format!("this version knows no job {other:?}"))),
    }
}

/// Reads a payload that was encrypted, because it tells of somebody.
fn unseal<T: DeserializeOwned>(ctx: &Ctx, kind: &str, payload: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(&ctx.keys.open(kind, payload)?)
        .map_err(|error| Failure::Fail(format!("not a payload of {kind}: {error}")))
}

/// Makes sure that the recurring jobs are in the queue.
pub async fn schedule(ctx: &Ctx) -> Result<(), Error> {
    ctx.work(async |work| {
        for kind in RECURRING {
            work.put_job(kind, None, &[], Some(kind)).await?;
        }
        Ok(())
    })
    .await
}

/// Works until told to stop, then lets the running jobs end.
pub async fn work(ctx: Ctx, mut stop: watch::Receiver<bool>) {
    let owner: Arc<str> = ctx.keys.key_prefix().into();
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    tokio::spawn(relay_wakeups(ctx.clone(), stop.clone()));
    while !*stop.borrow() {
        while running.try_join_next().is_some() {}
        let free = i64::try_from(turns.available_permits()).unwrap_or(1);
        let claimed = if free == 0 { Ok(Vec::new()) } else { claim(&ctx, &owner, free).await };
        match claimed {
            Ok(jobs) if jobs.is_empty() => wait(&ctx, &mut stop, &mut running).await,
            Ok(jobs) => {
                for job in jobs {
                    let (ctx, owner, turns) = (ctx.clone(), Arc::clone(&owner), Arc::clone(&turns));
                    running.spawn(async move {
                        let _turn = turns.acquire_owned().await;
                        perform(&ctx, &owner, job).await;
                    });
                }
                tokio::task::yield_now().await;
            }
            Err(error) => {
                tracing::warn!(%error, "the queue cannot be read");
                wait(&ctx, &mut stop, &mut running).await;
            }
        }
    }
    while running.join_next().await.is_some() {}
}

/// Sleeps until a bell rings, the next job is due, a running job ends, or it is time to look.
async fn wait(ctx: &Ctx, stop: &mut watch::Receiver<bool>, running: &mut JoinSet<()>) {
    let due = ctx.db.read(async |t| jobs::next(t).await).await.ok().flatten();
    let nap = due.map_or(POLL, |at| at.since(ctx.now()).clamp(Duration::from_millis(20), POLL));
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
                    alive = wakeups.next() => if alive { ctx.job_bell.notify_one() } else { break },
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

async fn claim(ctx: &Ctx, owner: &Arc<str>, most: i64) -> Result<Vec<ClaimedJob>, DbError> {
    let (owner, now) = (Arc::clone(owner), ctx.now());
    ctx.db.write(async move |t| jobs::claim(t, &owner, now, now.plus(LEASE), most).await).await
}

/// Runs one claimed job to its end and writes down how it went.
async fn perform(ctx: &Ctx, owner: &Arc<str>, job: ClaimedJob) {
    let id = job.id;
    let keep_lease = async {
        loop {
            tokio::time::sleep(LEASE / 3).await;
            let (owner, until) = (Arc::clone(owner), ctx.now().plus(LEASE));
            // A lease that cannot be extended runs out, and the job is claimed again.
            let _ = ctx.db.write(async move |t| jobs::extend(t, id, &owner, until).await).await;
        }
    };
    let most = tries(&job.kind);
    let guarded = async {
        if job.attempts > most {
            return Err(Failure::Fail("its worker died each time".to_owned()));
        }
        AssertUnwindSafe(run(ctx, &job))
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(Failure::Retry("the job panicked".to_owned())))
    };
    let result = tokio::select! {
        result = guarded => result,
        () = keep_lease => return,
    };
    let owner = Arc::clone(owner);
    let now = ctx.now();
    let attempts = job.attempts;
    let written: Result<(), DbError> = match result {
        Ok(Outcome::Done) => {
            ctx.db.write(async move |t| jobs::complete(t, id, &owner).await.map(|_| ())).await
        }
        Ok(Outcome::Again(at)) => ctx.db.write(async move |t| jobs::retry(t, id, &owner, at, "").await).await,
        Err(Failure::Retry(error)) if attempts < most => {
            tracing::warn!(job = %id, kind = job.kind, %error, attempts, "a job will be tried again");
            let at = now.plus(back_off(attempts));
            ctx.db.write(async move |t| jobs::retry(t, id, &owner, at, &error).await).await
        }
        Err(Failure::Retry(error) | Failure::Fail(error)) => {
            tracing::error!(job = %id, kind = job.kind, %error, attempts, "a job failed for good");
            ctx.db.write(async move |t| jobs::fail(t, id, &owner, &error).await).await
        }
    };
    if let Err(error) = written {
        tracing::warn!(job = %id, %error, "the end of a job was not written down; it will run again");
    }
}

fn tries(kind: &str) -> i64 {
    KINDS.iter().find(|(name, _)| *name == kind).map_or(1, |(_, tries)| *tries)
}

/// 2 s, 4 s, 8 s … at most an hour.
fn back_off(attempts: i64) -> Duration {
    Duration::from_secs(1_u64 << attempts.clamp(1, 11)).min(Duration::from_hours(1))
}

/// Runs every job that is due, in this task, until none is left: what tests do instead of waiting.
pub async fn drain(ctx: &Ctx) -> Result<usize, Error> {
    let owner: Arc<str> = "drain".into();
    let mut count = 0;
    loop {
        let jobs = claim(ctx, &owner, 16).await?;
        if jobs.is_empty() {
            return Ok(count);
        }
        for job in jobs {
            count += 1;
            perform(ctx, &owner, job).await;
        }
    }
}
