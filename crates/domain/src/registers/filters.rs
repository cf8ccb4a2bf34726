//! The conditions of a register's list.

use std::fmt;

use serde_json::Value;

use crate::date::Date;
use crate::json::GivenQuery;
use crate::plain::{Plain, PlainKind};
use crate::registers::{Record, Register, SEARCH_TEXT};

/// The comparison of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Is,
    /// One of several values.
    AnyOf,
    AtLeast,
    /// A set or a text that contains the value.
    Has,
}

/// An optional condition of a list.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// The query parameter.
    pub wire: &'static str,
    pub about: &'static str,
    pub schema: fn() -> Value,
    pub column: &'static str,
    pub compare: Compare,
    pub kind: PlainKind,
}

/// The selection of rows in a register that hides some of them from lists by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Shown,
    Hidden,
    All,
}

impl Visibility {
    /// The accepted values of the column that hides rows.
    pub fn values(self) -> [bool; 2] {
        match self {
            Self::Shown => [false, false],
            Self::Hidden => [true, true],
            Self::All => [false, true],
        }
    }
}

impl Condition {
    /// Returns true when a row matches. It is the same rule as in the SQL statement, for historical rows.
    fn takes<R: Register>(&self, row: &R, wanted: &Plain<'_>) -> bool {
        match (self.compare, row.field(self.column), wanted) {
            (_, _, Plain::Null) => true,
            (Compare::Is, own, wanted) => own == *wanted,
            (Compare::AnyOf, Plain::Text(own), Plain::Text(wanted)) => wanted.contains(&format!(",{own},")),
            (Compare::Has, Plain::Text(all), Plain::Text(wanted)) => all.contains(&**wanted),
            (Compare::AnyOf | Compare::Has, ..) => false,
            (Compare::AtLeast, _, wanted) => row.computed(self.column) >= *wanted,
        }
    }
}

/// The conditions of one register, which the derive macro of the same name implements.
pub trait Filter: Clone + fmt::Debug + Default + Send + Sync + 'static {
    const CONDITIONS: &'static [Condition];

    fn read<Q: GivenQuery>(query: &mut Q) -> Self;

    /// The requested values, in the order of the conditions; null matches anything.
    fn values(&self) -> Vec<Plain<'_>>;
}

/// The query of a list of rows.
#[derive(Clone, Debug)]
pub struct Wanted<R: Register> {
    pub filter: R::Filter,
    /// Part of the name or the description, or a reference.
    pub q: Option<String>,
    /// Only rows that are due by this date.
    pub due_by: Option<Date>,
}

impl<R: Register> Default for Wanted<R> {
    fn default() -> Self {
        Self { filter: R::Filter::default(), q: None, due_by: None }
    }
}

impl<R: Register> Wanted<R> {
    /// Returns true when nothing restricts the list.
    pub fn is_everything(&self) -> bool {
        self.q.is_none()
            && self.due_by.is_none()
            && self.filter.values().iter().all(|value| *value == Plain::Null)
    }

    /// The number of the reference that is searched for, if `q` is a reference.
    pub fn number(&self) -> Option<i64> {
        let q = self.q.as_ref()?.trim();
        let (prefix, number) = q.split_at_checked(R::REFERENCE.len())?;
        let number = number.strip_prefix('-')?;
        if !prefix.eq_ignore_ascii_case(R::REFERENCE) || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        number.parse().ok()
    }

    pub fn takes(&self, row: &Record<R>) -> bool {
        let hidden = R::HIDDEN.is_some_and(|column| row.fields.computed(column) == Plain::Bool(true));
        let found = |q: &String| match row.fields.computed(SEARCH_TEXT) {
            Plain::Text(text) => text.contains(&q.to_lowercase()),
            _ => false,
        };
        R::visibility(&self.filter).values().contains(&hidden)
            && R::Filter::CONDITIONS
                .iter()
                .zip(self.filter.values())
                .all(|(condition, wanted)| condition.takes(&row.fields, &wanted))
            && self.q.as_ref().is_none_or(|q| found(q) || self.number() == Some(row.number))
            && self.due_by.is_none_or(|by| row.fields.due().is_some_and(|date| date <= by))
    }
}
