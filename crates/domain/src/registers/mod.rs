//! Registers: the common parts of risks, vendors and similar resources. The file of a register lists its fields once,
//! in a table that is a macro. Each layer generates its own code from that table: here the structs, in storage the
//! columns, in the API the bodies, the views and the columns of an export.
//!
//! A line of the table has the field, its name on the wire, its mode, its type and its description.
//!
//! | mode | on creation | on change | stored as |
//! |---|---|---|---|
//! | `required` | required | optional | `T` |
//! | `default` | optional | optional | `T` |
//! | `reset` | optional or null | null sets it back to its default | `T` |
//! | `nullable` | optional or null | null clears it | `Option<T>` |
//! | `own` | not accepted: the product sets it | not accepted | `T` |
//! | `noted` | not accepted: the product sets it, possibly later | not accepted | `Option<T>` |

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
use crate::json_schema::JsonSchema;
use crate::page::{After, Key, Sort};
use crate::plain::{Keep, Plain, PlainKind};
use crate::registers::links::{Linking, Links, TooManyLinks};
use crate::registers::scales::Cell;
use crate::time::Time;

/// The code that is generated from a table of fields.
pub trait Fields: Clone + fmt::Debug + PartialEq + Send + Sync + Sized + 'static {
    /// The input: all required fields on creation, any fields on change.
    type Patch: Clone + fmt::Debug + Default + Send + Sync + 'static;

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
    type Filter: Filter<Self>;
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

/// The conditions of one register.
pub trait Filter<R>: Clone + fmt::Debug + Default + Send + Sync + 'static {
    const CONDITIONS: &'static [Condition];

    /// The requested values, in the order of the conditions; null matches anything.
    fn values(&self) -> Vec<Plain<'_>>;

    /// The rows that are listed; by default those that are not hidden.
    fn visibility(&self) -> Visibility {
        Visibility::Shown
    }

    /// Returns true when a row matches. It is the same rule as in the SQL statement, for historical rows.
    fn takes(&self, row: &R) -> bool;
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
        self.filter.visibility().values().contains(&hidden)
            && self.filter.takes(&row.fields)
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

/// Generates the structs of a table of fields.
#[macro_export]
macro_rules! register_structs {
    (@kept nullable $type:ty) => { Option<$type> };
    (@kept noted $type:ty) => { Option<$type> };
    (@kept $how:ident $type:ty) => { $type };
    (@patch nullable $type:ty) => { $crate::Patch<$type> };
    (@patch reset $type:ty) => { $crate::Patch<$type> };
    (@patch own $type:ty) => { () };
    (@patch noted $type:ty) => { () };
    (@patch $how:ident $type:ty) => { Option<$type> };
    (@given required $value:expr) => { $value? };
    (@given default $value:expr) => { $value.unwrap_or_default() };
    (@given nullable $value:expr) => { $value.into_option() };
    (@given reset $value:expr) => { $value.into_option().unwrap_or_default() };
    (@given own $value:expr) => { Default::default() };
    (@given noted $value:expr) => { None };
    (@patched nullable $value:expr, $before:expr) => { $value.apply($before.clone()) };
    (@patched reset $value:expr, $before:expr) => { $value.apply_or_default($before.clone()) };
    (@patched own $value:expr, $before:expr) => { $before.clone() };
    (@patched noted $value:expr, $before:expr) => { $before.clone() };
    (@patched $how:ident $value:expr, $before:expr) => { $value.unwrap_or_else(|| $before.clone()) };
    (@recorded own $state:ident $wire:literal) => { $crate::registers::take::<Option<_>>($state, $wire)?.unwrap_or_default() };
    (@recorded default $state:ident $wire:literal) => { $crate::register_structs!(@recorded own $state $wire) };
    (@recorded reset $state:ident $wire:literal) => { $crate::register_structs!(@recorded own $state $wire) };
    (@recorded $how:ident $state:ident $wire:literal) => { $crate::registers::take($state, $wire)? };
    (
        [$(#[$meta:meta])* $name:ident $patch:ident]
        $($field:ident $wire:literal $how:ident $type:ty = $about:literal;)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = $about] pub $field: $crate::register_structs!(@kept $how $type)),*
        }

        #[doc = concat!("The given fields of a [`", stringify!($name), "`].")]
        #[derive(Clone, Debug, Default)]
        pub struct $patch {
            $(#[doc = $about] pub $field: $crate::register_structs!(@patch $how $type)),*
        }

        impl $crate::registers::Fields for $name {
            type Patch = $patch;

            fn given(patch: $patch) -> Option<Self> {
                Some(Self { $($field: $crate::register_structs!(@given $how patch.$field)),* })
            }

            fn patched(&self, patch: $patch) -> Self {
                Self { $($field: $crate::register_structs!(@patched $how patch.$field, self.$field)),* }
            }

            fn recorded(
                state: &mut serde_json::Map<String, serde_json::Value>,
            ) -> Result<Self, serde_json::Error> {
                Ok(Self { $($field: $crate::register_structs!(@recorded $how state $wire)),* })
            }

            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $(map.serialize_entry($wire, &self.$field)?;)*
                Ok(())
            }

            fn field(&self, column: &str) -> $crate::plain::Plain<'_> {
                match column {
                    $(stringify!($field) => $crate::plain::Keep::plain(&self.$field),)*
                    _ => $crate::plain::Plain::Null,
                }
            }
        }
    };
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

/// Generates the filter of a table of conditions: `field "wire" Compare column Type = "description";`
#[macro_export]
macro_rules! register_filter {
    (
        [$(#[$meta:meta])* $name:ident of $row:ident $(lists $visibility:expr)?]
        $($field:ident $wire:literal $compare:ident $column:ident $type:ty = $about:literal;)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            $(#[doc = $about] pub $field: Option<$type>),*
        }

        impl $crate::registers::Filter<$row> for $name {
            const CONDITIONS: &'static [$crate::registers::Condition] = &[$($crate::registers::Condition {
                column: stringify!($column),
                compare: $crate::registers::Compare::$compare,
                kind: <$type as $crate::plain::Keep>::KIND,
            }),*];

            fn values(&self) -> Vec<$crate::plain::Plain<'_>> {
                vec![$($crate::plain::Keep::plain(&self.$field)),*]
            }

            $(fn visibility(&self) -> $crate::registers::Visibility {
                let visibility: fn(&Self) -> $crate::registers::Visibility = $visibility;
                visibility(self)
            })?

            fn takes(&self, row: &$row) -> bool {
                $(self.$field.as_ref().is_none_or(|wanted| {
                    let wanted = $crate::plain::Keep::plain(wanted);
                    $crate::register_filter!(@takes $compare row $column wanted)
                }))&&*
            }
        }
    };
    (@takes Is $row:ident $column:ident $wanted:ident) => { $crate::plain::Keep::plain(&$row.$column) == $wanted };
    (@takes AnyOf $row:ident $column:ident $wanted:ident) => {
        match ($crate::plain::Keep::plain(&$row.$column), &$wanted) {
            ($crate::plain::Plain::Text(own), $crate::plain::Plain::Text(wanted)) => {
                wanted.contains(&format!(",{own},"))
            }
            _ => false,
        }
    };
    (@takes Has $row:ident $column:ident $wanted:ident) => {
        match ($crate::plain::Keep::plain(&$row.$column), &$wanted) {
            ($crate::plain::Plain::Text(all), $crate::plain::Plain::Text(wanted)) => all.contains(&**wanted),
            _ => false,
        }
    };
    (@takes AtLeast $row:ident $column:ident $wanted:ident) => {
        $crate::registers::Register::computed($row, stringify!($column)) >= $wanted
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
