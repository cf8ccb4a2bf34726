//! Starts the automations that listen for an event, in the transaction that records the event.

use attestry_domain::access::ActorType;
use attestry_domain::automations::{Run, Trigger};
use attestry_domain::id::{OrganizationId, RunId};
use attestry_domain::journal::Entry;
use attestry_storage::automations::Listener;
use attestry_storage::{Tx, automations, runs};
use serde_json::{Value, json};

use crate::automations::AutomationRef;
use crate::automations::automation_run::AutomationRun;
use crate::automations::event_runs::EventRuns;
use crate::automations::runs::{ACTOR, created, pending, scope_of};
use crate::core::error::Error;
use crate::core::journal::Entry as Unsealed;
use crate::core::sealing::Sealer;

/// The maximum number of runs that a commit starts itself. If there are more, a job starts all of them, so that the
/// commit does not wait.
const MAX_RUNS_PER_COMMIT: usize = 100;

/// Enqueues a run for each automation that listens for one of these entries; returns the entries about the runs.
pub(crate) async fn start(
    sealer: &Sealer,
    t: &Tx<'_>,
    organization: OrganizationId,
    entries: &[Entry],
) -> Result<Vec<Unsealed>, Error> {
    let listeners = automations::listeners(t, organization).await?;
    let (mut started, matches) = (Vec::new(), matches(entries, &listeners));
    if let (Some(first), Some(last)) = (entries.first(), entries.last())
        && matches.len() > MAX_RUNS_PER_COMMIT
    {
        let job = EventRuns { organization, from: first.sequence, to: last.sequence };
        sealer.enqueue(t, organization, None, &job).await?;
    } else {
        for (entry, one) in &matches {
            let run = run_of(sealer.ids.next(), organization, entry, one);
            runs::insert(t, organization, &run).await?;
            sealer.enqueue(t, organization, Some(run.id.to_string()), &AutomationRun::of(&run)).await?;
            let author = (&scope_of(organization, run.automation_id)).into();
            started.push(Unsealed { author, at: entry.at, record: created(&run)? });
        }
    }
    if !matches.is_empty() {
        sealer.wake_workers(t).await?;
    }
    Ok(started)
}

/// Pairs entries with the automations they start. Entries made by automations start none.
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
    let place = AutomationRef { task: one.task, automation: one.automation };
    pending(id, organization, place, one.script, Trigger::Event, Some(told(entry)), entry.at)
}

/// The payload that a script receives for an entry.
fn told(entry: &Entry) -> Value {
    let state = entry.state.as_deref().and_then(|state| serde_json::from_str::<Value>(state).ok());
    json!({
        "id": entry.id, "sequence": entry.sequence, "at": entry.at, "action": entry.action,
        "entityType": entry.entity_type, "entityId": entry.entity_id,
        "actor": {"type": entry.actor_type, "id": entry.actor_id, "memberId": entry.member_id}, "state": state,
    })
}

#[cfg(test)]
mod tests {
    use attestry_domain::Time;
    use attestry_domain::id::{AutomationId, EntryId, TaskId};
    use attestry_domain::journal::GENESIS;

    use super::*;

    fn entry(action: &str, actor_type: ActorType, actor_id: &str) -> Entry {
        Entry {
            id: EntryId::from_u128(1),
            organization_id: OrganizationId::from_u128(2),
            sequence: 1,
            at: Time::from_millis(0),
            actor_type,
            actor_id: actor_id.to_owned(),
            member_id: None,
            auth_type: None,
            action: action.to_owned(),
            entity_type: "risk".to_owned(),
            entity_id: "rsk_1".to_owned(),
            state: None,
            state_hash: None,
            request_id: "request".to_owned(),
            ip: None,
            hash: GENESIS,
        }
    }

    fn listener(action: &str, number: u128) -> Listener {
        let (automation, task) = (AutomationId::from_u128(number), TaskId::from_u128(number));
        Listener { action: action.to_owned(), automation, task, script: 1 }
    }

    #[test]
    fn entries_of_automations_start_no_automation() {
        let listeners =
            [listener("risk.created", 1), listener("risk.deleted", 2), listener("risk.created", 3)];
        let started = |entry: Entry| -> Vec<u128> {
            matches(&[entry], &listeners).iter().map(|(_, one)| one.task.as_u128()).collect()
        };
        assert_eq!(started(entry("risk.created", ActorType::Member, "mem_1")), [1, 3]);
        assert_eq!(started(entry("risk.created", ActorType::System, "an import")), [1, 3]);
        assert_eq!(started(entry("risk.created", ActorType::Key, "automation 1")), [1, 3], "only a name");
        assert!(started(entry("risk.created", ActorType::System, &format!("{ACTOR}auto_1"))).is_empty());
        assert!(started(entry("risk.updated", ActorType::Member, "mem_1")).is_empty());
    }

    #[test]
    fn script_receives_the_state_if_there_is_one() {
        let deleted = entry("risk.deleted", ActorType::Member, "mem_1");
        assert_eq!(told(&deleted)["state"], Value::Null);
        let created = Entry { state: Some(r#"{"title":"A"}"#.to_owned()), ..deleted };
        assert_eq!(told(&created)["state"]["title"], "A");
    }
}
