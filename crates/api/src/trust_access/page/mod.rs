//! The pages for portal visitors: a published portal, which can be read without scripts, and the pages that links in
//! mails open.

mod views;
mod words;

use askama::Template;
use attestry_app::portals::public;
use attestry_app::trust_access::{agreements, reading};
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::portals::PortalPatch;
use attestry_http::answer::problem::Problem;
use attestry_http::layers::PagePolicy;
use attestry_http::request::caller::Guest;
use attestry_http::request::preferences::is_browser;
use attestry_http::state::Api;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Deserialize;

use views::{AgreementPage, MessagePage, PortalPage, ReadingPage, SubscriptionPage};
use words::Words;

/// Allows resources of this server only, and no inline scripts or styles.
const POLICY: PagePolicy = PagePolicy(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
);

/// Allows neither scripts nor forms: a preview is only looked at.
const PREVIEW_POLICY: PagePolicy = PagePolicy(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; \
     base-uri 'none'; form-action 'none'; sandbox",
);

/// Builds the response with a page in the language that the client accepts.
fn page(status: StatusCode, text: impl Into<Bytes>, policy: PagePolicy) -> Response {
    let text: Bytes = text.into();
    let mut response = (status, [(CONTENT_TYPE, attestry_ui::HTML)], text).into_response();
    response.headers_mut().append(VARY, HeaderValue::from(ACCEPT_LANGUAGE));
    response.extensions_mut().insert(policy);
    response
}

fn render(view: &impl Template) -> Result<Vec<u8>, attestry_app::Error> {
    view.render().map(String::into_bytes).map_err(attestry_app::Error::internal)
}

/// Handles `/trust/{friendlyUrl}`.
pub(crate) async fn show(
    State(api): State<Api>,
    guest: Guest,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    portal(&api, &name, guest.host, &headers).await
}

/// Renders the start page of a portal's own domain.
pub(crate) async fn of(
    api: &Api,
    organization: OrganizationId,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    portal(api, &organization.to_string(), Some(organization), headers).await
}

async fn portal(
    api: &Api,
    name: &str,
    host: Option<OrganizationId>,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let w = Words::of(headers);
    let draw = move |shown| render(&PortalPage::new(w, &shown, false));
    let (status, text) = match public::page(&api.ctx, name, host, w.form(), draw).await {
        Ok(text) => (StatusCode::OK, text),
        Err(attestry_app::Error::NotFound(_)) if is_browser(headers) => {
            let view = MessagePage { w, title: w.missing(), text: w.missing_text() };
            (StatusCode::NOT_FOUND, render(&view)?.into())
        }
        Err(error) => return Err(error.into()),
    };
    let mut response = page(status, text, POLICY);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// Renders the page of a portal with changes that are not saved.
pub(crate) async fn preview(
    api: &Api,
    scope: &Scope,
    patch: PortalPatch,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let w = Words::of(headers);
    let draw = move |shown| render(&PortalPage::new(w, &shown, true));
    let text = public::preview(&api.ctx, scope, patch, draw).await?;
    Ok(page(StatusCode::OK, text, PREVIEW_POLICY))
}

/// The query of a link in a mail. Mail programs may add parameters of their own.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Link {
    #[serde(default)]
    token: String,
}

type LinkQuery = Result<Query<Link>, QueryRejection>;

fn token(link: LinkQuery) -> String {
    link.map_or_else(|_| String::new(), |Query(Link { token })| token)
}

/// Returns why a link cannot be opened, in the language of its page.
fn reason(w: Words, problem: &Problem) -> &'static str {
    match problem.code {
        "not_found" => w.unknown_link(),
        "link_expired" => w.expired_link(),
        "portal_offline" => w.offline_link(),
        _ => w.try_later(),
    }
}

/// Builds the response to a link: its page, or one with the error message.
fn opened(w: Words, text: Result<Vec<u8>, Problem>) -> Result<Response, Problem> {
    let problem = match text {
        Ok(text) => return Ok(page(StatusCode::OK, text, POLICY)),
        Err(problem) => problem,
    };
    let view = MessagePage { w, title: w.invalid_link(), text: reason(w, &problem) };
    let mut response = page(problem.status(), render(&view)?, POLICY);
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response.extensions_mut().insert(problem);
    Ok(response)
}

/// Handles `/trust/nda`.
pub(crate) async fn agreement(
    State(api): State<Api>,
    guest: Result<Guest, Problem>,
    link: LinkQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let w = Words::of(&headers);
    opened(w, agreement_of(&api, w, guest, &token(link)).await)
}

async fn agreement_of(
    api: &Api,
    w: Words,
    guest: Result<Guest, Problem>,
    token: &str,
) -> Result<Vec<u8>, Problem> {
    let offer = agreements::open(&api.ctx, token, guest?.host).await?;
    Ok(render(&AgreementPage::new(w, &offer, token))?)
}

/// Handles `/trust/access`. The script of the page records the visit, so that a mail program that opens the link
/// does not count as one.
pub(crate) async fn access(
    State(api): State<Api>,
    guest: Result<Guest, Problem>,
    link: LinkQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let w = Words::of(&headers);
    opened(w, documents_of(&api, w, guest, &token(link)).await)
}

async fn documents_of(
    api: &Api,
    w: Words,
    guest: Result<Guest, Problem>,
    token: &str,
) -> Result<Vec<u8>, Problem> {
    let guest = guest?;
    let reader = reading::open(&api.ctx, token, guest.host, guest.origin).await?;
    let certificates = reading::certificates(&api.ctx, &reader).await?;
    let policies = reading::policies(&api.ctx, &reader).await?;
    Ok(render(&ReadingPage::new(w, &reader, token, &certificates, &policies))?)
}

/// Handles `/trust/confirm`.
pub(crate) async fn confirm(link: LinkQuery, headers: HeaderMap) -> Result<Response, Problem> {
    let w = Words::of(&headers);
    opened(w, Ok(render(&SubscriptionPage::confirm(w, &token(link)))?))
}

/// Handles `/trust/leave`.
pub(crate) async fn leave(link: LinkQuery, headers: HeaderMap) -> Result<Response, Problem> {
    let w = Words::of(&headers);
    opened(w, Ok(render(&SubscriptionPage::leave(w, &token(link)))?))
}
