//! Errors of a domain check, as sentences for the operator. None of them contains the token.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The hosting provider's project does not have this domain. Never returned by DNS.
    #[error("The hosting provider does not know this domain.")]
    Unknown,
    /// A name server or the hosting provider does not respond, or its response is unusable.
    #[error("{0}")]
    Down(String),
    /// The hosting provider limits the request rate.
    #[error("{message}")]
    Busy { message: String, retry_after: Option<u64> },
    /// The hosting provider rejects the token.
    #[error("{0}")]
    Refused(String),
}
