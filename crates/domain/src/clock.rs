//! Injected time and randomness. A fixed clock and a seeded source make ids and times in tests predictable; no other
//! code may ask the system for either.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::id::{Id, Kind};
use crate::time::Time;

/// A source of the current time.
pub trait Clock: Send + Sync + fmt::Debug {
    fn now(&self) -> Time;
}

/// A source of randomness, suitable for secrets.
pub trait Entropy: Send + Sync + fmt::Debug {
    fn fill(&self, bytes: &mut [u8]);
}

#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system for the time")]
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock for tests that changes only when it is set or advanced.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(time: Time) -> Self {
        Self(AtomicI64::new(time.as_millis()))
    }

    /// Sets the clock, also to an earlier time.
    pub fn set(&self, time: Time) {
        self.0.store(time.as_millis(), Ordering::SeqCst);
    }

    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// The random generator of the cryptographic library.
#[derive(Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Without randomness no secret is safe, so the process aborts.
        #[expect(clippy::disallowed_methods, reason = "the one place that asks the system for randomness")]
        if aws_lc_rs::rand::fill(bytes).is_err() {
            std::process::abort();
        }
    }
}

/// Generates UUIDv7 ids that strictly increase within one process, even within one millisecond or when the clock
/// steps back.
#[derive(Clone, Debug)]
pub struct Ids {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    last: Arc<Mutex<u128>>,
}

impl Ids {
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy, last: Arc::default() }
    }

    pub fn next<K: Kind>(&self) -> Id<K> {
        let mut random = [0_u8; 10];
        self.entropy.fill(&mut random);
        // The top bit of the random tail stays free, so that adding one never reaches the variant.
        random[2] &= 0x1f;
        let millis = u64::try_from(self.clock.now().as_millis()).unwrap_or(0);
        let fresh = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().as_u128();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = if fresh > *last { fresh } else { *last + 1 };
        Id::from_u128(*last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::MemberId;

    #[test]
    fn ids_increase_while_the_clock_stands_still() {
        let clock = Arc::new(ManualClock::at(Time::from_millis(1_700_000_000_000)));
        let ids = Ids::new(clock, Arc::new(SystemEntropy));
        let mut last: MemberId = ids.next();
        for _ in 0..10_000 {
            let next = ids.next();
            assert!(next > last);
            last = next;
        }
    }
}
