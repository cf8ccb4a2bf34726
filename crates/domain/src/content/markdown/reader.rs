//! Markdown → content.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::is_language;
use crate::content::nodes::link;
use crate::content::{
    Block, Cell, Content, Inline, MAX_DEPTH, MAX_MARKDOWN_CHARS, MAX_NODES, Marks, item, joined, quoted,
    table,
};

/// Parses and validates Markdown input.
pub fn read(text: &str) -> Result<Content, String> {
    if text.chars().count() > MAX_MARKDOWN_CHARS {
        return Err(format!("must have at most {MAX_MARKDOWN_CHARS} characters"));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        return Err("must not contain control characters".to_owned());
    }
    Content(read_blocks(&text.replace("\r\n", "\n").replace('\r', "\n"))?).checked()
}

pub(super) fn read_blocks(text: &str) -> Result<Vec<Block>, String> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        // Text arrives in pieces that are joined; every other event counts.
        reader.nodes += usize::from(!matches!(event, Event::Text(_)));
        if reader.nodes > 4 * MAX_NODES {
            return Err(format!("there are more than {MAX_NODES} blocks and pieces of text"));
        }
        reader.take(event)?;
    }
    reader.end_text();
    Ok(reader.open.pop().map(|level| level.blocks).unwrap_or_default())
}

/// A container whose blocks are still being read.
#[derive(Default)]
struct Level {
    kind: Kind,
    blocks: Vec<Block>,
    items: Vec<Vec<Block>>,
}

#[derive(Default, PartialEq)]
enum Kind {
    #[default]
    Text,
    List(Option<u32>),
    Item,
    Quote,
}

#[derive(Default)]
struct Rows {
    head: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
    cells: Vec<Cell>,
}

struct Reader {
    nodes: usize,
    open: Vec<Level>,
    text: Vec<Inline>,
    /// True when there is text outside of a paragraph, as in an item of a tight list.
    is_loose: bool,
    marks: Open,
    code: Option<(Option<String>, String)>,
    html: Option<String>,
    table: Option<Rows>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            nodes: 0,
            open: vec![Level::default()],
            text: Vec::new(),
            is_loose: false,
            marks: Open::default(),
            code: None,
            html: None,
            table: None,
        }
    }
}

#[derive(Clone, Copy)]
enum Mark {
    Bold,
    Italic,
    Strike,
    Underline,
    Code,
}

/// The number of times that each mark is open, since a text can open the same mark often.
#[derive(Default)]
struct Open {
    counts: [usize; 5],
    links: Vec<String>,
}

impl Open {
    fn begin(&mut self, mark: Mark) {
        self.counts[mark as usize] += 1;
    }

    /// Closes a mark; returns false when it was not open.
    fn end(&mut self, mark: Mark) -> bool {
        let count = &mut self.counts[mark as usize];
        let was_open = *count > 0;
        *count = count.saturating_sub(1);
        was_open
    }

    fn marks(&self) -> Marks {
        let is_on = |mark: Mark| self.counts[mark as usize] > 0;
        Marks {
            bold: is_on(Mark::Bold),
            italic: is_on(Mark::Italic),
            strike: is_on(Mark::Strike),
            underline: is_on(Mark::Underline),
            code: is_on(Mark::Code),
            link: self.links.last().cloned(),
        }
    }
}

/// The supported HTML tags and the mark that each of them sets.
const TAGS: &[(&str, Mark)] = &[
    ("strong", Mark::Bold),
    ("b", Mark::Bold),
    ("em", Mark::Italic),
    ("i", Mark::Italic),
    ("s", Mark::Strike),
    ("del", Mark::Strike),
    ("u", Mark::Underline),
    ("code", Mark::Code),
];

fn is_break(tag: &str) -> bool {
    ["<br>", "<br/>", "<br />"].iter().any(|known| known.eq_ignore_ascii_case(tag))
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(tag) => self.start(tag)?,
            Event::End(tag) => self.end(tag)?,
            Event::Text(text) => self.literal(&text),
            Event::Code(text) => {
                self.marks.begin(Mark::Code);
                self.literal(&text);
                self.marks.end(Mark::Code);
            }
            Event::InlineHtml(tag) => self.tag(&tag),
            Event::Html(text) => match &mut self.html {
                Some(html) => html.push_str(&text),
                None => self.literal(&text),
            },
            Event::SoftBreak => self.literal(" "),
            Event::HardBreak => self.push(Inline::Break),
            Event::Rule => self.block(Block::Rule),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.literal(&text);
            }
            Event::TaskListMarker(_) => {}
        }
        Ok(())
    }

    fn literal(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        let text = text.replace(['\n', '\t', '\r'], " ");
        self.push(Inline::Text { text, marks: self.marks.marks() });
    }

    fn push(&mut self, piece: Inline) {
        self.is_loose = true;
        match (self.text.last_mut(), piece) {
            (Some(Inline::Text { text: before, marks: known }), Inline::Text { text, marks })
                if *known == marks =>
            {
                before.push_str(&text);
            }
            (_, piece) => self.text.push(piece),
        }
    }

    fn tag(&mut self, tag: &str) {
        if is_break(tag) {
            return self.push(Inline::Break);
        }
        let name = tag.trim_start_matches(['<', '/']).trim_end_matches('>').to_ascii_lowercase();
        let Some((_, mark)) = TAGS.iter().find(|(known, _)| *known == name) else { return self.literal(tag) };
        if !tag.starts_with("</") {
            self.marks.begin(*mark);
        } else if !self.marks.end(*mark) {
            self.literal(tag);
        }
    }

    fn taken_text(&mut self) -> Vec<Inline> {
        self.is_loose = false;
        joined(std::mem::take(&mut self.text))
    }

    /// Makes a paragraph of text that is outside of one.
    fn end_text(&mut self) {
        if self.is_loose && self.table.is_none() {
            self.marks = Open::default();
            let text = self.taken_text();
            self.block(Block::Paragraph(text));
        }
    }

    fn block(&mut self, block: Block) {
        if let Some(level) = self.open.last_mut() {
            level.blocks.push(block);
        }
    }

    fn open(&mut self, kind: Kind) -> Result<(), String> {
        self.end_text();
        self.open.push(Level { kind, ..Level::default() });
        // A list and its item count as one level.
        let depth = self.open.iter().filter(|level| level.kind != Kind::Item).count();
        if depth > MAX_DEPTH + 1 {
            return Err(format!("blocks can be nested at most {MAX_DEPTH} deep"));
        }
        Ok(())
    }

    fn close(&mut self) -> Level {
        self.end_text();
        self.open.pop().unwrap_or_default()
    }

    fn start(&mut self, tag: Tag<'_>) -> Result<(), String> {
        match tag {
            Tag::BlockQuote(_) => self.open(Kind::Quote)?,
            Tag::List(start) => {
                let start = start.map(|start| u32::try_from(start).unwrap_or(1));
                self.open(Kind::List(start))?;
            }
            Tag::Item => self.open(Kind::Item)?,
            Tag::CodeBlock(kind) => {
                self.end_text();
                self.code = Some((language(kind), String::new()));
            }
            Tag::HtmlBlock => {
                self.end_text();
                self.html = Some(String::new());
            }
            Tag::Table(_) => {
                self.end_text();
                self.table = Some(Rows::default());
            }
            Tag::Paragraph | Tag::Heading { .. } => self.end_text(),
            Tag::Strong => self.marks.begin(Mark::Bold),
            Tag::Emphasis => self.marks.begin(Mark::Italic),
            Tag::Strikethrough => self.marks.begin(Mark::Strike),
            // An image becomes a link to it.
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.marks.links.push(link(&dest_url)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) -> Result<(), String> {
        match tag {
            TagEnd::Paragraph => {
                self.marks = Open::default();
                let text = self.taken_text();
                self.block(Block::Paragraph(text));
            }
            TagEnd::Heading(level) => {
                self.marks = Open::default();
                let text = self.taken_text();
                self.block(Block::Heading { level: number_of(level), text });
            }
            TagEnd::BlockQuote(_) => {
                let inner = self.close().blocks;
                self.block(Block::Quote(quoted(inner)));
            }
            TagEnd::Item => {
                let blocks = self.close().blocks;
                if let Some(list) = self.open.last_mut() {
                    list.items.push(item(blocks));
                }
            }
            TagEnd::List(_) => {
                let Level { kind, items, .. } = self.close();
                self.block(match kind {
                    Kind::List(Some(start)) => Block::Numbers { start, items },
                    _ => Block::Bullets(items),
                });
            }
            TagEnd::CodeBlock => {
                if let Some((language, mut text)) = self.code.take() {
                    text.truncate(text.strip_suffix('\n').map_or(text.len(), str::len));
                    self.block(Block::Code { language, text });
                }
            }
            TagEnd::HtmlBlock => self.end_html(),
            TagEnd::TableCell => {
                self.marks = Open::default();
                let cell = self.taken_text();
                if let Some(table) = &mut self.table {
                    table.cells.push(cell);
                }
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.head = std::mem::take(&mut table.cells);
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    let row = std::mem::take(&mut table.cells);
                    table.rows.push(row);
                }
            }
            TagEnd::Table => {
                let rows = self.table.take().unwrap_or_default();
                let made = table(Some(rows.head), rows.rows)?;
                self.block(made);
            }
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image => {
                self.end_mark(tag);
            }
            _ => {}
        }
        Ok(())
    }

    fn end_mark(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => drop(self.marks.end(Mark::Bold)),
            TagEnd::Emphasis => drop(self.marks.end(Mark::Italic)),
            TagEnd::Strikethrough => drop(self.marks.end(Mark::Strike)),
            _ => drop(self.marks.links.pop()),
        }
    }

    /// Ends an HTML block, which is an empty paragraph, a paragraph of breaks, or text.
    fn end_html(&mut self) {
        let html = self.html.take().unwrap_or_default();
        let html = html.trim();
        if html.eq_ignore_ascii_case("<p></p>") {
            return self.block(Block::Paragraph(Vec::new()));
        }
        let tags: Vec<&str> = html.split_inclusive('>').collect();
        let text = match tags.iter().all(|tag| is_break(tag)) {
            true => tags.iter().map(|_| Inline::Break).collect(),
            false => vec![Inline::plain(html.replace('\n', " "))],
        };
        self.block(Block::Paragraph(joined(text)));
    }
}

fn language(kind: CodeBlockKind<'_>) -> Option<String> {
    let CodeBlockKind::Fenced(info) = kind else { return None };
    let first = |info: &CowStr<'_>| info.split_whitespace().next().map(str::to_owned);
    first(&info).filter(|name| is_language(name))
}

fn number_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
