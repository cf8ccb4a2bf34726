//! Files that are made to be downloaded.

use attestry_blobs::Served;

use crate::places::Place;

#[derive(Debug)]
pub struct Download {
    pub file_name: String,
    pub bytes: Vec<u8>,
    /// The characters that no font has: they are printed as a mark that says so.
    pub missing: Vec<char>,
    /// Held until it is sent, where only so many may be on their way.
    pub held: Option<Place>,
}

impl Download {
    /// `Content-Disposition`.
    pub fn disposition(&self) -> String {
        Served { file_name: self.file_name.clone(), media_type: String::new() }.disposition()
    }
}
