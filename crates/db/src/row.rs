//! A row of either database, read by column number on the thread that steps the statement.

use tokio_postgres::types::{FromSql, Type};

use crate::error::Error;
use crate::value::Value;

#[derive(Debug)]
pub struct Row<'r>(pub(crate) Inner<'r>);

pub(crate) enum Inner<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl std::fmt::Debug for Inner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Row")
    }
}

macro_rules! getter {
    ($name:ident, $type:ty, $doc:literal) => {
        #[doc = $doc]
        pub fn $name(&self, column: usize) -> Result<$type, Error> {
            match self.0 {
                Inner::Sqlite(row) => row.get(column).map_err(|error| wrong(column, &error)),
                Inner::Postgres(row) => row.try_get(column).map_err(|error| wrong(column, &error)),
            }
        }
    };
}

fn wrong(column: usize, error: &dyn std::error::Error) -> Error {
    Error::Column { column, message: error.to_string() }
}

/// Reads of a cell of any type whether it is null.
struct Nullness(bool);

impl<'a> FromSql<'a> for Nullness {
    fn from_sql(_: &Type, _: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(false))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(true))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Row<'_> {
    getter!(text, String, "Text.");
    getter!(opt_text, Option<String>, "Text or null.");
    getter!(int, i64, "A number (`BIGINT`).");
    getter!(opt_int, Option<i64>, "A number or null.");
    getter!(opt_bool, Option<bool>, "A truth value or null.");
    getter!(bool, bool, "A truth value.");
    getter!(bytes, Vec<u8>, "Bytes.");
    getter!(opt_bytes, Option<Vec<u8>>, "Bytes or null.");

    /// Returns borrowed text, for values that are parsed immediately.
    pub fn str(&self, column: usize) -> Result<&str, Error> {
        match self.0 {
            Inner::Sqlite(row) => row
                .get_ref(column)
                .map_err(|error| wrong(column, &error))?
                .as_str()
                .map_err(|error| wrong(column, &error)),
            Inner::Postgres(row) => row.try_get(column).map_err(|error| wrong(column, &error)),
        }
    }

    /// Borrowed text or null.
    pub fn opt_str(&self, column: usize) -> Result<Option<&str>, Error> {
        match self.0 {
            Inner::Sqlite(row) => row
                .get_ref(column)
                .map_err(|error| wrong(column, &error))?
                .as_str_or_null()
                .map_err(|error| wrong(column, &error)),
            Inner::Postgres(row) => row.try_get(column).map_err(|error| wrong(column, &error)),
        }
    }

    /// Returns true if the cell is null.
    pub fn is_null(&self, column: usize) -> Result<bool, Error> {
        match self.0 {
            Inner::Sqlite(row) => {
                let cell = row.get_ref(column).map_err(|error| wrong(column, &error))?;
                Ok(cell == rusqlite::types::ValueRef::Null)
            }
            Inner::Postgres(row) => {
                row.try_get::<_, Nullness>(column).map(|found| found.0).map_err(|error| wrong(column, &error))
            }
        }
    }

    /// Returns the approximate size of the row in bytes.
    pub(crate) fn size(&self) -> usize {
        use rusqlite::types::ValueRef;
        match self.0 {
            Inner::Sqlite(row) => {
                let columns = (0..row.as_ref().column_count()).map(|column| match row.get_ref(column) {
                    Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len(),
                    _ => size_of::<i64>(),
                });
                columns.sum()
            }
            Inner::Postgres(row) => row.raw_size_bytes(),
        }
    }

    /// Returns a value of any type, for code that copies tables without knowing their columns.
    pub fn value(&self, column: usize) -> Result<Value<'static>, Error> {
        use rusqlite::types::ValueRef;
        use tokio_postgres::types::Type;
        match self.0 {
            Inner::Sqlite(row) => Ok(match row.get_ref(column).map_err(|error| wrong(column, &error))? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(value) => Value::Int(value),
                ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec().into()),
                ValueRef::Real(_) => {
                    return Err(Error::Column { column, message: "a real number".to_owned() });
                }
            }),
            Inner::Postgres(row) => {
                let ty = row.columns().get(column).map(|c| c.type_().clone());
                Ok(match ty {
                    Some(Type::BOOL) => {
                        row.try_get::<_, Option<bool>>(column).map_err(|error| wrong(column, &error))?.into()
                    }
                    Some(Type::INT8) => self.opt_int(column)?.into(),
                    Some(Type::BYTEA) => {
                        self.opt_bytes(column)?.map_or(Value::Null, |bytes| Value::Bytes(bytes.into()))
                    }
                    _ => self.opt_text(column)?.into(),
                })
            }
        }
    }
}
