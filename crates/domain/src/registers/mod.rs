//! Registers: the common parts of risks, vendors and similar resources. A register is a struct with its fields, from
//! which `#[derive(Fields)]` generates what the layers need: the input, the stored and the recorded form, and a table of
//! the fields for bodies, views, imports, exports and the document. A struct with `#[derive(Filter)]` has its filters.

pub mod any_of;
pub mod attachments;
pub mod comments;
pub mod context_entries;
pub mod id_set;
pub mod links;
pub mod risk_criteria;
pub mod risks;
pub mod scales;
pub mod subjects;
pub mod vendors;
pub mod views;

use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::access::{Denied, Scope};
use crate::date::Date;
use crate::id::{AttachmentId, Id, Kind, MemberId, OrganizationId};
use crate::json::{GivenBody, GivenQuery, JsonSchema};
use crate::page::{After, Key, Sort};
use crate::plain::{Keep, Plain, PlainKind};
use crate::registers::links::{Linking, Links, TooManyLinks};
use crate::registers::scales::Cell;
use crate::time::Time;

pub use attestry_derive::{Fields, Filter};

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

/// The properties and rules of a register.
pub trait Register: Fields {
    type Kind: Kind;
    type Filter: Filter;
    type Sort: RegisterSort;

    /// The prefix of its references: `R` in `R-14`.
    const REFERENCE: &'static str;
    /// The entity type of its rows in the journal, which is also the prefix of its actions.
    const ENTITY: &'static str;
    const ACTIONS: Actions;
    /// The field that contains the name of a row.
    const NAMED_BY: &'static str;
    const COMPUTED: &'static [Computed<Self>];
    /// The computed column that hides a row from lists by default.
    const HIDDEN: Option<&'static str> = None;
    /// The values of a row that depend on the current date.
    const LIVE: &'static [Live<Self>] = &[];
    /// The sides of its rating: before treatment, and after.
    const RATINGS: &'static [RatingSide] = &[];
    const DUE: Due;
    /// Notifies members of rows that are assigned to them.
    const TELLS: bool = false;

    fn name(&self) -> &str;

    fn assignee(&self) -> Option<MemberId>;

    fn set_assignee(&mut self, assignee: Option<MemberId>);

    /// The date on which the row is due.
    fn due(&self) -> Option<Date>;

    /// The file that contains the text of the row, if it has one.
    fn file(&self) -> Option<AttachmentId> {
        None
    }

    /// The links in the input.
    fn links(_given: &Self::Patch) -> Links {
        Links::default()
    }

    /// The row with the links of the input added or removed; its other links stay.
    fn linked(&self, _given: &Self::Patch, _linking: Linking) -> Result<Self, TooManyLinks> {
        Ok(self.clone())
    }

    /// Updates dependent fields after the input is applied; `before` is the row before the change.
    fn follow(&mut self, _before: Option<&Self>, _given: &Self::Patch, _now: Time) {}

    /// Returns true when the actor may see this row, in addition to the permission to see such rows at all.
    fn is_visible(&self, _scope: &Scope) -> bool {
        true
    }

    /// The rows that a filter lists; by default those that are not hidden.
    fn visibility(_filter: &Self::Filter) -> Visibility {
        Visibility::Shown
    }

    /// Restricts a list to the rows that the actor may see; false when there are none.
    fn narrow(_filter: &mut Self::Filter, _scope: &Scope) -> bool {
        true
    }

    /// Checks that the actor may see the history of the register.
    fn may_look_back(_scope: &Scope) -> Result<(), Denied> {
        Ok(())
    }

    /// Checks that the actor may make this change.
    fn permits(_patch: &Self::Patch, _scope: &Scope) -> Result<(), Denied> {
        Ok(())
    }

    /// Checks that the actor may change a row from one state to another.
    fn permits_change(_before: &Self, _after: &Self, _scope: &Scope) -> Result<(), Denied> {
        Ok(())
    }

    /// The links of a row.
    fn links_of(&self) -> Links {
        Links::default()
    }

    /// The value of a computed column.
    fn computed(&self, column: &str) -> Plain<'_> {
        Self::COMPUTED
            .iter()
            .find(|known| known.column == column)
            .map_or(Plain::Null, |known| (known.of)(self))
    }
}

/// The journal actions of a register.
#[derive(Clone, Copy, Debug)]
pub struct Actions {
    pub created: &'static str,
    pub updated: &'static str,
    pub deleted: &'static str,
    pub exported: &'static str,
}

#[macro_export]
macro_rules! actions {
    ($entity:literal) => {
        $crate::registers::Actions {
            created: concat!($entity, ".created"),
            updated: concat!($entity, ".updated"),
            deleted: concat!($entity, ".deleted"),
            exported: concat!($entity, ".exported"),
        }
    };
}

/// One side of a rating, by the names of its columns.
#[derive(Clone, Copy, Debug)]
pub struct RatingSide {
    pub likelihood: &'static str,
    pub impact: &'static str,
    pub score: &'static str,
    /// The flag that is set by the first rating; until then the columns hold defaults.
    pub is_assessed: &'static str,
}

impl RatingSide {
    pub fn has(&self, column: &str) -> bool {
        [self.likelihood, self.impact, self.score].contains(&column)
    }
}

/// A column that is computed from the fields.
#[derive(Debug)]
pub struct Computed<R> {
    pub column: &'static str,
    pub of: fn(&R) -> Plain<'_>,
    /// Its name on the wire and its description, if responses include it.
    pub shown: Option<(&'static str, &'static str)>,
}

impl<R> Computed<R> {
    /// A column that is used only to list and to search.
    pub const fn hidden(column: &'static str, of: fn(&R) -> Plain<'_>) -> Self {
        Self { column, of, shown: None }
    }

    pub const fn shown(
        column: &'static str,
        of: fn(&R) -> Plain<'_>,
        wire: &'static str,
        about: &'static str,
    ) -> Self {
        Self { column, of, shown: Some((wire, about)) }
    }
}

/// A value of a row that depends on the current date.
#[derive(Debug)]
pub struct Live<R> {
    /// Its name on the wire.
    pub wire: &'static str,
    pub about: &'static str,
    /// All possible values.
    pub words: &'static [&'static str],
    pub of: fn(&R, Date) -> &'static str,
}

/// The filter for rows that are due.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// The column that contains the date.
    pub column: &'static str,
    /// The query parameter of the filter.
    pub wire: &'static str,
    pub about: &'static str,
    /// True when a row is due on its date already, false when it is due once that day is over.
    pub on_the_day: bool,
}

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

/// The key of a sorted list.
#[derive(Clone, Copy, Debug)]
pub enum SortKey {
    /// The id, which is the order of creation.
    Id,
    /// A computed column of text.
    Text(&'static str),
    /// A computed column of numbers, or the time of the last change.
    Number(&'static str),
    /// A field by the order of its words; a row without one comes first.
    Words(&'static str, &'static [&'static str]),
    /// A date; a row without one comes last.
    Date(&'static str),
    /// A member by name; a row without one comes first.
    Member(&'static str),
    /// A number or a time that a row may lack; a row without one comes first.
    Whole(&'static str),
    /// The number of ids in a set.
    Count(&'static str),
    /// A number that is computed from more than the row, by the feature of the register. The database sorts by id.
    Derived(&'static str),
}

/// The sort date of rows without a date, which puts them last.
pub const NEVER: &str = "9999-12-31";

/// The sort keys of a register.
pub trait RegisterSort: Sort + JsonSchema + fmt::Debug + Send + Sync + 'static {
    /// The key of each variant, in the order of the words.
    const KEYS: &'static [SortKey];

    fn index(self) -> usize;

    fn key(self) -> SortKey {
        Self::KEYS[self.index()]
    }
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

/// The computed column that is searched, which every register has.
pub const SEARCH_TEXT: &str = "search_text";
pub const UPDATED_AT: &str = "updated_at";

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

/// Takes a property from a recorded state; properties that were not recorded are null.
pub fn take<T: DeserializeOwned>(state: &mut Map<String, Value>, name: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(state.remove(name).unwrap_or_default())
}

/// The due filter of a register whose rows are reviewed.
pub const REVIEW_DUE: Due = Due {
    column: "review_date",
    wire: "reviewDue",
    about: "true lists only those whose `reviewDate` is today or earlier.",
    on_the_day: true,
};

/// Implements the common parts of a register with the usual fields: a name, an assignee and a review date.
#[macro_export]
macro_rules! register_basics {
    ($named_by:ident, reviewed) => {
        $crate::register_basics!($named_by);

        const DUE: $crate::registers::Due = $crate::registers::REVIEW_DUE;

        fn due(&self) -> Option<$crate::date::Date> {
            self.review_date
        }
    };
    ($named_by:ident) => {
        const NAMED_BY: &'static str = stringify!($named_by);

        fn name(&self) -> &str {
            self.$named_by.as_str()
        }

        fn assignee(&self) -> Option<$crate::id::MemberId> {
            self.assignee_id
        }

        fn set_assignee(&mut self, assignee: Option<$crate::id::MemberId>) {
            self.assignee_id = assignee;
        }
    };
}

/// Generates the sort keys of a register: `Variant = "word", column Kind;` with a kind of [`SortKey`], and with its
/// type for `Words`. Lists are sorted newest first, unless one key is the `default`, which sorts in ascending order.
#[macro_export]
macro_rules! register_sort {
    ($(#[$meta:meta])* $name:ident {
        default $first:ident = $first_word:literal, $first_column:ident $first_kind:ident;
        $($variant:ident = $word:literal, $column:ident $kind:ident $(($words:ty))?;)*
    }) => {
        $crate::words! {
            $(#[$meta])*
            #[derive(Default)]
            $name {
                CreatedAt = "createdAt",
                UpdatedAt = "updatedAt",
                #[default]
                $first = $first_word,
                $($variant = $word,)*
            }
        }

        $crate::register_sort!(@sorts $name, [$first] {
            $first = $first_word, $first_column $first_kind;
            $($variant = $word, $column $kind $(($words))?;)*
        });
    };
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal, $column:ident $kind:ident $(($words:ty))?;)* }) => {
        $crate::words! {
            $(#[$meta])*
            #[derive(Default)]
            $name {
                #[default]
                CreatedAt = "createdAt",
                UpdatedAt = "updatedAt",
                $($variant = $word,)*
            }
        }

        $crate::register_sort!(@sorts $name, [] { $($variant = $word, $column $kind $(($words))?;)* });
    };
    (@sorts $name:ident, [$($upwards:ident)?] { $($variant:ident = $word:literal, $column:ident $kind:ident $(($words:ty))?;)* }) => {
        impl $crate::page::Sort for $name {
            fn takes(self, key: &$crate::page::Key) -> bool {
                match self {
                    Self::CreatedAt => matches!(key, $crate::page::Key::Id),
                    Self::UpdatedAt => matches!(key, $crate::page::Key::Number(_)),
                    $(Self::$variant => $crate::register_sort!(@takes $kind key),)*
                }
            }

            fn natural_order(self) -> $crate::page::Order {
                let upwards: &[Self] = &[$(Self::$upwards)?];
                match upwards.contains(&self) {
                    true => $crate::page::Order::Ascending,
                    false => $crate::page::Order::Descending,
                }
            }
        }

        impl $crate::registers::RegisterSort for $name {
            const KEYS: &'static [$crate::registers::SortKey] = &[
                $crate::registers::SortKey::Id,
                $crate::registers::SortKey::Number($crate::registers::UPDATED_AT),
                $($crate::registers::SortKey::$kind(stringify!($column) $(, <$words>::WORDS)?)),*
            ];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
    (@takes Number $key:ident) => { matches!($key, $crate::page::Key::Number(_)) };
    (@takes Words $key:ident) => { matches!($key, $crate::page::Key::Number(_)) };
    (@takes Whole $key:ident) => { matches!($key, $crate::page::Key::Number(_)) };
    (@takes Count $key:ident) => { matches!($key, $crate::page::Key::Number(_)) };
    (@takes Derived $key:ident) => { matches!($key, $crate::page::Key::Number(_)) };
    (@takes $kind:ident $key:ident) => { matches!($key, $crate::page::Key::Text(_)) };
}
