//! The console: a single-page application, served from files that were compressed at build time.

use askama::Template;
use attestry_http::answer::conditions;
use attestry_http::answer::downloads::AsStored;
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Guest;
use attestry_http::request::preferences::{is_browser, listed};
use attestry_http::state::Api;
use attestry_ui::{CONSOLE, Content, File};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LOCATION, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};

use crate::service::docs;
use crate::trust_access::page;

/// The first path segments of the console's URLs, as listed in `web/routes.tsx`.
const AREAS: &[&str] = &[
    "setup",
    "sign-in",
    "accept-invitation",
    "forgot-password",
    "reset-password",
    "unsubscribe",
    "inbox",
    "risks",
    "vendors",
    "tasks",
    "plan",
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
    for (path, content_type, text) in attestry_ui::ASSETS {
        router = router.route(path, get(async || docs::page(content_type, *text)));
    }
    for area in AREAS {
        router = router
            .route(&format!("/{area}"), get(console))
            .route(&format!("/{area}/{{*rest}}"), get(console));
    }
    router
}

/// Serves the start page: the portal on a portal's own domain, otherwise the console.
async fn start(State(api): State<Api>, guest: Guest, headers: HeaderMap) -> Result<Response, Problem> {
    match guest.host {
        Some(organization) => page::of(&api, organization, &headers).await,
        None => console(headers).await,
    }
}

/// Returns true if this binary was built with the console.
#[must_use]
pub fn has_console() -> bool {
    attestry_ui::file(CONSOLE).is_some()
}

/// Served instead of the console by a binary that was built without it.
#[derive(Template)]
#[template(path = "without_console.html")]
struct WithoutConsole;

async fn console(headers: HeaderMap) -> Result<Response, Problem> {
    match attestry_ui::file(CONSOLE) {
        Some(file) => Ok(served(file, &headers)),
        None => docs::rendered(&WithoutConsole),
    }
}

async fn asset(uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    attestry_ui::file(uri.path()).map(|file| served(file, &headers)).ok_or_else(|| Problem::not_found("file"))
}

/// Handles unknown URLs: responds with the console's page to a browser, and with a problem to other clients.
pub(crate) async fn missing(uri: Uri, headers: HeaderMap) -> Response {
    if let Some(place) = without_slash(&uri) {
        return (StatusCode::PERMANENT_REDIRECT, [(LOCATION, place)]).into_response();
    }
    if uri.path().starts_with("/v1/") || !is_browser(&headers) {
        return Problem::not_found("address").into_response();
    }
    match console(headers).await {
        Ok(page) => (StatusCode::NOT_FOUND, page).into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// Returns the URL without trailing slashes. `None` if it begins with two slashes or contains a backslash, which
/// would redirect browsers to another host.
fn without_slash(uri: &Uri) -> Option<String> {
    let path = uri.path();
    let trimmed = path.trim_end_matches('/');
    if trimmed == path || trimmed.is_empty() || path.starts_with("//") || path.contains('\\') {
        return None;
    }
    Some(uri.query().map_or_else(|| trimmed.to_owned(), |query| format!("{trimmed}?{query}")))
}

/// Returns true if the file name contains a content hash, which Vite puts before the extension:
/// `console-e5rqHj4w.js`.
fn is_named_by_content(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    stem.len() > 9 && stem.as_bytes().get(stem.len() - 9) == Some(&b'-')
}

/// Serves a file in the best encoding that the client accepts. Files with a content hash in their name are cached
/// forever; others are revalidated by ETag on each request.
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
    use super::*;

    #[test]
    fn what_is_named_by_its_content_is_kept() {
        assert!(is_named_by_content("/assets/console-e5rqHj4w.js"));
        let copied =
            std::fs::read_dir("../../web/public/assets").expect("the folder of files that keep their names");
        let mut names: Vec<String> =
            copied.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.extend(["index.html".to_owned(), "portal.js".to_owned(), "portal.css".to_owned()]);
        for name in names {
            assert!(!is_named_by_content(&format!("/assets/{name}")), "{name} would never be fetched again");
        }
    }

    /// Checks that the server and the console have the same list of pages.
    #[test]
    fn the_areas_are_those_of_the_console() {
        let routes = include_str!("../../../../web/routes.tsx");
        let mut words: Vec<&str> = routes
            .split_inclusive('(')
            .zip(routes.split('(').skip(1))
            .filter(|(call, _)| call.ends_with("gate(") || call.ends_with("page("))
            .filter_map(|(_, arguments)| arguments.trim_start().strip_prefix("'/"))
            .filter_map(|path| path.split(['/', '\'']).next())
            .filter(|word| !word.is_empty())
            .collect();
        words.dedup();
        assert_eq!(words, AREAS);
    }
}
