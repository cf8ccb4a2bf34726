//! Conditional requests. An ETag consists of the versions of everything that a response is built from, so it changes
//! exactly when the response does and `If-Match` can be checked inside the transaction.

use attestry_app::core::precondition::Precondition;
use axum::Json;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::answer::problem::{FieldProblem, Problem};
use crate::request::facts::{Argument, Facts};
use crate::state::Api;

/// The `If-Match` and `If-None-Match` headers.
#[derive(Debug)]
pub struct Conditions {
    if_match: Precondition,
    if_none_match: Option<Vec<String>>,
}

const ANY: &str = "*";

/// Returns the ETags of a header; `None` without it.
pub fn tags(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<String>> {
    let mut found = None;
    for value in headers.get_all(name) {
        let tags = value.to_str().unwrap_or_default().split(',').map(|tag| tag.trim().to_owned());
        found.get_or_insert_with(Vec::new).extend(tags);
    }
    found
}

/// Parses the versions in one of our own ETags; an ETag of another server matches nothing.
fn versions(tag: &str) -> Option<Vec<i64>> {
    tag.strip_prefix('"')?.strip_suffix('"')?.split('.').map(|number| number.parse().ok()).collect()
}

/// Returns true if this is an ETag, ours or another server's.
fn is_tag(text: &str) -> bool {
    let text = text.strip_prefix("W/").unwrap_or(text);
    text == ANY || (text.len() >= 2 && text.starts_with('"') && text.ends_with('"'))
}

fn write(versions: &[i64]) -> String {
    let numbers: Vec<String> = versions.iter().map(ToString::to_string).collect();
    format!("\"{}\"", numbers.join("."))
}

fn names(tags: &[String], tag: &str) -> bool {
    tags.iter().any(|known| known == ANY || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Returns true if `If-None-Match` contains this ETag.
pub fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    tags(headers, &header::IF_NONE_MATCH).is_some_and(|tags| names(&tags, tag))
}

impl FromRequestParts<Api> for Conditions {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Problem> {
        let given = tags(&parts.headers, &header::IF_MATCH);
        if given.iter().flatten().any(|tag| !is_tag(tag)) {
            let message = "must be one or more ETags in quotes, such as \"3\"";
            return Err(Problem::invalid(vec![FieldProblem::new("If-Match", message)]));
        }
        let if_match = given
            .filter(|tags| !tags.iter().any(|tag| tag == ANY))
            .map(|tags| tags.iter().filter_map(|tag| versions(tag)).collect());
        Ok(Self {
            if_match: Precondition(if_match),
            if_none_match: tags(&parts.headers, &header::IF_NONE_MATCH),
        })
    }
}

impl Argument for Conditions {
    fn describe(facts: &mut Facts) {
        facts.is_conditional = true;
    }
}

impl Conditions {
    pub fn if_match(&self) -> Precondition {
        self.if_match.clone()
    }

    /// Returns true if `If-None-Match` contains this ETag.
    pub fn knows(&self, tag: &str) -> bool {
        self.if_none_match.as_ref().is_some_and(|tags| names(tags, tag))
    }

    /// Responds with the resource and its ETag, or with 304 if the client has this version.
    pub fn respond<T: Serialize>(&self, versions: &[i64], view: T) -> Response {
        let tag = write(versions);
        if self.knows(&tag) {
            return (tagged(tag), StatusCode::NOT_MODIFIED).into_response();
        }
        (tagged(tag), Json(view)).into_response()
    }
}

fn tagged(tag: String) -> [(HeaderName, HeaderValue); 2] {
    [
        (header::ETAG, HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"\""))),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ]
}

/// Responds with a changed or new resource and the ETag of its new version.
pub fn with_tag<T: Serialize>(status: StatusCode, versions: &[i64], view: T) -> Response {
    (status, [(header::ETAG, write(versions))], Json(view)).into_response()
}
