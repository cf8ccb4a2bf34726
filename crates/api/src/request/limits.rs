//! Rate limits: per key or session, and per address on routes without credentials.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use attestry_domain::access::{Credential, network};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::answer::problem::Problem;

#[derive(Debug)]
pub(crate) struct Limits {
    credentials: Option<DefaultKeyedRateLimiter<u128>>,
    addresses: Option<DefaultKeyedRateLimiter<IpAddr>>,
}

impl Limits {
    pub(crate) fn new(per_credential: u32, per_address: u32) -> Self {
        let quota = |rate: u32, burst: u32| {
            NonZeroU32::new(rate).map(|rate| {
                Quota::per_second(rate)
                    .allow_burst(rate.saturating_mul(NonZeroU32::new(burst).unwrap_or(rate)))
            })
        };
        Self {
            credentials: quota(per_credential, 2).map(RateLimiter::keyed),
            addresses: quota(per_address, 5).map(RateLimiter::keyed),
        }
    }

    pub(crate) fn check_credential(&self, credential: Credential) -> Result<(), Problem> {
        let Some(limiter) = &self.credentials else { return Ok(()) };
        let key = match credential {
            Credential::ApiKey(key) => key.as_u128(),
            Credential::Session(session) => session.as_u128(),
        };
        limiter.check_key(&key).map_err(|until| refused(until.wait_time_from(DefaultClock::default().now())))
    }

    pub(crate) fn check_address(&self, address: Option<IpAddr>) -> Result<(), Problem> {
        let (Some(limiter), Some(address)) = (&self.addresses, address) else { return Ok(()) };
        limiter
            .check_key(&network(address))
            .map_err(|until| refused(until.wait_time_from(DefaultClock::default().now())))
    }

    /// Forgets who has not been here lately.
    pub(crate) fn tidy(&self) {
        if let Some(limiter) = &self.credentials {
            limiter.retain_recent();
        }
        if let Some(limiter) = &self.addresses {
            limiter.retain_recent();
        }
    }
}

fn refused(wait: Duration) -> Problem {
    let seconds = wait.as_secs() + 1;
    Problem {
        retry_after: Some(seconds),
        ..Problem::new("rate_limited", format!("Too many requests; wait {seconds} s and try again."))
    }
}
