//! Content as Markdown (CommonMark with tables and strikethrough), in and out, losslessly: what [`write`] writes is read
//! by [`read`] as the same content.
//!
//! What Markdown has no words for is written in the few HTML tags that the reader knows: `<u>`, `<br>`, and `<p></p>` for
//! an empty paragraph. Any other HTML in a text is text.

mod reader;
mod writer;

pub use reader::read;
pub use writer::write;

/// A word that can name the language of a block of code.
pub(super) fn is_language(name: &str) -> bool {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'+' | b'#' | b'.' | b'-');
    (1..=40).contains(&name.len()) && name.bytes().all(is_fine)
}

#[cfg(test)]
mod tests;
