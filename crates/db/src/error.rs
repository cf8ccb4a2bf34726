//! What can go wrong with a database, sorted by what the caller can do about it.

use std::io::ErrorKind;

use deadpool_postgres::{PoolError, TimeoutType};

/// Which kind of constraint was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    Unique,
    ForeignKey,
    Other,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Too many wait already, or the wait was too long: come back later.
    #[error("the database is busy: {0}")]
    Busy(&'static str),
    /// Not reachable, full, read-only or shutting down: nothing was changed, it may come back.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A commit was sent and not confirmed: nobody knows whether the change was made.
    #[error("the outcome of a commit is unknown: {0}")]
    OutcomeUnknown(String),
    /// A statement ran longer than it may.
    #[error("a statement took too long")]
    Timeout,
    /// A rule of the schema was broken. `name` is PostgreSQL's constraint name or SQLite's list of
    /// columns.
    #[error("constraint {name} was broken")]
    Constraint { kind: Constraint, name: String },
    /// Another transaction was in the way; the body was tried again, in vain.
    #[error("the transaction lost against others too often")]
    Conflict,
    /// A body awaited something that is not a statement of its own.
    #[error("a transaction body awaited something other than its own statements")]
    ForeignAwait,
    /// A body panicked; its transaction was rolled back.
    #[error("a transaction body panicked: {0}")]
    Panic(String),
    /// A stored value is not what the code expects.
    #[error("column {column}: {message}")]
    Column { column: usize, message: String },
    /// A statement that is wrong, or anything else that is our fault.
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

/// Tells if a connection was lost. What cannot be encoded or read is an error of I/O, too.
fn is_loss(error: &std::io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData)
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(cause) = error.as_db_error() else {
            let source = std::error::Error::source(&error);
            let text = source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
            // No answer from a server: the connection could not be made or broke.
            let is_broken =
                error.is_closed() || source.and_then(|source| source.downcast_ref()).is_some_and(is_loss);
            return if is_broken { Self::Unavailable(text) } else { Self::Other(text) };
        };
        let name = || cause.constraint().unwrap_or_default().to_owned();
        match cause.code().code() {
            "23505" => Self::Constraint { kind: Constraint::Unique, name: name() },
            "23503" => Self::Constraint { kind: Constraint::ForeignKey, name: name() },
            code if code.starts_with("23") => Self::Constraint { kind: Constraint::Other, name: name() },
            // The transaction lost against another, or was ended because it lay idle: nothing of it was kept.
            "40001" | "40P01" | "25P03" => Self::Conflict,
            "57014" => Self::Timeout,
            // Shutting down, starting up, out of connections, memory or disk, a standby, bad sign-in.
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
