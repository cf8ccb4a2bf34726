//! The orders of a register's list.

use std::fmt;

use crate::json::JsonSchema;
use crate::page::Sort;

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
