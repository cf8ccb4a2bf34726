//! The three states of a field in a PATCH: left out, cleared, set.

/// The value of a nullable field in a PATCH.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> Patch<T> {
    /// Applies the patch to the previous value of the field.
    pub fn apply(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Absent => before,
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Absent => Patch::Absent,
            Self::Null => Patch::Null,
            Self::Value(value) => Patch::Value(f(value)),
        }
    }

    /// Applies the patch to a field that null sets back to its default.
    pub fn apply_or_default(self, before: T) -> T
    where
        T: Default,
    {
        match self {
            Self::Absent => before,
            Self::Null => T::default(),
            Self::Value(value) => value,
        }
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The field of a new object, for which absent and null are the same.
    pub fn into_option(self) -> Option<T> {
        self.apply(None)
    }
}
