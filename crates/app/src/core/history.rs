//! The past, from the journal: how things stood at a moment, and how one thing came to be as it is.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{Id, Kind};
use attestry_domain::journal::{EntryFilter, ShownEntry};
use attestry_domain::page::{After, Key, Order, Page, PageRequest, Sort, page_of};
use attestry_storage::journal::{self, StatesAt};

use crate::core::context::Ctx;
use crate::core::error::Error;

/// How many states are read at a time.
const BATCH: u16 = 1000;

/// The things of one kind as they stood at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past<T> {
    /// What their ids begin with.
    pub(crate) kind: &'static str,
    pub(crate) at: Time,
    pub(crate) read: fn(&str) -> Result<T, serde_json::Error>,
}

impl<T> Past<T> {
    fn from(&self, order: Order, after: Option<String>) -> StatesAt {
        StatesAt { prefix: self.kind, at: self.at, order, after, most: BATCH.into() }
    }

    /// The next states, and from where on there are more.
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

    /// A page of those that `takes` admits. Sorted by id, no more is read than the page needs; in another order all of
    /// them are looked at, and no more than a page is kept.
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

    /// All of them, oldest first.
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

    /// How many there are that `takes` admits.
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

/// The state of one thing at a moment.
pub(crate) async fn one_at<K: Kind>(ctx: &Ctx, scope: &Scope, id: Id<K>, at: Time) -> Result<String, Error> {
    let scope = scope.clone();
    let state = ctx.db.read(async move |t| journal::state_at(t, &scope, &id.to_string(), at).await).await?;
    state.ok_or(Error::NotFound(K::NOUN))
}

/// The entries about one thing, newest first. What never was has no history.
pub async fn of<K: Kind>(
    ctx: &Ctx,
    scope: &Scope,
    id: Id<K>,
    limit: u16,
    before: Option<i64>,
) -> Result<Page<ShownEntry>, Error> {
    let filter = EntryFilter { entity_id: Some(id.to_string()), ..EntryFilter::default() };
    let page = crate::core::journal::list(ctx, scope, filter, limit, before).await?;
    if page.items.is_empty() && before.is_none() {
        return Err(Error::NotFound(K::NOUN));
    }
    Ok(page)
}
