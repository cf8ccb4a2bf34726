//! The content of a policy in the form that `templates/blocks.typ` reads.

use attestry_domain::content::{Block, Content, Inline};
use serde::Serialize;

use crate::tables::{self, Table};
use crate::text::{self, Text};

/// The maximum length of a word that is never broken: about half a line.
const MAX_WORD_CHARS: usize = 40;

/// The maximum depth of lists and quotes. Deeper ones are printed at this depth: the page has no room for more, and
/// Typst rejects deeper nesting.
const MAX_NESTING: usize = 10;

const TAB: usize = 4;

#[derive(Debug, Serialize)]
#[serde(tag = "k", rename_all = "lowercase")]
pub(crate) enum Node {
    Paragraph {
        rtl: bool,
        text: Vec<Span>,
    },
    Heading {
        level: u8,
        outlined: bool,
        rtl: bool,
        text: Vec<Span>,
    },
    Bullets {
        rtl: bool,
        items: Vec<Vec<Node>>,
    },
    Numbers {
        rtl: bool,
        start: u32,
        items: Vec<Vec<Node>>,
    },
    Quote {
        rtl: bool,
        body: Vec<Node>,
    },
    Code {
        text: String,
        lines: Vec<Vec<String>>,
    },
    Table(Table),
    /// A table that needs landscape orientation, with its heading.
    Wide {
        body: Vec<Node>,
    },
    Rule,
}

/// A run of text with the same marks, or a line break.
#[derive(Debug, Default, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "these are the marks of the content")]
pub(crate) struct Span {
    t: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    br: bool,
    #[serde(skip_serializing_if = "is_false")]
    bold: bool,
    #[serde(skip_serializing_if = "is_false")]
    italic: bool,
    #[serde(skip_serializing_if = "is_false")]
    strike: bool,
    #[serde(skip_serializing_if = "is_false")]
    underline: bool,
    #[serde(skip_serializing_if = "is_false")]
    code: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

pub(crate) fn nodes(content: &Content, text: &mut Text) -> Vec<Node> {
    many(&content.0, 0, text)
}

fn many(blocks: &[Block], depth: usize, text: &mut Text) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(blocks.len());
    for block in blocks {
        node(block, depth, text, &mut nodes);
    }
    nodes
}

fn node(block: &Block, depth: usize, text: &mut Text, out: &mut Vec<Node>) {
    text.block();
    match block {
        Block::Paragraph(inline) => {
            let (rtl, text) = spans(inline, MAX_WORD_CHARS, text);
            out.push(Node::Paragraph { rtl, text });
        }
        Block::Heading { level, text: inline } => {
            let (rtl, mut text) = spans(inline, MAX_WORD_CHARS / 2, text);
            // The table of contents turns the heading into a link itself.
            for span in &mut text {
                span.link = None;
            }
            out.push(Node::Heading { level: (*level).clamp(1, 6), outlined: depth == 0, rtl, text });
        }
        Block::Bullets(items) | Block::Numbers { items, .. } if depth >= MAX_NESTING => {
            for item in items {
                out.append(&mut many(item, depth, text));
            }
        }
        Block::Quote(body) if depth >= MAX_NESTING => out.append(&mut many(body, depth, text)),
        Block::Bullets(items) => {
            let (rtl, items) = list(items, depth, text);
            out.push(Node::Bullets { rtl, items });
        }
        Block::Numbers { start, items } => {
            let (rtl, items) = list(items, depth, text);
            out.push(Node::Numbers { rtl, start: *start, items });
        }
        Block::Quote(body) => {
            let body = many(body, depth + 1, text);
            out.push(Node::Quote { rtl: starts_right_to_left(&body), body });
        }
        Block::Code { text: code, .. } => {
            let lines: Vec<_> = code.lines().map(|line| text.clean(&without_tabs(line))).collect();
            out.push(Node::Code {
                text: lines.join("\n"),
                lines: lines.iter().map(|line| text::pieces(line, MAX_WORD_CHARS)).collect(),
            });
        }
        Block::Table { head, rows } => {
            if let Some(table) = tables::table(head.as_ref(), rows, depth, text) {
                push_table(table, out);
            }
        }
        Block::Rule => out.push(Node::Rule),
    }
}

fn push_table(table: Table, out: &mut Vec<Node>) {
    if !table.wide {
        out.push(Node::Table(table));
        return;
    }
    let headings = out.iter().rev().take_while(|node| matches!(node, Node::Heading { .. })).count();
    let mut body = out.split_off(out.len() - headings);
    body.push(Node::Table(table));
    out.push(Node::Wide { body });
}

fn list(items: &[Vec<Block>], depth: usize, text: &mut Text) -> (bool, Vec<Vec<Node>>) {
    let items: Vec<_> = items.iter().map(|item| many(item, depth + 1, text)).collect();
    (items.first().is_some_and(|item| starts_right_to_left(item)), items)
}

fn starts_right_to_left(nodes: &[Node]) -> bool {
    match nodes.first() {
        Some(
            Node::Paragraph { rtl, .. }
            | Node::Heading { rtl, .. }
            | Node::Bullets { rtl, .. }
            | Node::Numbers { rtl, .. }
            | Node::Quote { rtl, .. },
        ) => *rtl,
        Some(Node::Table(table)) => table.rtl,
        Some(Node::Code { .. } | Node::Wide { .. } | Node::Rule) | None => false,
    }
}

/// Converts inline content to spans, and returns true with them if the text reads from right to left.
pub(crate) fn spans(inline: &[Inline], longest: usize, text: &mut Text) -> (bool, Vec<Span>) {
    let mut all = String::new();
    let mut spans = Vec::with_capacity(inline.len());
    for part in inline {
        let Inline::Text { text: words, marks } = part else {
            spans.push(Span { br: true, ..Span::default() });
            continue;
        };
        let words = text.clean(words);
        spans.push(Span {
            t: text::pieces(&words, longest),
            br: false,
            bold: marks.bold,
            italic: marks.italic,
            strike: marks.strike,
            underline: marks.underline,
            code: marks.code,
            link: marks.link.as_deref().filter(|link| leads_outside(link)).map(|link| text.clean(link)),
        });
        all.push_str(&words);
    }
    (text::is_right_to_left(&all), spans)
}

/// Returns true if a link may be printed. A relative link has no meaning on paper, and a PDF reader might execute
/// other schemes.
fn leads_outside(link: &str) -> bool {
    const SCHEMES: [&str; 4] = ["https:", "http:", "mailto:", "tel:"];
    SCHEMES.iter().any(|scheme| {
        link.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && link.len() > scheme.len()
    })
}

fn without_tabs(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars() {
        let columns = if c == '\t' { TAB - column % TAB } else { 1 };
        column += columns;
        if c == '\t' {
            out.extend(std::iter::repeat_n(' ', columns));
        } else {
            out.push(c);
        }
    }
    out
}
