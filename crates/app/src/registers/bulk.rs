//! Bulk changes of a register: many rows in one transaction, each recorded in the journal, and undone together.

use std::collections::HashSet;
use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::id::{BulkChangeId, Id, Kind, MemberId};
use attestry_domain::page::{Order, PageRequest};
use attestry_domain::registers::links::{Linking, Links};
use attestry_domain::registers::{Record, Wanted};
use attestry_storage::{bulk_changes, registers as rows};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::registers::assignees::{self, ASSIGNEE};
use crate::registers::subjects::Hold;
use crate::registers::{self, Stored, links};

/// The maximum number of rows that one request changes.
pub const MAX_ROWS: usize = 10_000;
/// The maximum number of rows whose former states are in memory at once.
const ROWS_AT_ONCE: usize = 500;
/// The time for which a change can be undone.
const UNDO_FOR: Duration = Duration::from_hours(24);

/// The rows to change.
#[derive(Clone, Debug)]
pub enum Selection<R: Stored> {
    Ids(Vec<Id<R::Kind>>),
    /// All rows that match a list's filter.
    Matching(Box<Wanted<R>>),
}

/// An action on rows.
#[derive(Clone, Debug)]
pub enum Action<P> {
    Change(P),
    /// Adds or removes the links that the input names.
    Link(P, Linking),
    Delete,
}

/// The outcome of a bulk change.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub changed: usize,
    /// Rows that already had the requested values.
    pub unchanged: usize,
    /// Ids of rows that do not exist or are not visible.
    pub missing: Vec<String>,
    /// The id to undo the change with; `None` if nothing was changed or rows were deleted.
    pub undo: Option<BulkChangeId>,
}

/// Returns the ids of the selected rows, sorted and without duplicates.
async fn ids_of<R: Stored>(c: &Change<'_>, selection: &Selection<R>) -> Result<Vec<Id<R::Kind>>, Error> {
    let mut ids = match selection {
        Selection::Ids(ids) => ids.clone(),
        Selection::Matching(wanted) => {
            let mut wanted = wanted.as_ref().clone();
            if !R::narrow(&mut wanted.filter, c.scope) {
                return Ok(Vec::new());
            }
            let count =
                usize::try_from(rows::count(c.t, c.scope, &wanted).await?).map_err(Error::internal)?;
            if count > MAX_ROWS {
                return Err(Error::Conflict {
                    code: "too_many_rows",
                    message: format!(
                        "The filter matches {count} rows; at most {MAX_ROWS} can be changed at once. Narrow it down."
                    ),
                });
            }
            let mut page =
                PageRequest { sort: R::Sort::default(), order: Order::Ascending, limit: 1000, after: None };
            let mut ids = Vec::with_capacity(count);
            loop {
                let found = rows::list::<R>(c.t, c.scope, &wanted, &page).await?;
                ids.extend(found.items.iter().map(|record| record.id));
                page.after = found.next;
                if page.after.is_none() {
                    break ids;
                }
            }
        }
    };
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Changes or deletes the selected rows that exist, in one transaction.
#[boxed]
pub async fn apply<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    selection: Selection<R>,
    action: Action<R::Patch>,
) -> Result<Outcome, Error> {
    ctx.change(scope, async move |c| {
        match &action {
            Action::Change(patch) => {
                R::permits(patch, c.scope)?;
                links::must_exist(c, &R::links(patch)).await?;
            }
            Action::Link(given, Linking::Add) => links::must_exist(c, &R::links(given)).await?,
            Action::Link(_, Linking::Remove) | Action::Delete => {}
        }
        let ids = ids_of(c, &selection).await?;
        let mut held = rows::lock_some::<R>(c.t, c.scope, &ids).await?;
        held.retain(|record| record.is_visible(c.scope));
        let mut outcome = Outcome::default();
        if let Selection::Ids(_) = selection {
            let gone = ids.iter().filter(|id| held.binary_search_by_key(*id, |record| record.id).is_err());
            outcome.missing = gone.map(ToString::to_string).collect();
        }
        if matches!(action, Action::Delete) {
            for record in &held {
                registers::remove::<R>(c, record.id).await?;
            }
            outcome.changed = held.len();
            return Ok(outcome);
        }
        let mut changed = Vec::with_capacity(held.len());
        let mut is_looked_at = false;
        for before in &held {
            let after = match &action {
                Action::Change(patch) => before.patched(patch, c.now),
                Action::Link(given, linking) => registers::linked(before, given, *linking)?,
                Action::Delete => continue,
            };
            // The assignee is the same for all rows, so it is checked once.
            if after.assignee() != before.assignee() && !is_looked_at {
                assignees::must_be_active(c.t, c.scope, ASSIGNEE, after.assignee()).await?;
                is_looked_at = true;
            }
            let after = registers::change_to(c, before, after).await?;
            if after.version != before.version {
                changed.push((after.id.to_string(), after.version));
            }
        }
        outcome.changed = changed.len();
        outcome.unchanged = held.len() - changed.len();
        if !changed.is_empty() {
            let id = c.next_id();
            let since = c.now.minus(UNDO_FOR);
            bulk_changes::insert(c.t, c.scope, id, R::ENTITY, (c.now, since), &changed).await?;
            outcome.undo = Some(id);
        }
        Ok(outcome)
    })
    .await
}

/// Restores the previous state of the rows of a bulk change. Rows that were changed again or deleted since stay as
/// they are, and so do those that were linked to a record that is deleted since.
#[boxed]
pub async fn undo<R: Stored>(ctx: &Ctx, scope: &Scope, change: BulkChangeId) -> Result<Outcome, Error> {
    ctx.change(scope, async move |c| {
        let since = c.now.minus(UNDO_FOR);
        let Some(changed) = bulk_changes::take(c.t, c.scope, change, R::ENTITY, since).await? else {
            return Err(Error::NotFound("change that can be undone"));
        };
        let mut ids: Vec<Id<R::Kind>> = changed.iter().filter_map(|(id, _)| Id::read(id)).collect();
        ids.sort_unstable();
        let held = rows::lock_some::<R>(c.t, c.scope, &ids).await?;
        let active = assignees::active(c.t, c.scope).await?;
        let mut outcome = Outcome::default();
        for changed in changed.chunks(ROWS_AT_ONCE) {
            let mut found = Vec::with_capacity(changed.len());
            for (id, version) in changed {
                let place =
                    Id::read(id).and_then(|id| held.binary_search_by_key(&id, |record| record.id).ok());
                match place.and_then(|place| held.get(place)).filter(|record| record.is_visible(c.scope)) {
                    Some(now) => found.push((now, *version)),
                    None => outcome.missing.push(id.clone()),
                }
            }
            let unedited = found.iter().filter(|(now, version)| now.version == *version);
            let unedited: Vec<&Record<R>> = unedited.map(|(now, _)| *now).collect();
            let restored = restored::<R>(c, &unedited, &active).await?;
            outcome.changed += restored.len();
            outcome.unchanged += found.len() - restored.len();
            for (now, after) in restored {
                registers::save(c, now, after).await?;
            }
        }
        Ok(outcome)
    })
    .await
}

/// Returns those of locked rows that can be restored, each as it was before its last change.
async fn restored<'a, R: Stored>(
    c: &Change<'_>,
    unedited: &[&'a Record<R>],
    active: &HashSet<MemberId>,
) -> Result<Vec<(&'a Record<R>, Record<R>)>, Error> {
    let ids: Vec<Id<R::Kind>> = unedited.iter().map(|record| record.id).collect();
    let states = rows::states_before_last::<R>(c.t, c.scope, &ids).await?;
    let mut restored = Vec::with_capacity(unedited.len());
    let mut links = Links::default();
    for now in unedited {
        let Some(state) = states.get(&now.id) else { continue };
        let before: Record<R> = Record::recorded(state)?;
        // A row is not assigned back to a member who is no longer active.
        if before.assignee().is_some_and(|member| !active.contains(&member)) {
            continue;
        }
        R::permits_change(now, &before, c.scope)?;
        links.append(R::links_of(&before));
        restored.push((*now, Record { fields: before.fields, ..(*now).clone() }));
    }
    // Records that were linked then and are deleted by now are not linked again.
    let missing = links::missing(c.t, c.scope, &links, Hold::Yes).await?;
    let gone: HashSet<&str> = missing.iter().map(|link| link.id.as_str()).collect();
    restored.retain(|(_, after)| !R::links_of(after).ids().any(|id| gone.contains(id)));
    Ok(restored)
}

/// Returns rows by their ids, in the order of the ids.
#[boxed]
pub async fn rows_of<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    ids: Vec<Id<R::Kind>>,
) -> Result<Vec<Record<R>>, Error> {
    let found = registers::rows_of(ctx, scope, ids).await?;
    match found.is_empty() {
        true => Err(Error::NotFound(R::Kind::NOUN)),
        false => Ok(found),
    }
}
