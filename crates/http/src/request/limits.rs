//! Rate limits: per key or session, and per client address on routes without credentials.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use attestry_domain::access::{Credential, network};
use attestry_domain::id::{DirectoryTokenId, OrganizationId};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::answer::problem::Problem;

/// The rate limits of mail that portal visitors request, per client address and per recipient: the burst, and the
/// interval after which one more mail is allowed.
const SENDER: (u32, Duration) = (30, Duration::from_mins(2));
const RECIPIENT: (u32, Duration) = (5, Duration::from_mins(12));

fn quota_of((burst, period): (u32, Duration)) -> Quota {
    let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
    Quota::with_period(period).unwrap_or(Quota::per_minute(NonZeroU32::MIN)).allow_burst(burst)
}

#[derive(Debug)]
pub struct Limits {
    credentials: Option<DefaultKeyedRateLimiter<u128>>,
    addresses: Option<DefaultKeyedRateLimiter<IpAddr>>,
    /// The clients that request mail, by address.
    senders: Option<DefaultKeyedRateLimiter<IpAddr>>,
    /// The recipients of such mail, by portal and e-mail address.
    recipients: DefaultKeyedRateLimiter<u64>,
}

impl Limits {
    pub fn new(per_credential: u32, per_address: u32) -> Self {
        let quota = |rate: u32, burst: u32| {
            NonZeroU32::new(rate).map(|rate| {
                Quota::per_second(rate)
                    .allow_burst(rate.saturating_mul(NonZeroU32::new(burst).unwrap_or(rate)))
            })
        };
        Self {
            credentials: quota(per_credential, 2).map(RateLimiter::keyed),
            addresses: quota(per_address, 5).map(RateLimiter::keyed),
            senders: NonZeroU32::new(per_address).map(|_| RateLimiter::keyed(quota_of(SENDER))),
            recipients: RateLimiter::keyed(quota_of(RECIPIENT)),
        }
    }

    pub fn check_credential(&self, credential: Credential) -> Result<(), Problem> {
        self.check_key(match credential {
            Credential::ApiKey(key) => key.as_u128(),
            Credential::Session(session) => session.as_u128(),
        })
    }

    fn check_key(&self, key: u128) -> Result<(), Problem> {
        let Some(limiter) = &self.credentials else { return Ok(()) };
        limiter.check_key(&key).map_err(|until| refused(until.wait_time_from(DefaultClock::default().now())))
    }

    pub fn check_directory(&self, token: DirectoryTokenId) -> Result<(), Problem> {
        self.check_key(token.as_u128())
    }

    pub fn check_address(&self, address: Option<IpAddr>) -> Result<(), Problem> {
        let (Some(limiter), Some(address)) = (&self.addresses, address) else { return Ok(()) };
        limiter
            .check_key(&network(address))
            .map_err(|until| refused(until.wait_time_from(DefaultClock::default().now())))
    }

    /// Checks the rate limits for a mail that a portal visitor requests. The request is counted the same way
    /// regardless of its outcome.
    pub fn check_mail(&self, from: Option<IpAddr>, portal: OrganizationId, to: &str) -> Result<(), Problem> {
        let now = DefaultClock::default();
        let mut hasher = DefaultHasher::new();
        (portal.as_u128(), to).hash(&mut hasher);
        let recipient = self.recipients.check_key(&hasher.finish());
        recipient.map_err(|until| refused(until.wait_time_from(now.now())))?;
        let (Some(limiter), Some(address)) = (&self.senders, from) else { return Ok(()) };
        limiter.check_key(&network(address)).map_err(|until| refused(until.wait_time_from(now.now())))
    }

    /// Removes expired counters.
    pub fn tidy(&self) {
        if let Some(limiter) = &self.credentials {
            limiter.retain_recent();
        }
        if let Some(limiter) = &self.addresses {
            limiter.retain_recent();
        }
        if let Some(limiter) = &self.senders {
            limiter.retain_recent();
        }
        self.recipients.retain_recent();
    }
}

fn refused(wait: Duration) -> Problem {
    let seconds = wait.as_secs() + 1;
    Problem {
        retry_after: Some(seconds),
        ..Problem::new("rate_limited", format!("Too many requests; wait {seconds} s and try again."))
    }
}
