//! Enums of fixed words, which are the same on the wire, in the database and in messages.

/// Declares an enum with its words.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of_variant])* $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The words of all variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl $crate::text::Parse for $name {
            fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err(concat!("must be one of: " $(, $word, ", ")+).trim_end_matches(", ").to_owned()),
                }
            }
        }

        $crate::given_as_text!($name);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                <Self as $crate::text::Parse>::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl $crate::JsonSchema for $name {
            fn json_schema() -> serde_json::Value {
                serde_json::json!({"type": "string", "enum": Self::WORDS})
            }
        }

        impl $crate::plain::Keep for $name {
            const KIND: $crate::plain::PlainKind = $crate::plain::PlainKind::Text;

            fn plain(&self) -> $crate::plain::Plain<'_> {
                $crate::plain::Plain::Text(self.as_str().into())
            }

            fn kept(value: $crate::plain::Plain<'_>) -> Result<Self, String> {
                <Self as $crate::text::Parse>::parse(&$crate::plain::text_of(value)?)
            }
        }
    };
}

words! {
    /// The department that a member or an object belongs to.
    #[derive(Default)]
    Department {
        #[default]
        None = "none",
        Admin = "admin",
        Gov = "gov",
        Hr = "hr",
        It = "it",
        Itsm = "itsm",
        Qms = "qms",
    }
}
