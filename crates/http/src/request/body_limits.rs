//! The maximum size of a body, computed from its schema. A larger body cannot be valid, so it is rejected without
//! being read to the end.

use serde_json::Value;

use crate::request::bodies::JSON;
use crate::request::form::FORM;

/// The maximum length of a character in JSON: two escapes, `\\ud83d\\ude00`.
const MAX_ESCAPED_CHARACTER_BYTES: usize = 12;
/// The size allowed for numbers, times, ids and other short values, with some margin.
const SHORT_VALUE: usize = 100;

/// The property of a schema with the maximum size of a value whose parts are not described.
pub const MAX_BYTES: &str = "x-max-bytes";

/// Returns the maximum size of a valid body in bytes; `None` if the schema does not bound it.
pub fn largest_body(body: &Value, components: &Value) -> Option<usize> {
    let content = body["content"].as_object()?;
    // A character of a form has at most as many bytes: four, each as `%xx`.
    let schema = content.get(JSON).or(content.get(FORM)).filter(|_| content.len() == 1)?;
    largest(&schema["schema"], components)
}

fn largest(schema: &Value, components: &Value) -> Option<usize> {
    if let Some(reference) = schema["$ref"].as_str() {
        return largest(components.pointer(reference.strip_prefix("#/components")?)?, components);
    }
    let number = |name: &str| schema[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let is = |name: &str| {
        schema["type"] == name
            || schema["type"].as_array().is_some_and(|types| types.iter().any(|t| t == name))
    };
    if let Some(bytes) = number(MAX_BYTES) {
        return Some(bytes);
    }
    if is("object") {
        if schema["additionalProperties"] != false {
            return None;
        }
        let mut properties = schema["properties"].as_object()?.iter();
        return properties.try_fold(2, |sum, (name, value)| {
            Some(sum + MAX_ESCAPED_CHARACTER_BYTES * name.len() + largest(value, components)?)
        });
    }
    if is("array") {
        return Some(number("maxItems")? * (largest(&schema["items"], components)? + 2));
    }
    if is("string") {
        let is_short = ["enum", "pattern", "format"].iter().any(|name| schema.get(name).is_some());
        return match number("maxLength") {
            Some(characters) => Some(characters * MAX_ESCAPED_CHARACTER_BYTES + 2),
            None => is_short.then_some(SHORT_VALUE),
        };
    }
    (is("boolean") || is("integer") || is("number")).then_some(SHORT_VALUE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_tells_how_large_a_body_can_be() {
        let object = |properties: Value| json!({"type": "object", "additionalProperties": false, "properties": properties});
        let components =
            json!({"schemas": {"Inner": object(json!({"a": {"type": "string", "maxLength": 100_000}}))}});
        let body = |schema: Value| json!({"content": {"application/json": {"schema": schema}}});
        let size = |schema: Value| largest_body(&body(schema), &components);
        assert_eq!(size(object(json!({"a": {"type": "boolean"}}))), Some(2 + 12 + 100));
        let inner = json!({"$ref": "#/components/schemas/Inner"});
        assert_eq!(size(inner.clone()), Some(2 + 12 + 1_200_002));
        assert_eq!(size(json!({"type": "array", "items": inner, "maxItems": 2})), Some(2 * 1_200_018));
        assert_eq!(size(object(json!({"a": {"type": "string"}}))), None, "no end to it");
        assert_eq!(size(json!({"type": "object"})), None);
        assert_eq!(size(json!({"type": "object", "x-max-bytes": 1024})), Some(1024));
        assert_eq!(largest_body(&json!({"content": {"text/csv": {}}}), &components), None);
    }
}
