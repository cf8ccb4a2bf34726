//! Password hashing. One Argon2id hash takes 19 MiB and a core for some 30 ms, so few are computed concurrently.
//! Permits are shared fairly between networks: a flood of requests from one network delays another by a hash or two.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use attestry_domain::access::Origin;

use crate::core::error::Error;
use crate::core::permits::{FairPermits, Limits};

const LIMITS: Limits =
    Limits { waiting_per_key: 8, timeout: Duration::from_secs(10), ..Limits::of_requests(2) };
const RETRY_AFTER_SECONDS: u64 = 2;

/// The queue of passwords to hash, by network.
#[derive(Debug)]
pub struct Hashing {
    permits: FairPermits<Option<IpAddr>>,
    computed: AtomicU64,
}

impl Default for Hashing {
    fn default() -> Self {
        Self { permits: FairPermits::new(LIMITS), computed: AtomicU64::default() }
    }
}

impl Hashing {
    /// Returns the number of hashes computed so far.
    pub fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    pub(crate) async fn hash(&self, origin: &Origin, password: &str) -> Result<String, Error> {
        let password = password.to_owned();
        let hash = move || Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string());
        self.compute(origin, hash).await?.map_err(Error::internal)
    }

    /// Returns true if the password matches the hash. Without a hash the same work is done, so that the response time
    /// does not reveal whether the account exists.
    pub(crate) async fn check(
        &self,
        origin: &Origin,
        password: &str,
        hash: Option<String>,
    ) -> Result<bool, Error> {
        let password = password.to_owned();
        let check = move || {
            let argon = Argon2::default();
            match hash {
                Some(hash) => argon.verify_password(password.as_bytes(), hash.as_str()).is_ok(),
                None => argon.hash_password(password.as_bytes()).is_err(),
            }
        };
        self.compute(origin, check).await
    }

    async fn compute<T: Send + 'static>(
        &self,
        origin: &Origin,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let busy = Error::Overloaded {
            message: "The server is checking as many passwords as it can; try again in a moment.",
            retry_after: RETRY_AFTER_SECONDS,
        };
        let Ok(permit) = self.permits.acquire(origin.network()).await else { return Err(busy) };
        if origin.connection.is_closed() {
            return Err(busy);
        }
        self.computed.fetch_add(1, Ordering::Relaxed);
        permit.work(work).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_hashed_for_a_client_that_has_gone() {
        let (hashing, origin) = (Hashing::default(), Origin::command("a request"));
        assert_eq!(hashing.compute(&origin, || 1).await.unwrap(), 1);
        origin.connection.close();
        let skipped = hashing.compute(&origin, || panic!("it was computed")).await;
        assert!(matches!(skipped, Err(Error::Overloaded { .. })));
    }
}
