//! The rows of registers. A register's own file names its table and its columns; every statement follows from the two
//! lists (and the conditions and orders in the domain), as static text, and so do reading and binding.

#![expect(
    clippy::large_types_passed_by_value,
    reason = "statements are put together by the compiler, not when the program runs"
)]

use std::collections::BTreeMap;

use attestry_db::{Error, Row, RowChange, SIZES, Statement, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{Id, MemberId, OrganizationId};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::plain::{Keep, Plain, PlainKind};
use attestry_domain::registers::{
    Compare, Computed, Condition, Filter, RatingSide, Record, Register, RegisterSort, Wanted,
};
use attestry_domain::scales::{Cell, Matrix, Rated};

use crate::sql::{Columns, contains, id, owned, page_params, read_page, time};
use crate::text::{Pages, Sheet, Sql, page_place};

/// How many orders a list has at most.
const MOST_SORTS: usize = 6;

/// A register whose rows are kept in a table.
pub trait Stored: Register {
    const TABLE: &'static str;
    /// The columns of its fields, in the order in which they are read and bound.
    const COLUMNS: &'static [&'static str];

    /// Its statements: one copy of them, wherever they are used.
    fn sql() -> &'static Statements;

    fn read(cells: &mut Cells<'_, '_>) -> Result<Self, Error>;

    fn bind<'a>(&'a self, values: &mut Vec<Value<'a>>);
}

/// Makes a register's table of fields its columns.
macro_rules! stored {
    (
        [$name:ident in $table:literal]
        $($field:ident $wire:literal $how:ident $type:ty = $about:literal;)*
    ) => {
        impl $crate::registers::Stored for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn sql() -> &'static $crate::registers::Statements {
                use $crate::registers::{Statements, Stored};
                use $crate::text::Sheet;

                const fn added(sheet: &mut Sheet) -> Statements {
                    Statements::added::<$name>(sheet, <$name as Stored>::TABLE, <$name as Stored>::COLUMNS)
                }
                const FIRST: Sheet = {
                    let mut sheet = Sheet::new(&[]);
                    added(&mut sheet);
                    sheet
                };
                static KEPT: [u8; FIRST.length()] = FIRST.bytes();
                static SQL: Statements = added(&mut Sheet::new(&KEPT));
                &SQL
            }

            fn read(cells: &mut $crate::registers::Cells<'_, '_>) -> Result<Self, attestry_db::Error> {
                Ok(Self { $($field: cells.take()?),* })
            }

            fn bind<'a>(&'a self, values: &mut Vec<attestry_db::Value<'a>>) {
                $(values.push($crate::registers::value(attestry_domain::plain::Keep::plain(&self.$field)));)*
            }
        }
    };
}

/// The cells of a row, one after the other.
#[derive(Debug)]
pub struct Cells<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

impl Cells<'_, '_> {
    pub fn take<T: Keep>(&mut self) -> Result<T, Error> {
        let column = self.next;
        self.next += 1;
        let row = self.row;
        let plain = match T::KIND {
            PlainKind::Text | PlainKind::Words => {
                row.opt_str(column)?.map_or(Plain::Null, |text| Plain::Text(text.into()))
            }
            PlainKind::Int => row.opt_int(column)?.map_or(Plain::Null, Plain::Int),
            PlainKind::Bool => row.opt_bool(column)?.map_or(Plain::Null, Plain::Bool),
            PlainKind::Time => row.opt_time(column)?.map_or(Plain::Null, Plain::Time),
            PlainKind::Date => row.opt_parse(column)?.map_or(Plain::Null, Plain::Date),
        };
        T::kept(plain).map_err(|message| Error::Column { column, message })
    }
}

/// A plain value as a parameter.
pub fn value(plain: Plain<'_>) -> Value<'_> {
    match plain {
        Plain::Null => Value::Null,
        Plain::Bool(value) => Value::Bool(value),
        Plain::Int(value) => Value::Int(value),
        Plain::Text(value) => Value::Text(value),
        Plain::Date(value) => Value::from(value.to_string()),
        Plain::Time(value) => time(value),
    }
}

/// Every statement of a register.
#[derive(Debug)]
pub struct Statements {
    /// By [`SIZES`].
    insert: [&'static str; SIZES.len()],
    get: &'static str,
    lock: &'static str,
    lock_assigned: &'static str,
    update: &'static str,
    delete: &'static str,
    whole: Listing,
    narrowed: Listing,
}

/// A list: how many there are, and its pages in each order. An order that the register does not have is empty.
#[derive(Debug)]
struct Listing {
    count: &'static str,
    pages: [[&'static str; 4]; MOST_SORTS],
}

type Text = Sql<2048>;

const BEFORE: &[&str] = &["id", "org_id", "number"];
const AFTER: &[&str] = &["created_at", "updated_at", "version"];

const fn select(table: &str, names: &[&str]) -> Text {
    Sql::new()
        .text("SELECT ")
        .names("", BEFORE)
        .text(", ")
        .names("", names)
        .text(", ")
        .names("", AFTER)
        .text(" FROM ")
        .text(table)
}

/// An insert of so many rows; the number comes last.
const fn inserted<R: Register>(table: &str, names: &[&str], rows: usize) -> Sql<12_288> {
    let mut sql = Sql::new().text("INSERT INTO ").text(table).text(" (org_id, id, ").names("", names);
    let computed: &[Computed<R>] = R::COMPUTED;
    let mut place = 0;
    while place < computed.len() {
        sql = sql.text(", ").text(computed[place].column);
        place += 1;
    }
    let sql = sql.text(", ").names("", AFTER).text(", number) VALUES ");
    sql.rows(2 + names.len() + R::COMPUTED.len() + AFTER.len() + 1, rows)
}

const fn set<R: Register>(table: &str, names: &[&str]) -> Text {
    let mut sql: Text = Sql::new().text("UPDATE ").text(table).text(" SET ");
    let mut number = 3;
    let mut place = 0;
    while place < names.len() {
        sql = sql.text(names[place]).text(" = ").parameter(number).text(", ");
        (number, place) = (number + 1, place + 1);
    }
    let computed: &[Computed<R>] = R::COMPUTED;
    place = 0;
    while place < computed.len() {
        sql = sql.text(computed[place].column).text(" = ").parameter(number).text(", ");
        (number, place) = (number + 1, place + 1);
    }
    sql.text("updated_at = ").parameter(number).text(", version = ").parameter(number + 1).text(ONE)
}

const ONE: &str = " WHERE org_id = $1 AND id = $2";

/// The rows nobody narrowed down: without the optional conditions both planners find the short way.
const fn everything<R: Register>(sql: Text) -> Text {
    let sql = sql.text(" WHERE org_id = $1");
    match R::HIDDEN {
        Some(column) => sql.text(" AND ").text(column).text(" = $2"),
        None => sql,
    }
}

const fn narrowed<R: Register>(sql: Text) -> Text {
    let mut sql = sql.text(" WHERE org_id = $1");
    let mut number = 2;
    if let Some(column) = R::HIDDEN {
        sql = sql.text(" AND ").text(column).text(" IN ($2, $3)");
        number = 4;
    }
    let conditions: &[Condition] = R::Filter::CONDITIONS;
    let mut place = 0;
    while place < conditions.len() {
        let Condition { column, compare, kind } = conditions[place];
        sql = optional(sql, number, kind);
        sql = match compare {
            Compare::Is => sql.text(column).text(" = ").parameter(number).text(")"),
            // A wildcard in the pattern is the underscore of a known word or id, which matches itself.
            Compare::AnyOf => sql.parameter(number).text(" LIKE '%,' || ").text(column).text(" || ',%')"),
            Compare::AtLeast => sql.text(column).text(" >= ").parameter(number).text(")"),
            Compare::Has => sql.text(column).text(" LIKE '%' || ").parameter(number).text(" || '%')"),
        };
        (number, place) = (number + 1, place + 1);
    }
    sql = optional(sql, number, PlainKind::Text).text("search_text LIKE ").parameter(number);
    sql = sql.text(" ESCAPE '\\' OR number = ").parameter(number + 1).text(")");
    optional(sql, number + 2, PlainKind::Text)
        .text(R::DUE.column)
        .text(" <= ")
        .parameter(number + 2)
        .text(")")
}

/// `AND (CAST($3 AS TEXT) IS NULL OR `
const fn optional(sql: Text, number: usize, kind: PlainKind) -> Text {
    let kind = match kind {
        PlainKind::Text | PlainKind::Words | PlainKind::Date => "TEXT",
        PlainKind::Int | PlainKind::Time => "BIGINT",
        PlainKind::Bool => "BOOLEAN",
    };
    sql.text(" AND (CAST(").parameter(number).text(" AS ").text(kind).text(") IS NULL OR ")
}

impl Listing {
    const fn added<R: Register>(sheet: &mut Sheet, rows: Text, count: Text) -> Self {
        let columns = <R::Sort as RegisterSort>::COLUMNS;
        let mut pages = [[""; 4]; MOST_SORTS];
        let mut place = 0;
        while place < columns.len() {
            pages[place] = Pages::of(rows.as_str(), "id", columns[place]).added(sheet);
            place += 1;
        }
        Self { count: sheet.add(count.as_str()), pages }
    }
}

impl Statements {
    pub(crate) const fn added<R: Register>(sheet: &mut Sheet, table: &str, names: &[&str]) -> Self {
        let mut insert = [""; SIZES.len()];
        let mut place = 0;
        while place < SIZES.len() {
            insert[place] = sheet.add(inserted::<R>(table, names, SIZES[place]).as_str());
            place += 1;
        }
        let rows = select(table, names);
        let count: Text = Sql::new().text("SELECT COUNT(*) FROM ").text(table);
        let delete: Text = Sql::new().text("DELETE FROM ").text(table).text(ONE);
        let assigned = rows.text(" WHERE org_id = $1 AND assignee_id = $2 ORDER BY id FOR UPDATE");
        Self {
            insert,
            get: sheet.add(rows.text(ONE).as_str()),
            lock: sheet.add(rows.text(ONE).text(" FOR UPDATE").as_str()),
            lock_assigned: sheet.add(assigned.as_str()),
            update: sheet.add(set::<R>(table, names).as_str()),
            delete: sheet.add(delete.as_str()),
            whole: Listing::added::<R>(sheet, everything::<R>(rows), everything::<R>(count)),
            narrowed: Listing::added::<R>(sheet, narrowed::<R>(rows), narrowed::<R>(count)),
        }
    }

    /// All of them, for the test that prepares every statement.
    pub fn texts(&self) -> Vec<&'static str> {
        let Self { insert, get, lock, lock_assigned, update, delete, whole, narrowed } = self;
        let mut all = vec![*get, lock, lock_assigned, update, delete];
        all.extend(insert);
        for listing in [whole, narrowed] {
            all.push(listing.count);
            all.extend(listing.pages.as_flattened().iter().filter(|text| !text.is_empty()));
        }
        all
    }
}

statements! {
    BUMP = "INSERT INTO register_numbers (org_id, register, last) VALUES ($1, $2, $3) ON CONFLICT (org_id, register) DO UPDATE SET last = register_numbers.last + $3 RETURNING last";
    SET_NUMBER = "UPDATE register_numbers SET last = $3 WHERE org_id = $1 AND register = $2";
}

fn read<R: Stored>(row: &Row<'_>) -> Result<Record<R>, Error> {
    let mut cells = Cells { row, next: 0 };
    Ok(Record {
        id: cells.take()?,
        organization_id: cells.take()?,
        number: cells.take()?,
        fields: R::read(&mut cells)?,
        created_at: cells.take()?,
        updated_at: cells.take()?,
        version: cells.take()?,
    })
}

/// What both writing statements set, after the organization and the id.
fn bind<'a, R: Stored>(record: &'a Record<R>, values: &mut Vec<Value<'a>>) {
    record.fields.bind(values);
    values.extend(R::COMPUTED.iter().map(|computed| value((computed.of)(&record.fields))));
}

fn row_values<'a, R: Stored>(scope: &Scope, record: &'a Record<R>, values: &mut Vec<Value<'a>>) {
    values.extend([id(scope.organization()), id(record.id)]);
    bind(record, values);
    values.extend([time(record.created_at), time(record.updated_at), Value::Int(record.version)]);
    values.push(Value::Int(record.number));
}

/// The last number a transaction has given to a row of a register. The first one it gives is written at once, and the
/// row of the register held with it; those after it are only counted, and the last one is written with the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastNumber {
    organization: OrganizationId,
    register: &'static str,
    last: i64,
    is_written: bool,
}

impl LastNumber {
    /// What writes the numbers that the bodies of a transaction have given, in order.
    pub fn statements(given: impl Iterator<Item = Self>) -> Vec<Statement> {
        let last: BTreeMap<_, _> = given.map(|one| ((one.organization, one.register), one)).collect();
        let statement = |one: Self| Statement {
            sql: SET_NUMBER,
            params: vec![id(one.organization), Value::from(one.register), Value::Int(one.last)],
        };
        last.into_values().filter(|one| !one.is_written).map(statement).collect()
    }
}

/// Takes the next numbers of a register, and says which is the last of them.
async fn take_numbers<R: Stored>(t: &Tx<'_>, scope: &Scope, count: usize) -> Result<i64, Error> {
    let count = i64::try_from(count).map_err(|error| Error::Other(error.to_string()))?;
    let (organization, register) = (scope.organization(), R::ENTITY);
    let known = t.last_note(|given: &LastNumber| {
        (given.organization == organization && given.register == register).then_some(given.last)
    });
    let last = match known {
        Some(last) => last + count,
        None => {
            let params = [id(organization), Value::from(register), Value::Int(count)];
            t.one(BUMP, &params, |row| row.int(0)).await?
        }
    };
    t.leave(LastNumber { organization, register, last, is_written: known.is_none() });
    Ok(last)
}

/// Whoever else wants to hold the same thing of an organization waits until the transaction ends.
pub async fn hold(t: &Tx<'_>, scope: &Scope, what: &str) -> Result<(), Error> {
    let params = [id(scope.organization()), Value::from(what), Value::Int(0)];
    t.one(BUMP, &params, |row| row.int(0)).await.map(drop)
}

/// Adds a row and gives it the next number.
pub async fn insert<R: Stored>(t: &Tx<'_>, scope: &Scope, record: &mut Record<R>) -> Result<(), Error> {
    record.number = take_numbers::<R>(t, scope, 1).await?;
    let mut values = Vec::with_capacity(32);
    row_values(scope, record, &mut values);
    t.execute_later(RowChange::Batched(R::sql().insert), owned(values)).await
}

/// Adds many rows and numbers them in their order.
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

/// The row, held until the transaction ends.
pub async fn lock<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    record: Id<R::Kind>,
) -> Result<Option<Record<R>>, Error> {
    t.opt(R::sql().lock, &[id(scope.organization()), id(record)], read).await
}

/// What a member is responsible for, held until the transaction ends.
pub async fn lock_assigned<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
) -> Result<Vec<Record<R>>, Error> {
    t.all(R::sql().lock_assigned, &[id(scope.organization()), id(member)], read).await
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

/// The statements of a list, and the values of its conditions.
fn listing<'a, R: Stored>(scope: &Scope, wanted: &'a Wanted<R>) -> (&'static Listing, Vec<Value<'a>>) {
    let mut values = vec![id(scope.organization())];
    let [shown, hidden] = wanted.filter.visibility().values();
    if R::HIDDEN.is_some() {
        values.push(Value::Bool(shown));
    }
    if wanted.is_everything() {
        return (&R::sql().whole, values);
    }
    if R::HIDDEN.is_some() {
        values.push(Value::Bool(hidden));
    }
    values.extend(wanted.filter.values().into_iter().map(value));
    values.push(Value::from(wanted.q.as_deref().map(contains)));
    values.push(Value::from(wanted.number()));
    values.push(Value::from(wanted.due_by.map(|date| date.to_string())));
    (&R::sql().narrowed, values)
}

pub async fn list<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    wanted: &Wanted<R>,
    page: &PageRequest<R::Sort>,
) -> Result<Page<Record<R>>, Error> {
    let (listing, mut values) = listing(scope, wanted);
    page_params(&mut values, page.limit, page.after.as_ref());
    let sql = listing.pages[page.sort.index()][page_place(page.order, page.after.is_some())];
    read_page(t, sql, &values, page.limit, read, |record: &Record<R>| record.place(page.sort)).await
}

pub async fn count<R: Stored>(t: &Tx<'_>, scope: &Scope, wanted: &Wanted<R>) -> Result<i64, Error> {
    let (listing, values) = listing(scope, wanted);
    t.one(listing.count, &values, |row| row.int(0)).await
}

/// The statements of the matrix.
pub trait StoredRating: Stored + Rated {
    const MATRIX: &'static [Sql<512>; 4] = &[
        cells::<Self>(Self::TABLE, &Self::RATINGS[0]),
        cells::<Self>(Self::TABLE, &Self::RATINGS[1]),
        unrated::<Self>(Self::TABLE, &Self::RATINGS[0]),
        unrated::<Self>(Self::TABLE, &Self::RATINGS[1]),
    ];
}

impl<R: Stored + Rated> StoredRating for R {}

const fn rated<R: Register>(sql: Sql<512>, table: &str, side: &RatingSide, is: &str) -> Sql<512> {
    let sql = sql.text(table).text(" WHERE org_id = $1 AND ").text(side.is_assessed).text(" = ").text(is);
    match R::HIDDEN {
        Some(column) => sql.text(" AND ").text(column).text(" = FALSE"),
        None => sql,
    }
}

const fn unrated<R: Register>(table: &str, side: &RatingSide) -> Sql<512> {
    rated::<R>(Sql::new().text("SELECT COUNT(*) FROM "), table, side, "FALSE")
}

const fn cells<R: Register>(table: &str, side: &RatingSide) -> Sql<512> {
    let RatingSide { likelihood, impact, .. } = *side;
    let sql = Sql::new().text("SELECT ").text(likelihood).text(", ").text(impact).text(", COUNT(*) FROM ");
    rated::<R>(sql, table, side, "TRUE").text(" GROUP BY ").text(likelihood).text(", ").text(impact)
}

pub async fn matrix<R: StoredRating>(t: &Tx<'_>, scope: &Scope) -> Result<Matrix, Error> {
    let own = [id(scope.organization())];
    let cell =
        |row: &Row<'_>| Ok(Cell { likelihood: row.parse(0)?, impact: row.parse(1)?, count: row.int(2)? });
    let [inherent, residual, not_assessed, residual_not_assessed] = R::MATRIX;
    Ok(Matrix {
        inherent: t.all(inherent.as_str(), &own, cell).await?,
        residual: t.all(residual.as_str(), &own, cell).await?,
        not_assessed: t.one(not_assessed.as_str(), &own, |row| row.int(0)).await?,
        residual_not_assessed: t.one(residual_not_assessed.as_str(), &own, |row| row.int(0)).await?,
    })
}

/// Every statement of a rated register.
pub(crate) fn texts<R: StoredRating>() -> Vec<&'static str> {
    R::sql().texts().into_iter().chain(R::MATRIX.iter().map(Sql::as_str)).collect()
}
