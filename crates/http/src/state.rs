//! What every handler can reach.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use attestry_app::Ctx;
use attestry_app::feed::Most;
use attestry_domain::Time;

use crate::answer::memory::ResponseMemory;
use crate::metrics::Metrics;
use crate::request::bodies::Budget;
use crate::request::limits::Limits;

/// Settings of the HTTP side.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The largest request body in bytes.
    pub body_limit: usize,
    /// How much memory all bodies being read may take together.
    pub body_memory: usize,
    /// Memory limit for all responses that are being made or sent.
    pub response_memory: usize,
    pub request_timeout: Duration,
    /// How long a stream is silent before a comment shows proxies that it lives.
    pub keep_alive: Duration,
    /// How many clients follow what happens at once, in all and of one organization.
    pub event_streams: Most,
    /// Origins of other web pages that may call the interface.
    pub cors_origins: Vec<String>,
    /// Addresses of proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// Requests a second for a key or session; 0 is no limit.
    pub rate_per_credential: u32,
    /// Requests a second for an address on routes without credentials; 0 is no limit.
    pub rate_per_address: u32,
    /// Whether people reach us by https, so that cookies are marked and browsers told.
    pub secure: bool,
    pub version: &'static str,
}

/// The state of the router. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Api(Arc<Inner>);

#[derive(Debug)]
pub struct Inner {
    pub ctx: Ctx,
    pub http: HttpSettings,
    pub limits: Limits,
    pub bodies: Budget,
    pub responses: ResponseMemory,
    pub metrics: Metrics,
    pub started: Time,
    /// The host of the address people use.
    pub own_host: String,
}

impl Api {
    pub fn new(ctx: Ctx, http: HttpSettings) -> Self {
        let limits = Limits::new(http.rate_per_credential, http.rate_per_address);
        let bodies = Budget::new(http.body_memory);
        let responses = ResponseMemory::new(http.response_memory);
        let started = ctx.now();
        let own_host = url::Url::parse(&ctx.settings.public_url).ok();
        let own_host = own_host.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let metrics = Metrics::default();
        Self(Arc::new(Inner { ctx, http, limits, bodies, responses, metrics, started, own_host }))
    }
}

impl Deref for Api {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
