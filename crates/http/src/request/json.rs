//! The values of a JSON body. A value is parsed in place, from the received bytes, and never coerced.

use std::borrow::Cow;

use attestry_domain::id::{Id, Kind};
use attestry_domain::json::numbers::{MAX_EXACT, whole};
use attestry_domain::json::{Given, GivenJson};
use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::answer::problem::in_one_line;
use crate::document::schemas::{schema, schema_of};
use crate::request::wire::{Body, Fields};

/// One value of a body, as a slice of the received bytes: a file of megabytes is not copied for validation.
#[derive(Clone, Debug)]
pub struct Json(Bytes);

impl Json {
    pub fn within(body: &Bytes, raw: &RawValue) -> Self {
        Self(body.slice_ref(raw.get().as_bytes()))
    }

    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    pub fn value<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String> {
        serde_json::from_slice(&self.0).map_err(|error| format!("cannot be read: {error}"))
    }

    /// Returns a whole number.
    pub fn whole(&self) -> Option<i64> {
        self.value().ok().as_ref().and_then(whole)
    }

    /// Returns a string, borrowed if it has no escapes.
    pub fn text(&self) -> Result<Cow<'_, str>, String> {
        #[derive(serde::Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        if !self.0.starts_with(b"\"") {
            return Err("must be a string".to_owned());
        }
        // The syntax was checked with the whole body, so the only possible error is a lone surrogate.
        self.value()
            .map(|Text(text)| text)
            .map_err(|_| "must not contain half a character (a lone surrogate)".to_owned())
    }

    /// Returns the raw content between the quotes of a string, including its escapes.
    pub fn quoted(&self) -> Result<Bytes, String> {
        let inner = self.0.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
        inner.map(|inner| self.0.slice_ref(inner)).ok_or_else(|| "must be a string".to_owned())
    }

    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// Returns the items of an array with at most `most` items; parsing stops beyond that.
    pub fn items(&self, most: usize) -> Result<Vec<Self>, String> {
        if !self.0.starts_with(b"[") {
            return Err("must be an array".to_owned());
        }
        let mut reader = serde_json::Deserializer::from_slice(&self.0);
        let items = reader.deserialize_seq(AtMost(most)).map_err(|_| too_many(most))?;
        Ok(items.into_iter().map(|item| Self::within(&self.0, item)).collect())
    }
}

impl Json {
    /// Parses each item of an array; an error includes the index of the item.
    pub fn each<T>(&self, most: usize, read: impl Fn(&Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let read =
            |(place, item): (usize, &Self)| read(item).map_err(|message| format!("[{place}]: {message}"));
        self.items(most)?.iter().enumerate().map(read).collect()
    }

    /// Parses each item of an array of objects.
    pub fn each_body<B: Body>(&self, most: usize) -> Result<Vec<B>, String> {
        self.each(most, |item| Fields::of(item)?.read().map_err(|errors| in_one_line(&errors)))
    }
}

/// Rejects an empty array.
pub fn not_empty<T>(items: Vec<T>) -> Result<Vec<T>, String> {
    if items.is_empty() { Err("must hold at least one item".to_owned()) } else { Ok(items) }
}

/// Rejects duplicate items, compared by `key`.
pub fn distinct<T, K: PartialEq + std::fmt::Display>(
    items: Vec<T>,
    key: impl Fn(&T) -> K,
) -> Result<Vec<T>, String> {
    for (place, one) in items.iter().enumerate() {
        if items[..place].iter().any(|other| key(other) == key(one)) {
            return Err(format!("[{place}]: {} is given more than once", key(one)));
        }
    }
    Ok(items)
}

fn too_many(most: usize) -> String {
    format!("must hold at most {most} items")
}

/// Deserializes an array up to a maximum length.
struct AtMost(usize);

impl<'de> Visitor<'de> for AtMost {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element()? {
            if read.len() == self.0 {
                return Err(serde::de::Error::custom(too_many(self.0)));
            }
            read.push(item);
        }
        Ok(read)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

/// A value that can be read from a body.
pub trait FromJson: Sized {
    fn from_json(json: &Json) -> Result<Self, String>;
    fn schema() -> RefOr<Schema>;
}

impl<T: Given> FromJson for T {
    fn from_json(json: &Json) -> Result<Self, String> {
        T::given(json)
    }

    fn schema() -> RefOr<Schema> {
        schema(T::accepted())
    }
}

impl GivenJson for Json {
    fn text(&self) -> Result<Cow<'_, str>, String> {
        self.text()
    }

    fn whole(&self) -> Option<i64> {
        self.whole()
    }

    fn value<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String> {
        self.value()
    }

    fn each<T>(&self, most: usize, read: impl Fn(&Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        self.each(most, read)
    }
}

/// A value that is parsed later.
impl FromJson for Json {
    fn from_json(json: &Json) -> Result<Self, String> {
        Ok(json.clone())
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Object).into()
    }
}

/// A non-negative integer that every JSON parser represents exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub i64);

impl FromJson for Count {
    fn from_json(json: &Json) -> Result<Self, String> {
        match json.whole() {
            Some(number @ 0..=MAX_EXACT) => Ok(Self(number)),
            _ => Err("must be a whole number of 0 or more".to_owned()),
        }
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .maximum(Some(MAX_EXACT))
            .examples([12])
            .into()
    }
}

/// An integer of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const FIRST: i64, const LAST: i64>(pub i64);

impl<const FIRST: i64, const LAST: i64> FromJson for Whole<FIRST, LAST> {
    fn from_json(json: &Json) -> Result<Self, String> {
        match json.whole() {
            Some(number) if (FIRST..=LAST).contains(&number) => Ok(Self(number)),
            _ => Err(format!("must be a whole number from {FIRST} to {LAST}")),
        }
    }

    fn schema() -> RefOr<Schema> {
        schema(serde_json::json!({"type": "integer", "minimum": FIRST, "maximum": LAST}))
    }
}

/// A secret in a body: any text, not normalized.
#[derive(Clone)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl FromJson for Secret {
    fn from_json(json: &Json) -> Result<Self, String> {
        let text = json.text()?;
        match text.len() {
            0 => Err("must not be empty".to_owned()),
            1..=1000 => Ok(Self(text.into_owned())),
            _ => Err("is too long".to_owned()),
        }
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(1000)).into()
    }
}

/// One or more ids, at most 1000.
#[derive(Debug)]
pub struct Ids<K: Kind>(pub Vec<Id<K>>);

impl<K: Kind> Clone for Ids<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Kind> FromJson for Ids<K> {
    fn from_json(json: &Json) -> Result<Self, String> {
        not_empty(json.each(1000, Id::from_json)?).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        let item = schema_of::<Id<K>>();
        ArrayBuilder::new().items(item).min_items(Some(1)).max_items(Some(1000)).into()
    }
}

/// An array whose items are parsed later, one by one.
#[derive(Clone, Debug)]
pub struct Items<T> {
    pub values: Vec<Json>,
    item: std::marker::PhantomData<fn() -> T>,
}

impl<T: PartialSchema> FromJson for Items<T> {
    fn from_json(json: &Json) -> Result<Self, String> {
        let values = not_empty(json.items(1000)?)?;
        Ok(Self { values, item: std::marker::PhantomData })
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(T::schema()).min_items(Some(1)).max_items(Some(1000)).into()
    }
}
