//! Failures as SCIM has them (RFC 7644, 3.12).

use attestry_app::identity::directory;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::answer::problem::Problem;

/// The media type of SCIM.
pub const SCIM: &str = "application/scim+json";

/// True for a path whose errors have the shape of SCIM.
pub fn is_scim(path: &str) -> bool {
    path.strip_prefix(directory::BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The kinds of failures that SCIM names, by the codes of their problems.
const SCIM_TYPES: &[(&str, &str)] = &[
    ("scim_invalid_filter", "invalidFilter"),
    ("scim_invalid_path", "invalidPath"),
    ("scim_invalid_syntax", "invalidSyntax"),
    ("scim_invalid_value", "invalidValue"),
    ("scim_mutability", "mutability"),
    ("scim_no_target", "noTarget"),
    ("scim_too_many", "tooMany"),
    ("scim_uniqueness", "uniqueness"),
];

impl Problem {
    /// Builds the response for an identity provider.
    pub fn scim_answer(&self) -> Response {
        let status = self.status();
        let mut body = json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": status.as_str(), "detail": self.detail
        });
        if let Some((_, kind)) = SCIM_TYPES.iter().find(|(code, _)| *code == self.code) {
            body["scimType"] = json!(kind);
        }
        let mut response = (status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(SCIM));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
