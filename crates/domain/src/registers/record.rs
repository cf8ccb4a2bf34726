//! A row of a register.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::id::{Id, MemberId, OrganizationId};
use crate::page::{After, Key};
use crate::plain::{Keep, Plain};
use crate::registers::fields::take;
use crate::registers::scales::Cell;
use crate::registers::{NEVER, RatingSide, Register, RegisterSort, SortKey, UPDATED_AT};
use crate::time::Time;

/// A row of a register.
pub struct Record<R: Register> {
    pub id: Id<R::Kind>,
    pub organization_id: OrganizationId,
    /// The number of the row within its organization, which is never reused. 0 in states that were recorded before
    /// rows had numbers.
    pub number: i64,
    pub fields: R,
    pub created_at: Time,
    pub updated_at: Time,
    pub version: i64,
}

impl<R: Register> Clone for Record<R> {
    fn clone(&self) -> Self {
        Self { fields: self.fields.clone(), ..*self }
    }
}

impl<R: Register> fmt::Debug for Record<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.id, self.fields)
    }
}

impl<R: Register> std::ops::Deref for Record<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.fields
    }
}

impl<R: Register> Record<R> {
    /// The human-readable reference: `R-14`.
    pub fn reference(&self) -> String {
        format!("{}-{}", R::REFERENCE, self.number)
    }

    /// The label in messages: `R-14 Laptops are lost`.
    pub fn label(&self) -> String {
        format!("{} {}", self.reference(), self.fields.name())
    }

    #[must_use]
    pub fn patched(&self, patch: &R::Patch, now: Time) -> Self {
        let mut fields = self.fields.patched(patch.clone());
        fields.follow(Some(&self.fields), patch, now);
        Self { fields, ..self.clone() }
    }

    /// Returns true when the row was rated on this side.
    pub fn is_rated(&self, side: &RatingSide) -> bool {
        self.fields.field(side.is_assessed) == Plain::Bool(true)
    }

    /// Its cell of the matrix, with a count of one.
    pub fn cell(&self, side: &RatingSide) -> Result<Cell, String> {
        let likelihood = Keep::kept(self.fields.field(side.likelihood))?;
        let impact = Keep::kept(self.fields.field(side.impact))?;
        Ok(Cell { likelihood, impact, count: 1 })
    }

    /// Its cursor in a list sorted by `sort`; `name` looks up the name of a member.
    pub fn place(&self, sort: R::Sort, name: impl Fn(MemberId) -> String) -> After {
        let key = match sort.key() {
            SortKey::Number(UPDATED_AT) => Key::Number(self.updated_at.as_millis()),
            SortKey::Text(column) | SortKey::Number(column) => match self.fields.computed(column) {
                Plain::Text(text) => Key::Text(text.into_owned()),
                Plain::Int(number) => Key::Number(number),
                _ => Key::Id,
            },
            SortKey::Words(column, words) => Key::Number(match self.fields.field(column) {
                Plain::Text(own) => {
                    words.iter().zip(1..).find(|(word, _)| **word == own).map_or(0, |found| found.1)
                }
                _ => 0,
            }),
            SortKey::Date(column) => Key::Text(match self.fields.field(column) {
                Plain::Date(date) => date.to_string(),
                _ => NEVER.to_owned(),
            }),
            SortKey::Member(_) => Key::Text(self.fields.assignee().map(name).unwrap_or_default()),
            SortKey::Whole(column) => Key::Number(match self.fields.field(column) {
                Plain::Int(number) => number,
                Plain::Time(time) => time.as_millis(),
                _ => 0,
            }),
            SortKey::Count(column) => Key::Number(match self.fields.field(column) {
                Plain::Text(ids) => i64::try_from(ids.split_whitespace().count()).unwrap_or(i64::MAX),
                _ => 0,
            }),
            SortKey::Id | SortKey::Derived(_) => Key::Id,
        };
        After { key, id: self.id.to_string() }
    }

    /// Parses a recorded state.
    pub fn recorded(text: &str) -> Result<Self, serde_json::Error> {
        let mut state: Map<String, Value> = serde_json::from_str(text)?;
        let reference: Option<String> = take(&mut state, "reference")?;
        let number =
            reference.and_then(|text| text.rsplit('-').next().and_then(|number| number.parse().ok()));
        Ok(Self {
            id: take(&mut state, "id")?,
            organization_id: take(&mut state, "organizationId")?,
            number: number.unwrap_or(0),
            created_at: take(&mut state, "createdAt")?,
            updated_at: take(&mut state, "updatedAt")?,
            fields: R::recorded(&mut state)?,
            version: 0,
        })
    }

    /// Writes the properties that the recorded state and the view have in common.
    pub fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("reference", &self.reference())?;
        self.fields.write(map)?;
        map.serialize_entry("organizationId", &self.organization_id)?;
        map.serialize_entry("createdAt", &self.created_at)?;
        map.serialize_entry("updatedAt", &self.updated_at)
    }
}

/// Writes the state that the journal records.
impl<R: Register> Serialize for Record<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}
