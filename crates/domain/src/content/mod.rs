//! The text of a policy: blocks and inline text, in the structure of rich-text editors.
//!
//! [`nodes`] reads editor nodes and [`markdown`] reads Markdown. Both return a normal form, so that equal texts are
//! equal values: neighbouring pieces of text with the same marks are one piece, an item of a list begins with a
//! paragraph, and all rows of a table have the same length.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::journal::canonical::canonical;
use crate::json::{Given, GivenJson, JsonSchema};
use crate::plain::{Keep, Plain, PlainKind, text_of};

pub mod diff;
pub mod markdown;
pub mod nodes;

/// The maximum nesting depth of blocks.
pub const MAX_DEPTH: usize = 12;
/// The maximum number of blocks, items, cells and pieces of text.
pub const MAX_NODES: usize = 20_000;
/// The maximum number of characters of text.
pub const MAX_TEXT_CHARS: usize = 500_000;
/// The maximum number of characters of Markdown, which includes the markup.
pub const MAX_MARKDOWN_CHARS: usize = 10 * MAX_TEXT_CHARS;

/// A complete text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Content(pub Vec<Block>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    Paragraph(Vec<Inline>),
    Heading {
        /// 1 to 6.
        level: u8,
        text: Vec<Inline>,
    },
    Bullets(Vec<Vec<Block>>),
    Numbers {
        start: u32,
        items: Vec<Vec<Block>>,
    },
    Quote(Vec<Block>),
    Code {
        language: Option<String>,
        text: String,
    },
    Table {
        /// The row of headings, as wide as the other rows.
        head: Option<Vec<Cell>>,
        rows: Vec<Vec<Cell>>,
    },
    Rule,
}

/// One cell of a table: a line of text, with breaks.
pub type Cell = Vec<Inline>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inline {
    Text { text: String, marks: Marks },
    Break,
}

/// The formatting of a piece of text, and its link target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "these are the marks of the editor")]
pub struct Marks {
    pub bold: bool,
    pub italic: bool,
    pub strike: bool,
    pub underline: bool,
    pub code: bool,
    /// `https:`, `http:`, `mailto:` or `tel:`, a path of this site or a `#fragment`.
    pub link: Option<String>,
}

impl Content {
    /// Checks the limits of the normal form, which can be larger than the input.
    pub fn checked(self) -> Result<Self, String> {
        let mut size = Size::default();
        size.blocks(&self.0, 0)?;
        Ok(self)
    }

    /// Applies `change` to every piece of text.
    pub fn each_text(&mut self, change: &mut impl FnMut(&mut String)) {
        each_text(&mut self.0, change);
    }
}

fn each_text(blocks: &mut [Block], change: &mut impl FnMut(&mut String)) {
    for block in blocks {
        match block {
            Block::Paragraph(text) | Block::Heading { text, .. } => each_piece(text, change),
            Block::Bullets(items) | Block::Numbers { items, .. } => {
                for item in items {
                    each_text(item, change);
                }
            }
            Block::Quote(inner) => each_text(inner, change),
            Block::Code { text, .. } => change(text),
            Block::Table { head, rows } => {
                head.iter_mut().chain(rows).flatten().for_each(|cell| each_piece(cell, change));
            }
            Block::Rule => {}
        }
    }
}

fn each_piece(pieces: &mut Vec<Inline>, change: &mut impl FnMut(&mut String)) {
    for piece in pieces.iter_mut() {
        if let Inline::Text { text, .. } = piece {
            change(text);
        }
    }
    *pieces = joined(std::mem::take(pieces));
}

impl Inline {
    pub fn plain(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), marks: Marks::default() }
    }
}

/// The size of a text, to check its limits.
#[derive(Default)]
struct Size {
    nodes: usize,
    text: usize,
}

impl Size {
    fn add(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes += nodes;
        match self.nodes <= MAX_NODES {
            true => Ok(()),
            false => Err(format!("there are more than {MAX_NODES} nodes")),
        }
    }

    fn characters(&mut self, text: &str) -> Result<(), String> {
        self.text += text.chars().count();
        match self.text <= MAX_TEXT_CHARS {
            true => Ok(()),
            false => Err(format!("there are more than {MAX_TEXT_CHARS} characters of text")),
        }
    }

    fn inline(&mut self, pieces: &[Inline]) -> Result<(), String> {
        self.add(pieces.len())?;
        pieces.iter().try_for_each(|piece| match piece {
            Inline::Text { text, .. } => self.characters(text),
            Inline::Break => Ok(()),
        })
    }

    fn blocks(&mut self, blocks: &[Block], depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("blocks can be nested at most {MAX_DEPTH} deep"));
        }
        self.add(blocks.len())?;
        for block in blocks {
            match block {
                Block::Paragraph(text) | Block::Heading { text, .. } => self.inline(text)?,
                Block::Bullets(items) | Block::Numbers { items, .. } => {
                    self.add(items.len())?;
                    items.iter().try_for_each(|item| self.blocks(item, depth + 1))?;
                }
                Block::Quote(inner) => self.blocks(inner, depth + 1)?,
                Block::Code { text, .. } => self.characters(text)?,
                Block::Table { head, rows } => {
                    for row in head.iter().chain(rows) {
                        self.add(1 + row.len())?;
                        row.iter().try_for_each(|cell| self.inline(cell))?;
                    }
                }
                Block::Rule => {}
            }
        }
        Ok(())
    }
}

/// Inline text in its normal form.
fn joined(pieces: Vec<Inline>) -> Vec<Inline> {
    let mut all: Vec<Inline> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (all.last_mut(), piece) {
            (_, Inline::Text { text, .. }) if text.is_empty() => {}
            (Some(Inline::Text { text: before, marks: known }), Inline::Text { text, marks })
                if *known == marks =>
            {
                before.push_str(&text);
            }
            (_, piece) => all.push(piece),
        }
    }
    all
}

/// The blocks of an item, which editors require to begin with a paragraph.
fn item(mut blocks: Vec<Block>) -> Vec<Block> {
    if !matches!(blocks.first(), Some(Block::Paragraph(_))) {
        blocks.insert(0, Block::Paragraph(Vec::new()));
    }
    blocks
}

/// The blocks of a quote, which has at least one.
fn quoted(mut blocks: Vec<Block>) -> Vec<Block> {
    if blocks.is_empty() {
        blocks.push(Block::Paragraph(Vec::new()));
    }
    blocks
}

/// A table in its normal form: every row as wide as the widest.
fn table(head: Option<Vec<Cell>>, mut rows: Vec<Vec<Cell>>) -> Result<Block, String> {
    let is_empty = |cells: &Vec<Cell>| cells.iter().all(Vec::is_empty);
    // A heading row with only empty cells counts as none, because Markdown cannot distinguish the two.
    let (mut head, empty) = match head {
        Some(cells) if is_empty(&cells) => (None, Some(cells)),
        head => (head, None),
    };
    if rows.is_empty() && head.is_none() {
        rows.extend(empty);
    }
    let width = rows.iter().chain(&head).map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return Err("a table must have a cell".to_owned());
    }
    // Checked before the cells are allocated: one long row among many short ones makes a huge table.
    if width.saturating_mul(rows.len() + 1) > MAX_NODES {
        return Err(format!("a table can have at most {MAX_NODES} cells"));
    }
    for row in rows.iter_mut().chain(&mut head) {
        row.resize(width, Vec::new());
    }
    Ok(Block::Table { head, rows })
}

/// The text without formatting, one line per block.
pub fn plain_text(blocks: &[Block]) -> String {
    let mut out = String::new();
    write_plain(blocks, &mut out);
    out.truncate(out.trim_end().len());
    out
}

fn write_plain(blocks: &[Block], out: &mut String) {
    for block in blocks {
        match block {
            Block::Paragraph(text) | Block::Heading { text, .. } => {
                write_inline(text, out);
                out.push('\n');
            }
            Block::Bullets(items) | Block::Numbers { items, .. } => {
                for item in items {
                    write_plain(item, out);
                }
            }
            Block::Quote(inner) => write_plain(inner, out),
            Block::Code { text, .. } => {
                out.push_str(text);
                out.push('\n');
            }
            Block::Table { head, rows } => {
                for row in head.iter().chain(rows) {
                    for (place, cell) in row.iter().enumerate() {
                        if place > 0 {
                            out.push_str(" | ");
                        }
                        write_inline(cell, out);
                    }
                    out.push('\n');
                }
            }
            Block::Rule => out.push('\n'),
        }
    }
}

fn write_inline(pieces: &[Inline], out: &mut String) {
    for piece in pieces {
        match piece {
            Inline::Text { text, .. } => out.push_str(text),
            Inline::Break => out.push('\n'),
        }
    }
}

/// A text as it is stored: its nodes in canonical JSON, which responses include without parsing it.
#[derive(Clone, Debug)]
pub struct Body(Arc<RawValue>);

impl Body {
    pub fn of(content: &Content) -> Result<Self, serde_json::Error> {
        Ok(Self(RawValue::from_string(canonical(content)?)?.into()))
    }

    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    pub fn is_empty(&self) -> bool {
        self.as_json() == "[]"
    }

    pub fn content(&self) -> Result<Content, String> {
        nodes::kept(self.as_json())
    }
}

impl Default for Body {
    fn default() -> Self {
        Self(RawValue::from_string("[]".to_owned()).unwrap_or_default().into())
    }
}

impl JsonSchema for Body {
    fn json_schema() -> Value {
        json!({
            "type": "array", "items": {"$ref": "#/components/schemas/EditorNode"},
            "examples": [content_example()]
        })
    }
}

impl Given for Body {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        let nodes: Value = json.value()?;
        Self::of(&nodes::read(&nodes)?).map_err(|error| error.to_string())
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

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for Body {}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Reads a recorded text and makes its JSON canonical.
impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let text = canonical(&value).map_err(serde::de::Error::custom)?;
        RawValue::from_string(text).map(|raw| Self(raw.into())).map_err(serde::de::Error::custom)
    }
}

impl Keep for Body {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.as_json().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        let raw = RawValue::from_string(text_of(value)?.into_owned()).map_err(|error| error.to_string())?;
        Ok(Self(raw.into()))
    }
}
