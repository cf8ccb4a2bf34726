//! Failed sign-ins, counted per account and address, shared by all processes.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::hash::Hash;

use crate::sql::{Columns, time};

statements! {
    FAIL = "INSERT INTO sign_in_failures (subject, failures, since) VALUES ($1, 1, $2) ON CONFLICT (subject) DO UPDATE SET failures = CASE WHEN sign_in_failures.since > $3 THEN sign_in_failures.failures + 1 ELSE 1 END, since = CASE WHEN sign_in_failures.since > $3 THEN sign_in_failures.since ELSE $2 END";
    GET = "SELECT failures, since FROM sign_in_failures WHERE subject = $1 AND since > $2";
    CLEAR = "DELETE FROM sign_in_failures WHERE subject = $1";
    DELETE_EXPIRED = "DELETE FROM sign_in_failures WHERE since < $1";
}

/// Counts a failure.
pub async fn fail(t: &Tx<'_>, subject: &Hash, now: Time, window: Time) -> Result<(), Error> {
    t.execute(FAIL, &[Value::from(subject), time(now), time(window)]).await.map(|_| ())
}

/// Returns the number of failures in the current window and the time of the first.
pub async fn failures(t: &Tx<'_>, subject: &Hash, window: Time) -> Result<Option<(i64, Time)>, Error> {
    t.opt(GET, &[Value::from(subject), time(window)], |row| Ok((row.int(0)?, row.time(1)?))).await
}

pub async fn clear(t: &Tx<'_>, subject: &Hash) -> Result<(), Error> {
    t.execute(CLEAR, &[Value::from(subject)]).await.map(|_| ())
}

pub async fn delete_expired(t: &Tx<'_>, before: Time) -> Result<u64, Error> {
    t.execute(DELETE_EXPIRED, &[time(before)]).await
}
