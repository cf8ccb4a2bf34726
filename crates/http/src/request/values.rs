//! JSON parsing of domain values that are more than a string.

use std::collections::BTreeMap;

use attestry_domain::content::{Body, nodes};
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::plain::{Keep, Plain};
use attestry_domain::policies::On;
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::portals::{Days, PortalDocument};
use attestry_domain::registers::views::ViewParameters;
use attestry_domain::text::Parse;
use serde_json::{Value, json};
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::document::operations::{schema, schema_of};
use crate::request::json::{FromJson, Json};

/// The maximum number of documents in one request.
pub const MAX_DOCUMENTS: usize = 1_000;

impl FromJson for ViewParameters {
    fn from_json(json: &Json) -> Result<Self, String> {
        let all: BTreeMap<String, String> =
            json.value().map_err(|_| "must be an object of texts".to_owned())?;
        Self::new(all)
    }

    fn schema() -> RefOr<Schema> {
        let text: RefOr<Schema> = ObjectBuilder::new().schema_type(Type::String).into();
        ObjectBuilder::new().additional_properties(Some(AdditionalProperties::RefOr(text))).into()
    }
}

impl FromJson for FrameworkName {
    fn from_json(json: &Json) -> Result<Self, String> {
        Self::parse(&json.text()?)
    }

    fn schema() -> RefOr<Schema> {
        schema(
            json!({"type": "string", "examples": ["iso_27001"], "description": "A framework's id or alias."}),
        )
    }
}

impl FromJson for Body {
    fn from_json(json: &Json) -> Result<Self, String> {
        let nodes: Value = json.value()?;
        Self::of(&nodes::read(&nodes)?).map_err(|error| error.to_string())
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "array", "items": {"$ref": "#/components/schemas/EditorNode"},
            "examples": [content_example()]
        }))
    }
}

/// Returns an example of editor content.
pub fn content_example() -> Value {
    json!([
        {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Purpose"}]},
        {"type": "paragraph", "content": [
            {"type": "text", "text": "Who may see what, and "},
            {"type": "text", "marks": [{"type": "bold"}], "text": "why"},
            {"type": "text", "text": "."}
        ]}
    ])
}

impl FromJson for VersionNumber {
    fn from_json(json: &Json) -> Result<Self, String> {
        Self::kept(Plain::Int(json.value()?))
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "integer", "minimum": 1}))
    }
}

impl FromJson for On {
    fn from_json(json: &Json) -> Result<Self, String> {
        bool::from_json(json).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "boolean", "default": true}))
    }
}

impl FromJson for Vec<PortalDocument> {
    fn from_json(json: &Json) -> Result<Self, String> {
        json.each(MAX_DOCUMENTS, PortalDocument::from_json)
    }

    fn schema() -> RefOr<Schema> {
        let item = schema_of::<PortalDocument>();
        ArrayBuilder::new().items(item).max_items(Some(MAX_DOCUMENTS)).into()
    }
}

impl FromJson for Days {
    fn from_json(json: &Json) -> Result<Self, String> {
        let days = json.whole().and_then(Self::new);
        days.ok_or_else(|| format!("must be a whole number from 1 to {}", Self::MAX))
    }

    fn schema() -> RefOr<Schema> {
        schema_of::<Self>()
    }
}
