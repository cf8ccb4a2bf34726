//! The format of all errors (RFC 9457). The codes are one table, and this is the only module that maps application
//! errors to a status.

mod codes;

use attestry_app::{Error, FieldError};
use attestry_domain::id::OrganizationId;
use attestry_domain::identity::sign_in::{SecondFactor, Unmet};
use attestry_domain::{JsonSchema as _, Time};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::document::schemas::{schema, schema_of};

pub use codes::CODES;

/// The `Retry-After` of a request that failed because of an outage, in seconds.
const OUTAGE_RETRY_SECONDS: u64 = 2;

/// An error of one field.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(title = "FieldProblem", example = json!({"field": "role", "message": "is required"}))]
pub struct FieldProblem {
    /// The name of the field in the body, or of the query parameter.
    pub field: String,
    /// The error message.
    pub message: String,
    /// In a table: the number of the row, counted from 1 below the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub row: Option<usize>,
}

impl FieldProblem {
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), row: None }
    }
}

/// Joins errors into one message.
pub fn in_one_line(errors: &[FieldProblem]) -> String {
    let all: Vec<String> =
        errors.iter().map(|FieldProblem { field, message, .. }| format!("{field} {message}")).collect();
    all.join("; ")
}

/// The body of every error response.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem, example = json!({
    "type": "/docs/errors#not_found",
    "title": "Not found",
    "status": 404,
    "detail": "There is no such member.",
    "code": "not_found",
    "requestId": "01jcqg3v5mefzr7d0a6w3k9x2b"
}))]
pub struct ProblemBody<'a> {
    /// A stable link to the documentation of this error.
    pub r#type: String,
    pub title: &'a str,
    pub status: u16,
    /// One sentence that says what to do.
    pub detail: &'a str,
    /// A stable code for programs.
    pub code: &'a str,
    /// The request id, as in the log.
    pub request_id: &'a str,
    /// All invalid fields.
    #[serde(skip_serializing_if = "<[FieldProblem]>::is_empty")]
    #[schema(required = false)]
    pub errors: &'a [FieldProblem],
    /// `second_factor_required`: to be sent with the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub challenge: Option<&'a str>,
    /// `second_factor_required`: the second factors of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, schema_with = second_factors)]
    pub methods: Option<&'a [SecondFactor]>,
    /// `second_factor_required`: the time until which the challenge can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = String, format = DateTime)]
    pub expires_at: Option<Time>,
    /// `reauthentication_required`: the demand that the session does not meet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, schema_with = schema_of::<Unmet>)]
    pub reason: Option<Unmet>,
    /// `reauthentication_required`: the organization that demands it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    pub organization_id: Option<OrganizationId>,
    /// `reauthentication_required`: the path at which single sign-on starts, if the organization has a connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub start_url: Option<&'a str>,
}

fn second_factors() -> RefOr<Schema> {
    schema(json!({"type": "array", "items": SecondFactor::json_schema()}))
}

/// The way on for a client whose sign-in is not complete.
#[derive(Clone, Debug)]
pub enum NextStep {
    Code { challenge: String, methods: Vec<SecondFactor>, expires_at: Time },
    Reauthenticate { reason: Unmet, organization: OrganizationId, start: Option<String> },
}

/// An error to respond with. The outermost layer adds the request id and writes the body.
#[derive(Clone, Debug)]
pub struct Problem {
    pub code: &'static str,
    pub detail: String,
    pub errors: Vec<FieldProblem>,
    pub retry_after: Option<u64>,
    pub next_step: Option<Box<NextStep>>,
    /// The cause, for the log only.
    pub cause: Option<String>,
}

impl Problem {
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            retry_after: None,
            next_step: None,
            cause: None,
        }
    }

    pub fn not_found(what: &str) -> Self {
        Self::new("not_found", format!("There is no such {what}."))
    }

    pub fn invalid(errors: Vec<FieldProblem>) -> Self {
        let detail = match errors.as_slice() {
            [only] => format!("{} {}.", only.field, only.message),
            several => format!("{} fields are invalid; see errors.", several.len()),
        };
        Self { errors, ..Self::new("validation_failed", detail) }
    }

    pub fn internal(cause: impl std::fmt::Display) -> Self {
        let detail = "Something went wrong in the server; the log has the cause under this request id.";
        Self { cause: Some(cause.to_string()), ..Self::new("internal_error", detail) }
    }

    fn row(&self) -> (StatusCode, &'static str) {
        let row = CODES.iter().find(|(code, ..)| *code == self.code);
        let (status, title) = row.map_or((500, "Internal error"), |(_, status, title, _)| (*status, *title));
        (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), title)
    }

    pub fn status(&self) -> StatusCode {
        self.row().0
    }

    /// Builds the response.
    pub fn answer(&self, request_id: &str) -> Response {
        let (status, title) = self.row();
        let (challenge, methods, expires_at) = match self.next_step.as_deref() {
            Some(NextStep::Code { challenge, methods, expires_at }) => {
                (Some(challenge.as_str()), Some(methods.as_slice()), Some(*expires_at))
            }
            _ => (None, None, None),
        };
        let (reason, organization_id, start_url) = match self.next_step.as_deref() {
            Some(NextStep::Reauthenticate { reason, organization, start }) => {
                (Some(*reason), Some(*organization), start.as_deref())
            }
            _ => (None, None, None),
        };
        let body = ProblemBody {
            r#type: format!("/docs/errors#{}", self.code),
            title,
            status: status.as_u16(),
            detail: &self.detail,
            code: self.code,
            request_id,
            errors: &self.errors,
            challenge,
            methods,
            expires_at,
            reason,
            organization_id,
            start_url,
        };
        let text = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = (status, text).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<FieldError> for FieldProblem {
    fn from(FieldError { field, message }: FieldError) -> Self {
        Self::new(field, message)
    }
}

/// The message for a demand of an organization that a session does not meet.
fn demanded(unmet: Unmet) -> &'static str {
    match unmet {
        Unmet::Sso => {
            "This organization requires single sign-on. Sign in with its identity provider: startUrl."
        }
        Unmet::SecondFactor => {
            "This organization requires a second factor, and you signed in without yours. Confirm with it: POST /v1/auth/confirm."
        }
        Unmet::Enrolment => {
            "This organization requires a second factor, and your account has none. Add an authenticator app or a passkey."
        }
        Unmet::Idle => {
            "Your session was idle for longer than this organization allows. Confirm your password, or sign in again."
        }
        Unmet::TooOld => {
            "You signed in longer ago than this organization allows, or were signed out of it. Sign in again."
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(errors) => Self::invalid(errors.into_iter().map(Into::into).collect()),
            Error::BadRequest { code, message }
            | Error::Forbidden { code, message }
            | Error::Conflict { code, message } => Self::new(code, message),
            Error::Unauthenticated { code, message } | Error::Gone { code, message } => {
                Self::new(code, message)
            }
            Error::SecondFactorRequired { challenge, methods, expires_at } => Self {
                next_step: Some(Box::new(NextStep::Code { challenge, methods, expires_at })),
                ..Self::new("second_factor_required", "Enter the code of your authenticator app.")
            },
            Error::Reauthenticate { unmet: reason, organization, start } => Self {
                next_step: Some(Box::new(NextStep::Reauthenticate { reason, organization, start })),
                ..Self::new("reauthentication_required", demanded(reason))
            },
            Error::NotFound(what) => Self::not_found(what),
            Error::PreconditionFailed => Self::new(
                "precondition_failed",
                "It has changed since you read it. Fetch it again and reapply your change.",
            ),
            Error::IdempotencyMismatch => Self::new(
                "idempotency_mismatch",
                "This Idempotency-Key was used for another request; use a new one.",
            ),
            Error::TooMany { message, retry_after } => {
                Self { retry_after: Some(retry_after), ..Self::new("rate_limited", message) }
            }
            Error::Overloaded { message, retry_after } => {
                Self { retry_after: Some(retry_after), ..Self::new("unavailable", message) }
            }
            Error::Outside { code, message, cause, retry_after } => {
                Self { retry_after, cause, ..Self::new(code, message) }
            }
            Error::Unavailable(cause) => Self {
                retry_after: Some(OUTAGE_RETRY_SECONDS),
                cause: Some(cause),
                ..Self::new("unavailable", "The request cannot be taken now; try again in a moment.")
            },
            Error::OutcomeUnknown(cause) => Self {
                retry_after: Some(OUTAGE_RETRY_SECONDS),
                cause: Some(cause),
                ..Self::new(
                    "outcome_unknown",
                    "The database did not confirm the change, so it may or may not have been made. Repeat the request \
                     with the same Idempotency-Key, or look before you repeat it.",
                )
            },
            Error::Internal(cause) => Self::internal(cause),
        }
    }
}
