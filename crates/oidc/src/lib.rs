//! The relying party of OpenID Connect: discovery, the authorization code flow with PKCE, and the checks of tokens. The
//! protocol is `openidconnect`; requests leave through `attestry-egress`, which checks where a name leads.

mod client;
mod discovery;
mod failure;
mod logout;
mod token;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use attestry_domain::Time;
use attestry_egress::Egress;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

pub use client::{Authorization, Client, Tokens, sign_out_url};
pub use discovery::Provider;
pub use failure::Failure;
pub use logout::LogoutToken;
pub use token::{Claims, Expected};

/// The timeout of a request to a provider.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of bytes of an answer.
const BODY_LIMIT: usize = 256 * 1024;

/// Settings of the operator.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Allows providers with private and loopback addresses, and without TLS.
    pub allow_private_networks: bool,
    /// The name servers; if empty, those of the system are used.
    pub dns_servers: Vec<SocketAddr>,
    /// Certificate authorities to trust in addition to those of the operating system.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// The difference of clocks that is tolerated.
    pub clock_skew: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_private_networks: false,
            dns_servers: Vec::new(),
            extra_roots: Vec::new(),
            clock_skew: Duration::from_mins(1),
        }
    }
}

/// Reads the certificate authorities of a PEM file.
pub fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{} cannot be read: {error}", path.display());
    let all = CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))?;
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    if all.is_empty() { Err(format!("{} has no certificate", path.display())) } else { Ok(all) }
}

/// The relying party. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Oidc(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    egress: Egress,
    allow_private_networks: bool,
    clock_skew: Duration,
    /// The known providers by issuer.
    known: Mutex<HashMap<String, Slot>>,
}

/// A provider that is fetched by one request at a time.
type Slot = Arc<tokio::sync::Mutex<Cached>>;

#[derive(Debug, Default)]
struct Cached {
    known: Option<Known>,
    /// The last failure, and when it happened.
    failed: Option<(Failure, Time)>,
}

#[derive(Clone, Debug)]
struct Known {
    provider: Arc<Provider>,
    fetched_at: Time,
    /// When its keys were last fetched or, in vain, asked for.
    keys_at: Time,
}

/// The time for which metadata and keys are used without asking again.
const FRESH_FOR: Duration = Duration::from_hours(1);
/// The time for which they are used while the provider does not answer.
const STALE_FOR: Duration = Duration::from_hours(24);
/// The minimum interval between two requests for keys because of an unknown one.
const KEYS_INTERVAL: Duration = Duration::from_mins(1);
/// The time for which a provider that failed is not asked again, so that requests do not queue up for it.
const FAILED_FOR: Duration = Duration::from_secs(5);
/// The maximum number of cached providers.
const MAX_KNOWN: usize = 10_000;

impl Oidc {
    pub fn new(settings: Settings) -> Result<Self, attestry_egress::Error> {
        let egress = Egress::new(attestry_egress::Settings {
            allow_private_networks: settings.allow_private_networks,
            dns_servers: settings.dns_servers,
            extra_roots: settings.extra_roots,
            timeout: TIMEOUT,
            body_limit: BODY_LIMIT,
            redirects: 0,
        })?;
        Ok(Self(Arc::new(Parts {
            egress,
            allow_private_networks: settings.allow_private_networks,
            clock_skew: settings.clock_skew,
            known: Mutex::default(),
        })))
    }

    fn slot(&self, issuer: &str) -> Slot {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN && !known.contains_key(issuer) {
            known.clear();
        }
        Arc::clone(known.entry(issuer.to_owned()).or_default())
    }

    /// Returns the provider of an issuer, from the cache if it is fresh.
    pub async fn provider(&self, issuer: &str, now: Time) -> Result<Arc<Provider>, Failure> {
        let slot = self.slot(issuer);
        let mut cached = slot.lock().await;
        let is_fresh = |known: &&Known| now.since(known.fetched_at) < FRESH_FOR;
        if let Some(known) = cached.known.as_ref().filter(is_fresh) {
            return Ok(Arc::clone(&known.provider));
        }
        let failure = match &cached.failed {
            Some((failure, at)) if now.since(*at) < FAILED_FOR => failure.clone(),
            _ => match self.discover_exactly(issuer).await {
                Ok(provider) => {
                    let provider = Arc::new(provider);
                    let known = Known { provider: Arc::clone(&provider), fetched_at: now, keys_at: now };
                    *cached = Cached { known: Some(known), failed: None };
                    return Ok(provider);
                }
                Err(failure) => {
                    tracing::warn!(issuer, error = %failure, "an identity provider cannot be asked");
                    cached.failed = Some((failure.clone(), now));
                    failure
                }
            },
        };
        // The cached metadata serves for a while.
        let is_usable = |known: &&Known| now.since(known.fetched_at) < STALE_FOR;
        match cached.known.as_ref().filter(is_usable) {
            Some(known) => Ok(Arc::clone(&known.provider)),
            None => Err(failure),
        }
    }

    /// Returns the provider with keys fetched anew, because a token names an unknown one; `None` if they were asked for
    /// a moment ago, or cannot be fetched.
    async fn with_new_keys(&self, provider: &Provider, now: Time) -> Option<Arc<Provider>> {
        let slot = self.slot(provider.issuer());
        let mut cached = slot.lock().await;
        let known = cached.known.as_mut()?;
        if !known.provider.has_keys_of(provider) {
            // Another request has fetched them.
            return Some(Arc::clone(&known.provider));
        }
        if now.since(known.keys_at) < KEYS_INTERVAL && known.keys_at != known.fetched_at {
            return None;
        }
        known.keys_at = now.max(known.fetched_at.plus(Duration::from_millis(1)));
        match self.fetch_keys(&known.provider).await {
            Ok(keys) => {
                known.provider = Arc::new(known.provider.with_keys(keys));
                Some(Arc::clone(&known.provider))
            }
            Err(failure) => {
                tracing::warn!(issuer = provider.issuer(), error = %failure, "the keys of an identity provider");
                None
            }
        }
    }

    /// Forgets a provider, so that it is asked again.
    pub fn forget(&self, issuer: &str) {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).remove(issuer);
    }
}
