//! Helpers that build content.

use attestry_domain::content::{Block, Cell, Content, Inline, Marks};
use attestry_pdf::Document;

pub(crate) fn plain(text: &str) -> Inline {
    Inline::Text { text: text.into(), marks: Marks::default() }
}

pub(crate) fn marked(text: &str, marks: Marks) -> Inline {
    Inline::Text { text: text.into(), marks }
}

pub(crate) fn linked(text: &str, link: &str) -> Inline {
    marked(text, Marks { link: Some(link.into()), ..Marks::default() })
}

pub(crate) fn paragraph(text: &str) -> Block {
    Block::Paragraph(vec![plain(text)])
}

pub(crate) fn heading(level: u8, text: &str) -> Block {
    Block::Heading { level, text: vec![plain(text)] }
}

pub(crate) fn code(text: &str) -> Block {
    Block::Code { language: Some("rust".into()), text: text.into() }
}

pub(crate) fn row(cells: &[&str]) -> Vec<Cell> {
    cells.iter().map(|cell| vec![plain(cell)]).collect()
}

pub(crate) fn document(blocks: Vec<Block>) -> Document {
    Document {
        title: "Access Control Policy".into(),
        organization: "Example Ltd".into(),
        status: "Published".into(),
        content: Content(blocks),
        ..Document::default()
    }
}
