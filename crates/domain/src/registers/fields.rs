//! The fields of a register.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use crate::json::GivenBody;
use crate::plain::{Plain, PlainKind};

/// The input mode of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A creation must set it.
    Required,
    /// A creation that leaves it out sets its default.
    Default,
    /// The same, and null sets it back to its default.
    Reset,
    /// It may be null.
    Nullable,
    /// Only the product sets it.
    Own,
}

/// A field of a register.
#[derive(Debug)]
pub struct Field {
    /// Its name on the wire.
    pub wire: &'static str,
    pub column: &'static str,
    pub mode: Mode,
    pub is_nullable: bool,
    pub kind: PlainKind,
    pub about: &'static str,
    pub schema: fn() -> Value,
    /// Its value when a creation leaves it out.
    pub default: Option<fn() -> Value>,
}

impl Field {
    /// Returns true if callers can set it.
    pub fn is_given(&self) -> bool {
        self.mode != Mode::Own
    }
}

/// The fields of a register, which the derive macro of the same name implements.
pub trait Fields: Clone + fmt::Debug + PartialEq + Send + Sync + Sized + 'static {
    /// The input: all required fields on creation, any fields on change.
    type Patch: Clone + fmt::Debug + Default + Send + Sync + 'static;

    const FIELDS: &'static [Field];

    /// Reads the input of a creation (`whole`) or of a change from a body.
    fn given_in<B: GivenBody>(body: &mut B, whole: bool) -> Option<Self::Patch>;

    /// Creates the fields from the input; `None` when a required field is missing.
    fn given(patch: Self::Patch) -> Option<Self>;

    #[must_use]
    fn patched(&self, patch: Self::Patch) -> Self;

    /// Parses the fields of a recorded state and removes them from it.
    fn recorded(state: &mut Map<String, Value>) -> Result<Self, serde_json::Error>;

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// The value of a field, by the name of its column.
    fn field(&self, column: &str) -> Plain<'_>;
}

/// Takes a property from a recorded state; properties that were not recorded are null.
pub fn take<T: DeserializeOwned>(state: &mut Map<String, Value>, name: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(state.remove(name).unwrap_or_default())
}
