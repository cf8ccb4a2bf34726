//! The documentation the server carries with it: the guide and the list of error codes. The OpenAPI document and the page
//! to browse it are files like those of the console.

use std::fmt::Write;
use std::sync::LazyLock;

use attestry_http::answer::problem::CODES;
use attestry_http::layers::PagePolicy;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

/// The page brings styles in attributes and small images as data, and prints PDFs it fetched in a frame.
pub(crate) const POLICY: PagePolicy = PagePolicy(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     connect-src 'self'; font-src 'self'; frame-src blob:; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'self'",
);

pub(crate) async fn root() -> Redirect {
    Redirect::temporary("/docs/")
}

/// A page or a part of one, under the policy for pages.
pub(crate) fn page(content_type: &str, content: impl IntoResponse) -> Response {
    let headers = [(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-cache")];
    let mut response = (headers, content).into_response();
    response.extensions_mut().insert(POLICY);
    response
}

/// The conventions of the interface, for people.
pub(crate) async fn guide() -> Response {
    static GUIDE: LazyLock<String> = LazyLock::new(|| {
        let mut text = String::new();
        let options = pulldown_cmark::Options::ENABLE_TABLES;
        let parser = pulldown_cmark::Parser::new_ext(include_str!("../../../../docs/api.md"), options);
        pulldown_cmark::html::push_html(&mut text, parser);
        plain_page("The API", &text)
    });
    page("text/html; charset=utf-8", GUIDE.as_str())
}

/// A page of text.
fn plain_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title} · Attestry</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><style>\
         body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}}\
         table{{border-collapse:collapse;width:100%}}td,th{{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}}\
         pre{{background:#f4f4f4;padding:.8rem;overflow-x:auto}}code{{font-size:.9em}}\
         tr:target{{background:#fff4c2}}</style></head><body>{body}</body></html>"
    )
}

/// What the `type` of a problem leads to.
pub(crate) async fn errors() -> Response {
    let mut rows = String::new();
    for (code, status, title, meaning) in CODES {
        let _ = write!(
            rows,
            "<tr id=\"{code}\"><td>{status}</td><td><code>{code}</code></td><td>{title}</td><td>{}</td></tr>",
            meaning.replace('`', "")
        );
    }
    let body = format!(
        "<h1>Errors</h1>\
         <p>Every failure is an <code>application/problem+json</code> with a stable <code>code</code>; \
         <code>detail</code> says what to do, <code>requestId</code> finds it in the log.</p>\
         <table><thead><tr><th>Status</th><th>Code</th><th>Title</th><th>Meaning</th></tr></thead><tbody>{rows}</tbody></table>"
    );
    page("text/html; charset=utf-8", plain_page("Errors", &body))
}
