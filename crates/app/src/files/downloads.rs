//! Files that are made to be downloaded.

use std::net::IpAddr;

use attestry_blobs::Served;
use attestry_domain::id::AccessGrantId;
use attestry_pdf::Failure;

use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::permits::{FairPermits, Limits, Permit};

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::TooLarge => Self::Conflict {
                code: "document_too_large",
                message: "The document has too many pages to be printed.".to_owned(),
            },
            other => Self::internal(other),
        }
    }
}

#[derive(Debug)]
pub struct Download {
    pub file_name: String,
    pub bytes: Vec<u8>,
    /// The characters that no font has: they are printed as a mark that says so.
    pub missing: Vec<char>,
    /// Held until it is sent, where only so many may be on their way.
    pub permit: Option<Permit<Downloader>>,
}

/// A party whose downloads count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Downloader {
    /// A reader with a link.
    Grant(AccessGrantId),
    /// Anybody in a network who reads what organizations have made public.
    Public(Option<IpAddr>),
}

/// Files that were made for somebody and are on their way, each of them in memory.
#[derive(Debug)]
pub(crate) struct Downloads {
    pub(crate) readers: FairPermits<Downloader>,
    /// Apart, so that strangers never keep readers waiting.
    pub(crate) public: FairPermits<Downloader>,
}

impl Default for Downloads {
    fn default() -> Self {
        let limits = || Limits { per_key: 4, ..Limits::of_requests(16) };
        Self { readers: FairPermits::new(limits()), public: FairPermits::new(limits()) }
    }
}

impl Ctx {
    pub(crate) fn downloads(&self) -> &Downloads {
        self.part()
    }
}

impl Download {
    /// `Content-Disposition`.
    pub fn disposition(&self) -> String {
        Served { file_name: self.file_name.clone(), media_type: String::new() }.disposition()
    }
}
