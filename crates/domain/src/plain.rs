//! Primitive values, as columns store them, table cells show them and filters compare them.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::date::Date;
use crate::id::{Id, Kind};
use crate::text::{Parse, Text};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plain<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    Date(Date),
    Time(Time),
}

impl Plain<'_> {
    /// Converts borrowed text to owned text.
    pub fn into_owned(self) -> Plain<'static> {
        match self {
            Self::Text(text) => Plain::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Plain::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Null => Plain::Null,
            Self::Bool(value) => Plain::Bool(value),
            Self::Int(value) => Plain::Int(value),
            Self::Date(value) => Plain::Date(value),
            Self::Time(value) => Plain::Time(value),
        }
    }
}

/// The type of a [`Plain`] value that is not null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainKind {
    Bool,
    Int,
    Text,
    Bytes,
    /// A set, as text with spaces between its words.
    Words,
    Date,
    Time,
}

/// A value that can be stored in a column.
pub trait Keep: Sized {
    const KIND: PlainKind;

    fn plain(&self) -> Plain<'_>;

    /// Reads a stored value, which was validated on input under the rules of that time.
    fn kept(value: Plain<'_>) -> Result<Self, String>;
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::Date(value) => value.serialize(serializer),
            Self::Time(value) => value.serialize(serializer),
        }
    }
}

fn other(value: &Plain<'_>) -> String {
    format!("is of another kind: {value:?}")
}

macro_rules! keep {
    ($($type:ty, $kind:ident;)*) => {
        $(impl Keep for $type {
            const KIND: PlainKind = PlainKind::$kind;

            fn plain(&self) -> Plain<'_> {
                Plain::$kind(*self)
            }

            fn kept(value: Plain<'_>) -> Result<Self, String> {
                match value {
                    Plain::$kind(value) => Ok(value),
                    value => Err(other(&value)),
                }
            }
        })*
    };
}

keep! {
    bool, Bool;
    i64, Int;
    Date, Date;
    Time, Time;
}

impl<T: Keep> Keep for Option<T> {
    const KIND: PlainKind = T::KIND;

    fn plain(&self) -> Plain<'_> {
        self.as_ref().map_or(Plain::Null, T::plain)
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        match value {
            Plain::Null => Ok(None),
            value => T::kept(value).map(Some),
        }
    }
}

/// The text of a value that is stored as text.
pub fn text_of(value: Plain<'_>) -> Result<Cow<'_, str>, String> {
    match value {
        Plain::Text(text) => Ok(text),
        value => Err(other(&value)),
    }
}

impl<K: Kind> Keep for Id<K> {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.to_string().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        Self::parse(&text_of(value)?)
    }
}

impl Keep for String {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.as_str().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        text_of(value).map(Cow::into_owned)
    }
}

impl Keep for Vec<u8> {
    const KIND: PlainKind = PlainKind::Bytes;

    fn plain(&self) -> Plain<'_> {
        Plain::Bytes(self.as_slice().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        match value {
            Plain::Bytes(bytes) => Ok(bytes.into_owned()),
            value => Err(other(&value)),
        }
    }
}

/// Lines, such as those of a log.
impl Keep for Vec<String> {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.join("\n").into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        Ok(text_of(value)?.lines().map(str::to_owned).collect())
    }
}

/// A hash.
impl<const SIZE: usize> Keep for [u8; SIZE] {
    const KIND: PlainKind = PlainKind::Bytes;

    fn plain(&self) -> Plain<'_> {
        Plain::Bytes(self.as_slice().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        match value {
            Plain::Bytes(bytes) => bytes.as_ref().try_into().map_err(|_| format!("is not {SIZE} bytes")),
            value => Err(other(&value)),
        }
    }
}

/// Keeps types that are stored as their text, and read without validating it again.
#[macro_export]
macro_rules! kept_as_stored {
    ($($type:ty),+ $(,)?) => {
        $(impl $crate::plain::Keep for $type {
            const KIND: $crate::plain::PlainKind = $crate::plain::PlainKind::Text;

            fn plain(&self) -> $crate::plain::Plain<'_> {
                $crate::plain::Plain::Text(self.as_str().into())
            }

            fn kept(value: $crate::plain::Plain<'_>) -> Result<Self, String> {
                Ok(Self::stored($crate::plain::text_of(value)?.into_owned()))
            }
        })+
    };
}

/// Keeps types that are stored as their text and parsed again.
#[macro_export]
macro_rules! kept_as_text {
    ($($type:ty),+ $(,)?) => {
        $(impl $crate::plain::Keep for $type {
            const KIND: $crate::plain::PlainKind = $crate::plain::PlainKind::Text;

            fn plain(&self) -> $crate::plain::Plain<'_> {
                $crate::plain::Plain::Text(self.as_str().into())
            }

            fn kept(value: $crate::plain::Plain<'_>) -> Result<Self, String> {
                $crate::text::Parse::parse(&$crate::plain::text_of(value)?)
            }
        })+
    };
}

impl<const MIN: usize, const MAX: usize, const LINES: bool> Keep for Text<MIN, MAX, LINES> {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.as_str().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        Ok(Self::stored(text_of(value)?.into_owned()))
    }
}
