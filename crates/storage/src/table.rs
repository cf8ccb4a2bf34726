//! Tables whose rows are structs: the statements, reading and binding follow from their columns.

use std::fmt;
use std::marker::PhantomData;

use attestry_db::{Error, Row as DbRow, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::page::{After, Key, Page, PageRequest, Sort};
use attestry_domain::plain::{Keep, Plain, PlainKind};
use attestry_domain::registers::any_of::AnyOf;
use attestry_domain::row::{Cells, Row};
use serde::de::DeserializeOwned;

use crate::sql::{Columns, id, read_page, time};
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

const KEY: [&str; 2] = ["org_id", "id"];

/// A table of tenant data with the keys `org_id` and `id`. The rows may lack the first; it is always the scope's.
pub(crate) struct Table<R> {
    /// Its name, and its alias in selects.
    name: &'static str,
    /// The columns of `R` but for the keys, with their places among all.
    fields: Vec<(usize, String)>,
    /// The place of the id.
    id: usize,
    select: String,
    insert: &'static str,
    update: &'static str,
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
    pub(crate) fn new(name: &'static str, others: &[&str]) -> Self {
        let (table, alias) = name.split_once(' ').unwrap_or((name, ""));
        let dot = if alias.is_empty() { "" } else { "." };
        let columns = R::columns();
        let fields = columns.iter().enumerate().filter(|(_, column)| !KEY.contains(&column.as_ref()));
        let fields: Vec<(usize, String)> =
            fields.map(|(place, column)| (place, column.to_string())).collect();
        let inserted = KEY.into_iter().chain(fields.iter().map(|(_, column)| column.as_str()));
        let inserted: Vec<&str> = inserted.chain(others.iter().copied()).collect();
        let sets: Vec<String> =
            fields.iter().zip(3..).map(|((_, column), number)| format!("{column} = ${number}")).collect();
        Self {
            name,
            id: columns.iter().position(|column| column == "id").unwrap_or_default(),
            select: columns
                .iter()
                .map(|column| format!("{alias}{dot}{column}"))
                .collect::<Vec<_>>()
                .join(", "),
            insert: kept(crate::text::insert(table, &inserted, 1)),
            update: kept(format!("UPDATE {table} SET {} WHERE org_id = $1 AND id = $2", sets.join(", "))),
            delete: kept(format!("DELETE FROM {table} WHERE org_id = $1 AND id = $2")),
            fields,
            rows: PhantomData,
        }
    }

    /// A select of all columns; `rest` follows the name of the table.
    pub(crate) fn select(&self, rest: &str) -> &'static str {
        kept(format!("SELECT {} FROM {}{rest}", self.select, self.name))
    }

    /// A select of all columns and, behind them, of an expression that the rows are sorted by.
    pub(crate) fn select_with(&self, key: &str, rest: &str) -> &'static str {
        kept(format!("SELECT {}, {key} FROM {}{rest}", self.select, self.name))
    }

    /// Returns its statements, for the test that prepares them.
    pub(crate) fn texts(&self) -> [&'static str; 3] {
        [self.insert, self.update, self.delete]
    }

    fn params<'a>(&self, organization: OrganizationId, row: &'a R) -> Result<Vec<Value<'a>>, Error> {
        let mut all = values(row)?;
        let mut take = |place: usize| std::mem::replace(&mut all[place], Value::Null);
        let mut params = vec![id(organization), take(self.id)];
        params.extend(self.fields.iter().map(|(place, _)| take(*place)));
        Ok(params)
    }

    pub(crate) async fn insert(&self, t: &Tx<'_>, scope: &Scope, row: &R) -> Result<(), Error> {
        self.insert_with(t, scope.organization(), row, Vec::new()).await
    }

    /// Inserts a row with the values of the columns that are not part of it.
    pub(crate) async fn insert_with<'a>(
        &self,
        t: &Tx<'_>,
        organization: OrganizationId,
        row: &'a R,
        others: Vec<Value<'a>>,
    ) -> Result<(), Error> {
        let mut params = self.params(organization, row)?;
        params.extend(others);
        t.execute(self.insert, &params).await.map(|_| ())
    }

    pub(crate) async fn update(&self, t: &Tx<'_>, scope: &Scope, row: &R) -> Result<(), Error> {
        t.execute(self.update, &self.params(scope.organization(), row)?).await.map(|_| ())
    }

    pub(crate) async fn delete(&self, t: &Tx<'_>, params: [Value<'_>; 2]) -> Result<(), Error> {
        t.execute(self.delete, &params).await.map(|_| ())
    }
}
