//! TXT records that prove a domain.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::proto::rr::RecordType;

use crate::Failure;
use crate::lookups::{Found, Lookups, name, unlike};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Looks up TXT records.
#[derive(Debug)]
pub struct TextRecords(Lookups);

impl TextRecords {
    /// Uses these name servers; if there are none, those of the system.
    pub fn new(servers: Vec<SocketAddr>) -> Self {
        Self(Lookups::new(servers, TIMEOUT))
    }

    /// Describes what was found instead of a TXT record with this value; `None` if there is one. It must be at this very
    /// name: the owner of the target of a CNAME does not own the name.
    pub async fn missing(&self, domain: &str, value: &str) -> Result<Option<String>, Failure> {
        let Some(at) = name(domain) else {
            return Ok(Some(format!("{domain} is not a name, or too long for one.")));
        };
        let found = self.0.within(domain, self.0.look_up(&at, RecordType::TXT)).await;
        let reason = match found {
            Ok(Found::Records(records)) => unlike(&records, value),
            Ok(Found::Nothing | Found::NoSuchName) => Some(format!("No TXT record is found at {domain}.")),
            Err(failure) => return Err(failure),
        };
        if reason.is_some() {
            self.0.forget(&[at], &[RecordType::TXT]);
        }
        Ok(reason)
    }
}
