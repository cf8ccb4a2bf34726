//! The number of a published version, starting at 1.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::json::{Given, GivenJson, JsonSchema};
use crate::plain::{Keep, Plain, PlainKind};
use crate::text::Parse;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VersionNumber(i64);

impl VersionNumber {
    /// The number of the version that follows `count` others.
    pub const fn after(count: i64) -> Self {
        Self(count + 1)
    }

    pub const fn get(self) -> i64 {
        self.0
    }
}

impl std::fmt::Display for VersionNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Parse for VersionNumber {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number @ 1..) => Ok(Self(number)),
            _ => Err("must be the number of a version: 1 or more".to_owned()),
        }
    }
}

impl Keep for VersionNumber {
    const KIND: PlainKind = PlainKind::Int;

    fn plain(&self) -> Plain<'_> {
        Plain::Int(self.0)
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        i64::kept(value).map(Self)
    }
}

impl JsonSchema for VersionNumber {
    fn json_schema() -> Value {
        json!({"type": "integer", "minimum": 1})
    }
}

impl Given for VersionNumber {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        Self::kept(Plain::Int(json.value()?))
    }
}
