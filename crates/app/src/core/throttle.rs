//! Throttling of guesses. Failures are counted per account, for passwords also per network, and shared by all processes;
//! a correct guess never counts. Within a process, attempts on the same subject run one after another, so that concurrent
//! attempts cannot exceed the limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use attestry_domain::access::network;
use attestry_domain::hash::Hash;
use attestry_storage::{Tx, sign_ins};
use tokio::sync::Mutex as Turns;

use crate::core::change::Work;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// A limit of failures.
#[derive(Debug)]
pub(crate) struct Limit {
    name: &'static str,
    /// The maximum number of failures within the window.
    pub(crate) failures: i64,
    window: Duration,
    message: &'static str,
}

/// Passwords, per account and network: nobody can lock another user out from elsewhere.
pub(crate) const PASSWORDS: Limit = Limit {
    name: "sign-in",
    failures: 5,
    window: Duration::from_mins(15),
    message: "Too many wrong passwords for this account from this address; wait and try again, or reset the password.",
};

/// Codes of a second factor, per account: only callers with its password reach them.
pub(crate) const CODES: Limit = Limit {
    name: "second factor",
    failures: 10,
    window: Duration::from_hours(1),
    message: "Too many wrong codes for this account; wait and try again.",
};

/// A verified guess. The transaction it authorizes clears the failures counted before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verified(Hash);

impl Verified {
    pub(crate) async fn clear(&self, t: &Tx<'_>) -> Result<(), Error> {
        Ok(sign_ins::clear(t, &self.0).await?)
    }
}

/// Verifies a guess. `None`: it was incorrect, and the failure was counted in the transaction in which `note` ran with
/// the number of failures in the window.
pub(crate) async fn prove<F, N>(
    ctx: &Ctx,
    limit: &'static Limit,
    account: &str,
    ip: Option<IpAddr>,
    check: F,
    note: N,
) -> Result<Option<Verified>, Error>
where
    F: Future<Output = Result<bool, Error>>,
    N: AsyncFn(&Work<'_>, i64) -> Result<(), Error> + Send + Sync + 'static,
{
    let from = ip.map(|ip| network(ip).to_string()).unwrap_or_default();
    let subject = ctx.keys.mac(&[limit.name.as_bytes(), account.as_bytes(), from.as_bytes()]);
    let turns = ctx.part::<Attempts>().of(subject);
    let result = {
        let _turn = turns.lock().await;
        attempt(ctx, limit, subject, check, note).await
    };
    ctx.part::<Attempts>().defer_to_commit(subject, turns);
    result
}

async fn attempt<F, N>(
    ctx: &Ctx,
    limit: &'static Limit,
    subject: Hash,
    check: F,
    note: N,
) -> Result<Option<Verified>, Error>
where
    F: Future<Output = Result<bool, Error>>,
    N: AsyncFn(&Work<'_>, i64) -> Result<(), Error> + Send + Sync + 'static,
{
    let now = ctx.now();
    let window = now.minus(limit.window);
    let failures = ctx.db.read(async move |t| sign_ins::failures(t, &subject, window).await).await?;
    if let Some((count, since)) = failures
        && count >= limit.failures
    {
        let left = limit.window.saturating_sub(now.since(since));
        return Err(Error::TooMany { message: limit.message, retry_after: left.as_secs().max(1) });
    }
    if check.await? {
        return Ok(Some(Verified(subject)));
    }
    ctx.work(async move |work| {
        sign_ins::fail(work.t, &subject, now, window).await?;
        let failures = sign_ins::failures(work.t, &subject, window).await?.map_or(0, |(count, _)| count);
        note(work, failures).await
    })
    .await?;
    Ok(None)
}

/// The locks that serialize attempts, by subject.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<Hash, Arc<Turns<()>>>>);

impl Attempts {
    pub(crate) fn of(&self, subject: Hash) -> Arc<Turns<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(subject).or_default())
    }

    /// Removes the lock of a subject that no other attempt waits for.
    pub(crate) fn defer_to_commit(&self, subject: Hash, turns: Arc<Turns<()>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turns);
        if all.get(&subject).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            all.remove(&subject);
        }
    }
}
