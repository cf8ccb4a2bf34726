//! The past, from the journal: how things stood at a moment, and how one thing came to be as it is.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{Id, Kind};
use attestry_domain::journal::{Entry, EntryFilter};
use attestry_domain::page::Page;
use attestry_storage::journal;
use serde::de::DeserializeOwned;

use crate::context::Ctx;
use crate::error::Error;

/// Everything of one kind as it stood at a moment.
pub(crate) async fn all_at<K: Kind, T: DeserializeOwned>(
    ctx: &Ctx,
    scope: &Scope,
    at: Time,
) -> Result<Vec<T>, Error> {
    let scope = scope.clone();
    let states = ctx.db.read(async move |t| journal::states_at(t, &scope, K::PREFIX, at).await).await?;
    states.iter().map(|state| serde_json::from_str(state).map_err(Error::from)).collect()
}

/// One thing as it stood at a moment.
pub(crate) async fn one_at<K: Kind, T: DeserializeOwned>(
    ctx: &Ctx,
    scope: &Scope,
    id: Id<K>,
    at: Time,
) -> Result<T, Error> {
    let scope = scope.clone();
    let state = ctx.db.read(async move |t| journal::state_at(t, &scope, &id.to_string(), at).await).await?;
    Ok(serde_json::from_str(&state.ok_or(Error::NotFound(K::NOUN))?)?)
}

/// The entries about one thing, newest first. What never was has no history.
pub async fn of<K: Kind>(
    ctx: &Ctx,
    scope: &Scope,
    id: Id<K>,
    limit: u16,
    before: Option<i64>,
) -> Result<Page<(Entry, Option<String>)>, Error> {
    let filter = EntryFilter { entity_id: Some(id.to_string()), ..EntryFilter::default() };
    let page = crate::journal::list(ctx, scope, filter, limit, before).await?;
    if page.items.is_empty() && before.is_none() {
        return Err(Error::NotFound(K::NOUN));
    }
    Ok(page)
}
