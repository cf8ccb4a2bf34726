//! Whether a custom domain leads here: by DNS, or as a hosting provider says.
//!
//! Two things are asked of a domain. It must be *verified*: whoever claims it has shown that it is theirs. And it must
//! not be *misconfigured*: what browsers find under its name is this installation. A [`Status`] tells both, and lists
//! the records that are still to be made with what was found instead.

mod dns;
mod failure;
mod settings;
#[cfg(feature = "testing")]
pub mod testing;
mod vercel;
mod words;

use std::sync::Arc;

pub use failure::Failure;
pub use settings::{DnsSettings, Error, Settings, Token, VercelSettings};

/// The label in front of a domain under which its challenge is looked up.
pub const CHALLENGE_LABEL: &str = "_attestry-challenge";

/// What is to be proved of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// A host name in its canonical form: ASCII, lower case, no dot at the end.
    pub domain: &'a str,
    /// What a TXT record of the domain must hold. A hosting provider has challenges of its own.
    pub value: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The challenge is met: the domain belongs to whoever claims it.
    pub verified: bool,
    /// The records that are still to be made.
    pub verification: Vec<Record>,
    /// The host name that the domain is to be a CNAME of.
    pub cname_target: Option<String>,
    /// The domain does not lead here.
    pub misconfigured: bool,
}

/// A record to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `TXT`, `CNAME`, `A` or `AAAA`; a hosting provider may ask for others.
    pub kind: String,
    /// The whole name that the record belongs to.
    pub domain: String,
    pub value: String,
    /// What was found instead, as a sentence.
    pub reason: String,
}

/// The way to find out. Cheap to clone.
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

    /// How it stands with a domain. What name servers say is remembered for at most a minute and never past its TTL; what
    /// is not as it should be is not remembered, so that whoever mends it sees it at once. A hosting provider is asked
    /// each time.
    pub async fn status(&self, challenge: &Challenge<'_>) -> Result<Status, Failure> {
        match &*self.0 {
            Provider::Dns(dns) => dns.status(challenge).await,
            Provider::Vercel(vercel) => vercel.status(challenge.domain).await,
        }
    }
}
