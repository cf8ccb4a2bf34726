//! The past, from the journal: how things stood at a moment, and how one thing came to be as it is.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{Id, Kind};
use attestry_domain::journal::{Entry, EntryFilter};
use attestry_domain::page::{After, Key, Page, PageRequest, Sort, page_of};
use attestry_storage::journal::{self, StatesAt};
use serde::de::DeserializeOwned;

use crate::context::Ctx;
use crate::error::Error;

/// How many states are read at a time.
const BATCH: u16 = 1000;

/// A page of the things of one kind that `takes` admits, as they stood at a moment. Sorted by id, no more is read
/// than the page needs; in another order all of them are looked at, and no more than a page is kept.
pub(crate) async fn page_at<K: Kind, T: DeserializeOwned, S: Sort>(
    ctx: &Ctx,
    scope: &Scope,
    at: Time,
    page: &PageRequest<S>,
    takes: impl Fn(&T) -> bool,
    place: impl Fn(&T, S) -> After,
) -> Result<Page<T>, Error> {
    let by_id = page.sort.takes(&Key::Id);
    let place = |item: &T| place(item, page.sort);
    let enough = usize::from(page.limit) + 1;
    let mut wanted = StatesAt {
        prefix: K::PREFIX,
        at,
        order: page.order,
        after: page.after.as_ref().filter(|_| by_id).map(|after| after.id.clone()),
        most: BATCH.into(),
    };
    let mut items: Vec<T> = Vec::new();
    loop {
        let (own, asked) = (scope.clone(), wanted.clone());
        let states = ctx.db.read(async move |t| journal::states_at(t, &own, &asked).await).await?;
        for (_, state) in &states {
            items.push(serde_json::from_str(state)?);
        }
        items.retain(&takes);
        items = page_of(items, page.order, page.after.as_ref(), place);
        let is_full = items.len() >= enough;
        items.truncate(enough);
        wanted.after = states.last().map(|(id, _)| id.clone());
        if states.len() < usize::from(BATCH) || (by_id && is_full) {
            return Ok(Page::cut(items, page.limit, place));
        }
    }
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
