//! Values that callers give. A type says how it is read from JSON; the parser is behind [`GivenJson`].

pub mod numbers;
mod schema;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::patch::Patch;
use crate::text::Parse;

pub use schema::JsonSchema;

/// A JSON value that a caller gave. Nothing is coerced.
pub trait GivenJson: Sized {
    /// Returns a string.
    fn text(&self) -> Result<Cow<'_, str>, String>;

    /// Returns a whole number.
    fn whole(&self) -> Option<i64>;

    fn value<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String>;

    /// Reads each item of an array with at most `most` items; an error includes the index of the item.
    fn each<T>(&self, most: usize, read: impl Fn(&Self) -> Result<T, String>) -> Result<Vec<T>, String>;
}

/// A type that can be read from JSON.
pub trait Given: JsonSchema + Sized {
    fn given(json: &impl GivenJson) -> Result<Self, String>;

    /// The schema of what is accepted.
    fn accepted() -> Value {
        Self::json_schema()
    }
}

/// A body: properties that are read once each.
pub trait GivenBody {
    /// Reads a property that must be present and not null.
    fn required<T: Given>(&mut self, name: &str) -> Option<T>;

    /// Reads a property that may be left out, but must not be null.
    fn optional<T: Given>(&mut self, name: &str) -> Option<Option<T>>;

    /// Reads a property that may be left out or null.
    fn nullable<T: Given>(&mut self, name: &str) -> Option<Patch<T>>;

    /// Rejects a property that only the product sets.
    fn not_given(&mut self, name: &str) -> Option<()>;
}

/// A query: parameters that are read once each.
pub trait GivenQuery {
    fn get<T: Parse>(&mut self, name: &str) -> Option<T>;

    /// Reads a parameter with several values, which are separated by commas or given one by one.
    fn several<T: Parse>(&mut self, name: &str) -> Option<T>;
}

/// Implements [`Given`] for types that are parsed from text.
#[macro_export]
macro_rules! given_as_text {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::json::Given for $type {
            fn given(json: &impl $crate::json::GivenJson) -> Result<Self, String> {
                <Self as $crate::text::Parse>::parse(&json.text()?)
            }
        })*
    };
}

impl Given for bool {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        json.value().map_err(|_| "must be true or false".to_owned())
    }
}
