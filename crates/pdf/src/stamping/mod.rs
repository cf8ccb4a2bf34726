//! Stamps uploaded PDFs: draws a pale diagonal label over each page.
//!
//! `lopdf` reads the file into objects and writes them anew, so that truncating the result does not recover the
//! original, and so that every reader finds the objects that were found here. Each page gets two more content streams,
//! one before and one after its own, and one more resource: the label. The label is laid out like every other
//! document, so it supports every script.
//!
//! A hostile file can make a PDF parser use any amount of time and memory, or crash it. The [`Stamper`] therefore works
//! in a confined process with limits.

mod actions;
mod confined;
mod content;
mod edit;
mod geometry;
mod label;
mod load;
mod pages;
mod repair;
mod unreadable;

pub use confined::{Stamper, StamperError, StamperSettings, stamping_child};
pub use label::Label;
pub use unreadable::{Damage, Unreadable};

use std::panic::{AssertUnwindSafe, catch_unwind};

use edit::Edit;
use label::Drawing;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The maximum number of pages of a file.
const MAX_PAGES: usize = 5_000;
/// The maximum total size of all decompressed object streams.
const MAX_UNPACKED_BYTES: usize = 32 << 20;
/// The maximum decompressed size of one content stream.
const MAX_CONTENT_STREAM_BYTES: usize = 12 << 20;

/// The stamp of each page: the lines of its label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub lines: Vec<String>,
}

/// The result of inspecting an uploaded PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspected {
    pub pages: usize,
}

/// Checks that the file is a PDF that can be stamped and has no active content. Works in this process, without limits:
/// uploaded files are for the [`Stamper`].
#[doc(hidden)]
pub fn inspect(bytes: &[u8]) -> Result<Inspected, Unreadable> {
    contain(|| {
        let edit = Edit::new(bytes)?;
        edit.must_be_passive()?;
        let pages = edit.pages();
        edit.finish(Drawing::default())?;
        Ok(Inspected { pages })
    })
}

/// Returns the file with the stamp on each page. A stamp without text has no visible effect. Works in this process,
/// without limits: uploaded files are for the [`Stamper`].
#[doc(hidden)]
pub fn stamp(bytes: &[u8], stamp: &Stamp) -> Result<Vec<u8>, Failure> {
    Ok(with_label(bytes, &Label::print(stamp)?)?)
}

fn with_label(bytes: &[u8], label: &Label) -> Result<Vec<u8>, Unreadable> {
    contain(|| Edit::new(bytes)?.finish(Drawing::of(label)?))
}

/// Rejects a file that makes the parser panic.
fn contain<T>(work: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        // Loading ends early by unwinding with the reason.
        Err(payload.downcast_ref().copied().unwrap_or(Unreadable::TooComplex))
    })
}
