//! Filters with several values.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::json::JsonSchema;
use crate::plain::{Keep, Plain, PlainKind};
use crate::text::Parse;

/// The maximum number of values in one filter.
const MAX_VALUES: usize = 50;

/// The values that a field may have, separated by commas on the wire: `open,pending`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyOf<T>(Vec<T>);

impl<T: PartialEq> AnyOf<T> {
    pub fn one(value: T) -> Self {
        Self(vec![value])
    }

    pub fn has(&self, value: &T) -> bool {
        self.0.contains(value)
    }

    /// Returns true when there is a value other than this one.
    pub fn has_others_than(&self, value: &T) -> bool {
        self.0.iter().any(|one| one != value)
    }
}

impl<T: Parse + PartialEq> Parse for AnyOf<T> {
    fn parse(text: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        for part in text.split(',') {
            let value = T::parse(part.trim())?;
            if !all.contains(&value) {
                all.push(value);
            }
        }
        if all.len() > MAX_VALUES {
            return Err(format!("must not have more than {MAX_VALUES} values"));
        }
        Ok(Self(all))
    }
}

/// Stored as text with commas around each value, so that a substring search matches whole values.
impl<T: Keep> Keep for AnyOf<T> {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        let mut text = String::from(",");
        for value in &self.0 {
            if let Plain::Text(word) = value.plain() {
                text.push_str(&word);
                text.push(',');
            }
        }
        Plain::Text(Cow::Owned(text))
    }

    fn kept(_: Plain<'_>) -> Result<Self, String> {
        Err("a filter is never stored".to_owned())
    }
}

impl<T: JsonSchema> JsonSchema for AnyOf<T> {
    fn json_schema() -> Value {
        let value = T::json_schema();
        json!({"oneOf": [value, {"type": "array", "items": value, "minItems": 1, "maxItems": MAX_VALUES}]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::TaskStatus;

    #[test]
    fn several_values_are_read_once_each() {
        let both: AnyOf<TaskStatus> = AnyOf::parse("todo, done,todo").expect("two");
        assert_eq!(both.plain(), Plain::Text(",todo,done,".into()));
        assert!(both.has(&TaskStatus::Done) && !both.has(&TaskStatus::Blocked));
        assert!(both.has_others_than(&TaskStatus::Done));
        assert!(AnyOf::<TaskStatus>::parse("todo,").is_err());
        assert!(AnyOf::<TaskStatus>::parse("todo,later").is_err());
    }
}
