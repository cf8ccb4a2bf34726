//! Registers: the common parts of risks, vendors and similar resources. A register is a struct with its fields, from
//! which `#[derive(Fields)]` generates what the layers need: the input, the stored and the recorded form, and a table of
//! the fields for bodies, views, imports, exports and the document. A struct with `#[derive(Filter)]` has its filters.

pub mod attachments;
pub mod comments;
pub mod context_entries;
mod fields;
mod filters;
pub mod id_set;
pub mod links;
mod record;
pub mod risk_criteria;
pub mod risks;
pub mod scales;
mod sorting;
pub mod subjects;
pub mod vendors;
pub mod views;

use crate::access::{Denied, Scope};
use crate::date::Date;
use crate::id::{AttachmentId, Kind, MemberId};
use crate::plain::Plain;
use crate::registers::links::{Linking, Links, TooManyLinks};
use crate::time::Time;

pub use attestry_derive::{Fields, Filter};
pub use fields::{Field, Fields, Mode, take};
pub use filters::{Compare, Condition, Filter, Visibility, Wanted};
pub use record::Record;
pub use sorting::{NEVER, RegisterSort, SortKey};

/// The computed column that is searched, which every register has.
pub const SEARCH_TEXT: &str = "search_text";
pub const UPDATED_AT: &str = "updated_at";

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
