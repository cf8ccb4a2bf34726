//! Checks a domain by DNS: its challenge, and the host it points to.

use std::fmt;
use std::net::IpAddr;

use hickory_resolver::proto::rr::{Name, RData, RecordType};

use crate::lookups::{Found, Lookups, name, unlike, written};
use crate::words::has_addresses;
use crate::{CHALLENGE_LABEL, Challenge, DnsSettings, Error, Failure, Record, Status};

/// The maximum number of CNAME records that are followed.
const MAX_CNAME_CHAIN: usize = 8;
pub(crate) struct Dns {
    lookups: Lookups,
    /// The host name that domains must point to, parsed and as text.
    target: Name,
    cname_target: String,
    addresses: Vec<IpAddr>,
}

/// A chain of CNAME records, starting with the name itself.
struct Chain {
    names: Vec<Name>,
    end: End,
}

enum End {
    /// The chain reached the requested name.
    Goal,
    /// The last name has no CNAME record.
    Name,
    NoSuchName,
    Loop,
    TooLong,
}

impl Dns {
    pub(crate) fn new(settings: DnsSettings) -> Result<Self, Error> {
        let cname_target = settings.target.trim_end_matches('.').to_ascii_lowercase();
        let target = name(&cname_target)
            .filter(|_| matches!(url::Host::parse(&cname_target), Ok(url::Host::Domain(_))))
            .ok_or(Error::Target(settings.target))?;
        let lookups = Lookups::new(settings.servers, settings.timeout);
        Ok(Self { lookups, target, cname_target, addresses: settings.addresses })
    }

    pub(crate) async fn status(&self, challenge: &Challenge<'_>) -> Result<Status, Failure> {
        let both =
            async { tokio::try_join!(self.missing_proof(challenge), self.missing_way(challenge.domain)) };
        let (proof, way) = self.lookups.within(challenge.domain, both).await?;
        Ok(Status {
            verified: proof.is_none(),
            misconfigured: !way.is_empty(),
            verification: proof.into_iter().chain(way).collect(),
            cname_target: Some(self.cname_target.clone()),
        })
    }

    /// Returns the TXT record to create, if no existing one satisfies the challenge.
    async fn missing_proof(&self, challenge: &Challenge<'_>) -> Result<Option<Record>, Failure> {
        let domain = format!("{CHALLENGE_LABEL}.{}", challenge.domain);
        let reason = match name(&domain).filter(|_| name(challenge.domain).is_some()) {
            Some(name) => self.unproven(&name, &domain, challenge.value).await?,
            None => Some(format!("{domain} is not a name, or too long for one.")),
        };
        let value = challenge.value.to_owned();
        Ok(reason.map(|reason| Record { kind: "TXT".to_owned(), domain, value, reason }))
    }

    /// Describes what was found instead of the value; `None` if the value was found.
    async fn unproven(&self, name: &Name, domain: &str, value: &str) -> Result<Option<String>, Failure> {
        let mut names = vec![name.clone()];
        let found = match self.look_up(name, RecordType::TXT).await {
            Ok(Found::Records(records)) => records,
            // There is no record, or it is at the target of a CNAME, or the name server reported a loop.
            nothing => {
                let chain = self.follow(name, None).await?;
                names = chain.names;
                if matches!(chain.end, End::Loop | End::TooLong) {
                    self.forget(&names, &[RecordType::CNAME, RecordType::TXT]);
                    return Ok(Some(endless(domain, &chain.end)));
                }
                let found = match names.as_slice() {
                    [_, .., last] => self.look_up(last, RecordType::TXT).await?,
                    _ => nothing?,
                };
                if let Found::Records(records) = found { records } else { Vec::new() }
            }
        };
        if found.is_empty() {
            self.forget(&names, &[RecordType::CNAME, RecordType::TXT]);
            return Ok(Some(format!("No TXT record is found at {domain}.")));
        }
        let reason = unlike(&found, value);
        if reason.is_some() {
            self.forget(&names, &[RecordType::CNAME, RecordType::TXT]);
        }
        Ok(reason)
    }

    /// Returns the records of which one would make the domain point here; empty if it does.
    async fn missing_way(&self, domain: &str) -> Result<Vec<Record>, Failure> {
        let cname = |reason| Record {
            kind: "CNAME".to_owned(),
            domain: domain.to_owned(),
            value: self.cname_target.clone(),
            reason,
        };
        let nowhere = || format!("{domain} does not exist.");
        let Some(start) = name(domain) else { return Ok(vec![cname(nowhere())]) };
        let chain = self.follow(&start, Some(&self.target)).await?;
        let [first, others @ ..] = chain.names.as_slice() else { return Ok(vec![cname(nowhere())]) };
        let last = others.last().unwrap_or(first);
        let (reason, accepted) = match chain.end {
            End::Goal => return Ok(Vec::new()),
            End::Loop | End::TooLong => (endless(domain, &chain.end), Vec::new()),
            End::NoSuchName if others.is_empty() => (nowhere(), Vec::new()),
            End::NoSuchName => (led_astray(domain, others), Vec::new()),
            End::Name => {
                let (found, accepted) = tokio::try_join!(self.addresses_of(last), self.accepted())?;
                let foreign: Vec<_> = found.iter().filter(|address| !accepted.contains(address)).collect();
                if foreign.is_empty() && !found.is_empty() {
                    return Ok(Vec::new());
                }
                let reason = if !others.is_empty() {
                    led_astray(domain, others)
                } else if foreign.is_empty() {
                    format!("{domain} has no CNAME, A or AAAA record.")
                } else {
                    has_addresses(domain, &foreign)
                };
                // The apex of a zone cannot be a CNAME.
                let at_root = others.is_empty() && self.is_root_of_zone(first).await?;
                (reason, if at_root { accepted } else { Vec::new() })
            }
        };
        self.forget(&chain.names, &[RecordType::CNAME, RecordType::A, RecordType::AAAA]);
        if accepted.is_empty() {
            return Ok(vec![cname(reason)]);
        }
        Ok(accepted
            .iter()
            .map(|address| Record {
                kind: if address.is_ipv4() { "A" } else { "AAAA" }.to_owned(),
                domain: domain.to_owned(),
                value: address.to_string(),
                reason: reason.clone(),
            })
            .collect())
    }

    /// The addresses that a domain may have.
    async fn accepted(&self) -> Result<Vec<IpAddr>, Failure> {
        if !self.addresses.is_empty() {
            return Ok(self.addresses.clone());
        }
        let chain = self.follow(&self.target, None).await?;
        match (chain.end, chain.names.last()) {
            (End::Name, Some(last)) => self.addresses_of(last).await,
            _ => Ok(Vec::new()),
        }
    }

    async fn addresses_of(&self, name: &Name) -> Result<Vec<IpAddr>, Failure> {
        let (v4, v6) =
            tokio::try_join!(self.look_up(name, RecordType::A), self.look_up(name, RecordType::AAAA))?;
        let records = |found| if let Found::Records(records) = found { records } else { Vec::new() };
        Ok(records(v4).iter().chain(&records(v6)).filter_map(RData::ip_addr).collect())
    }

    async fn look_up(&self, name: &Name, kind: RecordType) -> Result<Found, Failure> {
        self.lookups.look_up(name, kind).await
    }

    fn forget(&self, names: &[Name], kinds: &[RecordType]) {
        self.lookups.forget(names, kinds);
    }

    async fn is_root_of_zone(&self, name: &Name) -> Result<bool, Failure> {
        Ok(matches!(self.look_up(name, RecordType::SOA).await?, Found::Records(_)))
    }

    /// Follows CNAME records to their end or to the goal. Looks up each one separately, so that each is cached for
    /// its own TTL, and the target is known even if it does not exist.
    async fn follow(&self, start: &Name, goal: Option<&Name>) -> Result<Chain, Failure> {
        let mut names = Vec::new();
        let mut name = start.clone();
        let end = loop {
            if names.contains(&name) {
                break End::Loop;
            }
            names.push(name.clone());
            if goal.is_some_and(|goal| *goal == name) {
                break End::Goal;
            }
            name = match self.look_up(&name, RecordType::CNAME).await? {
                Found::NoSuchName => break End::NoSuchName,
                Found::Nothing => break End::Name,
                Found::Records(_) if names.len() > MAX_CNAME_CHAIN => break End::TooLong,
                Found::Records(records) => match records.first() {
                    Some(RData::CNAME(next)) => next.0.clone(),
                    _ => break End::Name,
                },
            };
        };
        Ok(Chain { names, end })
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns")
            .field("target", &self.cname_target)
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

fn endless(domain: &str, end: &End) -> String {
    match end {
        End::TooLong => format!("{domain} leads through more than {MAX_CNAME_CHAIN} CNAME records."),
        _ => format!("The CNAME records of {domain} form a loop."),
    }
}

/// Describes the targets of a domain's CNAME records.
fn led_astray(domain: &str, names: &[Name]) -> String {
    match names {
        [first, .., last] => {
            format!("{domain} is a CNAME of {}, which leads to {}.", written(first), written(last))
        }
        [only] => format!("{domain} is a CNAME of {}.", written(only)),
        [] => format!("{domain} does not lead here."),
    }
}
