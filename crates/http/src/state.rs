//! The state that all handlers share.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use attestry_app::Ctx;
use attestry_app::feed::StreamLimits;
use attestry_domain::Time;

use crate::answer::memory::ResponseMemory;
use crate::metrics::Metrics;
use crate::request::bodies::Budget;
use crate::request::limits::Limits;

/// The settings of the HTTP server.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The maximum size of a request body in bytes.
    pub body_limit: usize,
    /// The memory limit for all bodies that are being read, in bytes.
    pub body_memory: usize,
    /// The memory limit for all responses that are being built or sent, in bytes.
    pub response_memory: usize,
    pub request_timeout: Duration,
    /// The time after which an idle stream sends a comment, so that proxies do not close it.
    pub keep_alive: Duration,
    /// The maximum number of concurrent event streams, in total and per organization.
    pub event_streams: StreamLimits,
    /// Origins of other web pages that may call the API.
    pub cors_origins: Vec<String>,
    /// Addresses of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpAddr>,
    /// Requests per second for a key or session; 0 is no limit.
    pub rate_per_credential: u32,
    /// Requests per second for an address on routes without credentials; 0 is no limit.
    pub rate_per_address: u32,
    /// True if clients connect by https: cookies are marked as secure, and browsers get an HSTS header.
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
    /// The host of the server's public URL.
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
