//! How entries come into the journal: whoever commits appends those of all bodies of the commit together. For each
//! organization the end of its chain is held once, moved once and signed once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use attestry_db::{Error as DbError, Held, Note, Seal};
use attestry_domain::access::ActorType;
use attestry_domain::automations::{Run, Trigger};
use attestry_domain::canonical::canonical;
use attestry_domain::clock::{Clock, Ids};
use attestry_domain::id::{OrganizationId, RunId};
use attestry_domain::journal::{Entry, GENESIS, Head, sha256};
use attestry_storage::automations::Listener;
use attestry_storage::jobs::{self as queue, NewJob};
use attestry_storage::journal::{self, Last, SignedHead};
use attestry_storage::{Tx, automations, runs};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};

use crate::automations::Place;
use crate::jobs::{AutomationRun, CHANNEL, EventRuns, Job};
use crate::journal::{Entry as Unsealed, Record};
use crate::keys::Keys;
use crate::runs::{ACTOR, CREATED, ENTITY, pending, scope_of};

#[derive(Debug)]
pub(crate) struct Sealer {
    pub(crate) keys: Keys,
    pub(crate) ids: Ids,
    pub(crate) clock: Arc<dyn Clock>,
    /// When a commit started an automation last, in milliseconds; whoever's commit is on disk then rings the bell.
    pub(crate) started: Arc<AtomicI64>,
}

/// An entry as a script sees it.
fn told(entry: &Entry) -> Value {
    let state = entry.state.as_deref().and_then(|state| serde_json::from_str::<Value>(state).ok());
    json!({
        "id": entry.id, "sequence": entry.sequence, "at": entry.at, "action": entry.action,
        "entityType": entry.entity_type, "entityId": entry.entity_id,
        "actor": {"type": entry.actor_type, "id": entry.actor_id, "memberId": entry.member_id}, "state": state,
    })
}

/// The end of a chain that a transaction holds.
struct HeldEnd(OrganizationId, Option<Last>);

impl Seal for Sealer {
    fn hold<'t>(&'t self, t: &'t Tx<'t>, lane: u128) -> BoxFuture<'t, Result<Held, DbError>> {
        let organization = OrganizationId::from_u128(lane);
        async move {
            let end = journal::lock_head(t, organization).await?;
            Ok(Box::new(HeldEnd(organization, end)) as Held)
        }
        .boxed()
    }

    fn seal<'t>(
        &'t self,
        t: &'t Tx<'t>,
        held: Option<Held>,
        notes: Vec<Note>,
    ) -> BoxFuture<'t, Result<(), DbError>> {
        async move {
            let held = held.and_then(|held| held.downcast::<HeldEnd>().ok());
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
                    let started = self.start_automations(t, organization, &sealed).await?;
                    last = self.extend(&mut sealed, organization, last, started).map_err(broken)?;
                }
                let Last { sequence, hash, at, .. } = last;
                let head = Head { organization_id: organization, sequence, hash, at };
                journal::append(t, &sealed, &signed(&self.keys, head).map_err(broken)?).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

fn broken(error: impl std::fmt::Display) -> DbError {
    DbError::Other(format!("the journal cannot be sealed: {error}"))
}

impl Sealer {
    /// Appends entries to those that are sealed already, and says where the chain ends now.
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
                // The clocks of several servers differ; a chain does not run backwards.
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

    /// Puts a run into the queue for each automation that waits for one of these entries. What automations do themselves
    /// starts none. Very many are left to a job, so that nobody waits for them.
    async fn start_automations(
        &self,
        t: &Tx<'_>,
        organization: OrganizationId,
        entries: &[Entry],
    ) -> Result<Vec<Unsealed>, DbError> {
        let listeners = automations::listeners(t, organization).await?;
        let mut started = Vec::new();
        let matches = matches(entries, &listeners);
        if matches.is_empty() {
            return Ok(started);
        }
        if matches.len() > AT_ONCE {
            let (from, to) = (entries.first(), entries.last());
            let (from, to) = (from.map_or(0, |entry| entry.sequence), to.map_or(0, |entry| entry.sequence));
            self.enqueue(t, organization, None, &EventRuns { organization, from, to }).await?;
            self.ring(t).await?;
            return Ok(started);
        }
        for (entry, one) in matches {
            let run = run_of(self.ids.next(), organization, entry, one);
            runs::insert(t, organization, &run).await?;
            let job = AutomationRun { organization, automation: run.automation_id, run: run.id };
            self.enqueue(t, organization, Some(run.id.to_string()), &job).await?;
            let record = Record {
                action: CREATED.into(),
                entity_type: ENTITY.into(),
                entity_id: run.id.to_string(),
                state: Some(canonical(&run).map_err(broken)?),
            };
            let author = (&scope_of(organization, one.automation)).into();
            started.push(Unsealed { author, at: entry.at, record });
        }
        self.ring(t).await?;
        Ok(started)
    }

    async fn enqueue<J: Job>(
        &self,
        t: &Tx<'_>,
        organization: OrganizationId,
        name: Option<String>,
        job: &J,
    ) -> Result<(), DbError> {
        let payload = self.keys.seal(J::KIND, &serde_json::to_vec(job).map_err(broken)?);
        let now = self.clock.now();
        let job = NewJob {
            id: self.ids.next(),
            kind: J::KIND,
            organization: Some(organization),
            payload: &payload.map_err(broken)?,
            unique_key: name.as_deref(),
            run_at: now,
            created_at: now,
        };
        queue::enqueue(t, &job).await
    }

    /// Wakes other processes with the commit, and ours after it.
    async fn ring(&self, t: &Tx<'_>) -> Result<(), DbError> {
        self.started.store(self.clock.now().as_millis(), Ordering::SeqCst);
        t.notify(CHANNEL).await
    }
}

/// How many runs a commit starts itself.
const AT_ONCE: usize = 100;

/// Which entries start which automations.
pub(crate) fn matches<'a>(entries: &'a [Entry], listeners: &'a [Listener]) -> Vec<(&'a Entry, &'a Listener)> {
    let by_automation =
        |entry: &&Entry| entry.actor_type == ActorType::System && entry.actor_id.starts_with(ACTOR);
    let mut all = Vec::new();
    for entry in entries.iter().filter(|entry| !by_automation(entry)) {
        all.extend(listeners.iter().filter(|one| one.action == entry.action).map(|one| (entry, one)));
    }
    all
}

/// The run that an entry starts.
pub(crate) fn run_of(id: RunId, organization: OrganizationId, entry: &Entry, one: &Listener) -> Run {
    let place = Place { task: one.task, automation: one.automation };
    pending(id, organization, place, one.script, Trigger::Event, Some(told(entry)), entry.at)
}

/// A head with our signature.
pub(crate) fn signed(keys: &Keys, head: Head) -> Result<SignedHead, serde_json::Error> {
    let signature = keys.sign(head.message()?.as_bytes());
    Ok(SignedHead { head, signing_key: keys.signer_id().to_owned(), signature })
}
