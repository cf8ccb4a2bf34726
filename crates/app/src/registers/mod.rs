//! The use cases of every register, generic over the kind of row.

pub(crate) mod assignees;
pub mod bulk;
pub(crate) mod links;
pub mod releases;
pub mod risk_criteria;
pub(crate) mod subjects;
pub mod views;

use std::collections::HashMap;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{Id, Kind, MemberId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::identity::releases::ReleasedKind;
use attestry_domain::page::{After, Key, Order, Page, PageRequest, page_of};
use attestry_domain::registers::links::{Linking, TooManyLinks};
use attestry_domain::registers::scales::Matrix;
use attestry_domain::registers::{Record, RegisterSort, SortKey, Wanted};
pub use attestry_storage::registers::{Stored, StoredRating};
use attestry_storage::{Tx, members, registers as rows};

use crate::boxed;
use crate::core::change::{Change, Notification};
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};
use crate::core::history;
use crate::core::precondition::Precondition;
use crate::registers::assignees::ASSIGNEE;
use crate::registers::subjects::Hold;

fn missing<R: Stored>() -> Error {
    Error::NotFound(R::Kind::NOUN)
}

/// Creates a record; the insert assigns its number.
pub(crate) fn new<R: Stored>(c: &Change<'_>, given: &R::Patch) -> Result<Record<R>, Error> {
    let mut fields = R::given(given.clone()).ok_or_else(|| Error::internal("a required field is missing"))?;
    fields.follow(None, given, c.now);
    Ok(Record {
        id: c.next_id(),
        organization_id: c.organization(),
        number: 0,
        fields,
        created_at: c.now,
        updated_at: c.now,
        version: 1,
    })
}

#[boxed]
pub async fn create<R: Stored>(ctx: &Ctx, scope: &Scope, given: R::Patch) -> Result<Record<R>, Error> {
    ctx.change(scope, async move |c| {
        links::must_exist(c, &R::links(&given)).await?;
        let mut record = new::<R>(c, &given)?;
        assignees::must_be_active(c.t, c.scope, ASSIGNEE, record.assignee()).await?;
        check_file(c, &record).await?;
        rows::insert(c.t, c.scope, &mut record).await?;
        c.record(R::ACTIONS.created, R::ENTITY, record.id, &record)?;
        tell_assignee(c, None, &record);
        Ok(record)
    })
    .await
}

/// Validates the file that a record refers to.
async fn check_file<R: Stored>(c: &Change<'_>, record: &Record<R>) -> Result<(), Error> {
    match record.file() {
        Some(file) => (c.ctx.hooks().validate)(c, &record.id.to_string(), file).await,
        None => Ok(()),
    }
}

/// A row of an imported table: its number, and its values or its errors.
pub type ReadRow<P> = (usize, Result<P, Vec<FieldError>>);

/// The errors of one row of an imported table. Row 1 is the first after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowErrors {
    pub row: usize,
    pub errors: Vec<FieldError>,
}

/// The result of an import: the created records, or the errors found.
#[derive(Clone, Debug)]
pub enum Imported<R: Stored> {
    Made(Vec<Record<R>>),
    Checked(Vec<RowErrors>),
}

/// Imports the rows of a table in one transaction: all of them, or none if any is invalid. A trial run only
/// validates.
#[boxed]
pub async fn import<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    table: Vec<ReadRow<R::Patch>>,
    trial: bool,
) -> Result<Imported<R>, Error> {
    if trial || table.iter().any(|(_, row)| row.is_err()) {
        let own = scope.clone();
        let wrong = ctx.db.read(async move |t| wrong_rows::<R>(t, &own, &table, Hold::No).await).await?;
        return Ok(Imported::Checked(wrong));
    }
    ctx.change(scope, async move |c| {
        let wrong = wrong_rows::<R>(c.t, c.scope, &table, Hold::Yes).await?;
        if !wrong.is_empty() {
            return Ok(Imported::Checked(wrong));
        }
        let made = |given| {
            let record = new::<R>(c, given)?;
            // The ratings in a table count as entered by a person, including the defaults.
            Ok::<_, Error>(if R::RATINGS.is_empty() { record } else { record.patched(given, c.now) })
        };
        let made: Result<Vec<_>, _> =
            table.iter().filter_map(|(_, row)| row.as_ref().ok()).map(made).collect();
        let mut made = made?;
        add_many(c, &mut made).await?;
        Ok(Imported::Made(made))
    })
    .await
}

/// Inserts new records.
pub(crate) async fn add_many<R: Stored>(c: &Change<'_>, made: &mut [Record<R>]) -> Result<(), Error> {
    rows::insert_many(c.t, c.scope, made).await?;
    for record in made {
        c.record(R::ACTIONS.created, R::ENTITY, record.id, record)?;
        tell_assignee(c, None, record);
    }
    Ok(())
}

/// Validates the rows of a table, and locks their link targets if requested.
async fn wrong_rows<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    table: &[ReadRow<R::Patch>],
    hold: Hold,
) -> Result<Vec<RowErrors>, Error> {
    let active = assignees::active(t, scope).await?;
    let mut all = Vec::new();
    for (row, given) in table {
        let errors = match given {
            Err(errors) => errors.clone(),
            Ok(given) => {
                let mut errors = links::wrong(t, scope, &R::links(given), hold).await?;
                let assignee = R::given(given.clone()).and_then(|fields| fields.assignee());
                if assignee.is_some_and(|member| !active.contains(&member)) {
                    errors.push(assignees::not_active(ASSIGNEE));
                }
                errors
            }
        };
        if !errors.is_empty() {
            all.push(RowErrors { row: *row, errors });
        }
    }
    Ok(all)
}

#[boxed]
pub async fn get<R: Stored>(ctx: &Ctx, scope: &Scope, id: Id<R::Kind>) -> Result<Record<R>, Error> {
    let own = scope.clone();
    let found = ctx.db.find(async move |t| rows::get::<R>(t, &own, id).await).await?;
    found.filter(|record| record.is_visible(scope)).ok_or_else(missing::<R>)
}

/// Locks a row that is visible to the actor.
pub(crate) async fn lock<R: Stored>(c: &Change<'_>, id: Id<R::Kind>) -> Result<Record<R>, Error> {
    let found = rows::lock::<R>(c.t, c.scope, id).await?;
    found.filter(|record| record.is_visible(c.scope)).ok_or_else(missing::<R>)
}

/// Returns the row as of a point in time.
#[boxed]
pub async fn get_at<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    id: Id<R::Kind>,
    at: Time,
) -> Result<Record<R>, Error> {
    R::may_look_back(scope)?;
    let state = history::one_at(ctx, scope, id, at).await?;
    let mut records = vec![Record::recorded(&state)?];
    number(ctx, scope, &mut records).await?;
    records.pop().ok_or_else(missing::<R>)
}

fn past<R: Stored>(at: Time) -> history::StateAsOf<Record<R>> {
    history::StateAsOf { kind: R::Kind::PREFIX, at, read: Record::recorded }
}

/// Returns every row, oldest first, regardless of the actor's visibility; for derived data.
pub(crate) async fn all<R: Stored>(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Record<R>>, Error> {
    let sort = R::Sort::default();
    let mut page = PageRequest { sort, order: Order::Ascending, limit: u16::MAX, after: None };
    let mut all = Vec::new();
    loop {
        let found = rows::list::<R>(t, scope, &Wanted::default(), &page).await?;
        all.extend(found.items);
        page.after = found.next;
        if page.after.is_none() {
            return Ok(all);
        }
    }
}

/// Returns every row as of a point in time, regardless of the actor's visibility; for derived data.
pub(crate) async fn all_at<R: Stored>(ctx: &Ctx, scope: &Scope, at: Time) -> Result<Vec<Record<R>>, Error> {
    past::<R>(at).all(ctx, scope).await
}

/// Lists the register, as it is now or as of a point in time.
#[boxed]
pub async fn list<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<R>,
    page: PageRequest<R::Sort>,
    at: Option<Time>,
) -> Result<Page<Record<R>>, Error> {
    let mut wanted = wanted.clone();
    if !R::narrow(&mut wanted.filter, scope) {
        return Ok(Page { items: Vec::new(), next: None });
    }
    if let Some(at) = at {
        let names = match page.sort.key() {
            SortKey::Member(_) => names(ctx, scope).await?,
            _ => HashMap::new(),
        };
        let name = |member| names.get(&member).map(|name| name.to_lowercase()).unwrap_or_default();
        let place = |record: &Record<R>, sort| record.place(sort, name);
        return list_at(ctx, scope, &wanted, &page, at, place).await;
    }
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| rows::list(t, &scope, &wanted, &page).await).await?)
}

/// Lists the register as of a point in time.
async fn list_at<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<R>,
    page: &PageRequest<R::Sort>,
    at: Time,
    place: impl Fn(&Record<R>, R::Sort) -> After,
) -> Result<Page<Record<R>>, Error> {
    R::may_look_back(scope)?;
    let takes = |record: &Record<R>| wanted.takes(record);
    let mut page = past::<R>(at).page(ctx, scope, page, takes, place).await?;
    number(ctx, scope, &mut page.items).await?;
    Ok(page)
}

/// The maximum size of a page in a derived order, whose rows are read by their ids.
const MAX_DERIVED_PAGE: u16 = 100;

/// Lists the register by a number that is not in its rows. All rows that match are read for their numbers, and those
/// of the page once more.
pub(crate) async fn list_by<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<R>,
    page: PageRequest<R::Sort>,
    at: Option<Time>,
    rank: impl Fn(&Record<R>) -> i64,
) -> Result<Page<Record<R>>, Error> {
    let place = |record: &Record<R>| After { key: Key::Number(rank(record)), id: record.id.to_string() };
    if let Some(at) = at {
        let mut wanted = wanted.clone();
        return match R::narrow(&mut wanted.filter, scope) {
            true => list_at(ctx, scope, &wanted, &page, at, |record, _| place(record)).await,
            false => Ok(Page::empty()),
        };
    }
    let mut part = PageRequest { order: Order::Ascending, limit: u16::MAX, after: None, ..page.clone() };
    let mut places = Vec::new();
    loop {
        let found = list::<R>(ctx, scope, wanted, part.clone(), None).await?;
        places.extend(found.items.iter().map(place));
        part.after = found.next;
        if part.after.is_none() {
            break;
        }
    }
    let places = page_of(places, page.order, page.after.as_ref(), Clone::clone);
    let Page { items: places, next } = Page::cut(places, page.limit.min(MAX_DERIVED_PAGE), Clone::clone);
    let ids: Vec<Id<R::Kind>> = places.iter().filter_map(|place| Id::read(&place.id)).collect();
    let items = match ids.is_empty() {
        true => Vec::new(),
        false => rows_of(ctx, scope, ids).await?,
    };
    Ok(Page { items, next })
}

/// Returns rows by their ids, in the order of the ids; those that are gone or not visible are skipped.
pub(crate) async fn rows_of<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    ids: Vec<Id<R::Kind>>,
) -> Result<Vec<Record<R>>, Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let mut found = rows::some_of::<R>(t, &own, &ids).await?;
        found.sort_by_key(|record| ids.iter().position(|id| *id == record.id));
        Ok::<_, Error>(found)
    });
    let mut found = found.await?;
    found.retain(|record| record.is_visible(scope));
    Ok(found)
}

/// Counts the rows of the list, across all pages.
#[boxed]
pub async fn count<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<R>,
    at: Option<Time>,
) -> Result<i64, Error> {
    let mut wanted = wanted.clone();
    if !R::narrow(&mut wanted.filter, scope) {
        return Ok(0);
    }
    if let Some(at) = at {
        R::may_look_back(scope)?;
        return past::<R>(at).count(ctx, scope, |record| wanted.takes(record)).await;
    }
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| rows::count(t, &scope, &wanted).await).await?)
}

/// The names of all members, active or not.
async fn names(ctx: &Ctx, scope: &Scope) -> Result<HashMap<MemberId, String>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| members::names(t, &scope).await).await?.into_iter().collect())
}

/// Sets the current number of the row in states that were recorded before rows had numbers.
async fn number<R: Stored>(ctx: &Ctx, scope: &Scope, records: &mut [Record<R>]) -> Result<(), Error> {
    let old: Vec<_> = records.iter().filter(|record| record.number == 0).map(|record| record.id).collect();
    if old.is_empty() {
        return Ok(());
    }
    let scope = scope.clone();
    let numbers = ctx.db.read(async move |t| {
        let mut numbers = HashMap::new();
        for id in &old {
            numbers.extend(rows::get::<R>(t, &scope, *id).await?.map(|now| (now.id, now.number)));
        }
        Ok::<_, Error>(numbers)
    });
    let numbers = numbers.await?;
    for record in records.iter_mut().filter(|record| record.number == 0) {
        record.number = numbers.get(&record.id).copied().unwrap_or(0);
    }
    Ok(())
}

#[boxed]
pub async fn update<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    id: Id<R::Kind>,
    patch: R::Patch,
    precondition: Precondition,
) -> Result<Record<R>, Error> {
    ctx.change(scope, async move |c| {
        hold_links::<R>(c, id, &patch).await?;
        let before = lock::<R>(c, id).await?;
        R::permits(&patch, c.scope)?;
        precondition.check(&[before.version])?;
        change(c, &before, &patch).await
    })
    .await
}

/// Locks the link targets of a patch before the row itself. A missing row is reported before missing targets.
pub(crate) async fn hold_links<R: Stored>(
    c: &Change<'_>,
    id: Id<R::Kind>,
    given: &R::Patch,
) -> Result<(), Error> {
    let wanted = R::links(given);
    if wanted.is_empty() {
        return Ok(());
    }
    rows::get::<R>(c.t, c.scope, id).await?.ok_or_else(missing::<R>)?;
    links::must_exist(c, &wanted).await
}

/// Adds links to a row, or removes them from it.
pub(crate) fn linked<R: Stored>(
    before: &Record<R>,
    given: &R::Patch,
    linking: Linking,
) -> Result<Record<R>, Error> {
    let fields = before.fields.linked(given, linking).map_err(|TooManyLinks { field, max }| {
        Error::field(field, format!("{} takes at most {max} links", before.reference()))
    })?;
    Ok(Record { fields, ..before.clone() })
}

/// Changes a locked row.
pub(crate) async fn change<R: Stored>(
    c: &Change<'_>,
    before: &Record<R>,
    patch: &R::Patch,
) -> Result<Record<R>, Error> {
    let after = before.patched(patch, c.now);
    if after.assignee() != before.assignee() {
        assignees::must_be_active(c.t, c.scope, ASSIGNEE, after.assignee()).await?;
    }
    change_to(c, before, after).await
}

/// Changes a locked row to one whose assignee was already checked.
pub(crate) async fn change_to<R: Stored>(
    c: &Change<'_>,
    before: &Record<R>,
    after: Record<R>,
) -> Result<Record<R>, Error> {
    if after.file() != before.file() {
        check_file(c, &after).await?;
    }
    save(c, before, after).await
}

pub(crate) async fn save<R: Stored>(
    c: &Change<'_>,
    before: &Record<R>,
    after: Record<R>,
) -> Result<Record<R>, Error> {
    save_as(c, before, after, R::ACTIONS.updated).await
}

/// Saves a locked row and records the action.
pub(crate) async fn save_as<R: Stored>(
    c: &Change<'_>,
    before: &Record<R>,
    mut after: Record<R>,
    action: &'static str,
) -> Result<Record<R>, Error> {
    if after.fields == before.fields {
        return Ok(after);
    }
    after.updated_at = c.now;
    after.version += 1;
    rows::update(c.t, c.scope, &after).await?;
    c.record(action, R::ENTITY, after.id, &after)?;
    tell_assignee(c, before.assignee(), &after);
    Ok(after)
}

/// Notifies a new assignee, unless they assigned the row to themselves.
fn tell_assignee<R: Stored>(c: &Change<'_>, before: Option<MemberId>, after: &Record<R>) {
    let is_news = |member: &MemberId| Some(*member) != before && Some(*member) != c.scope.member();
    if let Some(member) = after.assignee().filter(is_news).filter(|_| R::TELLS) {
        let (about, line) = (About::new(R::ENTITY, after.id), after.label());
        c.notify(Notification { member, notice: Notice::Assigned, about, line, quote: None, occasion: None });
    }
}

/// Takes everything from a member who leaves; returns the number of records of each kind.
pub(crate) async fn release_all(
    c: &Change<'_>,
    member: MemberId,
) -> Result<Vec<(ReleasedKind, usize)>, Error> {
    let taken = releases::take_all(c, member).await?;
    for unassigned in c.ctx.hooks().unassigned {
        unassigned(c, member).await?;
    }
    Ok(taken)
}

/// Deletes a row with everything that belongs to it, such as comments and files.
#[boxed]
pub async fn delete<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    id: Id<R::Kind>,
    precondition: Precondition,
) -> Result<Record<R>, Error> {
    ctx.change(scope, async move |c| {
        let before = lock::<R>(c, id).await?;
        precondition.check(&[before.version])?;
        remove::<R>(c, id).await?;
        Ok(before)
    })
    .await
}

/// Deletes a locked row and everything that belongs to it.
pub(crate) async fn remove<R: Stored>(c: &Change<'_>, id: Id<R::Kind>) -> Result<(), Error> {
    let name = id.to_string();
    for deleted in c.ctx.hooks().deleted {
        deleted(c, &name).await?;
    }
    links::remove_all(c, &name).await?;
    rows::delete::<R>(c.t, c.scope, id).await?;
    c.record_gone(R::ACTIONS.deleted, R::ENTITY, id);
    Ok(())
}

/// Returns the rating matrix of the matching rows, as they are now or as of a point in time.
#[boxed]
pub async fn matrix<R: StoredRating>(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<R>,
    at: Option<Time>,
) -> Result<Matrix, Error> {
    let (own, mut wanted) = (scope.clone(), wanted.clone());
    if !R::narrow(&mut wanted.filter, scope) {
        return Ok(Matrix::default());
    }
    let Some(at) = at else {
        return Ok(ctx.db.read(async move |t| rows::matrix::<R>(t, &own, &wanted).await).await?);
    };
    R::may_look_back(scope)?;
    let mut matrix = Matrix::default();
    for record in past::<R>(at).all(ctx, scope).await?.iter().filter(|record| wanted.takes(record)) {
        for (side, of) in [&mut matrix.inherent, &mut matrix.residual].into_iter().zip(R::RATINGS) {
            side.add(record.is_rated(of), record.cell(of).map_err(Error::internal)?);
        }
    }
    Ok(matrix)
}
