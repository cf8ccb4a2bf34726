//! What happens starts the automations that wait for it, in the transaction in which it happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use attestry_domain::Time;
use attestry_domain::access::ActorType;
use attestry_domain::automations::{Run, Trigger};
use attestry_domain::clock::{Clock, Ids};
use attestry_domain::id::{OrganizationId, RunId};
use attestry_domain::journal::Entry;
use attestry_storage::automations::Listener;
use attestry_storage::jobs::{self as queue, NewJob};
use attestry_storage::{Tx, automations, runs};
use serde_json::{Value, json};

use crate::automations::Place;
use crate::error::Error;
use crate::jobs::{AutomationRun, CHANNEL, EventRuns, Job};
use crate::journal::Entry as Unsealed;
use crate::keys::Keys;
use crate::runs::{ACTOR, created, pending, scope_of};

/// How many runs a commit starts itself. More are left to a job, so that nobody waits for them.
const AT_ONCE: usize = 100;

/// Sees what comes into the journal. It works beside every change, so it has no change of its own to work with.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) keys: Keys,
    pub(crate) ids: Ids,
    pub(crate) clock: Arc<dyn Clock>,
    /// When automations were started last, in milliseconds.
    pub(crate) started: Arc<AtomicI64>,
}

/// Whether a commit of the last moments may have started automations: whoever's commit is on disk then rings the bell.
pub(crate) fn were_started(started: &AtomicI64, now: Time) -> bool {
    now.as_millis().saturating_sub(started.load(Ordering::SeqCst)) < 2000
}

impl Events {
    /// Puts a run into the queue for each automation that waits for one of these entries; answers the entries about the
    /// runs.
    pub(crate) async fn start(
        &self,
        t: &Tx<'_>,
        organization: OrganizationId,
        entries: &[Entry],
    ) -> Result<Vec<Unsealed>, Error> {
        let listeners = automations::listeners(t, organization).await?;
        let (mut started, matches) = (Vec::new(), matches(entries, &listeners));
        if let (Some(first), Some(last)) = (entries.first(), entries.last())
            && matches.len() > AT_ONCE
        {
            let job = EventRuns { organization, from: first.sequence, to: last.sequence };
            self.enqueue(t, organization, None, &job).await?;
        } else {
            for (entry, one) in &matches {
                let run = run_of(self.ids.next(), organization, entry, one);
                runs::insert(t, organization, &run).await?;
                self.enqueue(t, organization, Some(run.id.to_string()), &AutomationRun::of(&run)).await?;
                let author = (&scope_of(organization, run.automation_id)).into();
                started.push(Unsealed { author, at: entry.at, record: created(&run)? });
            }
        }
        if !matches.is_empty() {
            self.started.store(self.clock.now().as_millis(), Ordering::SeqCst);
            t.notify(CHANNEL).await?;
        }
        Ok(started)
    }

    async fn enqueue<J: Job>(
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
        Ok(queue::enqueue(t, &job).await?)
    }
}

/// Which entries start which automations. What automations do themselves starts none.
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

/// An entry as a script sees it.
fn told(entry: &Entry) -> Value {
    let state = entry.state.as_deref().and_then(|state| serde_json::from_str::<Value>(state).ok());
    json!({
        "id": entry.id, "sequence": entry.sequence, "at": entry.at, "action": entry.action,
        "entityType": entry.entity_type, "entityId": entry.entity_id,
        "actor": {"type": entry.actor_type, "id": entry.actor_id, "memberId": entry.member_id}, "state": state,
    })
}
