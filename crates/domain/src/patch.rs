//! The three states of a field in a PATCH: left out, cleared, set.

/// What a PATCH says of a nullable field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> Patch<T> {
    /// The field after the patch, given what it was.
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

    /// The field of a new thing: absent and null are the same there.
    pub fn into_option(self) -> Option<T> {
        self.apply(None)
    }
}
