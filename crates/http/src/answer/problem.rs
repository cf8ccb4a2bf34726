//! The format of all errors (RFC 9457). The codes are one table, and this is the only module that maps application
//! errors to a status.

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

/// The code, status, title and documented meaning of each error.
pub const CODES: &[(&str, u16, &str, &str)] = &[
    (
        "malformed_body",
        400,
        "Malformed body",
        "The body is missing, is not a JSON object, or gives a property more than once.",
    ),
    (
        "validation_failed",
        400,
        "Validation failed",
        "Fields or query parameters are wrong; `errors` lists all of them.",
    ),
    (
        "file_refused",
        400,
        "File refused",
        "The content is a program or a script, is empty, or is not what its type says. A name or type of a program is a `validation_failed`.",
    ),
    (
        "organization_required",
        400,
        "Organization required",
        "A session acts in one organization: send its id in `X-Organization-Id`.",
    ),
    ("scim_invalid_filter", 400, "Filter not understood", "The filter of a SCIM request cannot be read."),
    ("scim_invalid_path", 400, "Path not understood", "The path of a SCIM operation names no attribute."),
    (
        "scim_invalid_syntax",
        400,
        "Request not understood",
        "The body of a SCIM request is not as SCIM has it.",
    ),
    (
        "scim_invalid_value",
        400,
        "Value not possible",
        "A value of a SCIM request is wrong; `detail` names it.",
    ),
    ("scim_mutability", 400, "Not changed by clients", "A SCIM operation changes what the server sets."),
    ("scim_no_target", 400, "Nothing to change", "The path of a SCIM operation matches no value."),
    ("scim_too_many", 400, "Filter too wide", "The filter of a SCIM request would read too many resources."),
    ("bad_request", 400, "Bad request", "The request line or a header cannot be understood."),
    ("missing_credentials", 401, "Credentials required", "Send an API key in `X-API-Key`, or a session."),
    (
        "invalid_api_key",
        401,
        "Invalid API key",
        "The key is mistyped, expired or revoked, or its member is inactive.",
    ),
    (
        "invalid_directory_token",
        401,
        "Invalid token",
        "The token of the directory is mistyped, expired or revoked.",
    ),
    ("invalid_session", 401, "Invalid session", "The session ended, expired or lay idle too long."),
    ("invalid_credentials", 401, "Wrong e-mail address or password", "The sign-in failed."),
    (
        "second_factor_required",
        401,
        "Second factor required",
        "The password is right, and the account has a second factor: send its code with `challenge` to `/v1/auth/login/second-factor`.",
    ),
    ("invalid_second_factor", 401, "Wrong code", "The code is wrong, has expired or was used before."),
    ("forbidden", 403, "Not allowed", "The caller is authenticated but lacks the permission."),
    (
        "role_exceeds_own",
        403,
        "Role exceeds your own",
        "You cannot give a role with permissions you do not have.",
    ),
    (
        "scope_exceeds_own",
        403,
        "Scope exceeds your own",
        "You cannot create a key with scopes you do not have.",
    ),
    (
        "organization_mismatch",
        403,
        "Another organization",
        "The credential belongs to a different organization from the one named.",
    ),
    (
        "not_a_member",
        403,
        "Not a member",
        "The user is not an active member of the organization in `X-Organization-Id`.",
    ),
    ("no_active_membership", 403, "No active membership", "The account is not active in any organization."),
    (
        "session_required",
        403,
        "Session required",
        "This concerns a user's own account and needs a session; an API key cannot do it.",
    ),
    (
        "confirmation_required",
        403,
        "Confirmation required",
        "Signing, approving and changing how people sign in require a proof of identity within the last ten minutes: `POST /v1/auth/confirm`.",
    ),
    (
        "reauthentication_required",
        403,
        "Sign in again",
        "The session does not meet the sign-in policy of the organization; `reason` says what is missing. It stays valid elsewhere.",
    ),
    (
        "not_the_author",
        403,
        "Not the author",
        "Only the author of a comment changes or deletes it, whatever the role; a `userId` in a body must be your own.",
    ),
    (
        "not_the_approver",
        403,
        "Not the approver",
        "Only the member who was asked to approve a policy approves or denies it.",
    ),
    ("not_owner", 403, "Not the owner", "Only the owner of a risk accepts it."),
    (
        "self_approval_forbidden",
        403,
        "Approval of own work",
        "The organization lets nobody approve what they submitted themselves (`isSelfApprovalAllowed`): ask another member.",
    ),
    (
        "not_the_requester",
        403,
        "Not the requester",
        "An agreement is signed with the e-mail address that requested access.",
    ),
    (
        "wrong_setup_token",
        403,
        "Wrong set-up token",
        "The token is not the one printed in the server's log at its last start.",
    ),
    ("not_found", 404, "Not found", "It does not exist, or belongs to another organization."),
    ("method_not_allowed", 405, "Method not allowed", "The path exists; `Allow` lists its methods."),
    ("body_timeout", 408, "Body took too long", "The body stopped arriving, or arrived too slowly."),
    ("already_member", 409, "Already a member", "The user is already an active member."),
    (
        "invitation_pending",
        409,
        "Invitation pending",
        "The person has been invited and becomes active by accepting the invitation.",
    ),
    ("last_owner", 409, "Last owner", "An organization keeps at least one active owner."),
    ("too_many_attachments", 409, "Too many attachments", "A comment can have at most ten files."),
    (
        "totp_active",
        409,
        "Authenticator app active",
        "The account has an authenticator app; remove it before another one is added.",
    ),
    (
        "totp_inactive",
        409,
        "No authenticator app",
        "Recovery codes stand in for an authenticator app; add one first.",
    ),
    ("domain_added", 409, "Domain known", "The organization has this domain already."),
    ("too_many_domains", 409, "Too many domains", "An organization has at most 50 mail domains."),
    (
        "domain_in_use",
        409,
        "Domain in use",
        "Single sign-on is required, and this is the last verified domain.",
    ),
    ("too_many_connections", 409, "Too many connections", "An organization has at most 5 connections."),
    (
        "sso_in_use",
        409,
        "Connection in use",
        "Single sign-on is required, and no other tested connection is enabled.",
    ),
    (
        "sso_enforced",
        409,
        "Single sign-on is required",
        "The issuer and the client of a connection cannot change while single sign-on is required.",
    ),
    (
        "sso_not_tested",
        409,
        "Not tested",
        "A connection must be tested and enabled before single sign-on is required.",
    ),
    (
        "sso_identity_conflict",
        409,
        "Identity conflict",
        "Another identity of the connection is linked to the account.",
    ),
    (
        "break_glass_required",
        409,
        "Exempt owner required",
        "While single sign-on is required, an owner with a second factor must be exempt from it.",
    ),
    ("last_method", 409, "Last way to sign in", "It is the only way to sign in to the account."),
    ("sso_refused", 403, "Sign-in refused", "The person may no longer sign in with the connection."),
    ("logout_token_invalid", 400, "Logout token invalid", "The token of the provider is not valid."),
    (
        "provider_unreachable",
        502,
        "Provider unreachable",
        "The identity provider cannot be asked; `detail` says why.",
    ),
    (
        "second_factor_mandatory",
        409,
        "Second factor mandatory",
        "The account needs a second factor: an organization requires one and this is the last, or the owner is to be exempt from single sign-on.",
    ),
    ("passkey_known", 409, "Passkey known", "The passkey is registered already."),
    ("too_many_passkeys", 409, "Too many passkeys", "An account has at most 20 passkeys."),
    (
        "passkeys_unavailable",
        409,
        "Passkeys unavailable",
        "Browsers offer passkeys only on sites with a name and TLS; `detail` says what is missing.",
    ),
    (
        "account_not_managed",
        409,
        "Account not managed",
        "The account is active in other organizations, too, or in none, so this one cannot reset how it signs in.",
    ),
    (
        "would_lock_you_out",
        409,
        "Would lock you out",
        "You do not meet the policy yourself; `detail` says what is missing.",
    ),
    ("email_taken", 409, "E-mail address taken", "Another user has this address."),
    ("already_set_up", 409, "Already set up", "The installation has an organization; sign in."),
    ("policy_empty", 409, "Policy without text", "Give the policy content or a file before it is approved."),
    ("policy_archived", 409, "Policy archived", "The policy is out of use; set `isArchived` to false first."),
    (
        "not_submitted",
        409,
        "Not submitted",
        "The policy or statement is not awaiting approval: it was not submitted, or was changed since.",
    ),
    ("not_published", 409, "Not published", "No version of the policy is published."),
    (
        "version_changed",
        409,
        "Another version is published",
        "Another version was published since you read the policy; read it before you sign.",
    ),
    ("policy_is_a_file", 409, "Policy is a file", "The policy is an uploaded file; `/file` leads to it."),
    ("document_too_large", 409, "Document too large", "The document has too many pages to be printed."),
    ("soa_incomplete", 409, "Statement incomplete", "Questions have no answer that a person has confirmed."),
    ("soa_pending", 409, "Statement pending", "The statement is awaiting approval already."),
    ("soa_approved", 409, "Statement approved", "Change an answer, or create a new version."),
    ("soa_superseded", 409, "Statement superseded", "There is a later version; this one no longer changes."),
    ("soa_changed", 409, "Statement changed", "The statement was changed while it was being approved."),
    ("other_framework", 409, "Another framework", "The statements are for different frameworks."),
    ("framework_in_use", 409, "Framework in use", "There are statements of applicability for the framework."),
    (
        "framework_ships",
        409,
        "Framework ships with the product",
        "Only frameworks that the organization added can be replaced or deleted.",
    ),
    (
        "programme_edited",
        409,
        "Programme edited",
        "Records of the last start were edited since, so it cannot be undone as a whole.",
    ),
    ("programme_undo_expired", 409, "Too late to undo", "A start of the programme can be undone for a day."),
    (
        "programme_starting",
        409,
        "Programme starting",
        "Another start of the programme is not complete yet; try again in a minute.",
    ),
    (
        "programme_changed",
        409,
        "Programme changed",
        "Another request changed the programme at the same time.",
    ),
    (
        "too_many_rows",
        409,
        "Too many rows",
        "The filter matches more rows than one request can change; narrow it down.",
    ),
    (
        "too_many_chat_channels",
        409,
        "Too many chat channels",
        "The organization has as many chat channels as are allowed; delete one.",
    ),
    (
        "risk_closed",
        409,
        "Risk is closed",
        "A closed or archived risk cannot be accepted; it is opened again first.",
    ),
    (
        "risk_not_assessed",
        409,
        "Risk not assessed",
        "A risk is accepted as it is rated after treatment, and this one is not rated.",
    ),
    ("too_many_views", 409, "Too many views", "The member has as many views as are allowed; delete one."),
    ("file_in_use", 409, "File in use", "The file is the text of a policy, or of a version of one."),
    ("friendly_url_taken", 409, "Address taken", "Another portal has this `friendlyUrl`."),
    ("domain_taken", 409, "Domain taken", "Another organization has verified the domain."),
    ("request_reviewed", 409, "Request reviewed", "The access request has already been approved or denied."),
    ("nothing_to_sign", 409, "Nothing to sign", "No agreement has been sent for this request."),
    (
        "agreement_unprintable",
        409,
        "Agreement cannot be printed",
        "The agreement with its placeholders filled in cannot be printed; change `ndaText`.",
    ),
    ("already_signed", 409, "Agreement signed", "The agreement has been signed."),
    ("grant_is_over", 409, "Access is over", "The access has already expired or been revoked."),
    (
        "file_cannot_be_marked",
        409,
        "File cannot be watermarked",
        "The file cannot be watermarked, so visitors cannot download it.",
    ),
    ("no_script", 409, "No script", "The automation has no script yet; add a version."),
    ("run_is_over", 409, "Run is over", "The run has ended already and cannot be cancelled."),
    (
        "automation_is_a_check",
        409,
        "Built-in check",
        "The automation runs a built-in check and takes no script; change its parameters.",
    ),
    ("too_many_automations", 409, "Too many automations", "A task has at most 50 automations."),
    ("too_many_secrets", 409, "Too many secrets", "An organization has at most 200 secrets."),
    (
        "idempotency_in_progress",
        409,
        "Still running",
        "The first request with this `Idempotency-Key` is still running.",
    ),
    (
        "idempotency_answer_lost",
        409,
        "Done, answer lost",
        "The first request was carried out, but its response was lost in a restart.",
    ),
    (
        "portal_offline",
        410,
        "Portal offline",
        "The organization has set its trust portal back to draft; links to its documents rest until it is published again.",
    ),
    ("ceremony_expired", 410, "Ceremony expired", "The step took too long or was done already; start again."),
    ("link_expired", 410, "Link expired", "The link has been used or has expired."),
    (
        "invitation_expired",
        410,
        "Invitation expired",
        "The invitation has been used or withdrawn, or has expired.",
    ),
    ("precondition_failed", 412, "Precondition failed", "`If-Match` does not match the current version."),
    ("payload_too_large", 413, "Payload too large", "The body is larger than this operation accepts."),
    ("file_too_large", 413, "File too large", "Files are limited to 10 MiB."),
    (
        "unsupported_media_type",
        415,
        "Unsupported media type",
        "Send `Content-Type: application/json`; for an import `text/csv` or XLSX, for a file also `multipart/form-data`.",
    ),
    (
        "range_not_satisfiable",
        416,
        "Range not satisfiable",
        "`Range` asks for bytes beyond the end of the file.",
    ),
    (
        "managed_by_directory",
        409,
        "Managed by the directory",
        "The directory keeps this person out; change it at the identity provider.",
    ),
    (
        "domain_required",
        409,
        "Domain required",
        "A directory manages people with addresses of verified domains: verify one first.",
    ),
    ("too_many_tokens", 409, "Too many tokens", "A directory has at most two tokens; revoke one first."),
    (
        "scim_uniqueness",
        409,
        "Not unique",
        "Another person or group of the directory has this name, id or address.",
    ),
    (
        "idempotency_mismatch",
        422,
        "Key used for another request",
        "This `Idempotency-Key` was used with another body or path before.",
    ),
    (
        "not_implemented",
        501,
        "Not supported",
        "This part of SCIM is not supported; `/scim/v2/ServiceProviderConfig` says what is.",
    ),
    ("rate_limited", 429, "Too many requests", "Wait as long as `Retry-After` says."),
    (
        "internal_error",
        500,
        "Internal error",
        "Something went wrong in the server; the log has the cause under the request id.",
    ),
    (
        "ai_failed",
        502,
        "AI provider failed",
        "The AI provider cannot be reached, refused the request or failed; the log has the cause under the request id.",
    ),
    (
        "domain_check_failed",
        502,
        "Domain cannot be checked",
        "The name servers or the hosting provider do not answer; the log has the cause under the request id.",
    ),
    (
        "ai_busy",
        503,
        "AI provider busy",
        "The AI provider takes no more requests for now; wait as long as `Retry-After` says.",
    ),
    (
        "ai_not_configured",
        503,
        "No AI provider",
        "The server has no AI provider; `detail` says what its operator sets.",
    ),
    (
        "hosting_busy",
        503,
        "Hosting provider busy",
        "The hosting provider takes no more requests for now; wait as long as `Retry-After` says.",
    ),
    (
        "unavailable",
        503,
        "Temporarily unavailable",
        "The database or the object storage cannot be reached or is busy; try again after `Retry-After`.",
    ),
    (
        "outcome_unknown",
        503,
        "Outcome unknown",
        "The change was sent to the database and not confirmed; a repetition with the same `Idempotency-Key` tells.",
    ),
    ("timeout", 503, "Took too long", "The request was stopped because it took too long."),
];

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
