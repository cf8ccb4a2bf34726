//! Errors of a request. Displayed, a failure is for the operator: it says what to check and may contain the
//! provider's message, shortened and without the key. [`Failure::plain`] is for the user.

use std::fmt;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    #[error(
        "The AI provider at {host} cannot be reached{}. Check the AI base URL and the network.",
        ProviderMessage(.reason)
    )]
    Unreachable { host: String, reason: Option<String> },
    #[error("{}", Late(*.wait, *.after))]
    TimedOut { wait: Wait, after: Duration },
    #[error(
        "The AI provider takes no more requests for now{}. Try again {}.",
        ProviderMessage(.message), Later(*.retry_after)
    )]
    RateLimited { retry_after: Option<Duration>, message: Option<String> },
    /// The provider failed: status 5xx, or an error of its own within the stream.
    #[error(
        "The AI provider is overloaded or failing{}{}. Try again in a moment.",
        Status(*.status), ProviderMessage(.message)
    )]
    Overloaded { status: Option<u16>, message: Option<String> },
    /// A retry would fail the same way. Without a status, the error was within the stream.
    #[error("{}", Refusal(*.status, .message))]
    Refused { status: Option<u16>, message: Option<String> },
    #[error(
        "The AI provider's answer cannot be read: {0}. Check that the AI base URL leads to the API of the chosen provider."
    )]
    Malformed(&'static str),
    #[error("The AI provider ended the connection before its answer was complete. Try again.")]
    ClosedEarly,
    /// The answer was truncated at the token limit.
    #[error("The answer grew too long and was cut off. Ask for a shorter one, or raise the token limit.")]
    TooLong,
    #[error("The AI provider declined to answer{}. Rephrase the request.", ProviderMessage(.message))]
    Filtered { message: Option<String> },
    /// The answer is complete but has no text.
    #[error("The AI provider gave an answer without text. Try again, or rephrase the request.")]
    Empty,
}

/// The timeout that expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Connect,
    FirstByte,
    Idle,
    Total,
}

impl Failure {
    /// Returns true if a retry may succeed. Timeouts are excluded, because the caller has waited long enough, and so
    /// are rate limits.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::ClosedEarly => true,
            Self::Overloaded { status, .. } => matches!(status, None | Some(500 | 502 | 503 | 529)),
            _ => false,
        }
    }

    /// Returns true for a rate limit or an exhausted quota.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Refused { status: Some(429), .. })
    }

    /// A sentence for the user, without the provider's message or details of the installation.
    pub fn plain(&self) -> String {
        const OPERATOR: &str = "The reason is in the server's log.";
        match self {
            Self::Unreachable { .. } => format!("The AI provider cannot be reached. {OPERATOR}"),
            Self::TimedOut { .. } => {
                "The AI provider took too long. Try again, or ask for a shorter answer.".to_owned()
            }
            Self::RateLimited { retry_after, .. } => {
                format!("The AI provider takes no more requests for now. Try again {}.", Later(*retry_after))
            }
            Self::Overloaded { .. } => {
                "The AI provider is overloaded or failing. Try again in a moment.".to_owned()
            }
            Self::Refused { status: None, .. } => {
                "The AI provider broke off its answer. Try again.".to_owned()
            }
            Self::Refused { status: Some(413), .. } => {
                "The request is too large for the AI provider. Ask with less text.".to_owned()
            }
            Self::Refused { .. } => format!("The AI provider refused the request. {OPERATOR}"),
            Self::Malformed(_) => format!("The AI provider's answer cannot be read. {OPERATOR}"),
            Self::Filtered { .. } => "The AI provider declined to answer. Rephrase the request.".to_owned(),
            Self::ClosedEarly | Self::TooLong | Self::Empty => self.to_string(),
        }
    }

    /// The delay that the provider asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Appends the provider's message or the system's error.
struct ProviderMessage<'a>(&'a Option<String>);

impl fmt::Display for ProviderMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |told| write!(f, ": {told}"))
    }
}

struct Status(Option<u16>);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |status| write!(f, " ({status})"))
    }
}

struct Later(Option<Duration>);

impl fmt::Display for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.map(|pause| pause.as_secs()) {
            None | Some(0) => f.write_str("in a moment"),
            Some(seconds) => write!(f, "in {seconds} s"),
        }
    }
}

struct Late(Wait, Duration);

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, to_do) = match self.0 {
            Wait::Connect => ("did not accept a connection", "Check the AI base URL and the network."),
            Wait::FirstByte => ("did not begin to answer", "Try again, or choose a faster model."),
            Wait::Idle => ("stopped in the middle of its answer and was silent", "Try again."),
            Wait::Total => {
                ("did not finish its answer", "Ask for a shorter answer, or choose a faster model.")
            }
        };
        let within = if self.0 == Wait::Idle { "for" } else { "within" };
        match (self.1.as_secs(), self.1.subsec_millis()) {
            (seconds, 0) => write!(f, "The AI provider {what} {within} {seconds} s. {to_do}"),
            _ => write!(f, "The AI provider {what} {within} {} ms. {to_do}", self.1.as_millis()),
        }
    }
}

struct Refusal<'a>(Option<u16>, &'a Option<String>);

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, to_do) = match self.0 {
            None => ("broke off its answer", "Try again."),
            Some(300..=399) => {
                ("redirects to another address", "Set the AI base URL to the address that answers.")
            }
            Some(401 | 403) => ("refused the API key", "Check the AI API key and what it may be used for."),
            Some(402 | 429) => {
                ("refused because of a quota or billing", "Check the account at the AI provider.")
            }
            Some(404 | 405) => {
                ("does not know the address or the model", "Check the AI base URL and the AI model.")
            }
            Some(413) => ("refused a request of this size", "Ask with less text."),
            Some(_) => ("refused the request", "Check the AI model, or ask with less text."),
        };
        write!(f, "The AI provider {what}{}{}. {to_do}", Status(self.0), ProviderMessage(self.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_sentences() {
        let told = |text: &str| Some(text.to_owned());
        let refused = |status, message: &str| Failure::Refused { status, message: told(message) };
        for (failure, sentence) in [
            (
                Failure::Unreachable {
                    host: "ai.example.com".to_owned(),
                    reason: told("Connection refused"),
                },
                "The AI provider at ai.example.com cannot be reached: Connection refused. Check the AI base URL and the network.",
            ),
            (
                Failure::TimedOut { wait: Wait::FirstByte, after: Duration::from_mins(1) },
                "The AI provider did not begin to answer within 60 s. Try again, or choose a faster model.",
            ),
            (
                Failure::TimedOut { wait: Wait::Idle, after: Duration::from_millis(1500) },
                "The AI provider stopped in the middle of its answer and was silent for 1500 ms. Try again.",
            ),
            (
                Failure::RateLimited { retry_after: Some(Duration::from_secs(20)), message: None },
                "The AI provider takes no more requests for now. Try again in 20 s.",
            ),
            (
                Failure::Overloaded { status: Some(529), message: told("Overloaded") },
                "The AI provider is overloaded or failing (529): Overloaded. Try again in a moment.",
            ),
            (
                refused(Some(401), "Invalid key"),
                "The AI provider refused the API key (401): Invalid key. Check the AI API key and what it may be used for.",
            ),
            (
                Failure::Empty,
                "The AI provider gave an answer without text. Try again, or rephrase the request.",
            ),
            (refused(None, "Sorry"), "The AI provider broke off its answer: Sorry. Try again."),
            (
                Failure::Filtered { message: None },
                "The AI provider declined to answer. Rephrase the request.",
            ),
        ] {
            assert_eq!(failure.to_string(), sentence);
            let plain = failure.plain();
            assert!(plain.ends_with('.'), "{plain}");
            for inside in
                ["ai.example.com", "refused:", "Invalid key", "Overloaded", "Sorry", "base URL", "401"]
            {
                assert!(!plain.contains(inside), "{plain}");
            }
        }
    }
}
