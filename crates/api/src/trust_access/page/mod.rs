//! A published portal as an HTML page that can be read without scripts.

mod markup;
mod words;

use attestry_app::portals::public;
use attestry_domain::id::OrganizationId;
use attestry_http::answer::problem::Problem;
use attestry_http::layers::PagePolicy;
use attestry_http::request::caller::Guest;
use attestry_http::request::preferences::is_browser;
use attestry_http::state::Api;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT_LANGUAGE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::service::docs;

/// Allows resources of this server only, and no inline scripts or styles.
const POLICY: PagePolicy = PagePolicy(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
);

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
    let words = words::of(headers);
    let render = move |shown| Ok(markup::portal(words, &shown).into_bytes());
    let (status, text) = match public::page(&api.ctx, name, host, words.form, render).await {
        Ok(page) => (StatusCode::OK, page),
        Err(attestry_app::Error::NotFound(_)) if is_browser(headers) => {
            (StatusCode::NOT_FOUND, markup::missing(words).into())
        }
        Err(error) => return Err(error.into()),
    };
    let mut response = (status, docs::page(attestry_ui::HTML, text)).into_response();
    response.headers_mut().append(VARY, HeaderValue::from(ACCEPT_LANGUAGE));
    response.extensions_mut().insert(POLICY);
    Ok(response)
}
