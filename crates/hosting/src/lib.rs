//! Checks whether a custom domain points here, by DNS or through a hosting provider.
//!
//! A domain must pass two checks. It must be *verified*: its claimant has proved ownership. And it must not be
//! *misconfigured*: its name leads browsers to this installation. A [`Status`] has both results, and lists the
//! missing records with what was found instead.

mod dns;
mod failure;
mod lookups;
mod settings;
#[cfg(feature = "testing")]
pub mod testing;
mod texts;
mod vercel;
mod words;

use std::sync::Arc;

pub use failure::Failure;
pub use settings::{DnsSettings, Error, Settings, VercelSettings};
pub use texts::TextRecords;

/// The label before a domain at which its challenge is looked up.
pub const CHALLENGE_LABEL: &str = "_attestry-challenge";

/// A proof of ownership to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// A host name in canonical form: ASCII, lower case, no dot at the end.
    pub domain: &'a str,
    /// The required value of the domain's TXT record. A hosting provider has its own challenges.
    pub value: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// True if the challenge is satisfied: the domain belongs to its claimant.
    pub verified: bool,
    /// The records still to be created.
    pub verification: Vec<Record>,
    /// The host name that the domain must be a CNAME of.
    pub cname_target: Option<String>,
    /// True if the domain does not point here.
    pub misconfigured: bool,
}

/// A DNS record to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `TXT`, `CNAME`, `A` or `AAAA`; a hosting provider may require others.
    pub kind: String,
    /// The full name of the record.
    pub domain: String,
    pub value: String,
    /// A sentence about what was found instead.
    pub reason: String,
}

/// The domain checker. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hosting(Arc<Provider>);

#[derive(Debug)]
enum Provider {
    Dns(Box<dns::Dns>),
    Vercel(Box<vercel::Vercel>),
}

impl Hosting {
    pub fn new(settings: Settings) -> Result<Self, Error> {
        Ok(Self(Arc::new(match settings {
            Settings::Dns(settings) => Provider::Dns(Box::new(dns::Dns::new(settings)?)),
            Settings::Vercel(settings) => Provider::Vercel(Box::new(vercel::Vercel::new(settings)?)),
        })))
    }

    /// Checks a domain. DNS responses are cached for at most a minute and never past their TTL; those that fail a
    /// check are not cached, so that a fix shows immediately. Hosting providers are queried each time.
    pub async fn status(&self, challenge: &Challenge<'_>) -> Result<Status, Failure> {
        match &*self.0 {
            Provider::Dns(dns) => dns.status(challenge).await,
            Provider::Vercel(vercel) => vercel.status(challenge.domain).await,
        }
    }
}
