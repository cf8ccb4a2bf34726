//! Content → Markdown.
//!
//! Inline text is first written with the usual marks and read back to verify it. Where the rules of emphasis make
//! that fail (bold that ends in the middle of a word, a space at the edge of a mark), it is written again with tags
//! for the marks and character references for everything that is not a letter or a digit.

use std::fmt::Write;

use super::reader;
use crate::content::{Block, Cell, Content, Inline, Marks};

pub fn write(content: &Content) -> String {
    let mut out = blocks(&content.0, false);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Writes blocks. Within an item, a list follows its paragraph without an empty line.
fn blocks(all: &[Block], within_item: bool) -> String {
    let mut out = String::new();
    let mut other_marker = false;
    for (place, block) in all.iter().enumerate() {
        if let Some(before) = place.checked_sub(1).map(|before| &all[before]) {
            out.push_str(if within_item && is_tight(before, block) { "\n" } else { "\n\n" });
            // Two adjacent lists with the same markers would be read as one.
            other_marker = !other_marker && is_same_list(before, block);
        }
        out.push_str(&self::block(block, other_marker));
    }
    out
}

fn is_same_list(before: &Block, block: &Block) -> bool {
    matches!(
        (before, block),
        (Block::Bullets(_), Block::Bullets(_)) | (Block::Numbers { .. }, Block::Numbers { .. })
    )
}

/// Returns true when a list can follow its paragraph without an empty line.
fn is_tight(before: &Block, block: &Block) -> bool {
    // Blocks that are empty or contain only breaks are written as HTML, which ends only at an empty line.
    let has_text = |block: &Block| match block {
        Block::Paragraph(text) => text.iter().any(|piece| matches!(piece, Inline::Text { .. })),
        _ => false,
    };
    let (Block::Bullets(items) | Block::Numbers { start: 1, items }) = block else { return false };
    has_text(before) && items.first().and_then(|item| item.first()).is_some_and(has_text)
}

fn block(block: &Block, other_marker: bool) -> String {
    match block {
        Block::Paragraph(text) => paragraph(text),
        Block::Heading { level, text } => {
            let marker = "#".repeat(usize::from(*level));
            match text.is_empty() {
                true => marker,
                false => format!("{marker} {}", inline(text, InlineContext::Heading)),
            }
        }
        Block::Bullets(items) => {
            let marker = if other_marker { "*" } else { "-" };
            list(items, |_| format!("{marker} "))
        }
        Block::Numbers { start, items } => {
            let end = if other_marker { ')' } else { '.' };
            list(items, |place| format!("{}{end} ", number(*start, place)))
        }
        Block::Quote(inner) => indented(&blocks(inner, false), "> ", "> "),
        Block::Code { language, text } => code(language.as_deref().unwrap_or_default(), text),
        Block::Table { head, rows } => table(head.as_ref(), rows),
        Block::Rule => "---".to_owned(),
    }
}

/// The number of an item. Readers use only the first one, but none may have more than nine digits.
fn number(start: u32, place: usize) -> u32 {
    let next = u32::try_from(place).ok().and_then(|place| start.checked_add(place));
    next.filter(|next| *next <= 999_999_999).unwrap_or(start)
}

fn paragraph(text: &[Inline]) -> String {
    match text.is_empty() {
        true => "<p></p>".to_owned(),
        false => inline(text, InlineContext::Paragraph),
    }
}

fn list(items: &[Vec<Block>], marker: impl Fn(usize) -> String) -> String {
    let is_simple =
        |item: &Vec<Block>| item.len() == 1 || item.windows(2).all(|pair| is_tight(&pair[0], &pair[1]));
    let between = if items.iter().all(is_simple) { "\n" } else { "\n\n" };
    let mut out = String::new();
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push_str(between);
        }
        let marker = marker(place);
        out.push_str(&indented(&blocks(item, true), &marker, &" ".repeat(marker.len())));
    }
    out
}

/// Prefixes the first line with `first` and the other lines with `others`.
fn indented(text: &str, first: &str, others: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for (place, line) in text.split('\n').enumerate() {
        if place > 0 {
            out.push('\n');
        }
        let before = if place == 0 { first } else { others };
        out.push_str(if line.is_empty() { before.trim_end() } else { before });
        out.push_str(line);
    }
    out
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn code(language: &str, text: &str) -> String {
    let fence = "`".repeat(3.max(longest_run(text, '`') + 1));
    match text.is_empty() {
        true => format!("{fence}{language}\n{fence}"),
        false => format!("{fence}{language}\n{text}\n{fence}"),
    }
}

fn table(head: Option<&Vec<Cell>>, rows: &[Vec<Cell>]) -> String {
    let width = head.or(rows.first()).map_or(1, Vec::len);
    let empty = vec![Vec::new(); width];
    let row = |cells: &[Cell]| {
        let cells: Vec<String> = cells.iter().map(|cell| inline(cell, InlineContext::Cell)).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![row(head.unwrap_or(&empty)), format!("|{}", " --- |".repeat(width))];
    lines.extend(rows.iter().map(|cells| row(cells)));
    lines.join("\n")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InlineContext {
    Paragraph,
    Heading,
    Cell,
}

impl InlineContext {
    /// Reads inline text back in this context.
    fn read(self, text: &str) -> Option<Vec<Inline>> {
        let whole = match self {
            Self::Paragraph => text.to_owned(),
            Self::Heading => format!("# {text}"),
            Self::Cell => format!("| x |\n| --- |\n| {text} |"),
        };
        let mut blocks = reader::read_blocks(&whole).ok()?.into_iter();
        match (self, blocks.next()?, blocks.next()) {
            (Self::Paragraph, Block::Paragraph(text), None)
            | (Self::Heading, Block::Heading { text, .. }, None) => Some(text),
            (Self::Cell, Block::Table { mut rows, .. }, None) => rows.pop()?.pop(),
            _ => None,
        }
    }
}

fn inline(pieces: &[Inline], place: InlineContext) -> String {
    if pieces.is_empty() {
        return String::new();
    }
    let pretty = written(pieces, place, Style::Marks);
    match place.read(&pretty).as_deref() == Some(pieces) {
        true => pretty,
        false => written(pieces, place, Style::Tags),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Marks,
    Tags,
}

/// A mark: its condition, its Markdown delimiters and its HTML tags.
type Nested = (fn(&Marks) -> bool, [&'static str; 2], [&'static str; 2]);

/// The marks that nest, from the outermost to the innermost. Code is written together with its text.
const NESTED: [Nested; 4] = [
    (|marks| marks.bold, ["**", "**"], ["<strong>", "</strong>"]),
    (|marks| marks.italic, ["*", "*"], ["<em>", "</em>"]),
    (|marks| marks.strike, ["~~", "~~"], ["<s>", "</s>"]),
    (|marks| marks.underline, ["<u>", "</u>"], ["<u>", "</u>"]),
];

fn written(pieces: &[Inline], place: InlineContext, style: Style) -> String {
    let mut out = String::new();
    let mut open: Vec<usize> = Vec::new();
    let mut link: Option<&str> = None;
    for (at, piece) in pieces.iter().enumerate() {
        let (text, marks) = match piece {
            Inline::Text { text, marks } => (Some(text), marks.clone()),
            Inline::Break => (None, Marks::default()),
        };
        let wanted: Vec<usize> = (0..NESTED.len()).filter(|mark| (NESTED[*mark].0)(&marks)).collect();
        let is_other_link = link != marks.link.as_deref();
        let kept = match is_other_link {
            true => 0,
            false => open.iter().zip(&wanted).take_while(|(known, wanted)| known == wanted).count(),
        };
        close(&mut out, &mut open, kept, style);
        if is_other_link {
            close_link(&mut out, link);
            link = match piece {
                Inline::Text { marks, .. } => marks.link.as_deref(),
                Inline::Break => None,
            };
            if link.is_some() {
                out.push('[');
            }
        }
        for mark in &wanted[kept..] {
            out.push_str(tags(*mark, style)[0]);
            open.push(*mark);
        }
        match text {
            None => out.push_str(line_break(at + 1 == pieces.len(), place, style)),
            Some(text) if marks.code => out.push_str(&code_span(text, style)),
            Some(text) => {
                let is_first = out.is_empty() || out.ends_with('\n');
                escape(text, is_first, style, &mut out);
            }
        }
    }
    close(&mut out, &mut open, 0, style);
    close_link(&mut out, link);
    out
}

fn tags(mark: usize, style: Style) -> [&'static str; 2] {
    let (_, marks, tags) = NESTED[mark];
    if style == Style::Marks { marks } else { tags }
}

fn close(out: &mut String, open: &mut Vec<usize>, kept: usize, style: Style) {
    while open.len() > kept {
        out.push_str(open.pop().map_or("", |mark| tags(mark, style)[1]));
    }
}

fn close_link(out: &mut String, link: Option<&str>) {
    if let Some(href) = link {
        let is_simple = |b: u8| b.is_ascii_alphanumeric() || b":/?#@.,%=+-".contains(&b);
        let _ = match href.bytes().all(is_simple) {
            true => write!(out, "]({href})"),
            // Links contain neither spaces nor brackets, so only these characters need escaping.
            false => write!(out, "](<{}>)", href.replace('&', "&amp;").replace('|', "\\|")),
        };
    }
}

fn line_break(is_last: bool, place: InlineContext, style: Style) -> &'static str {
    match place {
        InlineContext::Paragraph if !is_last && style == Style::Marks => "\\\n",
        _ => "<br>",
    }
}

fn code_span(text: &str, style: Style) -> String {
    if style == Style::Tags {
        let mut out = "<code>".to_owned();
        escape(text, false, Style::Tags, &mut out);
        return out + "</code>";
    }
    let fence = "`".repeat(longest_run(text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn escape(text: &str, is_first: bool, style: Style, out: &mut String) {
    if style == Style::Tags {
        for c in text.chars() {
            match c.is_alphanumeric() {
                true => out.push(c),
                false => {
                    let _ = write!(out, "&#{};", u32::from(c));
                }
            }
        }
        return;
    }
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    let mut only_digits = is_first;
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|(_, next)| *next);
        let is_line_start = is_first && at == 0;
        let within_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let escaped = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' | '|' => true,
            '_' => !(within_word(before) && within_word(next)),
            '&' => next.is_some_and(|next| next == '#' || next.is_ascii_alphabetic()),
            '#' | '>' | '-' | '+' | '=' => is_line_start,
            '.' | ')' => only_digits && at > 0,
            _ => false,
        };
        if escaped {
            out.push('\\');
        }
        out.push(c);
        only_digits &= c.is_ascii_digit();
        before = Some(c);
    }
}
