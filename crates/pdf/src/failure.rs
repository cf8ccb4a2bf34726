//! Why a document could not be printed.

use crate::Unreadable;

/// The most pages a document may have. While its layout is made, a page takes about 2 MB of memory and 13 ms.
pub(crate) const MOST_PAGES: usize = 2_000;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// There is no more to do than to print less at once.
    #[error("the document is too large: it may have {MOST_PAGES} pages at most")]
    TooLarge,
    /// There is no more to do than to give another file.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A fault of this crate: a template does not fit the data it is given.
    #[error("the template failed: {0}")]
    Template(String),
    /// A fault of this crate: the data cannot be written as JSON.
    #[error("the data of the document cannot be written")]
    Data(#[from] serde_json::Error),
    /// A fault of the build.
    #[error("the embedded fonts cannot be read: {0}")]
    Fonts(&'static std::io::Error),
}
