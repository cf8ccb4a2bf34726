//! Embedded web files: the built console of `web/`, and the OpenAPI document with its viewer.

use std::io::{self, Read};

use flate2::read::GzDecoder;

/// A file of the console, of Swagger UI, or the OpenAPI document.
#[derive(Debug)]
pub struct File {
    pub path: &'static str,
    pub content_type: &'static str,
    pub fingerprint: &'static str,
    pub content: Content,
}

/// Text is embedded compressed only: nearly every client accepts one of the two encodings.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    Plain(&'static [u8]),
    Packed { gzip: &'static [u8], brotli: Option<&'static [u8]> },
}

/// Decompresses a file for the few clients that accept neither encoding.
pub fn unpacked(gzip: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut text)?;
    Ok(text)
}

/// The output of `npm run build`, unless this was built without Node, the OpenAPI document and Swagger UI; sorted by
/// path.
pub static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The path of the console's page, whose content its script renders.
pub const CONSOLE: &str = "/index.html";

#[must_use]
pub fn file(path: &str) -> Option<&'static File> {
    FILES.binary_search_by(|file| file.path.cmp(path)).ok().and_then(|at| FILES.get(at))
}

/// The path of the OpenAPI document.
pub const OPENAPI: &str = "/v1/openapi.json";

/// Returns the uncompressed content of a file.
#[must_use]
pub fn text(path: &str) -> Option<Vec<u8>> {
    match file(path)?.content {
        Content::Plain(bytes) => Some(bytes.to_vec()),
        Content::Packed { gzip, .. } => unpacked(gzip).ok(),
    }
}

/// Path, content type and text of the files that are not built.
pub const ASSETS: &[(&str, &str, &str)] = &[
    ("/docs/swagger-initializer.js", "text/javascript; charset=utf-8", include_str!("../assets/docs.js")),
    ("/assets/pages.css", "text/css; charset=utf-8", include_str!("../assets/pages.css")),
];

pub const HTML: &str = "text/html; charset=utf-8";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_can_be_unpacked() {
        for File { path, content, .. } in FILES {
            if let Content::Packed { gzip, .. } = content {
                assert!(unpacked(gzip).is_ok_and(|text| !text.is_empty()), "{path}");
            }
        }
    }
}
