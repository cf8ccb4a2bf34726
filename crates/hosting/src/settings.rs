//! Settings of the operator: the provider that checks domains, and the target they must point to.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use attestry_net::Secret;
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum timeout of a look-up, regardless of the settings.
const MAX_TIMEOUT: Duration = Duration::from_hours(1);

#[derive(Clone, Debug)]
pub enum Settings {
    Dns(DnsSettings),
    Vercel(VercelSettings),
}

#[derive(Clone, Debug)]
pub struct DnsSettings {
    /// The name servers; if empty, those of the system are used.
    pub servers: Vec<SocketAddr>,
    /// The host name that domains must be a CNAME of, such as `portal.example.com`.
    pub target: String,
    /// The addresses allowed for a domain that cannot be a CNAME; if empty, those of the target.
    pub addresses: Vec<IpAddr>,
    /// The timeout for all look-ups of a domain together.
    pub timeout: Duration,
}

impl DnsSettings {
    /// Settings with the name servers of the system and the addresses of the target.
    pub fn new(target: impl Into<String>) -> Self {
        Self { servers: Vec::new(), target: target.into(), addresses: Vec::new(), timeout: TIMEOUT }
    }
}

#[derive(Clone)]
pub struct VercelSettings {
    /// `https://api.vercel.com`, or a replacement for it.
    pub base_url: Url,
    /// The access token.
    pub token: Secret,
    /// The id or the name of the project with the domains.
    pub project: String,
    /// The id of the team that owns the project; if `None`, the account of the token.
    pub team: Option<String>,
    /// The timeout for both requests about a domain together.
    pub timeout: Duration,
}

impl VercelSettings {
    /// Settings with Vercel's own URL and no team.
    pub fn new(token: Secret, project: impl Into<String>) -> Result<Self, Error> {
        Ok(Self {
            base_url: Url::parse("https://api.vercel.com").map_err(|_| Error::BaseUrl)?,
            token,
            project: project.into(),
            team: None,
            timeout: TIMEOUT,
        })
    }
}

impl fmt::Debug for VercelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A password or a query is rejected later, but may be a secret.
        let mut base_url = self.base_url.clone();
        base_url.set_query(None);
        let _ = base_url.set_password(None);
        f.debug_struct("VercelSettings")
            .field("base_url", &base_url.as_str())
            .field("token", &self.token)
            .field("project", &self.project)
            .field("team", &self.team)
            .field("timeout", &self.timeout)
            .finish()
    }
}

pub(crate) fn bounded(timeout: Duration) -> Duration {
    timeout.min(MAX_TIMEOUT)
}

/// An error that prevents all checks. For the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{0:?} is not a host name that domains can be a CNAME of")]
    Target(String),
    #[error("the Vercel base URL must be an http or https address such as https://api.vercel.com")]
    BaseUrl,
    #[error("the Vercel base URL must not have a user name or password; set the token instead")]
    Credentials,
    #[error("the Vercel token must be one word of ASCII characters")]
    Token,
    #[error("the Vercel project must be named")]
    Project,
    #[error(
        "the HTTP client cannot be set up: {0}; are certificate authorities installed (ca-certificates)?"
    )]
    Client(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_hide_what_is_secret() {
        let mut settings = VercelSettings::new(Secret::new("vc-secret"), "portal").unwrap();
        settings.base_url = Url::parse("https://me:vc-secret@vercel.example.com/?t=vc-secret").unwrap();
        assert_eq!(
            format!("{settings:?}"),
            r#"VercelSettings { base_url: "https://me@vercel.example.com/", token: Secret(hidden), project: "portal", team: None, timeout: 10s }"#
        );
    }
}
