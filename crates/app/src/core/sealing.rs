//! Sealing: each commit appends the journal entries of all its bodies to the chains. For each organization the head
//! is locked once, advanced once and signed once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use attestry_db::{CommitRecord, Error as DbError, LaneLock, Seal, Statement};
use attestry_domain::Time;
use attestry_domain::clock::{Clock, Ids};
use attestry_domain::hash::sha256;
use attestry_domain::id::OrganizationId;
use attestry_domain::journal::{Entry, GENESIS, Head};
use attestry_storage::Tx;
use attestry_storage::jobs::{self as rows, NewJob};
use attestry_storage::journal::{self, Last, SignedHead};
use attestry_storage::registers::LastNumber;
use futures_util::future::{BoxFuture, FutureExt};

use crate::core::error::Error;
use crate::core::journal::{Entry as Unsealed, Record};
use crate::core::keys::Keys;
use crate::core::queue::{CHANNEL, Job};

/// Processes the sealed entries of an organization that has listeners, and returns the entries that follow from them.
pub(crate) type Follow = for<'t> fn(
    &'t Sealer,
    &'t Tx<'t>,
    OrganizationId,
    &'t [Entry],
) -> BoxFuture<'t, Result<Vec<Unsealed>, Error>>;

/// Seals the journal entries of each commit. It runs at commit time, outside of any change, so it cannot use the
/// methods of one.
#[derive(Debug)]
pub(crate) struct Sealer {
    pub(crate) keys: Keys,
    pub(crate) ids: Ids,
    pub(crate) clock: Arc<dyn Clock>,
    /// Time at which jobs were last enqueued, in milliseconds.
    pub(crate) jobs_at: Arc<AtomicI64>,
    pub(crate) follow: Follow,
}

/// Returns true if a commit may have enqueued jobs in the last two seconds; the caller then wakes the workers.
pub(crate) fn has_enqueued(jobs_at: &AtomicI64, now: Time) -> bool {
    now.as_millis().saturating_sub(jobs_at.load(Ordering::SeqCst)) < 2000
}

/// The head of an organization's chain, locked by the transaction.
struct HeldEnd(OrganizationId, Option<Last>);

impl Seal for Sealer {
    fn hold<'t>(&'t self, t: &'t Tx<'t>, lane: u128) -> BoxFuture<'t, Result<LaneLock, DbError>> {
        let organization = OrganizationId::from_u128(lane);
        async move {
            let end = journal::lock_head(t, organization).await?;
            Ok(Box::new(HeldEnd(organization, end)) as LaneLock)
        }
        .boxed()
    }

    fn seal<'t>(
        &'t self,
        t: &'t Tx<'t>,
        held: Option<LaneLock>,
        notes: Vec<CommitRecord>,
    ) -> BoxFuture<'t, Result<Vec<Statement>, DbError>> {
        async move {
            let held = held.and_then(|held| held.downcast::<HeldEnd>().ok());
            let numbers = notes.iter().filter_map(|note| note.downcast_ref::<LastNumber>());
            let mut statements = LastNumber::statements(numbers.copied());
            let mut chains: BTreeMap<OrganizationId, Vec<Unsealed>> = BTreeMap::new();
            for note in notes {
                if let Ok(entry) = note.downcast::<Unsealed>() {
                    chains.entry(entry.author.organization).or_default().push(*entry);
                }
            }
            for (organization, entries) in chains {
                let end = match held.as_deref() {
                    Some(HeldEnd(own, Some(end))) if *own == organization => Some(*end),
                    _ => journal::lock_head(t, organization).await?,
                };
                let end = end.ok_or_else(|| DbError::Other(format!("{organization} has no journal")))?;
                let mut sealed = Vec::with_capacity(entries.len());
                let mut last = self.extend(&mut sealed, organization, end, entries).map_err(broken)?;
                if end.listens {
                    let started = (self.follow)(self, t, organization, &sealed).await.map_err(broken)?;
                    last = self.extend(&mut sealed, organization, last, started).map_err(broken)?;
                }
                let Last { sequence, hash, at, .. } = last;
                let head = Head { organization_id: organization, sequence, hash, at };
                statements.extend(journal::append(sealed, signed(&self.keys, head).map_err(broken)?));
            }
            Ok(statements)
        }
        .boxed()
    }
}

fn broken(error: impl std::fmt::Display) -> DbError {
    DbError::Other(format!("the journal cannot be sealed: {error}"))
}

impl Sealer {
    /// Enqueues a job in the transaction that is being sealed.
    pub(crate) async fn enqueue<J: Job>(
        &self,
        t: &Tx<'_>,
        organization: OrganizationId,
        name: Option<String>,
        job: &J,
    ) -> Result<(), Error> {
        let payload = self.keys.seal(J::KIND, &serde_json::to_vec(job)?)?;
        let now = self.clock.now();
        let job = NewJob {
            id: self.ids.next(),
            kind: J::KIND,
            organization: Some(organization),
            payload: &payload,
            unique_key: name.as_deref(),
            run_at: now,
            created_at: now,
        };
        Ok(rows::enqueue(t, &job).await?)
    }

    /// Wakes the workers when the transaction commits.
    pub(crate) async fn wake_workers(&self, t: &Tx<'_>) -> Result<(), Error> {
        self.jobs_at.store(self.clock.now().as_millis(), Ordering::SeqCst);
        Ok(t.notify(CHANNEL).await?)
    }

    /// Seals entries, appends them to `sealed`, and returns the new end of the chain.
    fn extend(
        &self,
        sealed: &mut Vec<Entry>,
        organization: OrganizationId,
        mut last: Last,
        entries: Vec<Unsealed>,
    ) -> Result<Last, serde_json::Error> {
        for Unsealed { author, at, record } in entries {
            let Record { action, entity_type, entity_id, state } = record;
            let mut entry = Entry {
                id: self.ids.next(),
                organization_id: organization,
                sequence: last.sequence + 1,
                // The clocks of several servers differ; timestamps in a chain never decrease.
                at: at.max(last.at),
                actor_type: author.actor_type,
                actor_id: author.actor_id,
                member_id: author.member,
                auth_type: author.auth_type,
                action: action.into_owned(),
                entity_type: entity_type.into_owned(),
                entity_id,
                state_hash: state.as_ref().map(|state| sha256(state.as_bytes())),
                state,
                request_id: author.request_id,
                ip: author.ip.map(|ip| ip.to_string()),
                hash: GENESIS,
            };
            entry.hash = entry.seal(&last.hash)?;
            last = Last { sequence: entry.sequence, hash: entry.hash, at: entry.at, ..last };
            sealed.push(entry);
        }
        Ok(last)
    }
}

/// Starts the chain of a new organization.
pub(crate) async fn begin(
    t: &Tx<'_>,
    keys: &Keys,
    organization: OrganizationId,
    at: Time,
) -> Result<(), Error> {
    let head = Head { organization_id: organization, sequence: 0, hash: GENESIS, at };
    Ok(journal::new_head(t, signed(keys, head)?).await?)
}

/// Signs a head with the installation's key.
fn signed(keys: &Keys, head: Head) -> Result<SignedHead, serde_json::Error> {
    let signature = keys.sign(head.message()?.as_bytes());
    Ok(SignedHead { head, signing_key: keys.signer_id().to_owned(), signature })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_the_last_two_seconds_wake_the_workers() {
        let at = |now| Time::from_millis(now);
        let never = AtomicI64::new(i64::MIN);
        assert!(!has_enqueued(&never, at(0)) && !has_enqueued(&never, at(i64::MAX)));
        let jobs_at = AtomicI64::new(10_000);
        assert!(has_enqueued(&jobs_at, at(10_000)) && has_enqueued(&jobs_at, at(11_999)));
        assert!(!has_enqueued(&jobs_at, at(12_000)));
        assert!(has_enqueued(&jobs_at, at(9_000)), "the clock stepped back");
    }
}
