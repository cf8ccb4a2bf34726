//! Errors of rejected PDFs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{MAX_CONTENT_STREAM_BYTES, MAX_PAGES, MAX_UNPACKED_BYTES};

/// The reason why a PDF is rejected, as a sentence for the user who uploaded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    #[error("The file is not a PDF.")]
    NotPdf,
    #[error("The PDF is protected with a password. Remove the protection and upload it again.")]
    Protected,
    #[error("The PDF is damaged: {0}. Save it again with another program and upload it again.")]
    Damaged(Damage),
    #[error("The PDF has no pages.")]
    NoPages,
    #[error("The PDF has more than {} pages, which is the most that is accepted.", grouped(MAX_PAGES))]
    TooManyPages,
    #[error("The PDF unpacks to more than {} MiB, which is the most that is accepted.", MAX_UNPACKED_BYTES >> 20)]
    Unpacks,
    #[error("The PDF has attachments, which cannot be watermarked. Remove them and upload it again.")]
    Attachments,
    #[error(
        "The PDF contains JavaScript, which would run on the reader's computer. Print it to a new PDF and upload that."
    )]
    Scripts,
    #[error(
        "The PDF can start a program or open a file on the reader's computer. Print it to a new PDF and upload that."
    )]
    Launches,
    #[error("The PDF is an XFA form, which cannot be watermarked. Print it to a new PDF and upload that.")]
    DrawsItself,
    #[error(
        "A page of the PDF is compressed in a way that cannot be watermarked. Print it to a new PDF and upload that."
    )]
    Packed,
    #[error(
        "A page of the PDF unpacks to more than {} MiB, which is the most that is accepted.",
        MAX_CONTENT_STREAM_BYTES >> 20
    )]
    LargePage,
    #[error("The PDF is too complex to be read. Save it again with another program and upload it again.")]
    TooComplex,
}

/// The part of a PDF that is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Damage {
    /// There is neither a cross-reference table nor a trailer.
    NoTable,
    /// The cross-reference table leads to two objects with the same number.
    AmbiguousTable,
    NoPageTree,
    PageTreeLoop,
    OverlappingObjects,
    UnreadableContent,
    /// Content ends within a string, an array or an image.
    UnfinishedContent,
    /// Readers may parse the content in different ways.
    AmbiguousContent,
    PageSize,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTable => "its table of contents is missing",
            Self::AmbiguousTable => "its table of contents can be read in more than one way",
            Self::NoPageTree => "its pages are missing",
            Self::PageTreeLoop => "its pages are in a circle",
            Self::OverlappingObjects => "its objects overlap",
            Self::UnreadableContent => "the content of a page cannot be read",
            Self::UnfinishedContent => "a page ends in the middle of a text, a list or a picture",
            Self::AmbiguousContent => "a page can be read in more than one way",
            Self::PageSize => "a page is too large",
        })
    }
}

/// Formats a number with thousands separators.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_a_sentence() {
        assert_eq!(
            Unreadable::TooManyPages.to_string(),
            "The PDF has more than 5,000 pages, which is the most that is accepted."
        );
        assert_eq!(
            Unreadable::LargePage.to_string(),
            "A page of the PDF unpacks to more than 12 MiB, which is the most that is accepted."
        );
        assert_eq!([7, 999, 1_000, 1_234_567].map(grouped), ["7", "999", "1,000", "1,234,567"]);
    }
}
