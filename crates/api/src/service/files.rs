//! `/v1/files`: the content behind a link. Always a download, with ranges; a stored file never changes, so its id in
//! the store is its ETag.

use std::ops::Range;

use attestry_app::files;
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::downloads::AsStored;
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Guest;
use attestry_http::state::Api;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use utoipa::ToSchema;

/// Downloads a stored file by its link
#[utoipa::path(
    get, path = "/v1/files/{ticket}", tag = "Attachments",
    params(
        ("ticket" = String, Path, description = "The last part of a `downloadUrl`."),
        ("Range" = Option<String>, Header, description = "One range of bytes.", example = "bytes=0-1023"),
        ("If-Range" = Option<String>, Header, description = "The ETag for which the range is wanted.")
    ),
    responses(
        (status = 200, description = "The file, with its own content type.", content_type = "*/*", body = FileBytes),
        (status = 206, description = "The requested range.", content_type = "*/*", body = FileBytes),
        (status = 410, description = "The link has expired; ask for a new one."),
        (status = 416, description = "The file has no such range.")
    )
)]
pub(crate) async fn get_file(
    api: State<Api>,
    guest: Guest,
    method: Method,
    ticket: Path<String>,
    conditions: Conditions,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (key, served) = files::open(&api.ctx, &ticket)?;
    if guest.host.is_some_and(|host| host != key.organization()) {
        return Err(Problem::not_found("file"));
    }
    let tag = format!("\"{}\"", key.id());
    let names = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let size = files::size(&api.ctx, &key).await?;
    if conditions.knows(&tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    // Ranges apply to GET only (RFC 9110).
    let wanted = names(header::RANGE)
        .filter(|_| method == Method::GET && names(header::IF_RANGE).is_none_or(|known| known == tag));
    let range = match wanted.map_or(RequestedRange::All, |text| read_range(text, size)) {
        RequestedRange::All => None,
        RequestedRange::Some(range) => Some(range),
        RequestedRange::Nothing => {
            let detail = format!("The file has {size} bytes; ask for a range within them.");
            let problem = Problem::new("range_not_satisfiable", detail);
            return Ok(([(header::CONTENT_RANGE, format!("bytes */{size}"))], problem).into_response());
        }
    };
    let content = files::read(&api.ctx, &key, range.clone()).await?;
    let length = range.as_ref().map_or(size, |range| range.end - range.start);
    let mut response = Response::new(Body::from_stream(content));
    response.extensions_mut().insert(AsStored);
    let mut set = |name, text: &str| {
        // Stored values are valid headers under our own rules; one that is not is left out of the response.
        if let Ok(value) = HeaderValue::from_str(text) {
            response.headers_mut().insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, &served.media_type);
    set(header::CONTENT_DISPOSITION, &served.disposition());
    set(header::CONTENT_LENGTH, &length.to_string());
    set(header::ACCEPT_RANGES, "bytes");
    set(header::ETAG, &tag);
    if let Some(range) = range {
        set(header::CONTENT_RANGE, &format!("bytes {}-{}/{size}", range.start, range.end - 1));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// The bytes of a file.
#[derive(Debug, ToSchema)]
#[schema(value_type = String, format = Binary, example = "Reviewed.")]
pub(crate) struct FileBytes(#[expect(dead_code, reason = "describes the answer")] Vec<u8>);

#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    All,
    Some(Range<u64>),
    Nothing,
}

/// Parses one byte range (RFC 9110); an invalid range, or several ranges, mean the whole file.
fn read_range(text: &str, size: u64) -> RequestedRange {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-'))
    else {
        return RequestedRange::All;
    };
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    let (start, end) = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => (first, last.saturating_add(1).min(size)),
        (Some(first), None) if last.is_empty() => (first, size),
        (None, Some(count)) if first.is_empty() => (size.saturating_sub(count), size),
        _ => return RequestedRange::All,
    };
    if start < end { RequestedRange::Some(start..end) } else { RequestedRange::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        for (text, wanted) in [
            ("bytes=0-0", RequestedRange::Some(0..1)),
            ("bytes=2-5", RequestedRange::Some(2..6)),
            ("bytes=2-", RequestedRange::Some(2..10)),
            ("bytes=2-99", RequestedRange::Some(2..10)),
            ("bytes=-3", RequestedRange::Some(7..10)),
            ("bytes=-99", RequestedRange::Some(0..10)),
            ("bytes=10-", RequestedRange::Nothing),
            ("bytes=-0", RequestedRange::Nothing),
            ("bytes=5-2", RequestedRange::All),
            ("bytes=0-1,3-4", RequestedRange::All),
            ("bytes=-", RequestedRange::All),
            ("bytes=a-b", RequestedRange::All),
            ("lines=1-2", RequestedRange::All),
        ] {
            assert_eq!(read_range(text, 10), wanted, "{text}");
        }
    }
}
