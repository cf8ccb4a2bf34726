//! Why nothing can be said about a domain, as sentences for the operator. None of them holds the token.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The hosting provider's project does not have this domain. Never said by DNS.
    #[error("The hosting provider does not know this domain.")]
    Unknown,
    /// A name server or the hosting provider does not answer, or not in a way that can be used.
    #[error("{0}")]
    Down(String),
    /// The hosting provider takes no more requests for now.
    #[error("{message}")]
    Busy { message: String, retry_after: Option<u64> },
    /// The hosting provider does not accept the token.
    #[error("{0}")]
    Refused(String),
}
