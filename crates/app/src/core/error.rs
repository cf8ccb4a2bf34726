//! The error type of the use cases. Messages are written for the client; an internal cause travels in
//! [`Error::Internal`] and is logged once. No HTTP here.

use attestry_db::Error as DbError;
use attestry_domain::Time;
use attestry_domain::access::Denied;
use attestry_domain::id::OrganizationId;
use attestry_domain::identity::sign_in::{SecondFactor, Unmet};
use attestry_storage::Conflict;

/// A validation error of one field of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub field: String,
    pub message: String,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("invalid input")]
    Invalid(Vec<FieldError>),
    #[error("{message}")]
    BadRequest { code: &'static str, message: String },
    #[error("{message}")]
    Unauthenticated { code: &'static str, message: &'static str },
    /// The first factor was right, and the account has a second one. `challenge` is what its code is sent with.
    #[error("the account has a second factor")]
    SecondFactorRequired { challenge: String, methods: Vec<SecondFactor>, expires_at: Time },
    /// The session does not meet a demand of the organization. `start`: the path of a sign-in that may help.
    #[error("the session does not meet the sign-in policy: {unmet}")]
    Reauthenticate { unmet: Unmet, organization: OrganizationId, start: Option<String> },
    #[error("{message}")]
    Forbidden { code: &'static str, message: String },
    #[error("{}", missing(.0))]
    NotFound(&'static str),
    #[error("{message}")]
    Conflict { code: &'static str, message: String },
    #[error("the link is no longer valid")]
    Gone { code: &'static str, message: &'static str },
    #[error("it was changed in the meantime")]
    PreconditionFailed,
    #[error("the Idempotency-Key was used for another request")]
    IdempotencyMismatch,
    #[error("too many requests")]
    TooMany { message: &'static str, retry_after: u64 },
    /// The process has no free permits for this kind of work.
    #[error("{message}")]
    Overloaded { message: &'static str, retry_after: u64 },
    /// An external service failed or is not configured. The cause is only logged: it may contain host names and the
    /// service's own messages.
    #[error("{message}")]
    Outside { code: &'static str, message: String, cause: Option<String>, retry_after: Option<u64> },
    #[error("not available: {0}")]
    Unavailable(String),
    /// A change was sent to the database, and its outcome is unknown.
    #[error("the outcome is unknown: {0}")]
    OutcomeUnknown(String),
    #[error("{0}")]
    Internal(String),
}

/// Formats the message of a missing entity: "there is no such risk", "there is no user with this address".
fn missing(what: &str) -> String {
    if what.contains(' ') { format!("there is no {what}") } else { format!("there is no such {what}") }
}

impl Error {
    pub fn field(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError { field: field.to_owned(), message: message.into() }])
    }

    pub fn internal(error: impl std::fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }

    /// Returns true for an outage of the database or another part of the installation, after which a retry may
    /// succeed.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::OutcomeUnknown(_))
    }
}

impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        if let Some(conflict) = Conflict::of(&error) {
            return match conflict {
                Conflict::AlreadyMember => already_member(),
                Conflict::FriendlyUrlTaken => Self::Conflict {
                    code: "friendly_url_taken",
                    message: "Another portal has this friendlyUrl; choose another one.".to_owned(),
                },
                Conflict::DomainTaken => Self::Conflict {
                    code: "domain_taken",
                    message: "Another organization has verified this domain.".to_owned(),
                },
                Conflict::PasskeyKnown => passkey_known(),
                Conflict::IdentityLinked => Self::Conflict {
                    code: "sso_identity_conflict",
                    message: "This identity or account was linked at the same moment; try again.".to_owned(),
                },
                Conflict::EmailTaken => Self::Conflict {
                    code: EMAIL_TAKEN,
                    message: "A person with this e-mail address was added at the same moment; try again."
                        .to_owned(),
                },
            };
        }
        match error {
            DbError::Busy(_) | DbError::Unavailable(_) | DbError::Conflict | DbError::Timeout => {
                Self::Unavailable(error.to_string())
            }
            DbError::OutcomeUnknown(cause) => Self::OutcomeUnknown(cause),
            other => Self::Internal(other.to_string()),
        }
    }
}

pub(crate) const EMAIL_TAKEN: &str = "email_taken";

pub(crate) fn passkey_known() -> Error {
    Error::Conflict { code: "passkey_known", message: "This passkey is registered already.".to_owned() }
}

pub(crate) fn already_member() -> Error {
    Error::Conflict {
        code: "already_member",
        message: "This user is already a member of the organization.".to_owned(),
    }
}

impl From<Denied> for Error {
    fn from(Denied(permission): Denied) -> Self {
        Self::Forbidden {
            code: "forbidden",
            message: format!(
                "This needs the permission {}, which your role or your API key does not have.",
                permission.as_str()
            ),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error)
    }
}
