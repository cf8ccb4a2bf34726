//! Content written as editor nodes.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::content::{Block, Cell, Content, Inline, Marks};

struct Parts<'a, T>(&'a str, &'a [T]);

/// Writes a node with its type and its children.
impl<T: Serialize> Serialize for Parts<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.0)?;
        if !self.1.is_empty() {
            map.serialize_entry("content", self.1)?;
        }
        map.end()
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[derive(Serialize)]
struct Level {
    level: u8,
}

#[derive(Serialize)]
struct Start {
    start: u32,
}

#[derive(Serialize)]
struct Language<'a> {
    language: &'a str,
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items = |items: &[Vec<Self>]| -> Vec<Value> {
            items.iter().map(|blocks| node(&Parts("listItem", blocks))).collect()
        };
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Paragraph(text) => entries(&mut map, "paragraph", None::<()>, text)?,
            Self::Heading { level, text } => {
                entries(&mut map, "heading", Some(Level { level: *level }), text)?;
            }
            Self::Bullets(all) => entries(&mut map, "bulletList", None::<()>, &items(all))?,
            Self::Numbers { start, items: all } => {
                entries(&mut map, "orderedList", Some(Start { start: *start }), &items(all))?;
            }
            Self::Quote(blocks) => entries(&mut map, "blockquote", None::<()>, blocks)?,
            Self::Code { language, text } => {
                let language = language.as_deref().map(|language| Language { language });
                let text = Inline::plain(text);
                let is_empty = matches!(&text, Inline::Text { text, .. } if text.is_empty());
                entries(
                    &mut map,
                    "codeBlock",
                    language,
                    if is_empty { &[] } else { std::slice::from_ref(&text) },
                )?;
            }
            Self::Table { head, rows } => {
                let row = |kind: &'static str, cells: &[Cell]| {
                    let cells: Vec<Value> =
                        cells.iter().map(|cell| node(&Parts(kind, &[Parts("paragraph", cell)]))).collect();
                    node(&Parts("tableRow", &cells))
                };
                let head = head.iter().map(|cells| row("tableHeader", cells));
                let all: Vec<Value> = head.chain(rows.iter().map(|cells| row("tableCell", cells))).collect();
                entries(&mut map, "table", None::<()>, &all)?;
            }
            Self::Rule => entries(&mut map, "horizontalRule", None::<()>, &[(); 0])?,
        }
        map.end()
    }
}

fn entries<M: SerializeMap, T: Serialize>(
    map: &mut M,
    kind: &str,
    attributes: Option<impl Serialize>,
    content: &[T],
) -> Result<(), M::Error> {
    map.serialize_entry("type", kind)?;
    if let Some(attributes) = attributes {
        map.serialize_entry("attrs", &attributes)?;
    }
    if !content.is_empty() {
        map.serialize_entry("content", content)?;
    }
    Ok(())
}

/// Converts a value to JSON. This cannot fail, because the values contain only text.
fn node(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

impl Serialize for Inline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Break => map.serialize_entry("type", "hardBreak")?,
            Self::Text { text, marks } => {
                map.serialize_entry("type", "text")?;
                if *marks != Marks::default() {
                    map.serialize_entry("marks", marks)?;
                }
                map.serialize_entry("text", text)?;
            }
        }
        map.end()
    }
}

impl Serialize for Marks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { bold, italic, strike, underline, code, link } = self;
        let mut all = serializer.serialize_seq(None)?;
        if let Some(href) = link {
            all.serialize_element(&serde_json::json!({"type": "link", "attrs": {"href": href}}))?;
        }
        let switches = [
            (bold, "bold"),
            (italic, "italic"),
            (strike, "strike"),
            (underline, "underline"),
            (code, "code"),
        ];
        for (_, name) in switches.into_iter().filter(|(is_on, _)| **is_on) {
            all.serialize_element(&serde_json::json!({"type": name}))?;
        }
        all.end()
    }
}
