//! Outgoing requests on behalf of a script: HTTP, DNS look-ups and TLS handshakes.
//!
//! Requests go only to hosts that the organization allows and to public addresses. A name is resolved here, all its
//! addresses are checked, and the connection is made to a checked address, so that a second DNS response cannot
//! change its destination. Every request has its own connection, TLS session and deadline: no state is shared with
//! requests of another organization.

mod address;
mod connect;
mod dns;
mod encoded;
mod fetch;
mod headers;
mod permission;
mod refusal;
mod resolve;
mod tls;
mod trust;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use attestry_domain::automations::hosts::AllowedHosts;
use rustls::pki_types::CertificateDer;
use tokio::time::Instant;

pub use dns::{DnsAnswer, DnsQuery, DnsRecord, DnsType};
pub use fetch::{Request, Response};
pub use refusal::Refusal;
pub use tls::{Certificate, TlsAnswer, TlsQuery};

/// Settings of the operator.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Allows private and loopback addresses; metadata services are always denied.
    pub allow_private_networks: bool,
    /// The name servers; if empty, those of the system and its hosts file are used.
    pub dns_servers: Vec<SocketAddr>,
    /// Certificate authorities to trust in addition to those of the operating system.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// The timeout of a whole request: look-up, connection, redirects and body.
    pub timeout: Duration,
    /// The maximum number of bytes of a body.
    pub body_limit: usize,
    /// The maximum number of redirects that are followed.
    pub redirects: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_private_networks: false,
            dns_servers: Vec::new(),
            extra_roots: Vec::new(),
            timeout: Duration::from_secs(20),
            body_limit: 1024 * 1024,
            redirects: 5,
        }
    }
}

/// An error that prevents all requests. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the name servers of the system cannot be found: {0}")]
    Resolver(String),
    #[error("an extra certificate authority cannot be read: {0}")]
    Authority(String),
    #[error("the system has no certificate authorities: install ca-certificates")]
    NoAuthorities,
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// The maximum duration of a request, regardless of the settings.
const MAX_TIMEOUT: Duration = Duration::from_hours(24);

/// The client for outgoing requests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Egress(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    allow_private_networks: bool,
    timeout: Duration,
    body_limit: usize,
    redirects: usize,
    resolver: hickory_resolver::TokioResolver,
    trust: trust::Trust,
    detours: HashMap<SocketAddr, SocketAddr>,
}

impl Egress {
    pub fn new(settings: Settings) -> Result<Self, Error> {
        Self::with_detours(settings, HashMap::new())
    }

    /// Connects to the second address of a pair when the first was resolved and checked. For tests, which have no
    /// public addresses of their own.
    pub fn with_detours(settings: Settings, detours: HashMap<SocketAddr, SocketAddr>) -> Result<Self, Error> {
        Ok(Self(Arc::new(Parts {
            allow_private_networks: settings.allow_private_networks,
            timeout: settings.timeout,
            body_limit: settings.body_limit,
            redirects: settings.redirects,
            resolver: resolve::resolver(&settings.dns_servers)?,
            trust: trust::Trust::new(settings.extra_roots)?,
            detours,
        })))
    }

    /// Makes an HTTP request and follows its redirects.
    pub async fn fetch(&self, hosts: &AllowedHosts, request: Request) -> Result<Response, Refusal> {
        fetch::fetch(&self.0, hosts, request, self.0.redirects).await
    }

    /// Makes an HTTP request; a redirect is refused as [`Refusal::Redirects`].
    pub async fn fetch_once(&self, hosts: &AllowedHosts, request: Request) -> Result<Response, Refusal> {
        fetch::fetch(&self.0, hosts, request, 0).await
    }

    /// Looks up the records of a name.
    pub async fn dns(&self, hosts: &AllowedHosts, query: DnsQuery) -> Result<DnsAnswer, Refusal> {
        dns::dns(&self.0, hosts, query).await
    }

    /// Performs a TLS handshake and returns the server's certificate. Sends no data after it.
    pub async fn tls(&self, hosts: &AllowedHosts, query: TlsQuery) -> Result<TlsAnswer, Refusal> {
        tls::tls(&self.0, hosts, query).await
    }
}

impl Parts {
    fn deadline(&self) -> Instant {
        Instant::now() + self.timeout.min(MAX_TIMEOUT)
    }

    /// Runs `work` until the deadline; fails if `host` is too slow.
    async fn within<T>(
        &self,
        deadline: Instant,
        host: &str,
        work: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let late = |_| Refusal::TooSlow { host: host.to_owned(), timeout: self.timeout };
        tokio::time::timeout_at(deadline, work).await.map_err(late)?
    }
}
