//! Schemas in the document.

use std::borrow::Cow;
use std::marker::PhantomData;

use attestry_domain::JsonSchema;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Returns a reference to a schema of the document.
pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Parses a schema from its JSON form.
pub fn schema(json: Value) -> RefOr<Schema> {
    serde_json::from_value(json).unwrap_or_default()
}

/// Returns the schema of a domain type, for `#[schema(schema_with = schema_of::<…>)]` among others.
pub fn schema_of<T: JsonSchema>() -> RefOr<Schema> {
    schema(T::json_schema())
}

/// The schema of a domain type where utoipa takes a type but no function: `inline(…)` of a parameter, or `value_type`
/// of a field with a comment, which `schema_with` would drop. Name it there by an alias, because utoipa asks each type
/// argument for a schema of its own.
#[derive(Debug)]
pub struct SchemaOf<T>(PhantomData<T>);

impl<T: JsonSchema> PartialSchema for SchemaOf<T> {
    fn schema() -> RefOr<Schema> {
        schema_of::<T>()
    }
}

impl<T: JsonSchema> ToSchema for SchemaOf<T> {
    /// Returns the name of the domain type, without its path.
    fn name() -> Cow<'static, str> {
        let path = std::any::type_name::<T>();
        path.rsplit("::").next().unwrap_or(path).into()
    }
}
