//! Files that are made to be downloaded.

use std::net::IpAddr;

use attestry_blobs::Served;
use attestry_domain::id::AccessGrantId;
use attestry_pdf::Failure;

use crate::error::Error;
use crate::permits::Permit;

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

impl Download {
    /// `Content-Disposition`.
    pub fn disposition(&self) -> String {
        Served { file_name: self.file_name.clone(), media_type: String::new() }.disposition()
    }
}
