//! The built-in documentation: the guide, the list of error codes, and the page to browse the OpenAPI document, which
//! is served like the files of the console.

use std::sync::LazyLock;

use askama::Template;
use attestry_http::answer::problem::{CODES, Problem};
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

/// Renders a page.
pub(crate) fn rendered(view: &impl Template) -> Result<Response, Problem> {
    Ok(page(attestry_ui::HTML, view.render().map_err(Problem::internal)?))
}

/// The page to browse the OpenAPI document.
#[derive(Template)]
#[template(path = "api_browser.html")]
struct ApiBrowser;

pub(crate) async fn browser() -> Result<Response, Problem> {
    rendered(&ApiBrowser)
}

/// The API guide, from Markdown of our own.
#[derive(Template)]
#[template(path = "guide.html")]
struct Guide<'a> {
    title: &'static str,
    text: &'a str,
}

/// Serves the API guide.
pub(crate) async fn guide() -> Result<Response, Problem> {
    static GUIDE: LazyLock<String> = LazyLock::new(|| {
        let mut text = String::new();
        let options = pulldown_cmark::Options::ENABLE_TABLES;
        let parser = pulldown_cmark::Parser::new_ext(include_str!("../../../../docs/api.md"), options);
        pulldown_cmark::html::push_html(&mut text, parser);
        text
    });
    rendered(&Guide { title: "The API", text: &GUIDE })
}

/// The list of error codes, to which the `type` of a problem links.
#[derive(Template)]
#[template(path = "errors.html")]
struct Errors {
    title: &'static str,
    codes: &'static [(&'static str, u16, &'static str, &'static str)],
}

/// Serves the list of error codes.
pub(crate) async fn errors() -> Result<Response, Problem> {
    rendered(&Errors { title: "Errors", codes: CODES })
}
