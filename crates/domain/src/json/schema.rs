//! The JSON Schemas of types, as data, so that this crate does not depend on a document generator.

use serde_json::{Value, json};

/// A type whose JSON form has a schema.
pub trait JsonSchema {
    fn json_schema() -> Value;
}

impl JsonSchema for bool {
    fn json_schema() -> Value {
        json!({"type": "boolean"})
    }
}

impl<T: JsonSchema> JsonSchema for Option<T> {
    fn json_schema() -> Value {
        json!({"oneOf": [T::json_schema(), {"type": "null"}]})
    }
}

impl<T: JsonSchema> JsonSchema for Vec<T> {
    fn json_schema() -> Value {
        json!({"type": "array", "items": T::json_schema()})
    }
}
