//! Files that are generated for download.

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
    /// The characters that no font has; a replacement mark is printed instead.
    pub missing: Vec<char>,
    /// The permit, held until the file is sent, where concurrent downloads are limited.
    pub permit: Option<Permit<Downloader>>,
}

/// A party whose downloads count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Downloader {
    /// The holder of an access grant.
    Grant(AccessGrantId),
    /// Unauthenticated clients in one network who read public documents.
    Public(Option<IpAddr>),
}

/// Permits for generated files that are being sent, each of them in memory.
#[derive(Debug)]
pub(crate) struct Downloads {
    pub(crate) readers: FairPermits<Downloader>,
    /// Separate, so that unauthenticated clients never delay grant holders.
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
