//! Visibility of journal entries to a follower: by entity type, and by entity where a permission covers only some
//! entities of a type.

use std::sync::Arc;

use attestry_domain::access::Scope;
use attestry_domain::journal::feed::{Reach, reach};
use attestry_domain::policies::Policy;
use attestry_domain::registers::subjects::Subject;
use attestry_domain::registers::{Record, Register};
use attestry_domain::tasks::Task;
use attestry_storage::Tx;
use attestry_storage::journal::{self, EntrySummary};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::registers::subjects::{Access, Hold, admit};

/// Returns the entries that are visible to the follower.
pub(super) async fn shown(
    ctx: &Ctx,
    scope: &Scope,
    page: Vec<Arc<EntrySummary>>,
) -> Result<Vec<Arc<EntrySummary>>, Error> {
    let permissions = scope.permissions();
    let known: Vec<(Arc<EntrySummary>, Reach)> = page
        .into_iter()
        .filter_map(|told| reach(&told.entity_type, permissions).map(|reach| (told, reach)))
        .collect();
    if known.iter().all(|(_, reach)| *reach == Reach::All) {
        return Ok(known.into_iter().map(|(told, _)| told).collect());
    }
    let scope = scope.clone();
    let shown = ctx.db.read(async move |t| {
        let mut shown = Vec::new();
        for (told, reach) in &known {
            if is_shown(t, &scope, told, *reach).await? {
                shown.push(Arc::clone(told));
            }
        }
        Ok(shown)
    });
    shown.await
}

async fn is_shown(t: &Tx<'_>, scope: &Scope, told: &EntrySummary, reach: Reach) -> Result<bool, Error> {
    if reach == Reach::All {
        return Ok(true);
    }
    if reach == Reach::Own && scope.member().is_some_and(|own| own.to_string() == told.entity_id) {
        return Ok(true);
    }
    let (before, after) = journal::states_around(t, scope, told).await?;
    let (before, after) = (before.as_deref(), after.as_deref());
    let either = || [before, after].into_iter().flatten();
    match reach {
        Reach::All => Ok(true),
        Reach::Own => Ok(either().filter_map(read::<Mine>).any(|mine| mine.is_of(scope))),
        Reach::Assigned => Ok(either().filter_map(record::<Task>).any(|task| task.is_visible(scope))),
        Reach::Published => {
            Ok(Policy::looks_different(before.and_then(record).as_ref(), after.and_then(record).as_ref()))
        }
        Reach::OnSubject => match after.or(before).and_then(read::<Hanging>) {
            Some(Hanging { entity_type, entity_id }) => is_seen(t, scope, entity_type, &entity_id).await,
            None => Ok(false),
        },
    }
}

/// Parses a recorded state. An entry whose state cannot be parsed is not shown.
fn read<T: DeserializeOwned>(state: &str) -> Option<T> {
    serde_json::from_str(state).ok()
}

/// Parses the recorded state of a register's row.
fn record<R: Register>(state: &str) -> Option<R> {
    Record::recorded(state).ok().map(|record| record.fields)
}

/// An entity that belongs to one member.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mine {
    member_id: String,
}

impl Mine {
    fn is_of(&self, scope: &Scope) -> bool {
        scope.member().is_some_and(|own| own.to_string() == self.member_id)
    }
}

/// An entity that belongs to another one, such as a comment.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hanging {
    entity_type: Subject,
    entity_id: String,
}

/// Returns true if the follower may see a subject; for a comment, the record it is on.
async fn is_seen(t: &Tx<'_>, scope: &Scope, subject: Subject, id: &str) -> Result<bool, Error> {
    admitted(admit(t, scope, subject, id, Access::Read, Hold::No).await.map(|_| ()))
}

fn admitted(result: Result<(), Error>) -> Result<bool, Error> {
    match result {
        Ok(()) => Ok(true),
        Err(Error::NotFound(_) | Error::Forbidden { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
