//! The job queue: rows are enqueued in the caller's transaction and claimed with a lease.

use attestry_db::{Engine, Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::id::{JobId, OrganizationId};
use futures_util::future::try_join_all;

use crate::sql::{Columns, id, opt_id, time};

/// The condition for a job that is due and not leased.
macro_rules! due {
    ($job:literal, $now:literal) => {
        concat!(
            $job,
            ".state = 'waiting' AND ",
            $job,
            ".run_at <= ",
            $now,
            " AND (",
            $job,
            ".lease_until IS NULL OR ",
            $job,
            ".lease_until < ",
            $now,
            ")"
        )
    };
}

/// Claims the oldest due jobs of one queue.
macro_rules! claim {
    ($whose:literal) => {
        concat!(
            "UPDATE jobs SET lease_owner = $1, lease_until = $2, attempts = attempts + 1 WHERE id IN (SELECT j.id FROM jobs j WHERE j.kind = $5 AND ",
            $whose,
            " AND ",
            due!("j", "$3"),
            " ORDER BY j.run_at, j.id LIMIT $4 FOR UPDATE OF j SKIP LOCKED) RETURNING id, kind, org_id, payload, attempts"
        )
    };
}

statements! {
    ENQUEUE = "INSERT INTO jobs (id, kind, org_id, payload, state, unique_key, run_at, attempts, created_at) VALUES ($1, $2, $3, $4, 'waiting', $5, $6, 0, $7) ON CONFLICT (unique_key) DO NOTHING";
    DUE = concat!("SELECT DISTINCT kind FROM jobs j WHERE ", due!("j", "$1"));
    QUEUES = concat!("SELECT org_id, MIN(run_at), SUM(CASE WHEN ", due!("j", "$2"), " THEN 1 ELSE 0 END), SUM(CASE WHEN j.lease_until >= $2 THEN 1 ELSE 0 END) FROM jobs j WHERE j.kind = $1 AND j.state = 'waiting' AND j.run_at <= $2 GROUP BY j.org_id");
    CLAIM = claim!("j.org_id = $6");
    CLAIM_OWN = claim!("j.org_id IS NULL");
    EXTEND = "UPDATE jobs SET lease_until = $3 WHERE id = $1 AND lease_owner = $2";
    COMPLETE = "DELETE FROM jobs WHERE id = $1 AND lease_owner = $2";
    RETRY = "UPDATE jobs SET run_at = $3, lease_owner = NULL, lease_until = NULL, last_error = $4 WHERE id = $1 AND lease_owner = $2";
    AGAIN = "UPDATE jobs SET run_at = $3, attempts = 0, lease_owner = NULL, lease_until = NULL, last_error = NULL WHERE id = $1 AND lease_owner = $2";
    FAIL = "UPDATE jobs SET state = 'failed', unique_key = NULL, lease_owner = NULL, lease_until = NULL, last_error = $3 WHERE id = $1 AND lease_owner = $2";
    NEXT = "SELECT MIN(CASE WHEN lease_until IS NOT NULL AND lease_until > run_at THEN lease_until ELSE run_at END) FROM jobs WHERE state = 'waiting'";
    COUNTS = "SELECT COUNT(*), SUM(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) FROM jobs";
    PULL_BACK = "UPDATE jobs SET run_at = $1 WHERE state = 'waiting' AND unique_key IS NULL AND run_at > $2";
    PULL_BACK_RECURRING = "UPDATE jobs SET run_at = $2 WHERE state = 'waiting' AND unique_key = $1 AND run_at > $3";
    PULL_BACK_LEASES = "UPDATE jobs SET lease_owner = NULL, lease_until = NULL WHERE lease_until > $2 AND run_at <= $1";
    DELETE_FAILED = "DELETE FROM jobs WHERE state = 'failed' AND created_at < $1";
}

/// Only processes that share a PostgreSQL database can have different clocks.
const POSTGRES_TIME: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/// Returns the database's time; `None` on SQLite, which uses the clock of the process.
pub async fn database_time(t: &Tx<'_>, engine: Engine) -> Result<Option<Time>, Error> {
    match engine {
        Engine::Sqlite => Ok(None),
        Engine::Postgres => t.one(POSTGRES_TIME, &[], |row| row.time(0)).await.map(Some),
    }
}

/// Makes jobs due that are scheduled after `latest`, and returns their number.
pub async fn pull_back(t: &Tx<'_>, now: Time, latest: Time) -> Result<u64, Error> {
    t.execute(PULL_BACK, &[time(now), time(latest)]).await
}

/// Makes a recurring job due if it is scheduled after `latest`.
pub async fn pull_back_recurring(t: &Tx<'_>, key: &str, now: Time, latest: Time) -> Result<u64, Error> {
    t.execute(PULL_BACK_RECURRING, &[Value::from(key), time(now), time(latest)]).await
}

/// Ends leases that expire after `latest`, and returns their number.
pub async fn pull_back_leases(t: &Tx<'_>, now: Time, latest: Time) -> Result<u64, Error> {
    t.execute(PULL_BACK_LEASES, &[time(now), time(latest)]).await
}

/// A job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    pub id: JobId,
    pub kind: &'a str,
    pub organization: Option<OrganizationId>,
    pub payload: &'a [u8],
    /// At most one waiting job has this key: a duplicate is not enqueued.
    pub unique_key: Option<&'a str>,
    pub run_at: Time,
    pub created_at: Time,
}

/// A job that is leased to this worker.
#[derive(Clone, Debug)]
pub struct ClaimedJob {
    pub id: JobId,
    pub kind: String,
    pub organization: Option<OrganizationId>,
    pub payload: Vec<u8>,
    pub attempts: i64,
}

pub async fn enqueue(t: &Tx<'_>, job: &NewJob<'_>) -> Result<(), Error> {
    let params = [
        id(job.id),
        Value::from(job.kind),
        opt_id(job.organization),
        Value::from(job.payload),
        Value::from(job.unique_key),
        time(job.run_at),
        time(job.created_at),
    ];
    t.execute(ENQUEUE, &params).await.map(|_| ())
}

/// Returns the kinds that have a job due.
pub async fn due(t: &Tx<'_>, now: Time) -> Result<Vec<String>, Error> {
    t.all(DUE, &[time(now)], |row| row.text(0)).await
}

/// The limits of a claim.
#[derive(Clone, Copy, Debug)]
pub struct ClaimLimits {
    pub in_all: i64,
    /// Per organization, including jobs that are already leased.
    pub of_one: i64,
}

/// The jobs of one kind and organization.
#[derive(Clone, Copy, Debug)]
struct Queue {
    organization: Option<OrganizationId>,
    /// The due time of the oldest job.
    first: Time,
    due: i64,
    held: i64,
}

/// Distributes the claim over the queues: one job of each organization before a second of any, including leased jobs.
fn shares(queues: Vec<Queue>, most: ClaimLimits) -> Vec<(Queue, i64)> {
    let mut shares: Vec<(Queue, i64)> = queues.into_iter().map(|queue| (queue, 0)).collect();
    for _ in 0..most.in_all {
        let next = shares
            .iter_mut()
            .filter(|(queue, taken)| *taken < queue.due && queue.held + *taken < most.of_one)
            .min_by_key(|(queue, taken)| (queue.held + *taken, queue.first));
        match next {
            Some((_, taken)) => *taken += 1,
            None => break,
        }
    }
    shares.retain(|(_, taken)| *taken > 0);
    shares
}

/// Claims jobs of a kind until `lease_until`.
pub async fn claim(
    t: &Tx<'_>,
    kind: &str,
    lease: &str,
    now: Time,
    lease_until: Time,
    most: ClaimLimits,
) -> Result<Vec<ClaimedJob>, Error> {
    let asked = [Value::from(kind), time(now)];
    let queues = t.all(QUEUES, &asked, |row| {
        let (organization, first) = (row.opt_parse(0)?, row.time(1)?);
        Ok(Queue { organization, first, due: row.int(2)?, held: row.int(3)? })
    });
    let claims = shares(queues.await?, most).into_iter().map(async |(queue, taken)| {
        let mut params =
            vec![Value::from(lease), time(lease_until), time(now), Value::Int(taken), Value::from(kind)];
        params.extend(queue.organization.map(id));
        let sql = if queue.organization.is_some() { CLAIM } else { CLAIM_OWN };
        t.returning(sql, &params, |row| {
            Ok(ClaimedJob {
                id: row.parse(0)?,
                kind: row.text(1)?,
                organization: row.opt_parse(2)?,
                payload: row.bytes(3)?,
                attempts: row.int(4)?,
            })
        })
        .await
    });
    // On PostgreSQL the statements are pipelined.
    Ok(try_join_all(claims).await?.concat())
}

/// Extends the lease of a long job; `false` when it was lost.
pub async fn extend(t: &Tx<'_>, job: JobId, lease: &str, until: Time) -> Result<bool, Error> {
    Ok(t.execute(EXTEND, &[id(job), Value::from(lease), time(until)]).await? > 0)
}

pub async fn complete(t: &Tx<'_>, job: JobId, lease: &str) -> Result<bool, Error> {
    Ok(t.execute(COMPLETE, &[id(job), Value::from(lease)]).await? > 0)
}

pub async fn retry(t: &Tx<'_>, job: JobId, lease: &str, run_at: Time, error: &str) -> Result<bool, Error> {
    Ok(t.execute(RETRY, &[id(job), Value::from(lease), time(run_at), Value::from(error)]).await? > 0)
}

/// Reschedules a job with its attempts reset.
pub async fn again(t: &Tx<'_>, job: JobId, lease: &str, run_at: Time) -> Result<bool, Error> {
    Ok(t.execute(AGAIN, &[id(job), Value::from(lease), time(run_at)]).await? > 0)
}

pub async fn fail(t: &Tx<'_>, job: JobId, lease: &str, error: &str) -> Result<bool, Error> {
    Ok(t.execute(FAIL, &[id(job), Value::from(lease), Value::from(error)]).await? > 0)
}

/// Returns the time at which the next job can be claimed.
pub async fn next(t: &Tx<'_>) -> Result<Option<Time>, Error> {
    t.one(NEXT, &[], |row| row.opt_time(0)).await
}

/// Returns the number of jobs and the number of failed ones.
pub async fn counts(t: &Tx<'_>) -> Result<(i64, i64), Error> {
    t.one(COUNTS, &[], |row| Ok((row.int(0)?, row.opt_int(1)?.unwrap_or(0)))).await
}

pub async fn delete_failed(t: &Tx<'_>, before: Time) -> Result<u64, Error> {
    t.execute(DELETE_FAILED, &[time(before)]).await
}
