//! Password throttling. Failures are counted per account and network, shared by all processes; a correct password
//! never counts. Within a process, attempts for the same account from the same network run one after another, so that
//! concurrent attempts cannot exceed the limit.

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

/// The maximum number of failures per account and network …
const MAX_FAILURES_PER_WINDOW: i64 = 5;
/// … within this time.
const WINDOW: Duration = Duration::from_mins(15);

/// A verified password. The transaction it authorizes clears the failures counted before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifiedPassword(Hash);

impl VerifiedPassword {
    pub(crate) async fn clear(&self, t: &Tx<'_>) -> Result<(), Error> {
        Ok(sign_ins::clear(t, &self.0).await?)
    }
}

/// Verifies a password. `None`: it was incorrect, and the failure was counted in the transaction in which `note` ran.
pub(crate) async fn prove<F, N>(
    ctx: &Ctx,
    account: &str,
    ip: Option<IpAddr>,
    check: F,
    note: N,
) -> Result<Option<VerifiedPassword>, Error>
where
    F: Future<Output = Result<bool, Error>>,
    N: AsyncFn(&Work<'_>) -> Result<(), Error> + Send + Sync + 'static,
{
    let from = ip.map(|ip| network(ip).to_string()).unwrap_or_default();
    let subject = ctx.keys.mac(&[b"sign-in", account.as_bytes(), from.as_bytes()]);
    let turns = ctx.part::<Attempts>().of(subject);
    let result = {
        let _turn = turns.lock().await;
        attempt(ctx, subject, check, note).await
    };
    ctx.part::<Attempts>().defer_to_commit(subject, turns);
    result
}

async fn attempt<F, N>(ctx: &Ctx, subject: Hash, check: F, note: N) -> Result<Option<VerifiedPassword>, Error>
where
    F: Future<Output = Result<bool, Error>>,
    N: AsyncFn(&Work<'_>) -> Result<(), Error> + Send + Sync + 'static,
{
    let now = ctx.now();
    let window = now.minus(WINDOW);
    let failures = ctx.db.read(async move |t| sign_ins::failures(t, &subject, window).await).await?;
    if let Some((count, since)) = failures
        && count >= MAX_FAILURES_PER_WINDOW
    {
        let left = WINDOW.saturating_sub(now.since(since));
        return Err(Error::TooMany {
            message: "Too many wrong passwords for this account from this address; wait and try again, or reset the password.",
            retry_after: left.as_secs().max(1),
        });
    }
    if check.await? {
        return Ok(Some(VerifiedPassword(subject)));
    }
    ctx.work(async move |work| {
        sign_ins::fail(work.t, &subject, now, window).await?;
        note(work).await
    })
    .await?;
    Ok(None)
}

/// The locks that serialize password attempts, by account and network.
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
