//! The text of a policy in requests and responses: editor nodes, and Markdown.

use attestry_domain::content::content_example;
use attestry_domain::content::{Body, Content, markdown, nodes};
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::query::{FromQuery, Query};
use serde_json::json;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Schema};

/// A text in Markdown.
#[derive(Clone, Debug)]
pub(crate) struct Markdown(pub(crate) Content);

impl FromJson for Markdown {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        markdown::read(&json.text()?).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "string", "examples": ["## Purpose\n\nWho may see what, and **why**.\n"]}))
    }
}

/// Returns the schema of a node of a rich-text editor (ProseMirror, TipTap).
pub(crate) fn node_schema() -> RefOr<Schema> {
    let inner = ["listItem", "tableRow", "tableHeader", "tableCell", "text", "hardBreak"];
    let types: Vec<&str> = nodes::BLOCKS.iter().copied().chain(inner).collect();
    schema(json!({
        "type": "object", "required": ["type"],
        "description": "A node of a rich-text editor (ProseMirror, TipTap). Tables have one line of text in a cell and \
                        headers in the first row only. Links lead to http(s), mailto, tel, a path or a fragment.",
        "properties": {
            "type": {"type": "string", "enum": types},
            "attrs": {"type": "object", "description": "`level` of a heading, `start` of an orderedList, `language` of a codeBlock."},
            "content": {"type": "array", "items": {"$ref": "#/components/schemas/EditorNode"}},
            "marks": {"type": "array", "items": {
                "type": "object", "required": ["type"],
                "properties": {"type": {"type": "string", "enum": nodes::MARKS}, "attrs": {"type": "object"}}
            }},
            "text": {"type": "string"}
        },
        "example": content_example()[0]
    }))
}

attestry_domain::words! {
    /// The format of a text.
    Format {
        Nodes = "nodes",
        Markdown = "markdown",
    }
}

/// The `format` parameter: `markdown` adds the text as Markdown.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) markdown: bool,
}

impl FromQuery for Texts {
    fn read(query: &mut Query) -> Self {
        Self { markdown: query.get::<Format>("format") == Some(Format::Markdown) }
    }
}

impl IntoParams for Texts {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![format_parameter()]
    }
}

pub(crate) fn format_parameter() -> Parameter {
    let about = "`markdown` adds `contentMarkdown`: the text as Markdown.";
    lists::parameter("format", schema_of::<Format>(), about)
}

pub(crate) fn as_markdown(content: &Body) -> Result<String, Problem> {
    content.content().map(|content| markdown::write(&content)).map_err(Problem::internal)
}
