//! Claims of `Idempotency-Key`s. A claim is made before the work (`running`), settled in the transaction of the
//! change (`applied`), and completed with the response (`answered`).

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Claim;
use attestry_domain::hash::Hash;

use crate::sql::{Columns, time};

statements! {
    TAKE = "INSERT INTO idempotency_keys (claim, fingerprint, state, created_at, locked_until, holder) VALUES ($1, $2, 'running', $3, $4, $6) ON CONFLICT (claim) DO UPDATE SET fingerprint = $2, state = 'running', answer = NULL, created_at = $3, locked_until = $4, holder = $6 WHERE idempotency_keys.created_at < $5 OR (idempotency_keys.state = 'running' AND idempotency_keys.locked_until < $3 AND idempotency_keys.fingerprint = $2) RETURNING claim";
    GET = "SELECT fingerprint, state, answer, locked_until FROM idempotency_keys WHERE claim = $1";
    APPLY = "UPDATE idempotency_keys SET state = 'applied' WHERE claim = $1 AND holder = $2 AND state = 'running'";
    ANSWER = "UPDATE idempotency_keys SET state = 'answered', answer = $3 WHERE claim = $1 AND holder = $2";
    RELEASE = "DELETE FROM idempotency_keys WHERE claim = $1 AND holder = $2 AND state = 'running'";
    LOSE = "UPDATE idempotency_keys SET locked_until = 0 WHERE claim = $1 AND holder = $2 AND state = 'applied'";
    DELETE_EXPIRED = "DELETE FROM idempotency_keys WHERE created_at < $1";
}

/// The state of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Running,
    /// The change is committed; its response is pending until `locked_until`, and lost after.
    Applied {
        locked_until: Time,
    },
    Answered(Vec<u8>),
}

/// Acquires the claim; `false` when another request has it. A claim older than `expired`, or one whose holder died
/// before it changed anything, can be taken over.
pub async fn take(
    t: &Tx<'_>,
    claim: &Claim,
    fingerprint: &Hash,
    now: Time,
    locked_until: Time,
    expired: Time,
) -> Result<bool, Error> {
    let params = [
        Value::from(&claim.name),
        Value::from(fingerprint),
        time(now),
        time(locked_until),
        time(expired),
        Value::from(&claim.holder),
    ];
    Ok(!t.returning(TAKE, &params, |_| Ok(())).await?.is_empty())
}

pub async fn get(t: &Tx<'_>, claim: &str) -> Result<Option<(Hash, Standing)>, Error> {
    t.opt(GET, &[Value::from(claim)], |row| {
        let state = match (row.str(1)?, row.opt_bytes(2)?) {
            ("answered", Some(answer)) => Standing::Answered(answer),
            ("running", _) => Standing::Running,
            _ => Standing::Applied { locked_until: row.time(3)? },
        };
        Ok((row.hash(0)?, state))
    })
    .await
}

/// Settles the claim in the transaction of the change; `false` when it is no longer ours.
pub async fn apply(t: &Tx<'_>, claim: &Claim) -> Result<bool, Error> {
    Ok(t.execute(APPLY, &[Value::from(&claim.name), Value::from(&claim.holder)]).await? > 0)
}

pub async fn answer(t: &Tx<'_>, claim: &Claim, answer: &[u8]) -> Result<(), Error> {
    let params = [Value::from(&claim.name), Value::from(&claim.holder), Value::from(answer)];
    t.execute(ANSWER, &params).await.map(|_| ())
}

/// Releases the claim if nothing was changed; otherwise marks its response as lost. A commit in progress locks the
/// row, so this waits for its outcome.
pub async fn release(t: &Tx<'_>, claim: &Claim) -> Result<(), Error> {
    let own = [Value::from(&claim.name), Value::from(&claim.holder)];
    if t.execute(RELEASE, &own).await? == 0 {
        t.execute(LOSE, &own).await?;
    }
    Ok(())
}

pub async fn delete_expired(t: &Tx<'_>, before: Time) -> Result<u64, Error> {
    t.execute(DELETE_EXPIRED, &[time(before)]).await
}
