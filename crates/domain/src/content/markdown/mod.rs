//! Lossless conversion between content and Markdown (CommonMark with tables and strikethrough): [`read`] returns the
//! content that [`write`] wrote.
//!
//! Content without a Markdown syntax is written with the few HTML tags that the reader supports: `<u>`, `<br>`, and
//! `<p></p>` for an empty paragraph. Any other HTML is read as text.

mod reader;
mod writer;

pub use reader::read;
pub use writer::write;

/// Returns true when a name is valid as the language of a code block.
pub(super) fn is_language(name: &str) -> bool {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'+' | b'#' | b'.' | b'-');
    (1..=40).contains(&name.len()) && name.bytes().all(is_fine)
}

#[cfg(test)]
mod tests;
