//! The links of a row, whose targets are looked up before the row is saved.

use crate::id::{Id, Kind};
use crate::registers::id_set::IdSet;

/// Ids of several kinds, each with the field that names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links(Vec<(String, &'static str)>);

impl Links {
    pub fn add<K: Kind>(&mut self, ids: Option<&IdSet<K>>, field: &'static str) {
        self.0.extend(ids.into_iter().flat_map(IdSet::iter).map(|id| (id.to_string(), field)));
    }

    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(id, _)| id.as_str())
    }

    /// The ids of one kind, each with the field that names it.
    pub fn of<K: Kind>(&self) -> impl Iterator<Item = (Id<K>, &'static str)> {
        self.0.iter().filter_map(|(id, field)| Some((Id::read(id)?, *field)))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Selects whether links are added to a row or removed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    Add,
    Remove,
}

/// A row would have too many links in this field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyLinks {
    pub field: &'static str,
    pub max: usize,
}

impl Linking {
    /// Adds the given ids to a set, or removes them from it.
    pub fn apply<K: Kind>(
        self,
        before: &mut IdSet<K>,
        given: Option<&IdSet<K>>,
        field: &'static str,
    ) -> Result<(), TooManyLinks> {
        let Some(given) = given else { return Ok(()) };
        let after = match self {
            Self::Add => before.with(given),
            Self::Remove => before.without(given),
        };
        if after.len() > IdSet::<K>::MAX {
            return Err(TooManyLinks { field, max: IdSet::<K>::MAX });
        }
        *before = after;
        Ok(())
    }
}
