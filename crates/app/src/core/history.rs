//! History, read from the journal: the state as of a date, and the entries about one entity.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{Id, Kind};
use attestry_domain::journal::{EntryFilter, ShownEntry};
use attestry_domain::page::{After, Key, Order, Page, PageRequest, Sort, page_of};
use attestry_storage::journal::{self, StatesAt};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The number of states per read.
const BATCH: u16 = 1000;

/// The entities of one kind as of a point in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateAsOf<T> {
    /// The prefix of their ids.
    pub(crate) kind: &'static str,
    pub(crate) at: Time,
    pub(crate) read: fn(&str) -> Result<T, serde_json::Error>,
}

impl<T> StateAsOf<T> {
    fn from(&self, order: Order, after: Option<String>) -> StatesAt {
        StatesAt { prefix: self.kind, at: self.at, order, after, most: BATCH.into() }
    }

    /// Reads the next batch and advances the cursor in `wanted`. The flag is true if there may be more.
    async fn next(
        &self,
        ctx: &Ctx,
        scope: &Scope,
        wanted: &mut StatesAt,
        takes: impl Fn(&T) -> bool,
    ) -> Result<(Vec<T>, bool), Error> {
        let (own, asked) = (scope.clone(), wanted.clone());
        let states = ctx.db.read(async move |t| journal::states_at(t, &own, &asked).await).await?;
        let mut items = Vec::with_capacity(states.len());
        for (_, state) in &states {
            items.push((self.read)(state)?);
        }
        items.retain(takes);
        wanted.after = states.last().map(|(id, _)| id.clone());
        Ok((items, states.len() == usize::from(BATCH)))
    }

    /// Returns a page of the entities that `takes` accepts. Sorted by id, it reads only as much as the page needs; in
    /// any other order it scans all entities, and holds no more than a page and one batch in memory.
    pub(crate) async fn page<S: Sort>(
        &self,
        ctx: &Ctx,
        scope: &Scope,
        page: &PageRequest<S>,
        takes: impl Fn(&T) -> bool,
        place: impl Fn(&T, S) -> After,
    ) -> Result<Page<T>, Error> {
        let by_id = page.sort.takes(&Key::Id);
        let place = |item: &T| place(item, page.sort);
        let enough = usize::from(page.limit) + 1;
        let start = page.after.as_ref().filter(|_| by_id).map(|after| after.id.clone());
        let mut wanted = self.from(page.order, start);
        let mut items = Vec::new();
        loop {
            let (more, goes_on) = self.next(ctx, scope, &mut wanted, &takes).await?;
            items.extend(more);
            items = page_of(items, page.order, page.after.as_ref(), place);
            let is_full = items.len() >= enough;
            items.truncate(enough);
            if !goes_on || (by_id && is_full) {
                return Ok(Page::cut(items, page.limit, place));
            }
        }
    }

    /// Returns all entities, oldest first.
    pub(crate) async fn all(&self, ctx: &Ctx, scope: &Scope) -> Result<Vec<T>, Error> {
        let (mut wanted, mut all) = (self.from(Order::Ascending, None), Vec::new());
        loop {
            let (items, goes_on) = self.next(ctx, scope, &mut wanted, |_| true).await?;
            all.extend(items);
            if !goes_on {
                return Ok(all);
            }
        }
    }

    /// Counts the entities that `takes` accepts.
    pub(crate) async fn count(
        &self,
        ctx: &Ctx,
        scope: &Scope,
        takes: impl Fn(&T) -> bool,
    ) -> Result<i64, Error> {
        let (mut wanted, mut count) = (self.from(Order::Ascending, None), 0);
        loop {
            let (items, goes_on) = self.next(ctx, scope, &mut wanted, &takes).await?;
            count += items.len();
            if !goes_on {
                return i64::try_from(count).map_err(Error::internal);
            }
        }
    }
}

/// Returns the state of one entity as of a point in time.
pub(crate) async fn one_at<K: Kind>(ctx: &Ctx, scope: &Scope, id: Id<K>, at: Time) -> Result<String, Error> {
    let scope = scope.clone();
    let state = ctx.db.read(async move |t| journal::state_at(t, &scope, &id.to_string(), at).await).await?;
    state.ok_or(Error::NotFound(K::NOUN))
}

/// Lists the entries about one entity, newest first. An entity without entries is not found.
#[boxed]
pub async fn of<K: Kind>(
    ctx: &Ctx,
    scope: &Scope,
    id: Id<K>,
    limit: u16,
    before: Option<i64>,
) -> Result<Page<ShownEntry>, Error> {
    let filter = EntryFilter { entity_id: Some(id.to_string()), ..EntryFilter::default() };
    let page = crate::core::journal::list(ctx, scope, filter, Order::Descending, limit, before).await?;
    if page.items.is_empty() && before.is_none() {
        return Err(Error::NotFound(K::NOUN));
    }
    Ok(page)
}
