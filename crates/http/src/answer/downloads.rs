//! Files as responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use attestry_app::core::permits::Permit;
use attestry_app::files::downloads::{Download, Downloader};
use attestry_domain::files::MediaType;
use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use http_body::{Frame, SizeHint};

use crate::answer::tables::XLSX;

/// Marks a response that is sent byte for byte, without compression, so that ranges are correct.
#[derive(Clone, Copy, Debug)]
pub struct AsStored;

const MISSING: HeaderName = HeaderName::from_static("x-missing-glyphs");
/// The maximum number of characters without a glyph to list.
const MAX_LISTED_GLYPHS: usize = 50;
/// The number of bytes passed to the connection at a time.
const PIECE: usize = 256 << 10;
/// Media types that are already compressed.
const PACKED: &[&str] = &[MediaType::PDF, XLSX];

pub fn download(media_type: &'static str, file: Download) -> Response {
    let disposition = file.disposition();
    let Download { bytes, missing, permit, .. } = file;
    let mut response = Response::new(Body::new(Pieces { rest: bytes.into(), _permit: permit }));
    if PACKED.contains(&media_type) {
        response.extensions_mut().insert(AsStored);
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    if !missing.is_empty() {
        let named: Vec<String> =
            missing.iter().take(MAX_LISTED_GLYPHS).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        if let Ok(named) = HeaderValue::from_str(&named.join(" ")) {
            headers.insert(MISSING, named);
        }
    }
    response
}

/// A file that is sent in pieces; its permit is released after the last one.
struct Pieces {
    rest: Bytes,
    _permit: Option<Permit<Downloader>>,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
