//! Refusals in the journal. The first refusal of a credential is written immediately; further ones are counted and
//! written as one entry a minute, so that a client cannot flood the journal with refused requests.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Actor, Credential};
use attestry_domain::id::OrganizationId;
use attestry_domain::journal::canonical::canonical;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::journal::Record;

/// The time for which refusals of a credential are counted before they are written.
const WINDOW: Duration = Duration::from_mins(1);
/// The interval at which expired windows are written.
const TICK: Duration = Duration::from_secs(5);
/// The maximum number of operations that an entry names.
const MAX_OPERATIONS: usize = 20;

/// A refused request.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    pub code: &'static str,
    pub operation: String,
    pub target: String,
}

/// The refusals that are counted and not yet written.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<HashMap<Key, Window>>);

/// The organization is part of the key because a session acts in several organizations, each with its own journal.
type Key = (OrganizationId, Credential);

fn key(actor: &Actor) -> Key {
    (actor.principal.organization, actor.principal.credential)
}

/// The refusals of a credential since its last entry.
#[derive(Clone, Debug)]
struct Window {
    since: Time,
    count: u64,
    /// The latest refusal.
    last: Option<(Actor, Refusal)>,
    operations: BTreeMap<String, u64>,
}

impl Window {
    fn new(since: Time) -> Self {
        Self { since, count: 0, last: None, operations: BTreeMap::new() }
    }

    fn add(&mut self, actor: &Actor, refusal: Refusal) {
        self.count += 1;
        let is_named = self.operations.contains_key(&refusal.operation);
        if is_named || self.operations.len() < MAX_OPERATIONS {
            *self.operations.entry(refusal.operation.clone()).or_default() += 1;
        }
        self.last = Some((actor.clone(), refusal));
    }
}

/// The state of an entry about several refusals: the latest one, and their number.
#[derive(Serialize)]
struct Counted<'a> {
    #[serde(flatten)]
    last: &'a Refusal,
    count: u64,
    since: Time,
    operations: &'a BTreeMap<String, u64>,
}

impl Refusals {
    fn windows(&self) -> MutexGuard<'_, HashMap<Key, Window>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refusal, unless it is the first.
    fn is_counted(&self, actor: &Actor, refusal: &Refusal, now: Time) -> bool {
        let mut windows = self.windows();
        let Some(window) = windows.get_mut(&key(actor)) else {
            windows.insert(key(actor), Window::new(now));
            return false;
        };
        window.add(actor, refusal.clone());
        true
    }

    /// Puts back a window that could not be written, to be written with the next one.
    fn put_back(&self, actor: &Actor, over: Window) {
        let mut windows = self.windows();
        let window = windows.entry(key(actor)).or_insert_with(|| Window::new(over.since));
        window.since = over.since;
        window.count += over.count;
        window.last = window.last.take().or(over.last);
        for (operation, count) in over.operations {
            *window.operations.entry(operation).or_default() += count;
        }
    }

    /// Removes and returns the windows to write. A credential that was refused in its window gets a new one.
    fn take(&self, now: Time, takes_all: bool) -> Vec<Window> {
        let mut taken = Vec::new();
        self.windows().retain(|_, window| {
            if !takes_all && now.since(window.since) < WINDOW {
                return true;
            }
            let over = std::mem::replace(window, Window::new(now));
            let was_refused = over.count > 0;
            taken.extend(was_refused.then_some(over));
            was_refused && !takes_all
        });
        taken
    }
}

/// Records that an authenticated actor was refused.
#[boxed]
pub async fn record(ctx: &Ctx, actor: &Actor, refusal: Refusal) -> Result<(), Error> {
    if ctx.part::<Refusals>().is_counted(actor, &refusal, ctx.now()) {
        return Ok(());
    }
    let state = canonical(&refusal)?;
    write(ctx, actor, &refusal, state).await
}

async fn write(ctx: &Ctx, actor: &Actor, refusal: &Refusal, state: String) -> Result<(), Error> {
    let record = Record {
        action: "access.refused".into(),
        entity_type: "operation".into(),
        entity_id: refusal.operation.clone(),
        state: Some(state),
    };
    ctx.change(&actor.for_the_record(), async move |c| {
        c.put(record.clone());
        Ok(())
    })
    .await
}

/// Writes the windows that are over, or all of them.
#[boxed]
pub async fn write_counted(ctx: &Ctx, takes_all: bool) {
    for window in ctx.part::<Refusals>().take(ctx.now(), takes_all) {
        let Some((actor, last)) = &window.last else { continue };
        let Window { since, count, operations, .. } = &window;
        let written = match canonical(&Counted { last, count: *count, since: *since, operations }) {
            Ok(state) => write(ctx, actor, last, state).await,
            Err(error) => Err(error.into()),
        };
        match written {
            Ok(()) => {}
            Err(error) if error.is_outage() && !takes_all => {
                let actor = actor.clone();
                ctx.part::<Refusals>().put_back(&actor, window);
            }
            Err(error) => {
                let organization = actor.principal.organization;
                tracing::error!(%organization, count, %error, "refusals were not recorded");
            }
        }
    }
}

/// Writes windows as they end until `stop` is set, and then the rest.
#[boxed]
pub async fn keep_writing(ctx: Ctx, mut stop: watch::Receiver<bool>) {
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !*stop.borrow() {
        tokio::select! {
            _ = tick.tick() => write_counted(&ctx, false).await,
            _ = stop.changed() => {}
        }
    }
    write_counted(&ctx, true).await;
}

#[cfg(test)]
mod tests {
    use attestry_domain::access::{Origin, Permissions, Principal};
    use attestry_domain::id::{ApiKeyId, MemberId, UserId};
    use attestry_domain::zone::Zone;

    use super::*;

    #[test]
    fn window_counts_more_operations_than_it_names() {
        let principal = Principal {
            organization: OrganizationId::from_u128(1),
            member: MemberId::from_u128(2),
            user: UserId::from_u128(3),
            email: "ada@example.com".to_owned(),
            credential: Credential::ApiKey(ApiKeyId::from_u128(4)),
            permissions: Permissions::all(),
            zone: Zone::default(),
        };
        let actor = Actor { principal: principal.into(), origin: Origin::command("a request") };
        let mut window = Window::new(Time::from_millis(0));
        let refusal = |number: usize| Refusal {
            code: "forbidden",
            operation: format!("operation_{number}"),
            target: "a target".to_owned(),
        };
        for number in 0..MAX_OPERATIONS + 5 {
            window.add(&actor, refusal(number));
        }
        window.add(&actor, refusal(0));
        assert_eq!((window.count, window.operations.len()), (26, MAX_OPERATIONS));
        assert_eq!(window.operations["operation_0"], 2, "one that is named counts on");
        assert!(window.last.is_some_and(|(_, last)| last.operation == "operation_0"));
    }
}
