//! The rows of registers. A register's own file names its table and its columns; every statement is built once from
//! these two lists (and the conditions and orders in the domain), and so are reading and binding.

use std::collections::{BTreeMap, HashMap};

use attestry_db::{Error, Row, RowChange, SIZES, Statement, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{Id, Kind, MemberId, OrganizationId};
use attestry_domain::page::{Key, Page, PageRequest};
use attestry_domain::plain::PlainKind;
use attestry_domain::registers::scales::{Cell, Matrix, Rated};
use attestry_domain::registers::{
    Compare, Condition, Filter, NEVER, RatingSide, Record, Register, RegisterSort, SortKey, Wanted,
};
use attestry_domain::row::{Cells as _, Row as DomainRow};

use crate::sql::{Columns, contains, id, owned, page_params, read_page, time};
use crate::table::{RowCells, value};
use crate::text::{Pages, kept, rows};

/// The number of rows that one statement reads by their ids.
const IDS_PER_STATEMENT: usize = 100;

/// A register that is stored in a table.
pub trait Stored: Register + DomainRow {
    const TABLE: &'static str;

    /// Returns its statements, which are built once.
    fn sql() -> &'static Statements;
}

/// Implements [`Stored`] for a register.
macro_rules! stored {
    ($name:ident in $table:literal) => {
        impl $crate::registers::Stored for $name {
            const TABLE: &'static str = $table;

            fn sql() -> &'static $crate::registers::Statements {
                static SQL: std::sync::LazyLock<$crate::registers::Statements> =
                    std::sync::LazyLock::new($crate::registers::Statements::of::<$name>);
                &SQL
            }
        }
    };
}

/// Every statement of a register.
#[derive(Debug)]
pub struct Statements {
    /// One statement for each of [`SIZES`].
    insert: [&'static str; SIZES.len()],
    get: &'static str,
    lock: &'static str,
    lock_assigned: &'static str,
    /// Reads up to [`IDS_PER_STATEMENT`] rows by their ids.
    some: &'static str,
    lock_some: &'static str,
    /// Reads the states of up to [`IDS_PER_STATEMENT`] rows before their last change.
    before_last: &'static str,
    update: &'static str,
    delete: &'static str,
    whole: Listing,
    narrowed: Listing,
    /// The rating matrix, if the register is rated: before treatment and after.
    matrix: Vec<&'static str>,
}

/// The statements of a list: its count, and its pages in each order.
#[derive(Debug)]
struct Listing {
    count: &'static str,
    pages: Vec<Pages>,
}

const BEFORE: &str = "id, org_id, number";
const AFTER: &str = "created_at, updated_at, version";
const ONE: &str = " WHERE org_id = $1 AND id = $2";

/// The columns that the insert and the update share.
fn columns<R: Stored>() -> Vec<&'static str> {
    let fields = R::FIELDS.iter().map(|field| field.column);
    fields.chain(R::COMPUTED.iter().map(|computed| computed.column)).collect()
}

/// Builds an insert of `count` rows; the number comes last.
fn inserted<R: Stored>(count: usize) -> String {
    let names = columns::<R>();
    let values = rows(2 + names.len() + 3 + 1, count);
    format!("INSERT INTO {} (org_id, id, {}, {AFTER}, number) VALUES {values}", R::TABLE, names.join(", "))
}

fn set<R: Stored>() -> String {
    let names = columns::<R>().into_iter().chain(["updated_at", "version"]);
    let sets: Vec<String> = names.zip(3..).map(|(name, number)| format!("{name} = ${number}")).collect();
    format!("UPDATE {} SET {}{ONE}", R::TABLE, sets.join(", "))
}

/// Builds the unfiltered list: without the optional conditions, both query planners choose the fast plan.
fn everything<R: Register>(sql: &str) -> String {
    let hidden = R::HIDDEN.map_or_else(String::new, |column| format!(" AND {column} = $2"));
    format!("{sql} WHERE org_id = $1{hidden}")
}

fn narrowed<R: Register>(sql: &str) -> String {
    let mut sql = format!("{sql} WHERE org_id = $1");
    let mut number = 2;
    if let Some(column) = R::HIDDEN {
        sql = format!("{sql} AND {column} IN ($2, $3)");
        number = 4;
    }
    for Condition { column, compare, kind, .. } in R::Filter::CONDITIONS {
        let holds = match compare {
            Compare::Is => format!("{column} = ${number}"),
            // The only wildcard in the pattern is the underscore of a known word or id, which matches itself.
            Compare::AnyOf => format!("${number} LIKE '%,' || {column} || ',%'"),
            Compare::AtLeast => format!("{column} >= ${number}"),
            Compare::Has => format!("{column} LIKE '%' || ${number} || '%'"),
        };
        sql += &optional(number, *kind, &holds);
        number += 1;
    }
    let found = format!("search_text LIKE ${number} ESCAPE '\\' OR number = ${}", number + 1);
    sql += &optional(number, PlainKind::Text, &found);
    sql + &optional(number + 2, PlainKind::Text, &format!("{} <= ${}", R::DUE.column, number + 2))
}

/// Builds a condition that is true if its parameter is null.
fn optional(number: usize, kind: PlainKind, holds: &str) -> String {
    let kind = match kind {
        PlainKind::Text | PlainKind::Words | PlainKind::Date => "TEXT",
        PlainKind::Int | PlainKind::Time => "BIGINT",
        PlainKind::Bool => "BOOLEAN",
        PlainKind::Bytes => "BYTEA",
    };
    format!(" AND (CAST(${number} AS {kind}) IS NULL OR {holds})")
}

/// Returns the sort expression of a list; `None` if it is sorted by id alone.
fn sort_key(key: SortKey) -> Option<String> {
    Some(match key {
        SortKey::Id | SortKey::Derived(_) => return None,
        SortKey::Whole(column) => format!("COALESCE({column}, 0)"),
        // Ids are separated by spaces.
        SortKey::Count(column) => format!(
            "CASE {column} WHEN '' THEN 0 ELSE LENGTH({column}) - LENGTH(REPLACE({column}, ' ', '')) + 1 END"
        ),
        SortKey::Text(column) | SortKey::Number(column) => column.to_owned(),
        SortKey::Words(column, words) => {
            let cases: Vec<String> =
                words.iter().zip(1..).map(|(word, place)| format!(" WHEN '{word}' THEN {place}")).collect();
            format!("CASE {column}{} ELSE 0 END", cases.concat())
        }
        SortKey::Date(column) => format!("COALESCE({column}, '{NEVER}')"),
        SortKey::Member(column) => format!(
            "COALESCE((SELECT u.name_key FROM members m JOIN users u ON u.id = m.user_id WHERE m.id = {column}), '')"
        ),
    })
}

impl Listing {
    fn of<R: Register>(rows: &str, count: String) -> Self {
        let page = |key: &SortKey| Pages::of(rows, "id", sort_key(*key).as_deref());
        Self { count: kept(count), pages: <R::Sort as RegisterSort>::KEYS.iter().map(page).collect() }
    }
}

impl Statements {
    pub(crate) fn of<R: Stored>() -> Self {
        let table = R::TABLE;
        let rows = format!("SELECT {BEFORE}, {}, {AFTER} FROM {table}", R::columns().join(", "));
        let count = format!("SELECT COUNT(*) FROM {table}");
        let ids: Vec<String> = (2..IDS_PER_STATEMENT + 2).map(|number| format!("${number}")).collect();
        let of_ids = format!("WHERE org_id = $1 AND id IN ({}) ORDER BY id", ids.join(", "));
        let some = format!("{rows} {of_ids}");
        let before_last = format!(
            "SELECT id, (SELECT j.state FROM journal j WHERE j.org_id = $1 AND j.entity_id = {table}.id AND j.entity_type = '{}' ORDER BY j.sequence DESC LIMIT 1 OFFSET 1) FROM {table} {of_ids}",
            R::ENTITY
        );
        let assigned = format!("{rows} WHERE org_id = $1 AND assignee_id = $2 ORDER BY id FOR UPDATE");
        Self {
            insert: SIZES.map(|count| kept(inserted::<R>(count))),
            get: kept(format!("{rows}{ONE}")),
            lock: kept(format!("{rows}{ONE} FOR UPDATE")),
            lock_assigned: kept(assigned),
            lock_some: kept(format!("{some} FOR UPDATE")),
            before_last: kept(before_last),
            some: kept(some),
            update: kept(set::<R>()),
            delete: kept(format!("DELETE FROM {table}{ONE}")),
            whole: Listing::of::<R>(&everything::<R>(&rows), everything::<R>(&count)),
            narrowed: Listing::of::<R>(&narrowed::<R>(&rows), narrowed::<R>(&count)),
            matrix: R::RATINGS.iter().map(cells::<R>).collect(),
        }
    }

    /// Returns all statements, for the test that prepares them.
    pub fn texts(&self) -> Vec<&'static str> {
        let Self {
            insert,
            get,
            lock,
            lock_assigned,
            some,
            lock_some,
            before_last,
            update,
            delete,
            whole,
            narrowed,
            matrix,
        } = self;
        let mut all = vec![*get, lock, lock_assigned, some, lock_some, before_last, update, delete];
        all.extend(insert);
        all.extend(matrix);
        for listing in [whole, narrowed] {
            all.push(listing.count);
            all.extend(listing.pages.iter().flat_map(Pages::texts));
        }
        all
    }
}

statements! {
    BUMP = "INSERT INTO register_numbers (org_id, register, last) VALUES ($1, $2, $3) ON CONFLICT (org_id, register) DO UPDATE SET last = register_numbers.last + $3 RETURNING last";
    NAME_KEY = "SELECT u.name_key FROM members m JOIN users u ON u.id = m.user_id WHERE m.id = $1";
    SET_NUMBER = "UPDATE register_numbers SET last = $3 WHERE org_id = $1 AND register = $2";
}

/// Reserves numbers of a register and returns the last of them.
async fn bump(t: &Tx<'_>, params: &[Value<'_>; 3]) -> Result<i64, Error> {
    let last = t.returning(BUMP, params, |row| row.int(0)).await?.pop();
    last.ok_or_else(|| Error::Other(format!("no row: {BUMP}")))
}

fn read<R: Stored>(row: &Row<'_>) -> Result<Record<R>, Error> {
    let mut cells = RowCells::new(row);
    Ok(Record {
        id: cells.take()?,
        organization_id: cells.take()?,
        number: cells.take()?,
        fields: DomainRow::read(&mut cells)?,
        created_at: cells.take()?,
        updated_at: cells.take()?,
        version: cells.take()?,
    })
}

/// Binds the values that the insert and the update share, after the organization and the id.
fn bind<'a, R: Stored>(record: &'a Record<R>, values: &mut Vec<Value<'a>>) {
    values.extend(R::FIELDS.iter().map(|field| value(record.fields.field(field.column))));
    values.extend(R::COMPUTED.iter().map(|computed| value((computed.of)(&record.fields))));
}

fn row_values<'a, R: Stored>(scope: &Scope, record: &'a Record<R>, values: &mut Vec<Value<'a>>) {
    values.extend([id(scope.organization()), id(record.id)]);
    bind(record, values);
    values.extend([time(record.created_at), time(record.updated_at), Value::Int(record.version)]);
    values.push(Value::Int(record.number));
}

/// The last number that a transaction has assigned in a register. The first number is written immediately, which
/// locks the register's counter row; later ones are only counted, and the last one is written with the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastNumber {
    organization: OrganizationId,
    register: &'static str,
    last: i64,
    is_written: bool,
}

impl LastNumber {
    /// Returns the statements that write the numbers that a transaction's bodies have assigned, in order.
    pub fn statements(given: impl Iterator<Item = Self>) -> Vec<Statement> {
        let last: BTreeMap<_, _> = given.map(|one| ((one.organization, one.register), one)).collect();
        let statement = |one: Self| Statement {
            sql: SET_NUMBER,
            params: vec![id(one.organization), Value::from(one.register), Value::Int(one.last)],
        };
        last.into_values().filter(|one| !one.is_written).map(statement).collect()
    }
}

/// Reserves the next numbers of a register and returns the last of them.
async fn take_numbers<R: Stored>(t: &Tx<'_>, scope: &Scope, count: usize) -> Result<i64, Error> {
    let count = i64::try_from(count).map_err(|error| Error::Other(error.to_string()))?;
    let (organization, register) = (scope.organization(), R::ENTITY);
    let known = t.last_commit_record(|given: &LastNumber| {
        (given.organization == organization && given.register == register).then_some(given.last)
    });
    let last = match known {
        Some(last) => last + count,
        None => {
            let params = [id(organization), Value::from(register), Value::Int(count)];
            bump(t, &params).await?
        }
    };
    t.defer_to_commit(LastNumber { organization, register, last, is_written: known.is_none() });
    Ok(last)
}

/// Takes a named lock of an organization until the transaction ends.
pub async fn hold(t: &Tx<'_>, scope: &Scope, what: &str) -> Result<(), Error> {
    let params = [id(scope.organization()), Value::from(what), Value::Int(0)];
    bump(t, &params).await.map(drop)
}

/// Inserts a row with the next number.
pub async fn insert<R: Stored>(t: &Tx<'_>, scope: &Scope, record: &mut Record<R>) -> Result<(), Error> {
    record.number = take_numbers::<R>(t, scope, 1).await?;
    let mut values = Vec::with_capacity(32);
    row_values(scope, record, &mut values);
    t.execute_later(RowChange::Batched(R::sql().insert), owned(values)).await
}

/// Inserts rows with consecutive numbers.
pub async fn insert_many<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    records: &mut [Record<R>],
) -> Result<(), Error> {
    if records.is_empty() {
        return Ok(());
    }
    let last = take_numbers::<R>(t, scope, records.len()).await?;
    for (number, record) in (1..=last).rev().zip(records.iter_mut().rev()) {
        record.number = number;
    }
    let rows = records.iter().map(|record| {
        let mut values = Vec::with_capacity(32);
        row_values(scope, record, &mut values);
        owned(values)
    });
    for Statement { sql, params } in RowChange::Batched(R::sql().insert).statements(rows) {
        t.execute(sql, &params).await?;
    }
    Ok(())
}

pub async fn get<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    record: Id<R::Kind>,
) -> Result<Option<Record<R>>, Error> {
    t.opt(R::sql().get, &[id(scope.organization()), id(record)], read).await
}

pub async fn lock<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    record: Id<R::Kind>,
) -> Result<Option<Record<R>>, Error> {
    t.opt(R::sql().lock, &[id(scope.organization()), id(record)], read).await
}

/// Locks and returns the rows that are assigned to a member.
pub async fn lock_assigned<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
) -> Result<Vec<Record<R>>, Error> {
    t.all(R::sql().lock_assigned, &[id(scope.organization()), id(member)], read).await
}

/// Returns rows by their ids, ordered by id; missing ones are skipped.
pub async fn some_of<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    ids: &[Id<R::Kind>],
) -> Result<Vec<Record<R>>, Error> {
    by_ids(t, scope, R::sql().some, ids, read).await
}

/// Locks and returns rows by their ids, ordered by id; missing ones are skipped.
pub async fn lock_some<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    ids: &[Id<R::Kind>],
) -> Result<Vec<Record<R>>, Error> {
    by_ids(t, scope, R::sql().lock_some, ids, read).await
}

/// Returns the states that the journal has of rows before their last change, by their ids.
pub async fn states_before_last<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    ids: &[Id<R::Kind>],
) -> Result<HashMap<Id<R::Kind>, String>, Error> {
    let read = |row: &Row<'_>| Ok((row.parse(0)?, row.opt_text(1)?));
    let found = by_ids(t, scope, R::sql().before_last, ids, read).await?;
    Ok(found.into_iter().filter_map(|(id, state)| Some((id, state?))).collect())
}

async fn by_ids<K: Kind, T>(
    t: &Tx<'_>,
    scope: &Scope,
    sql: &'static str,
    ids: &[Id<K>],
    read: impl Fn(&Row<'_>) -> Result<T, Error> + Copy,
) -> Result<Vec<T>, Error> {
    let mut rows = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(IDS_PER_STATEMENT) {
        let mut params = vec![id(scope.organization())];
        params.extend(chunk.iter().map(|one| id(*one)));
        params.resize(IDS_PER_STATEMENT + 1, Value::Null);
        rows.append(&mut t.all(sql, &params, read).await?);
    }
    Ok(rows)
}

pub async fn update<R: Stored>(t: &Tx<'_>, scope: &Scope, record: &Record<R>) -> Result<(), Error> {
    let mut values = vec![id(scope.organization()), id(record.id)];
    bind(record, &mut values);
    values.extend([time(record.updated_at), Value::Int(record.version)]);
    t.execute_later(RowChange::Single(R::sql().update), owned(values)).await
}

pub async fn delete<R: Stored>(t: &Tx<'_>, scope: &Scope, record: Id<R::Kind>) -> Result<(), Error> {
    t.execute(R::sql().delete, &[id(scope.organization()), id(record)]).await.map(|_| ())
}

/// The values of the conditions of a narrowed list.
fn conditions<'a, R: Stored>(scope: &Scope, wanted: &'a Wanted<R>) -> Vec<Value<'a>> {
    let mut values = vec![id(scope.organization())];
    if R::HIDDEN.is_some() {
        values.extend(R::visibility(&wanted.filter).values().map(Value::Bool));
    }
    values.extend(wanted.filter.values().into_iter().map(value));
    values.push(Value::from(wanted.q.as_deref().map(contains)));
    values.push(Value::from(wanted.number()));
    values.push(Value::from(wanted.due_by.map(|date| date.to_string())));
    values
}

/// The statements of a list, and the values of its conditions.
fn listing<'a, R: Stored>(scope: &Scope, wanted: &'a Wanted<R>) -> (&'static Listing, Vec<Value<'a>>) {
    if !wanted.is_everything() {
        return (&R::sql().narrowed, conditions(scope, wanted));
    }
    let mut values = vec![id(scope.organization())];
    let [shown, _] = R::visibility(&wanted.filter).values();
    values.extend(R::HIDDEN.map(|_| Value::Bool(shown)));
    (&R::sql().whole, values)
}

pub async fn list<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    wanted: &Wanted<R>,
    page: &PageRequest<R::Sort>,
) -> Result<Page<Record<R>>, Error> {
    let (listing, mut values) = listing(scope, wanted);
    page_params(&mut values, page.limit, page.after.as_ref());
    let sql = listing.pages[page.sort.index()].pick(page.order, page.after.is_some());
    let place = |record: &Record<R>| record.place(page.sort, |member| member.to_string());
    let mut found = read_page(t, sql, &values, page.limit, read, place).await?;
    // The cursor of the next page contains the name of the last row's member.
    if let (SortKey::Member(_), Some(next)) = (page.sort.key(), &mut found.next) {
        let member = found.items.last().and_then(|record| record.assignee());
        let name = match member {
            Some(member) => t.opt(NAME_KEY, &[id(member)], |row| row.text(0)).await?,
            None => None,
        };
        next.key = Key::Text(name.unwrap_or_default());
    }
    Ok(found)
}

pub async fn count<R: Stored>(t: &Tx<'_>, scope: &Scope, wanted: &Wanted<R>) -> Result<i64, Error> {
    let (listing, values) = listing(scope, wanted);
    t.one(listing.count, &values, |row| row.int(0)).await
}

/// A register whose rows are rated.
pub trait StoredRating: Stored + Rated {}

impl<R: Stored + Rated> StoredRating for R {}

/// The statement of one side of the matrix.
fn cells<R: Stored>(side: &RatingSide) -> &'static str {
    let columns = [side.is_assessed, side.likelihood, side.impact].join(", ");
    let sql = narrowed::<R>(&format!("SELECT {columns}, COUNT(*) FROM {}", R::TABLE));
    kept(format!("{sql} GROUP BY {columns}"))
}

/// Returns the matrix of the filtered rows.
pub async fn matrix<R: StoredRating>(t: &Tx<'_>, scope: &Scope, wanted: &Wanted<R>) -> Result<Matrix, Error> {
    let values = conditions(scope, wanted);
    let cell = |row: &Row<'_>| {
        let cell = Cell { likelihood: row.parse(1)?, impact: row.parse(2)?, count: row.int(3)? };
        Ok((row.bool(0)?, cell))
    };
    let mut matrix = Matrix::default();
    let [inherent, residual] = R::sql().matrix.as_slice() else {
        return Err(Error::Other("a rated register has two sides".to_owned()));
    };
    for (is_assessed, cell) in t.all(inherent, &values, cell).await? {
        matrix.inherent.add(is_assessed, cell);
    }
    for (is_assessed, cell) in t.all(residual, &values, cell).await? {
        matrix.residual.add(is_assessed, cell);
    }
    Ok(matrix)
}
