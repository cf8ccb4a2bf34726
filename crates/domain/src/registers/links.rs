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

    /// The ids of one kind, each with the field that names it.
    pub fn of<K: Kind>(&self) -> impl Iterator<Item = (Id<K>, &'static str)> {
        self.0.iter().filter_map(|(id, field)| Some((Id::read(id)?, *field)))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
