//! Tables whose rows are structs: the statements, reading and binding follow from their columns.

use std::fmt;
use std::marker::PhantomData;

use attestry_db::{Error, Row as DbRow, RowChange, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::any_of::AnyOf;
use attestry_domain::id::{Id, Kind};
use attestry_domain::page::{After, Key, Page, PageRequest, Sort};
use attestry_domain::plain::{Keep, Plain, PlainKind};
use attestry_domain::row::{Cells, Row};
use serde::de::DeserializeOwned;

use crate::sql::{Columns, id, owned, read_page, time};
use crate::text::kept;

/// A cursor over the cells of a row.
#[derive(Debug)]
pub(crate) struct RowCells<'r, 's> {
    row: &'r DbRow<'s>,
    next: usize,
}

impl<'r, 's> RowCells<'r, 's> {
    pub(crate) fn new(row: &'r DbRow<'s>) -> Self {
        Self { row, next: 0 }
    }

    fn step(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

impl Cells for RowCells<'_, '_> {
    type Error = Error;

    fn take<T: Keep>(&mut self) -> Result<T, Error> {
        let (column, row) = (self.step(), self.row);
        let plain = match T::KIND {
            PlainKind::Text | PlainKind::Words => {
                row.opt_str(column)?.map_or(Plain::Null, |text| Plain::Text(text.into()))
            }
            PlainKind::Bytes => {
                row.opt_bytes(column)?.map_or(Plain::Null, |bytes| Plain::Bytes(bytes.into()))
            }
            PlainKind::Int => row.opt_int(column)?.map_or(Plain::Null, Plain::Int),
            PlainKind::Bool => row.opt_bool(column)?.map_or(Plain::Null, Plain::Bool),
            PlainKind::Time => row.opt_time(column)?.map_or(Plain::Null, Plain::Time),
            PlainKind::Date => row.opt_parse(column)?.map_or(Plain::Null, Plain::Date),
        };
        T::kept(plain).map_err(|message| Error::Column { column, message })
    }

    fn json<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let column = self.step();
        let wrong = |error: serde_json::Error| Error::Column { column, message: error.to_string() };
        serde_json::from_str(self.row.str(column)?).map_err(wrong)
    }

    fn optional_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        if self.is_null()? {
            self.skip(1);
            return Ok(None);
        }
        self.json().map(Some)
    }

    fn is_null(&self) -> Result<bool, Error> {
        self.row.is_null(self.next)
    }

    fn skip(&mut self, cells: usize) {
        self.next += cells;
    }
}

/// The requested values of a filter; null matches any.
pub(crate) fn any_of<T: Keep>(filter: Option<&AnyOf<T>>) -> Value<'_> {
    filter.map_or(Value::Null, |any| value(any.plain()))
}

/// Converts a plain value to a parameter.
pub(crate) fn value(plain: Plain<'_>) -> Value<'_> {
    match plain {
        Plain::Null => Value::Null,
        Plain::Bool(value) => Value::Bool(value),
        Plain::Int(value) => Value::Int(value),
        Plain::Text(value) => Value::Text(value),
        Plain::Bytes(value) => Value::Bytes(value),
        Plain::Date(value) => Value::from(value.to_string()),
        Plain::Time(value) => time(value),
    }
}

/// The values of a row, in the order of its columns.
pub(crate) fn values<R: Row>(row: &R) -> Result<Vec<Value<'_>>, Error> {
    let mut plain = Vec::with_capacity(24);
    row.write(&mut plain).map_err(|error| Error::Other(error.to_string()))?;
    Ok(plain.into_iter().map(value).collect())
}

/// Reads a row from its first cells.
pub(crate) fn read<R: Row>(row: &DbRow<'_>) -> Result<R, Error> {
    R::read(&mut RowCells::new(row))
}

/// Reads a page of rows, each followed by its sort key unless the list is sorted by id: see [`Table::select_with`].
pub(crate) async fn read_sorted<R: Row, S: Sort>(
    t: &Tx<'_>,
    sql: &'static str,
    params: &[Value<'_>],
    page: &PageRequest<S>,
    id: impl Fn(&R) -> String,
) -> Result<Page<R>, Error> {
    let (column, sort) = (R::columns().len(), page.sort);
    let key = |row: &DbRow<'_>| match (sort.takes(&Key::Id), sort.takes(&Key::Number(0))) {
        (true, _) => Ok(Key::Id),
        (_, true) => row.int(column).map(Key::Number),
        _ => row.text(column).map(Key::Text),
    };
    let read = |row: &DbRow<'_>| Ok((read::<R>(row)?, key(row)?));
    let place = |(row, key): &(R, Key)| After { key: key.clone(), id: id(row) };
    let Page { items, next } = read_page(t, sql, params, page.limit, read, place).await?;
    Ok(Page { items: items.into_iter().map(|(row, _)| row).collect(), next })
}

/// Reads a row and the value behind it: see [`Table::select_with`].
pub(crate) fn read_with<R: Row, T: Keep>(row: &DbRow<'_>) -> Result<(R, T), Error> {
    let mut cells = RowCells::new(row);
    Ok((R::read(&mut cells)?, cells.take()?))
}

/// A select of rows that no [`Table`] stores, such as joined ones; `from` goes on to the end of the statement.
pub(crate) fn select<R: Row>(from: &str) -> &'static str {
    kept(format!("SELECT {} FROM {from}", R::columns().join(", ")))
}

const KEYS: &[&str] = &["org_id", "id"];

/// A table whose rows are structs, by default with the keys `org_id` and `id`. The value of the first key comes from
/// the caller, for tenant data from the scope; the rows may lack it.
pub(crate) struct Table<R> {
    /// Its name, and its alias in selects.
    name: &'static str,
    /// The columns of `R`, with the alias.
    columns: Vec<String>,
    /// The places of the other keys and of the fields among the columns.
    places: Vec<usize>,
    insert: &'static str,
    update: &'static str,
    upsert: &'static str,
    delete: &'static str,
    rows: PhantomData<fn() -> R>,
}

impl<R> fmt::Debug for Table<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<R: Row> Table<R> {
    /// Builds the statements of a table, which may have an alias for its selects: `ndas n`. `others` are columns that
    /// are not part of the struct; they are inserted with it.
    pub(crate) fn new(name: &'static str, keys: &[&'static str], others: &[&'static str]) -> Self {
        let (table, alias) = name.split_once(' ').unwrap_or((name, ""));
        let dot = if alias.is_empty() { "" } else { "." };
        let keys = if keys.is_empty() { KEYS } else { keys };
        let columns = R::columns();
        let fields = columns.iter().map(AsRef::as_ref).filter(|column| !keys.contains(column));
        let own: Vec<&str> = keys.iter().copied().chain(fields).collect();
        let inserted = [own.as_slice(), others].concat();
        let set = |columns: &[&str]| {
            let numbered = columns.iter().zip(keys.len() + 1..);
            numbered.map(|(column, number)| format!("{column} = ${number}")).collect::<Vec<_>>().join(", ")
        };
        let insert = crate::text::insert(table, &inserted, 1);
        let whole: Vec<String> =
            keys.iter().zip(1..).map(|(key, number)| format!("{key} = ${number}")).collect();
        let whole = whole.join(" AND ");
        let place = |name: &&str| columns.iter().position(|column| column == name);
        Self {
            name,
            columns: columns.iter().map(|column| format!("{alias}{dot}{column}")).collect(),
            places: own.iter().skip(1).filter_map(place).collect(),
            update: kept(format!("UPDATE {table} SET {} WHERE {whole}", set(&own[keys.len()..]))),
            upsert: kept(format!(
                "{insert} ON CONFLICT ({}) DO UPDATE SET {} WHERE {table}.{} = $1",
                keys[keys.len() - 1],
                set(&inserted[keys.len()..]),
                keys[0]
            )),
            insert: kept(insert),
            delete: kept(format!("DELETE FROM {table} WHERE {whole}")),
            rows: PhantomData,
        }
    }

    /// A select of all columns; `rest` follows the name of the table.
    pub(crate) fn select(&self, rest: &str) -> &'static str {
        kept(format!("SELECT {} FROM {}{rest}", self.columns.join(", "), self.name))
    }

    /// A select of all columns and, behind them, of other expressions, such as the one that the rows are sorted by.
    pub(crate) fn select_with(&self, others: &str, rest: &str) -> &'static str {
        kept(format!("SELECT {}, {others} FROM {}{rest}", self.columns.join(", "), self.name))
    }

    /// A select of all columns but an optional text, which is read as `None`.
    pub(crate) fn select_without(&self, column: &str, rest: &str) -> &'static str {
        let cell = |one: &String| if one == column { "CAST(NULL AS TEXT)".to_owned() } else { one.clone() };
        let columns: Vec<String> = self.columns.iter().map(cell).collect();
        kept(format!("SELECT {} FROM {}{rest}", columns.join(", "), self.name))
    }

    /// An insert that does nothing if there is a row with these values.
    pub(crate) fn insert_unless(&self, columns: &str) -> &'static str {
        kept(format!("{} ON CONFLICT ({columns}) DO NOTHING", self.insert))
    }

    /// Returns its statements, for the test that prepares them.
    pub(crate) fn texts(&self) -> [&'static str; 4] {
        [self.insert, self.update, self.upsert, self.delete]
    }

    /// The parameters of an insert or, without `others`, of an update.
    pub(crate) fn params<'a, K: Kind>(
        &self,
        key: Id<K>,
        row: &'a R,
        others: Vec<Value<'a>>,
    ) -> Result<Vec<Value<'a>>, Error> {
        let mut all = values(row)?;
        let own = self.places.iter().map(|place| std::mem::replace(&mut all[*place], Value::Null));
        Ok(std::iter::once(id(key)).chain(own).chain(others).collect())
    }

    pub(crate) async fn insert(&self, t: &Tx<'_>, scope: &Scope, row: &R) -> Result<(), Error> {
        self.insert_with(t, scope.organization(), row, Vec::new()).await
    }

    /// Inserts a row with the values of the columns that are not part of it.
    pub(crate) async fn insert_with<'a, K: Kind>(
        &self,
        t: &Tx<'_>,
        key: Id<K>,
        row: &'a R,
        others: Vec<Value<'a>>,
    ) -> Result<(), Error> {
        t.execute(self.insert, &self.params(key, row, others)?).await.map(|_| ())
    }

    /// Inserts a row, or updates the one with the same last key.
    pub(crate) async fn upsert<'a>(
        &self,
        t: &Tx<'_>,
        scope: &Scope,
        row: &'a R,
        others: Vec<Value<'a>>,
    ) -> Result<(), Error> {
        t.execute(self.upsert, &self.params(scope.organization(), row, others)?).await.map(|_| ())
    }

    pub(crate) async fn update(&self, t: &Tx<'_>, scope: &Scope, row: &R) -> Result<(), Error> {
        self.update_by(t, scope.organization(), row).await
    }

    pub(crate) async fn update_by<K: Kind>(&self, t: &Tx<'_>, key: Id<K>, row: &R) -> Result<(), Error> {
        t.execute(self.update, &self.params(key, row, Vec::new())?).await.map(|_| ())
    }

    /// Updates a row with the next statement.
    pub(crate) async fn update_later(&self, t: &Tx<'_>, scope: &Scope, row: &R) -> Result<(), Error> {
        let params = self.params(scope.organization(), row, Vec::new())?;
        t.execute_later(RowChange::Single(self.update), owned(params)).await
    }

    pub(crate) async fn delete<const KEYS: usize>(
        &self,
        t: &Tx<'_>,
        keys: [Value<'_>; KEYS],
    ) -> Result<(), Error> {
        t.execute(self.delete, &keys).await.map(|_| ())
    }
}
