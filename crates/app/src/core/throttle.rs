//! Proving a password. Failures are counted per account and network, shared by all processes; a right password never
//! counts. In one process the attempts of one account from one network take turns, so that many at once are no way
//! around the limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use attestry_domain::access::network;
use attestry_domain::journal::Hash;
use attestry_storage::{Tx, sign_ins};
use tokio::sync::Mutex as Turns;

use crate::core::change::Work;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// How many failures an account and network may have …
const FAILURES: i64 = 5;
/// … within this time.
const WINDOW: Duration = Duration::from_mins(15);

/// A password that was right: its failures before are forgotten in the transaction of what it was for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof(Hash);

impl Proof {
    pub(crate) async fn clear(&self, t: &Tx<'_>) -> Result<(), Error> {
        Ok(sign_ins::clear(t, &self.0).await?)
    }
}

/// Tries a password. `None`: it was wrong, and that was counted, with whatever `note` writes of it.
pub(crate) async fn prove<F, N>(
    ctx: &Ctx,
    account: &str,
    ip: Option<IpAddr>,
    check: F,
    note: N,
) -> Result<Option<Proof>, Error>
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
    ctx.part::<Attempts>().leave(subject, turns);
    result
}

async fn attempt<F, N>(ctx: &Ctx, subject: Hash, check: F, note: N) -> Result<Option<Proof>, Error>
where
    F: Future<Output = Result<bool, Error>>,
    N: AsyncFn(&Work<'_>) -> Result<(), Error> + Send + Sync + 'static,
{
    let now = ctx.now();
    let window = now.minus(WINDOW);
    let failures = ctx.db.read(async move |t| sign_ins::failures(t, &subject, window).await).await?;
    if let Some((count, since)) = failures
        && count >= FAILURES
    {
        let left = WINDOW.saturating_sub(now.since(since));
        return Err(Error::TooMany {
            message: "Too many wrong passwords for this account from this address; wait and try again, or reset the password.",
            retry_after: left.as_secs().max(1),
        });
    }
    if check.await? {
        return Ok(Some(Proof(subject)));
    }
    ctx.work(async move |work| {
        sign_ins::fail(work.t, &subject, now, window).await?;
        note(work).await
    })
    .await?;
    Ok(None)
}

/// Who is proving a password at the moment.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<Hash, Arc<Turns<()>>>>);

impl Attempts {
    pub(crate) fn of(&self, subject: Hash) -> Arc<Turns<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(subject).or_default())
    }

    /// Forgets a subject that nobody else is waiting for.
    pub(crate) fn leave(&self, subject: Hash, turns: Arc<Turns<()>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turns);
        if all.get(&subject).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            all.remove(&subject);
        }
    }
}
