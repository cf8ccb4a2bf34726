//! The queue: rows enqueued in the caller's transaction, claimed with a lease.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::id::{JobId, OrganizationId};

use crate::sql::{Columns, id, opt_id, time};

statements! {
    ENQUEUE = "INSERT INTO jobs (id, kind, org_id, payload, state, unique_key, run_at, attempts, created_at) VALUES ($1, $2, $3, $4, 'waiting', $5, $6, 0, $7) ON CONFLICT (unique_key) DO NOTHING";
    CLAIM = "UPDATE jobs SET lease_owner = $1, lease_until = $2, attempts = attempts + 1 WHERE id IN (SELECT id FROM jobs WHERE state = 'waiting' AND run_at <= $3 AND (lease_until IS NULL OR lease_until < $3) ORDER BY run_at, id LIMIT $4 FOR UPDATE SKIP LOCKED) RETURNING id, kind, org_id, payload, attempts";
    EXTEND = "UPDATE jobs SET lease_until = $3 WHERE id = $1 AND lease_owner = $2";
    COMPLETE = "DELETE FROM jobs WHERE id = $1 AND lease_owner = $2";
    RETRY = "UPDATE jobs SET run_at = $3, lease_owner = NULL, lease_until = NULL, last_error = $4 WHERE id = $1 AND lease_owner = $2";
    FAIL = "UPDATE jobs SET state = 'failed', unique_key = NULL, lease_owner = NULL, lease_until = NULL, last_error = $3 WHERE id = $1 AND lease_owner = $2";
    NEXT = "SELECT MIN(CASE WHEN lease_until IS NOT NULL AND lease_until > run_at THEN lease_until ELSE run_at END) FROM jobs WHERE state = 'waiting'";
    COUNTS = "SELECT COUNT(*), SUM(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) FROM jobs";
    DELETE_FAILED = "DELETE FROM jobs WHERE state = 'failed' AND created_at < $1";
}

/// A job to be done.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    pub id: JobId,
    pub kind: &'a str,
    pub organization: Option<OrganizationId>,
    pub payload: &'a [u8],
    /// At most one waiting job has this key: a second one is the same job.
    pub unique_key: Option<&'a str>,
    pub run_at: Time,
    pub created_at: Time,
}

/// A job that is ours until its lease ends.
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

pub async fn claim(
    t: &Tx<'_>,
    owner: &str,
    now: Time,
    lease_until: Time,
    most: i64,
) -> Result<Vec<ClaimedJob>, Error> {
    t.all(CLAIM, &[Value::from(owner), time(lease_until), time(now), Value::Int(most)], |row| {
        Ok(ClaimedJob {
            id: row.parse(0)?,
            kind: row.text(1)?,
            organization: row.opt_parse(2)?,
            payload: row.bytes(3)?,
            attempts: row.int(4)?,
        })
    })
    .await
}

/// Keeps a long job ours; `false` when it no longer is.
pub async fn extend(t: &Tx<'_>, job: JobId, owner: &str, until: Time) -> Result<bool, Error> {
    Ok(t.execute(EXTEND, &[id(job), Value::from(owner), time(until)]).await? > 0)
}

pub async fn complete(t: &Tx<'_>, job: JobId, owner: &str) -> Result<bool, Error> {
    Ok(t.execute(COMPLETE, &[id(job), Value::from(owner)]).await? > 0)
}

pub async fn retry(t: &Tx<'_>, job: JobId, owner: &str, run_at: Time, error: &str) -> Result<(), Error> {
    t.execute(RETRY, &[id(job), Value::from(owner), time(run_at), Value::from(error)]).await.map(|_| ())
}

pub async fn fail(t: &Tx<'_>, job: JobId, owner: &str, error: &str) -> Result<(), Error> {
    t.execute(FAIL, &[id(job), Value::from(owner), Value::from(error)]).await.map(|_| ())
}

/// When the next job can be claimed.
pub async fn next(t: &Tx<'_>) -> Result<Option<Time>, Error> {
    t.one(NEXT, &[], |row| row.opt_time(0)).await
}

/// How many jobs there are, and how many of them failed for good.
pub async fn counts(t: &Tx<'_>) -> Result<(i64, i64), Error> {
    t.one(COUNTS, &[], |row| Ok((row.int(0)?, row.opt_int(1)?.unwrap_or(0)))).await
}

pub async fn delete_failed(t: &Tx<'_>, before: Time) -> Result<u64, Error> {
    t.execute(DELETE_FAILED, &[time(before)]).await
}
