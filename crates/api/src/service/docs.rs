//! The built-in documentation: the guide and the list of error codes. The OpenAPI document and the page to browse it
//! are served like the files of the console.

use std::fmt::Write;
use std::sync::LazyLock;

use attestry_http::answer::problem::CODES;
use attestry_http::layers::PagePolicy;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

/// Allows inline styles and images in data URLs, and a frame from which the page prints the PDFs it has fetched.
pub(crate) const POLICY: PagePolicy = PagePolicy(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     connect-src 'self'; font-src 'self'; frame-src blob:; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'self'",
);

pub(crate) async fn root() -> Redirect {
    Redirect::temporary("/docs/")
}

/// Builds the response with a page or a part of one, with its content security policy.
pub(crate) fn page(content_type: &str, content: impl IntoResponse) -> Response {
    let headers = [(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-cache")];
    let mut response = (headers, content).into_response();
    response.extensions_mut().insert(POLICY);
    response
}

/// Serves the API guide.
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

/// Wraps text in an HTML page.
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

/// Serves the list of error codes, to which the `type` of a problem links.
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
