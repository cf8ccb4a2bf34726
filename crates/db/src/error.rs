//! Database errors, grouped by what the caller can do about them.

use std::io::ErrorKind;

use deadpool_postgres::{PoolError, TimeoutType};

/// The kind of constraint that was violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    Unique,
    ForeignKey,
    Other,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The queue is full or the wait timed out; the caller should retry later.
    #[error("the database is busy: {0}")]
    Busy(&'static str),
    /// Unreachable, full, read-only or shutting down: nothing was changed, and a retry may succeed.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A commit was sent and not confirmed, so the change may or may not have been made.
    #[error("the outcome of a commit is unknown: {0}")]
    OutcomeUnknown(String),
    /// A statement exceeded its timeout.
    #[error("a statement took too long")]
    Timeout,
    /// A constraint was violated. `name` is PostgreSQL's constraint name or SQLite's list of columns.
    #[error("constraint {name} was broken")]
    Constraint { kind: Constraint, name: String },
    /// The transaction conflicted with another, and all retries failed.
    #[error("the transaction lost against others too often")]
    Conflict,
    /// A body awaited something that is not a statement of its own.
    #[error("a transaction body awaited something other than its own statements")]
    ForeignAwait,
    /// A body panicked; its transaction was rolled back.
    #[error("a transaction body panicked: {0}")]
    Panic(String),
    /// A stored value does not have the type that the code expects.
    #[error("column {column}: {message}")]
    Column { column: usize, message: String },
    /// An invalid statement, or any other bug in this program.
    #[error("{0}")]
    Other(String),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let rusqlite::Error::SqliteFailure(failure, message) = &error else {
            return Self::Other(error.to_string());
        };
        match failure.code {
            Code::ConstraintViolation => {
                let text = message.clone().unwrap_or_default();
                let kind = match failure.extended_code {
                    rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                        Constraint::Unique
                    }
                    rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Constraint::ForeignKey,
                    _ => Constraint::Other,
                };
                let name = text.split_once("failed: ").map_or(text.as_str(), |(_, name)| name).to_owned();
                Self::Constraint { kind, name }
            }
            Code::DatabaseBusy | Code::DatabaseLocked => Self::Busy("another process holds it"),
            Code::OperationInterrupted => Self::Timeout,
            Code::DiskFull
            | Code::CannotOpen
            | Code::ReadOnly
            | Code::SystemIoFailure
            | Code::OutOfMemory
            | Code::DatabaseCorrupt
            | Code::NotADatabase
            | Code::PermissionDenied => Self::Unavailable(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}

/// Returns true when the error means a lost connection. Encoding and decoding failures are I/O errors, too.
fn is_loss(error: &std::io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData)
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(cause) = error.as_db_error() else {
            let source = std::error::Error::source(&error);
            let text = source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
            // No response from a server: the connection failed or broke.
            let is_broken =
                error.is_closed() || source.and_then(|source| source.downcast_ref()).is_some_and(is_loss);
            return if is_broken { Self::Unavailable(text) } else { Self::Other(text) };
        };
        let name = || cause.constraint().unwrap_or_default().to_owned();
        match cause.code().code() {
            "23505" => Self::Constraint { kind: Constraint::Unique, name: name() },
            "23503" => Self::Constraint { kind: Constraint::ForeignKey, name: name() },
            code if code.starts_with("23") => Self::Constraint { kind: Constraint::Other, name: name() },
            // The transaction lost a conflict or was ended for being idle; it was rolled back.
            "40001" | "40P01" | "25P03" => Self::Conflict,
            "57014" => Self::Timeout,
            // Shutting down, starting up, out of connections, memory or disk, a standby, failed authentication.
            code if ["08", "53", "57", "58", "28", "3D"].iter().any(|class| code.starts_with(class))
                || code == "25006" =>
            {
                Self::Unavailable(format!("{} ({code})", cause.message()))
            }
            code => Self::Other(format!("{} ({code})", cause.message())),
        }
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => match Self::from(error) {
                Self::Other(text) => Self::Unavailable(text),
                other => other,
            },
            PoolError::Timeout(TimeoutType::Wait) => Self::Busy("all connections are in use"),
            PoolError::Timeout(_) => Self::Unavailable("no connection was ready in time".to_owned()),
            other => Self::Unavailable(other.to_string()),
        }
    }
}
