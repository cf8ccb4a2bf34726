//! Errors of printing.

use crate::Unreadable;

/// The maximum number of pages of a document. During layout, a page takes about 2 MB of memory and 13 ms.
pub(crate) const MAX_PAGES: usize = 2_000;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The caller must print less at once.
    #[error("the document is too large: it may have {MAX_PAGES} pages at most")]
    TooLarge,
    /// The caller must supply another file.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A bug in this crate: a template does not match its data.
    #[error("the template failed: {0}")]
    Template(String),
    /// A bug in this crate: the data cannot be serialized to JSON.
    #[error("the data of the document cannot be written")]
    Data(#[from] serde_json::Error),
    /// A broken build.
    #[error("the embedded fonts cannot be read: {0}")]
    Fonts(&'static std::io::Error),
}
