//! Everything that is requested from the outside on behalf of a script: HTTP, DNS look-ups and TLS handshakes.
//!
//! Each goes only to hosts that the organization allows and to public addresses. A name is resolved here, all its
//! addresses are checked, and the connection is made to a checked address, so that no second answer of a name
//! server can change where it leads. Every request has a connection, a TLS session and a deadline of its own:
//! nothing is kept that a request of another organization could find.

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

/// What the operator decides.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Lets private addresses and this machine through; metadata services never.
    pub allow_private_networks: bool,
    /// The name servers; none means those of the system, and its hosts file.
    pub dns_servers: Vec<SocketAddr>,
    /// Authorities to trust beside those of the operating system.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// For a whole request: look-up, connection, redirects and body.
    pub timeout: Duration,
    /// The most bytes a body may have.
    pub body_limit: usize,
    /// The most redirects that are followed.
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

/// Why nothing can be requested at all. For the operator.
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

/// No request takes longer, whatever the settings say.
const LONGEST: Duration = Duration::from_hours(24);

/// The way to the outside. Cheap to clone.
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

    /// Connects to the second address of a pair where the first was found and checked. For tests, which have no
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
        fetch::fetch(&self.0, hosts, request).await
    }

    /// Looks up the records of a name.
    pub async fn dns(&self, hosts: &AllowedHosts, query: DnsQuery) -> Result<DnsAnswer, Refusal> {
        dns::dns(&self.0, hosts, query).await
    }

    /// Makes a TLS handshake and tells what the server showed. Nothing is sent after it.
    pub async fn tls(&self, hosts: &AllowedHosts, query: TlsQuery) -> Result<TlsAnswer, Refusal> {
        tls::tls(&self.0, hosts, query).await
    }
}

impl Parts {
    fn deadline(&self) -> Instant {
        Instant::now() + self.timeout.min(LONGEST)
    }

    /// Waits for `work` until the deadline; what `host` did not finish by then is refused.
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
