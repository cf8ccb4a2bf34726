//! Rows: structs whose fields are the columns of a table. The derive macro of the same name implements [`Row`].

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::plain::{Keep, Plain};

pub use attestry_derive::Row;

/// The cells of a row, which are read one after the other.
pub trait Cells {
    type Error;

    /// Reads the next cell.
    fn take<T: Keep>(&mut self) -> Result<T, Self::Error>;

    /// Reads the next cell, which is JSON.
    fn json<T: DeserializeOwned>(&mut self) -> Result<T, Self::Error>;

    /// Reads the next cell, which is JSON or null.
    fn optional_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Self::Error>;

    /// Returns true if the next cell is null.
    fn is_null(&self) -> Result<bool, Self::Error>;

    fn skip(&mut self, cells: usize);
}

/// A value that JSON cannot express.
pub type NotWritten = serde_json::Error;

/// A struct that is stored as a row.
pub trait Row: Sized {
    /// The names of its columns, in the order in which they are read and written.
    fn columns() -> Vec<Cow<'static, str>>;

    fn read<C: Cells>(cells: &mut C) -> Result<Self, C::Error>;

    fn write<'a>(&'a self, values: &mut Vec<Plain<'a>>) -> Result<(), NotWritten>;
}

/// Part of a row that may be missing. Its first column is null only then.
impl<R: Row> Row for Option<R> {
    fn columns() -> Vec<Cow<'static, str>> {
        R::columns()
    }

    fn read<C: Cells>(cells: &mut C) -> Result<Self, C::Error> {
        if cells.is_null()? {
            cells.skip(R::columns().len());
            return Ok(None);
        }
        R::read(cells).map(Some)
    }

    fn write<'a>(&'a self, values: &mut Vec<Plain<'a>>) -> Result<(), NotWritten> {
        match self {
            Some(row) => row.write(values)?,
            None => values.extend(R::columns().iter().map(|_| Plain::Null)),
        }
        Ok(())
    }
}

/// The JSON text of a value.
pub fn json<'a>(value: &impl Serialize) -> Result<Plain<'a>, NotWritten> {
    Ok(Plain::Text(serde_json::to_string(value)?.into()))
}

/// The JSON text of a value, or null.
pub fn optional_json<'a>(value: Option<&impl Serialize>) -> Result<Plain<'a>, NotWritten> {
    value.map_or(Ok(Plain::Null), json)
}
