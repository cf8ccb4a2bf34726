//! The built-in documentation: the guides, the list of error codes, and the page to browse the OpenAPI document, which
//! is served like the files of the console.

use std::sync::LazyLock;

use askama::Template;
use attestry_http::answer::problem::{CODES, Problem};
use attestry_http::layers::PagePolicy;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

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

/// A guide, from Markdown of our own.
#[derive(Template)]
#[template(path = "guide.html")]
struct Guide<'a> {
    title: &'static str,
    text: &'a str,
}

/// The guides: the file in `docs/`, the last part of the path, the title, and the text.
pub(crate) const GUIDES: [(&str, &str, &str, &str); 3] = [
    ("api.md", "guide", "The API", include_str!("../../../../docs/api.md")),
    ("identity.md", "identity", "Signing in", include_str!("../../../../docs/identity.md")),
    ("operations.md", "operations", "Operations", include_str!("../../../../docs/operations.md")),
];

/// Serves the guide with this number.
pub(crate) fn guide(number: usize) -> Result<Response, Problem> {
    static TEXTS: LazyLock<[String; 3]> = LazyLock::new(|| GUIDES.map(|(.., markdown)| html_of(markdown)));
    rendered(&Guide { title: GUIDES[number].2, text: &TEXTS[number] })
}

/// Renders a guide. Headings have the ids that links to a part of it name, and links to other guides lead to their pages.
fn html_of(markdown: &str) -> String {
    let mut events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    for at in 0..events.len() {
        let heading = heading_at(&events[at..]);
        match &mut events[at] {
            Event::Start(Tag::Heading { id, .. }) => *id = Some(anchor(&heading).into()),
            Event::Start(Tag::Link { dest_url, .. }) => *dest_url = page_of(dest_url).into(),
            _ => {}
        }
    }
    let mut text = String::new();
    pulldown_cmark::html::push_html(&mut text, events.into_iter());
    text
}

/// The text of a heading that begins here.
fn heading_at(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    inside
        .filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(&**text),
            _ => None,
        })
        .collect()
}

/// The id of a heading, as sites that show Markdown make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The address of a page for a link to its file.
fn page_of(link: &str) -> String {
    let (file, part) =
        link.split_once('#').map_or((link, String::new()), |(file, part)| (file, format!("#{part}")));
    match GUIDES.iter().find(|(name, ..)| *name == file) {
        Some((_, page, ..)) => format!("/docs/{page}{part}"),
        None => link.to_owned(),
    }
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
