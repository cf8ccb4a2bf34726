//! The console: its pages are one document, its files are served as they were packed when it was built.

use attestry_ui::{CONSOLE, File, WITHOUT_CONSOLE};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};

use crate::answer::problem::Problem;
use crate::document::docs;
use crate::files::AsStored;
use crate::request::caller::Guest;
use crate::state::Api;
use crate::trust_access::page;

const HTML: &str = "text/html; charset=utf-8";

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
    let mut router = Router::new().route("/", get(start)).route("/assets/{*path}", get(asset));
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

async fn console(headers: HeaderMap) -> Response {
    attestry_ui::file(CONSOLE)
        .map_or_else(|| docs::page(HTML, WITHOUT_CONSOLE), |file| served(file, &headers))
}

async fn asset(uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    attestry_ui::file(uri.path()).map(|file| served(file, &headers)).ok_or_else(|| Problem::not_found("file"))
}

/// What is not there: the console's own page for a browser, a problem for everybody else.
pub(crate) async fn missing(uri: Uri, headers: HeaderMap) -> Response {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if uri.path().starts_with("/v1/") || !accepts.contains("text/html") {
        return Problem::not_found("address").into_response();
    }
    let mut response = console(headers).await;
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// Whether a client takes an encoding; `q=0` says that it does not.
fn takes(headers: &HeaderMap, encoding: &str) -> bool {
    let all = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|text| text.trim().parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case(encoding) && weight.is_none_or(|weight| weight > 0.0)
    })
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
    let packed = [("br", file.brotli), ("gzip", file.gzip)];
    let found =
        packed.into_iter().find_map(|(name, bytes)| Some((name, bytes.filter(|_| takes(headers, name))?)));
    let (encoding, bytes) = found.map_or((None, file.plain), |(name, bytes)| (Some(name), bytes));
    let is_fixed = is_named_by_content(file.path);
    let tag = format!("\"{}-{}\"", file.fingerprint, encoding.unwrap_or("plain"));
    let cache = if is_fixed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Bytes::from_static(bytes).into_response()
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
    fn encodings_are_negotiated() {
        let with = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            headers
        };
        assert!(takes(&with("gzip, deflate, br"), "br") && takes(&with("BR;q=0.5"), "br"));
        assert!(
            !takes(&with("gzip"), "br") && !takes(&with("br;q=0"), "br") && !takes(&HeaderMap::new(), "gzip")
        );
    }

    #[test]
    fn what_is_named_by_its_content_is_kept() {
        assert!(is_named_by_content("/assets/console-e5rqHj4w.js"));
        for path in ["/index.html", "/assets/icon.svg", "/assets/scheme.js", "/assets/portal.css"] {
            assert!(!is_named_by_content(path), "{path}");
        }
    }

    /// The server and the console agree on what is a page.
    #[test]
    fn the_areas_are_those_of_the_console() {
        let routes = include_str!("../../../web/routes.tsx");
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
