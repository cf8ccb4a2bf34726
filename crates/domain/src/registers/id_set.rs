//! A set of ids as a field of a register, which links a row to others.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::id::{Id, Kind};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::plain::{Keep, Plain, PlainKind};

/// Unique ids in ascending order.
pub struct IdSet<K>(Vec<Id<K>>);

impl<K: Kind> IdSet<K> {
    pub const MAX: usize = 200;

    pub fn new(mut ids: Vec<Id<K>>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        Self(ids)
    }

    pub fn iter(&self) -> impl Iterator<Item = Id<K>> {
        self.0.iter().copied()
    }

    pub fn contains(&self, id: Id<K>) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self::new(self.iter().chain(other.iter()).collect())
    }

    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.iter().filter(|id| !other.contains(*id)).collect())
    }
}

impl<K> Clone for IdSet<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Default for IdSet<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K> PartialEq for IdSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K> Eq for IdSet<K> {}

impl<K: Kind> fmt::Debug for IdSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

impl<K: Kind> Serialize for IdSet<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, K: Kind> Deserialize<'de> for IdSet<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<Vec<Id<K>>>::deserialize(deserializer).map(|ids| Self::new(ids.unwrap_or_default()))
    }
}

/// Stored as ids separated by spaces.
impl<K: Kind> Keep for IdSet<K> {
    const KIND: PlainKind = PlainKind::Words;

    fn plain(&self) -> Plain<'_> {
        let ids: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        Plain::Text(ids.join(" ").into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        let Plain::Text(text) = value else { return Ok(Self::default()) };
        let read = |word: &str| Id::read(word).ok_or_else(|| format!("{word:?} is not such an id"));
        text.split_whitespace().map(read).collect::<Result<_, _>>().map(Self::new)
    }
}

impl<K: Kind> JsonSchema for IdSet<K> {
    fn json_schema() -> Value {
        json!({"type": "array", "items": Id::<K>::json_schema(), "maxItems": Self::MAX})
    }
}

impl<K: Kind> Given for IdSet<K> {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        json.each(Self::MAX, Id::given).map(Self::new)
    }
}
