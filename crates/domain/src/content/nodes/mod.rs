//! Reads and writes content as the nodes of rich-text editors (ProseMirror, TipTap); input is validated.

use serde_json::{Map, Value};

use super::{
    Block, Cell, Content, Inline, MAX_DEPTH, MAX_NODES, MAX_TEXT_CHARS, Marks, item, joined, quoted, table,
};
use crate::json::numbers::whole;

mod writer;

/// The node types that are accepted as blocks.
pub const BLOCKS: &[&str] = &[
    "paragraph",
    "heading",
    "bulletList",
    "orderedList",
    "blockquote",
    "codeBlock",
    "table",
    "horizontalRule",
];
pub const MARKS: &[&str] = &["bold", "italic", "strike", "underline", "code", "link"];
const LARGEST_START: u64 = 999_999_999;

/// Reads input nodes: an array of blocks, or a `doc` that contains one.
pub fn read(value: &Value) -> Result<Content, String> {
    let blocks = match value {
        Value::Array(blocks) => blocks,
        Value::Object(doc) if doc.get("type").and_then(Value::as_str) == Some("doc") => {
            match doc.get("content") {
                Some(Value::Array(blocks)) => blocks,
                None => return Ok(Content::default()),
                Some(_) => return Err("content: must be an array".to_owned()),
            }
        }
        _ => return Err("must be an array of editor nodes".to_owned()),
    };
    let mut reader = Reader { limits: true, ..Reader::default() };
    reader.blocks(blocks, 0).map(Content).map_err(|wrong| wrong.to_string())?.checked()
}

/// Reads stored nodes without applying the limits, since they were validated on input.
pub(super) fn kept(json: &str) -> Result<Content, String> {
    let blocks: Vec<Value> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Reader::default().blocks(&blocks, 0).map(Content).map_err(|wrong| wrong.to_string())
}

/// A validation error and its path, which is built while the error propagates.
struct NodeError {
    path: String,
    message: String,
}

impl NodeError {
    fn new(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    fn under(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }

    fn at(self, place: usize) -> Self {
        self.under(&format!("[{place}]"))
    }
}

impl std::fmt::Display for NodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.trim_start_matches('.') {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

#[derive(Default)]
struct Reader {
    limits: bool,
    nodes: usize,
    text: usize,
}

impl Reader {
    fn object<'v>(&mut self, value: &'v Value) -> Result<(&'v str, Node<'v>), NodeError> {
        self.nodes += 1;
        if self.limits && self.nodes > MAX_NODES {
            return Err(NodeError::new(format!("there are more than {MAX_NODES} nodes")));
        }
        let Value::Object(map) = value else { return Err(NodeError::new("must be an object with a type")) };
        let Some(Value::String(kind)) = map.get("type") else {
            return Err(NodeError::new("must be a string").under(".type"));
        };
        Ok((kind, Node { map }))
    }

    fn blocks(&mut self, values: &[Value], depth: usize) -> Result<Vec<Block>, NodeError> {
        if self.limits && depth > MAX_DEPTH {
            return Err(NodeError::new(format!("blocks can be nested at most {MAX_DEPTH} deep")));
        }
        let mut blocks = Vec::with_capacity(values.len());
        for (place, value) in values.iter().enumerate() {
            blocks.push(self.block(value, depth).map_err(|wrong| wrong.at(place))?);
        }
        Ok(blocks)
    }

    fn block(&mut self, value: &Value, depth: usize) -> Result<Block, NodeError> {
        let (kind, node) = self.object(value)?;
        Ok(match kind {
            "paragraph" => {
                node.takes(&[])?;
                Block::Paragraph(self.inlines(&node)?)
            }
            "heading" => {
                let level = node.number("level", 1, 6)?;
                node.takes(&["level"])?;
                let level = u8::try_from(level.unwrap_or(1)).unwrap_or(1);
                Block::Heading { level, text: self.inlines(&node)? }
            }
            "bulletList" => {
                node.takes(&["tight"])?;
                Block::Bullets(self.items(&node, depth)?)
            }
            "orderedList" => {
                let start = node.number("start", 0, LARGEST_START)?.unwrap_or(1);
                node.takes(&["start", "tight", "type"])?;
                let start = u32::try_from(start).unwrap_or(1);
                Block::Numbers { start, items: self.items(&node, depth)? }
            }
            "blockquote" => {
                node.takes(&[])?;
                Block::Quote(quoted(self.inner(&node, depth)?))
            }
            "codeBlock" => {
                node.takes(&["language"])?;
                Block::Code { language: node.language()?, text: self.code(&node)? }
            }
            "table" => {
                node.takes(&[])?;
                self.table(&node)?
            }
            "horizontalRule" => {
                node.takes(&[])?;
                Block::Rule
            }
            other => {
                let message = format!("{other:?} is not a block; must be one of: {}", BLOCKS.join(", "));
                return Err(NodeError::new(message).under(".type"));
            }
        })
    }

    fn inner(&mut self, node: &Node<'_>, depth: usize) -> Result<Vec<Block>, NodeError> {
        self.blocks(node.content()?, depth + 1).map_err(|wrong| wrong.under(".content"))
    }

    fn items(&mut self, node: &Node<'_>, depth: usize) -> Result<Vec<Vec<Block>>, NodeError> {
        let read = |reader: &mut Self, value: &Value| {
            let (kind, one) = reader.object(value)?;
            must_be(kind, &["listItem"])?;
            one.takes(&[])?;
            reader.inner(&one, depth).map(item)
        };
        let items = self.each(node, read)?;
        if items.is_empty() {
            return Err(NodeError::new("a list must hold at least one item").under(".content"));
        }
        Ok(items)
    }

    /// Reads each child of a node.
    fn each<T>(
        &mut self,
        node: &Node<'_>,
        read: impl Fn(&mut Self, &Value) -> Result<T, NodeError>,
    ) -> Result<Vec<T>, NodeError> {
        let read = |(place, value): (usize, &Value)| read(self, value).map_err(|wrong| wrong.at(place));
        let all: Result<Vec<T>, NodeError> = node.content()?.iter().enumerate().map(read).collect();
        all.map_err(|wrong| wrong.under(".content"))
    }

    fn table(&mut self, node: &Node<'_>) -> Result<Block, NodeError> {
        let rows = self.each(node, |reader, value| {
            let (kind, row) = reader.object(value)?;
            must_be(kind, &["tableRow"])?;
            row.takes(&[])?;
            reader.each(&row, Self::cell)
        })?;
        let is_head =
            |row: &Vec<(bool, Cell)>| !row.is_empty() && row.iter().all(|(is_header, _)| *is_header);
        let mut rows = rows.into_iter().enumerate().peekable();
        let without = |row: Vec<(bool, Cell)>| row.into_iter().map(|(_, cell)| cell).collect();
        let head = rows.next_if(|(_, row)| is_head(row)).map(|(_, row)| without(row));
        let mut body = Vec::new();
        for (place, row) in rows {
            if row.iter().any(|(is_header, _)| *is_header) {
                let message = "header cells are taken in the first row only, all of them or none";
                return Err(NodeError::new(message).at(place).under(".content"));
            }
            body.push(without(row));
        }
        table(head, body).map_err(|message| NodeError::new(message).under(".content"))
    }

    /// Reads a cell and returns its header flag and its text: one line, in which breaks separate paragraphs.
    fn cell(&mut self, value: &Value) -> Result<(bool, Cell), NodeError> {
        let (kind, cell) = self.object(value)?;
        must_be(kind, &["tableCell", "tableHeader"])?;
        cell.takes(&["colspan", "rowspan", "colwidth"])?;
        for span in ["colspan", "rowspan"] {
            cell.number(span, 1, 1)?;
        }
        let paragraphs = self.each(&cell, |reader, value| {
            let (kind, paragraph) = reader.object(value)?;
            must_be(kind, &["paragraph"])?;
            paragraph.takes(&[])?;
            reader.inlines(&paragraph)
        })?;
        let mut text = Vec::new();
        for (place, paragraph) in paragraphs.into_iter().enumerate() {
            if place > 0 {
                text.push(Inline::Break);
            }
            text.extend(paragraph);
        }
        Ok((kind == "tableHeader", joined(text)))
    }

    fn inlines(&mut self, node: &Node<'_>) -> Result<Vec<Inline>, NodeError> {
        self.each(node, Self::inline).map(joined)
    }

    fn inline(&mut self, value: &Value) -> Result<Inline, NodeError> {
        let (kind, node) = self.object(value)?;
        match kind {
            "text" => {
                let text = self.characters(&node)?.replace(['\n', '\t', '\r'], " ");
                Ok(Inline::Text { text, marks: node.marks()? })
            }
            "hardBreak" => Ok(Inline::Break),
            other => {
                let message = format!("{other:?} is not taken here; must be one of: text, hardBreak");
                Err(NodeError::new(message).under(".type"))
            }
        }
    }

    fn characters(&mut self, node: &Node<'_>) -> Result<String, NodeError> {
        let Some(Value::String(text)) = node.map.get("text") else {
            return Err(NodeError::new("must be a string").under(".text"));
        };
        self.text += text.chars().count();
        if self.limits && self.text > MAX_TEXT_CHARS {
            return Err(NodeError::new(format!("there are more than {MAX_TEXT_CHARS} characters of text")));
        }
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
            return Err(NodeError::new("must not contain control characters").under(".text"));
        }
        Ok(text.clone())
    }

    fn code(&mut self, node: &Node<'_>) -> Result<String, NodeError> {
        let lines = self.each(node, |reader, value| {
            let (kind, text) = reader.object(value)?;
            must_be(kind, &["text"])?;
            reader.characters(&text)
        })?;
        Ok(lines.concat().replace("\r\n", "\n").replace('\r', "\n"))
    }
}

fn must_be(kind: &str, taken: &[&str]) -> Result<(), NodeError> {
    if taken.contains(&kind) {
        return Ok(());
    }
    Err(NodeError::new(format!("{kind:?} is not taken here; must be {}", taken.join(" or "))).under(".type"))
}

struct Node<'v> {
    map: &'v Map<String, Value>,
}

impl<'v> Node<'v> {
    fn content(&self) -> Result<&'v [Value], NodeError> {
        match self.map.get("content") {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(content)) => Ok(content),
            Some(_) => Err(NodeError::new("must be an array").under(".content")),
        }
    }

    fn attribute(&self, name: &str) -> Option<&'v Value> {
        self.map.get("attrs")?.get(name).filter(|value| !value.is_null())
    }

    /// Rejects unknown attributes, because they would be lost. Null is accepted, since editors set unused attributes
    /// to null.
    fn takes(&self, known: &[&str]) -> Result<(), NodeError> {
        let attributes = match self.map.get("attrs") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Object(attributes)) => attributes,
            Some(_) => return Err(NodeError::new("must be an object").under(".attrs")),
        };
        let strange =
            attributes.iter().find(|(name, value)| !value.is_null() && !known.contains(&name.as_str()));
        match strange {
            Some((name, _)) => Err(NodeError::new("is not supported").under(&format!(".attrs.{name}"))),
            None => Ok(()),
        }
    }

    fn number(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, NodeError> {
        let Some(value) = self.attribute(name) else { return Ok(None) };
        match whole(value).and_then(|number| u64::try_from(number).ok()) {
            Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ if least == most => {
                Err(NodeError::new(format!("must be {least}")).under(&format!(".attrs.{name}")))
            }
            _ => {
                let message = format!("must be a whole number from {least} to {most}");
                Err(NodeError::new(message).under(&format!(".attrs.{name}")))
            }
        }
    }

    fn language(&self) -> Result<Option<String>, NodeError> {
        let Some(value) = self.attribute("language") else { return Ok(None) };
        match value.as_str() {
            Some(name) if super::markdown::is_language(name) => Ok(Some(name.to_owned())),
            Some("") => Ok(None),
            _ => Err(NodeError::new("must be the name of a language, such as yaml").under(".attrs.language")),
        }
    }

    fn marks(&self) -> Result<Marks, NodeError> {
        let mut marks = Marks::default();
        let given = match self.map.get("marks") {
            None | Some(Value::Null) => return Ok(marks),
            Some(Value::Array(given)) => given,
            Some(_) => return Err(NodeError::new("must be an array").under(".marks")),
        };
        for (place, mark) in given.iter().enumerate() {
            let named = |wrong: NodeError| wrong.at(place).under(".marks");
            match mark.get("type").and_then(Value::as_str).unwrap_or_default() {
                "bold" => marks.bold = true,
                "italic" => marks.italic = true,
                "strike" => marks.strike = true,
                "underline" => marks.underline = true,
                "code" => marks.code = true,
                "link" => {
                    let href = mark.get("attrs").and_then(|attributes| attributes.get("href"));
                    let href = href.and_then(Value::as_str).unwrap_or_default();
                    marks.link = Some(
                        link(href).map_err(|message| named(NodeError::new(message).under(".attrs.href")))?,
                    );
                }
                other => {
                    let message = format!("{other:?} is not a mark; must be one of: {}", MARKS.join(", "));
                    return Err(named(NodeError::new(message).under(".type")));
                }
            }
        }
        Ok(marks)
    }
}

/// Validates a link target; targets that run scripts are rejected.
pub(super) fn link(href: &str) -> Result<String, String> {
    let lower = href.to_ascii_lowercase();
    let known = ["https://", "http://", "mailto:", "tel:", "#"];
    let is_path = href.starts_with('/') && !href.starts_with("//");
    let is_fine = is_path || known.iter().any(|start| lower.starts_with(start) && lower.len() > start.len());
    let has_strange =
        href.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | '\\'));
    match is_fine && !has_strange && href.len() <= 2000 {
        true => Ok(href.to_owned()),
        false => Err(format!(
            "a link must lead to http(s)://…, mailto:…, tel:…, a path or a #fragment, in at most 2000 characters without spaces; not to {:?}",
            href.chars().take(100).collect::<String>()
        )),
    }
}
