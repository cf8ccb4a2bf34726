//! Stamps uploaded PDFs: draws a pale diagonal label over each page.
//!
//! A stamped file is rewritten, so that truncating it does not recover the original. All objects except the pages are
//! copied unchanged. Each page gets two more content streams, one before and one after its own, and one more
//! resource: the label. The label is laid out like every other document, so it supports every script.
//!
//! Files are parsed by our own reader, because its time and memory must be bounded for any input.

mod actions;
mod balance;
mod edit;
mod file;
mod filters;
mod geometry;
mod label;
mod lexer;
mod pages;
mod scan;
mod unreadable;
mod value;
mod write;
mod xref;

pub use unreadable::Unreadable;

use edit::Edit;
use label::Label;

use crate::Failure;

/// The maximum number of pages of a file.
const MAX_PAGES: usize = 5_000;
/// The maximum total size of all streams that must be decompressed to find the pages.
const MAX_UNPACKED_BYTES: usize = 32 << 20;
/// The maximum decompressed size of one content stream.
const LARGEST_CONTENT: usize = 12 << 20;

/// The stamp of each page: the lines of its label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub lines: Vec<String>,
}

/// The result of inspecting an uploaded PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspected {
    pub pages: usize,
}

/// Checks that the file is a PDF that can be stamped and has no active content.
pub fn inspect(bytes: &[u8]) -> Result<Inspected, Unreadable> {
    let edit = Edit::new(bytes)?;
    edit.must_be_passive()?;
    let pages = edit.pages();
    edit.finish(&Label::default())?;
    Ok(Inspected { pages })
}

/// Returns the file with the stamp on each page. A stamp without text has no visible effect.
pub fn stamp(bytes: &[u8], stamp: &Stamp) -> Result<Vec<u8>, Failure> {
    let edit = Edit::new(bytes)?;
    let label = Label::new(stamp)?;
    Ok(edit.finish(&label)?)
}
