//! A file as an answer.

use attestry_app::downloads::Download;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, header};

const MISSING: HeaderName = HeaderName::from_static("x-missing-glyphs");
/// How many characters that could not be printed are named.
const MOST_NAMED: usize = 50;

pub(crate) fn download(media_type: &'static str, file: Download) -> Response {
    let disposition = file.disposition();
    let Download { bytes, missing, .. } = file;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    if !missing.is_empty() {
        let named: Vec<String> =
            missing.iter().take(MOST_NAMED).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        if let Ok(named) = HeaderValue::from_str(&named.join(" ")) {
            headers.insert(MISSING, named);
        }
    }
    (headers, bytes).into_response()
}
