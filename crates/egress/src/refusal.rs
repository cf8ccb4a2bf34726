//! Errors of a request, as sentences for the script's author. They contain the host but nothing else of the request,
//! and no internals.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("The URL must be an http or https address such as https://api.example.com/items.")]
    Url,
    #[error("The URL must not have a user name or password; send them in a header.")]
    Credentials,
    #[error("The name must be a host name such as example.com.")]
    Name,
    #[error("{0} is not on the organization's list of automation hosts.")]
    Host(String),
    #[error("Port {port} of {host} is not on the organization's list of automation hosts.")]
    Port { host: String, port: u16 },
    #[error(
        "Plain HTTP is not allowed for {0}; use https:// or add http://{0} to the organization's list of automation hosts."
    )]
    PlainHttp(String),
    #[error("The method must be one of {0}.")]
    Method(&'static str),
    #[error("A {0} request has no body.")]
    Body(&'static str),
    #[error("A header has a name that is not valid.")]
    HeaderName,
    #[error("The header {0} has a value that is not valid.")]
    HeaderValue(String),
    #[error("The header {0} cannot be set; it is set as the request needs it.")]
    Header(String),
    #[error("The request has too many or too long headers.")]
    Headers,
    #[error("{0} has no address.")]
    NoAddress(String),
    #[error("The name servers gave no usable answer for {0}.")]
    Lookup(String),
    #[error("{} is a private or reserved address.", Address(.host, .address))]
    PrivateAddress { host: String, address: IpAddr },
    #[error("{0} cannot be reached.")]
    Unreachable(String),
    #[error("{0} did not finish a TLS handshake.")]
    Handshake(String),
    #[error("The certificate of {host} cannot be trusted: {problem}")]
    Certificate { host: String, problem: String },
    #[error("The certificate of {0} cannot be read.")]
    UnreadableCertificate(String),
    #[error("{0} did not answer in valid HTTP.")]
    NotHttp(String),
    #[error("{0} answered with too many or too long headers.")]
    AnswerHeaders(String),
    #[error("{0} ended the connection before its answer was complete.")]
    Incomplete(String),
    #[error("{host} answered with more than {}.", Size(*.limit))]
    TooLarge { host: String, limit: usize },
    #[error("{host} did not answer within {}.", Span(*.timeout))]
    TooSlow { host: String, timeout: Duration },
    #[error(
        "{0} redirects to something that is not an http or https address without a user name and password."
    )]
    Redirect(String),
    #[error("Too many redirects: only {0} are followed.")]
    Redirects(usize),
}

impl Refusal {
    /// Returns true when the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Lookup(_)
                | Self::Unreachable(_)
                | Self::Handshake(_)
                | Self::NotHttp(_)
                | Self::Incomplete(_)
                | Self::TooSlow { .. }
        )
    }
}

/// Formats an address together with the name it was resolved from.
struct Address<'a>(&'a str, &'a IpAddr);

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let literal = self.0.trim_start_matches('[').trim_end_matches(']').parse() == Ok(*self.1);
        if literal { write!(f, "{}", self.1) } else { write!(f, "{} ({})", self.1, self.0) }
    }
}

struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KIB: usize = 1024;
        const MIB: usize = KIB * KIB;
        match self.0 {
            bytes if bytes > 0 && bytes.is_multiple_of(MIB) => write!(f, "{} MiB", bytes / MIB),
            bytes if bytes > 0 && bytes.is_multiple_of(KIB) => write!(f, "{} KiB", bytes / KIB),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.subsec_millis() == 0 {
            write!(f, "{} s", self.0.as_secs())
        } else {
            write!(f, "{} ms", self.0.as_millis())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_sentences() {
        let host = || "api.example.com".to_owned();
        let private = |host: &str, address: &str| Refusal::PrivateAddress {
            host: host.to_owned(),
            address: address.parse().unwrap(),
        };
        for (refusal, sentence) in [
            (Refusal::Host(host()), "api.example.com is not on the organization's list of automation hosts."),
            (
                Refusal::PlainHttp(host()),
                "Plain HTTP is not allowed for api.example.com; use https:// or add http://api.example.com to \
                 the organization's list of automation hosts.",
            ),
            (
                private("db.example.com", "10.0.0.7"),
                "10.0.0.7 (db.example.com) is a private or reserved address.",
            ),
            (private("10.0.0.7", "10.0.0.7"), "10.0.0.7 is a private or reserved address."),
            (private("[::1]", "::1"), "::1 is a private or reserved address."),
            (
                Refusal::TooLarge { host: host(), limit: 1024 * 1024 },
                "api.example.com answered with more than 1 MiB.",
            ),
            (
                Refusal::TooLarge { host: host(), limit: 2048 },
                "api.example.com answered with more than 2 KiB.",
            ),
            (
                Refusal::TooLarge { host: host(), limit: 1000 },
                "api.example.com answered with more than 1000 bytes.",
            ),
            (
                Refusal::TooSlow { host: host(), timeout: Duration::from_secs(20) },
                "api.example.com did not answer within 20 s.",
            ),
            (
                Refusal::TooSlow { host: host(), timeout: Duration::from_millis(1500) },
                "api.example.com did not answer within 1500 ms.",
            ),
        ] {
            assert_eq!(refusal.to_string(), sentence);
        }
    }
}
