//! Failures of a sign-in, for the owner of the connection and the log.

use attestry_egress::Refusal;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The provider does not answer, or must not be asked.
    #[error("{0}")]
    Unreachable(String),
    /// The provider's document names another issuer.
    #[error("{0}")]
    Issuer(String),
    /// The provider gave an answer that cannot be used.
    #[error("{0}")]
    Answer(String),
    /// The token endpoint refused the request with a code of OAuth.
    #[error("The token endpoint answered {0:?}.")]
    Refused(String),
    /// A token failed a check.
    #[error("{0}")]
    Token(String),
    /// The user did not authenticate recently.
    #[error("{0}")]
    NotFresh(String),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Unreachable(refusal.to_string())
    }
}
