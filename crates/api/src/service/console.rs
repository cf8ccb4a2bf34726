//! The console: its pages are one document, its files are served as they were packed when it was built.

use attestry_http::answer::conditions;
use attestry_http::answer::downloads::AsStored;
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Guest;
use attestry_http::request::preferences::{is_browser, listed};
use attestry_http::state::Api;
use attestry_ui::{CONSOLE, Content, File, WITHOUT_CONSOLE};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LOCATION, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};

use crate::service::docs;
use crate::trust_access::page;

/// The first words of the console's addresses, as `web/routes.tsx` has them.
const AREAS: &[&str] = &[
    "setup",
    "sign-in",
    "accept-invitation",
    "forgot-password",
    "reset-password",
    "unsubscribe",
    "risks",
    "vendors",
    "tasks",
    "policies",
    "frameworks",
    "controls",
    "applicability",
    "people",
    "trust-portal",
    "audit",
    "settings",
];

pub(crate) fn routes() -> Router<Api> {
    let mut router = Router::new().route("/", get(start)).route(attestry_ui::OPENAPI, get(asset));
    for folder in ["assets", "docs"] {
        router = router.route(&format!("/{folder}/{{*path}}"), get(asset));
    }
    for (path, content_type, text) in attestry_ui::PAGES {
        router = router.route(path, get(async || docs::page(content_type, *text)));
    }
    for area in AREAS {
        router = router
            .route(&format!("/{area}"), get(console))
            .route(&format!("/{area}/{{*rest}}"), get(console));
    }
    router
}

/// The start page: of a portal's own domain that portal, and otherwise the console.
async fn start(State(api): State<Api>, guest: Guest, headers: HeaderMap) -> Result<Response, Problem> {
    match guest.host {
        Some(organization) => page::of(&api, organization, &headers).await,
        None => Ok(console(headers).await),
    }
}

/// Whether this was built with the console.
#[must_use]
pub fn has_console() -> bool {
    attestry_ui::file(CONSOLE).is_some()
}

async fn console(headers: HeaderMap) -> Response {
    attestry_ui::file(CONSOLE)
        .map_or_else(|| docs::page(attestry_ui::HTML, WITHOUT_CONSOLE), |file| served(file, &headers))
}

async fn asset(uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    attestry_ui::file(uri.path()).map(|file| served(file, &headers)).ok_or_else(|| Problem::not_found("file"))
}

/// What is not there: the console's own page for a browser, a problem for everybody else.
pub(crate) async fn missing(uri: Uri, headers: HeaderMap) -> Response {
    if let Some(place) = without_slash(&uri) {
        return (StatusCode::PERMANENT_REDIRECT, [(LOCATION, place)]).into_response();
    }
    if uri.path().starts_with("/v1/") || !is_browser(&headers) {
        return Problem::not_found("address").into_response();
    }
    let mut response = console(headers).await;
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// The same address without a slash at its end. Two slashes at the beginning, or a backslash, would lead browsers to
/// another host.
fn without_slash(uri: &Uri) -> Option<String> {
    let path = uri.path();
    let trimmed = path.trim_end_matches('/');
    if trimmed == path || trimmed.is_empty() || path.starts_with("//") || path.contains('\\') {
        return None;
    }
    Some(uri.query().map_or_else(|| trimmed.to_owned(), |query| format!("{trimmed}?{query}")))
}

/// Vite puts a fingerprint of the content before the extension: `console-e5rqHj4w.js`.
fn is_named_by_content(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    stem.len() > 9 && stem.as_bytes().get(stem.len() - 9) == Some(&b'-')
}

/// A file, packed the best way that the client takes. What is named by its content is kept for good; everything else is
/// asked about each time, which its fingerprint answers.
fn served(file: &'static File, headers: &HeaderMap) -> Response {
    let takes = |encoding: &str| {
        listed(headers, &ACCEPT_ENCODING).any(|(name, _)| name.eq_ignore_ascii_case(encoding))
    };
    let (encoding, bytes) = match file.content {
        Content::Packed { brotli: Some(brotli), .. } if takes("br") => {
            (Some("br"), Bytes::from_static(brotli))
        }
        Content::Packed { gzip, .. } if takes("gzip") => (Some("gzip"), Bytes::from_static(gzip)),
        Content::Packed { gzip, .. } => match attestry_ui::unpacked(gzip) {
            Ok(text) => (None, text.into()),
            Err(error) => return Problem::internal(error).into_response(),
        },
        Content::Plain(bytes) => (None, Bytes::from_static(bytes)),
    };
    let is_fixed = is_named_by_content(file.path);
    let tag = format!("\"{}-{}\"", file.fingerprint, encoding.unwrap_or("plain"));
    let cache = if is_fixed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = if conditions::is_known(headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        bytes.into_response()
    };
    let mut set = |name: HeaderName, text: &str| {
        if let Ok(value) = HeaderValue::from_str(text) {
            response.headers_mut().insert(name, value);
        }
    };
    set(CONTENT_TYPE, file.content_type);
    set(CACHE_CONTROL, cache);
    set(ETAG, &tag);
    set(VARY, "accept-encoding");
    if let Some(encoding) = encoding {
        set(CONTENT_ENCODING, encoding);
    }
    response.extensions_mut().insert(docs::POLICY);
    response.extensions_mut().insert(AsStored);
    response
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_is_named_by_its_content_is_kept() {
        assert!(is_named_by_content("/assets/console-e5rqHj4w.js"));
        let public = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/public/assets");
        let copied = std::fs::read_dir(public).expect("the folder of files that keep their names");
        let mut names: Vec<String> =
            copied.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.extend(["index.html".to_owned(), "portal.js".to_owned(), "portal.css".to_owned()]);
        for name in names {
            assert!(!is_named_by_content(&format!("/assets/{name}")), "{name} would never be fetched again");
        }
    }

    /// The server and the console agree on what is a page.
    #[test]
    fn the_areas_are_those_of_the_console() {
        let routes = include_str!("../../../../web/routes.tsx");
        let mut words: Vec<&str> = routes
            .lines()
            .filter_map(|line| {
                line.trim().strip_prefix("gate('/").or_else(|| line.trim().strip_prefix("page('/"))
            })
            .filter_map(|rest| rest.split(['/', '\'']).next())
            .filter(|word| !word.is_empty())
            .collect();
        words.dedup();
        assert_eq!(words, AREAS);
    }
}
