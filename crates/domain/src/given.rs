//! Values that callers give. A type says how it is read from JSON; the parser is behind [`GivenJson`].

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::json_schema::JsonSchema;
use crate::patch::Patch;
use crate::registers::any_of::AnyOf;
use crate::text::Parse;

/// A JSON value that a caller gave. Nothing is coerced.
pub trait GivenJson: Sized {
    /// Returns a string.
    fn text(&self) -> Result<Cow<'_, str>, String>;

    /// Returns a whole number.
    fn whole(&self) -> Option<i64>;

    fn value<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String>;

    /// Reads each item of an array with at most `most` items; an error includes the index of the item.
    fn each<T>(&self, most: usize, read: impl Fn(&Self) -> Result<T, String>) -> Result<Vec<T>, String>;
}

/// A type that can be read from JSON.
pub trait Given: JsonSchema + Sized {
    fn given(json: &impl GivenJson) -> Result<Self, String>;

    /// The schema of what is accepted.
    fn accepted() -> Value {
        Self::json_schema()
    }
}

/// A body: properties that are read once each.
pub trait GivenBody {
    /// Reads a property that must be present and not null.
    fn required<T: Given>(&mut self, name: &str) -> Option<T>;

    /// Reads a property that may be left out, but must not be null.
    fn optional<T: Given>(&mut self, name: &str) -> Option<Option<T>>;

    /// Reads a property that may be left out or null.
    fn nullable<T: Given>(&mut self, name: &str) -> Option<Patch<T>>;

    /// Rejects a property that only the product sets.
    fn not_given(&mut self, name: &str) -> Option<()>;
}

/// A query: parameters that are read once each.
pub trait GivenQuery {
    fn get<T: Parse>(&mut self, name: &str) -> Option<T>;

    /// Reads a parameter with several values.
    fn any_of<T: Parse + PartialEq>(&mut self, name: &str) -> Option<AnyOf<T>>;
}

/// Implements [`Given`] for types that are parsed from text.
#[macro_export]
macro_rules! given_as_text {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::given::Given for $type {
            fn given(json: &impl $crate::given::GivenJson) -> Result<Self, String> {
                <Self as $crate::text::Parse>::parse(&json.text()?)
            }
        })*
    };
}

given_as_text! {
    crate::access::Roles,
    crate::automations::Source,
    crate::automations::schedules::Schedule,
    crate::date::Date,
    crate::files::FileName,
    crate::files::MediaType,
    crate::frameworks::FrameworkName,
    crate::identity::chat_channels::WebhookUrl,
    crate::portals::DomainName,
    crate::portals::FriendlyUrl,
    crate::portals::PortalDocument,
    crate::portals::trust_access::PrintableName,
    crate::programme::catalogue::ControlKey,
    crate::registers::subjects::Commentable,
    crate::tasks::templates::TemplateId,
    crate::text::Email,
    crate::text::Password,
    crate::text::WebAddress,
    crate::time::Time,
    crate::zone::Zone,
}

impl<K: crate::id::Kind> Given for crate::id::Id<K> {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        Self::parse(&json.text()?)
    }
}

impl<const MIN: usize, const MAX: usize, const LINES: bool> Given for crate::text::Text<MIN, MAX, LINES> {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        Self::parse(&json.text()?)
    }
}

impl Given for bool {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        json.value().map_err(|_| "must be true or false".to_owned())
    }
}
