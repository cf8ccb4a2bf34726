//! Stamps on PDFs that somebody gave: a label, pale and diagonal across each page, above what is there.
//!
//! A stamped file is written anew, so that the one without a stamp cannot be had by cutting off its end. All
//! objects but the pages are copied as they are. Pages get two more contents, one before and one after their own,
//! and one more resource: the label. That is laid out as every other document is, so it can be in any writing.
//!
//! Files are read by a reader of our own, for it must never take long nor much memory, whatever the file says.

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

/// The most pages a file may have.
const MOST_PAGES: usize = 5_000;
/// The most that all the parts which must be unpacked to find the pages may unpack to.
const MOST_UNPACKED: usize = 32 << 20;
/// The most that a content of a page may unpack to.
const LARGEST_CONTENT: usize = 12 << 20;

/// What is written across each page: the lines of a label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub lines: Vec<String>,
}

/// What a PDF that somebody gave is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspected {
    pub pages: usize,
}

/// Looks whether the file is a PDF that can be stamped, and does nothing by itself.
pub fn inspect(bytes: &[u8]) -> Result<Inspected, Unreadable> {
    let edit = Edit::new(bytes)?;
    edit.must_be_passive()?;
    let pages = edit.pages();
    edit.finish(&Label::default())?;
    Ok(Inspected { pages })
}

/// The file with the stamp on each page. A stamp without text changes nothing that can be seen.
pub fn stamp(bytes: &[u8], stamp: &Stamp) -> Result<Vec<u8>, Failure> {
    let edit = Edit::new(bytes)?;
    let label = Label::new(stamp)?;
    Ok(edit.finish(&label)?)
}
