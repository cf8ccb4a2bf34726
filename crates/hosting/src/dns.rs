//! Checks a domain by DNS: its challenge, and the host it points to.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use attestry_net::dns::{self, format_name, is_answer};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::ResolveHosts;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use tokio::time::timeout;

use crate::settings::bounded;
use crate::words::{has_addresses, listed, quoted};
use crate::{CHALLENGE_LABEL, Challenge, DnsSettings, Error, Failure, Record, Status};

/// The maximum number of CNAME records that are followed.
const MAX_CNAME_CHAIN: usize = 8;
/// The maximum time that a record is cached, unless its TTL is shorter.
const MAX_CACHE_TTL: Duration = Duration::from_mins(1);
/// The maximum time that the absence of a record is cached. It is short, because users check right after they create
/// a record.
const MAX_NEGATIVE_CACHE_TTL: Duration = Duration::from_secs(5);

pub(crate) struct Dns {
    servers: Vec<SocketAddr>,
    /// Created by the first look-up.
    resolver: OnceLock<TokioResolver>,
    /// The host name that domains must point to, parsed and as text.
    target: Name,
    cname_target: String,
    addresses: Vec<IpAddr>,
    timeout: Duration,
}

/// The result of looking up one record type of a name.
enum Found {
    Records(Vec<RData>),
    /// The name exists, but has no records of this type.
    Nothing,
    NoSuchName,
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
        let timeout = bounded(settings.timeout);
        let (servers, resolver) = (settings.servers, OnceLock::new());
        Ok(Self { servers, resolver, target, cname_target, addresses: settings.addresses, timeout })
    }

    pub(crate) async fn status(&self, challenge: &Challenge<'_>) -> Result<Status, Failure> {
        let both =
            async { tokio::try_join!(self.missing_proof(challenge), self.missing_way(challenge.domain)) };
        let (proof, way) = timeout(self.timeout, both).await.map_err(|_| {
            let (domain, seconds) = (challenge.domain, self.timeout.as_secs_f64());
            Failure::Down(format!("The name servers did not answer for {domain} within {seconds} s."))
        })??;
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
        let texts: Vec<_> = found
            .iter()
            .filter_map(|record| if let RData::TXT(txt) = record { Some(&txt.txt_data) } else { None })
            .collect();
        let is_value = |text: &[u8]| !value.is_empty() && bare(text) == value.as_bytes();
        if texts.iter().any(|parts| is_value(&parts.concat()) || parts.iter().any(|part| is_value(part))) {
            return Ok(None);
        }
        self.forget(&names, &[RecordType::CNAME, RecordType::TXT]);
        let found: Vec<_> = texts.iter().map(|parts| quoted(&parts.concat())).collect();
        let records = if found.len() == 1 { "record holds" } else { "records hold" };
        Ok(Some(format!("The TXT {records} {} instead.", listed(&found))))
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

    fn resolver(&self) -> Result<&TokioResolver, Failure> {
        if let Some(resolver) = self.resolver.get() {
            return Ok(resolver);
        }
        let made = resolver(&self.servers, self.timeout).map_err(|error| {
            Failure::Down(format!(
                "Domains cannot be checked because the server knows no name servers ({error}); its operator can set ATTESTRY_DNS_SERVERS."
            ))
        })?;
        Ok(self.resolver.get_or_init(|| made))
    }

    async fn look_up(&self, name: &Name, kind: RecordType) -> Result<Found, Failure> {
        match self.resolver()?.lookup(name.clone(), kind).await {
            // An unknown response code comes with an answer, but it is a failure.
            Ok(found) if !is_answer(found.message().response_code) => {
                Err(down(name, kind, &found.message().response_code))
            }
            Ok(found) => {
                let own = found.answers().iter().filter(|record| record.name == *name);
                let records: Vec<_> = own
                    .filter(|record| record.record_type() == kind)
                    .map(|record| record.data.clone())
                    .collect();
                Ok(if records.is_empty() { Found::Nothing } else { Found::Records(records) })
            }
            Err(NetError::Dns(DnsError::NoRecordsFound(none))) if is_answer(none.response_code) => {
                Ok(if none.response_code == ResponseCode::NXDomain {
                    Found::NoSuchName
                } else {
                    Found::Nothing
                })
            }
            Err(NetError::Dns(DnsError::ResponseCode(code))) => Err(down(name, kind, &code)),
            Err(error) => Err(down(name, kind, &error)),
        }
    }

    /// Invalidates the cache for these names, so that the next look-up queries the name servers.
    fn forget(&self, names: &[Name], kinds: &[RecordType]) {
        let Some(resolver) = self.resolver.get() else { return };
        for name in names {
            for kind in kinds {
                resolver.clear_lookup_cache(name.clone(), *kind);
            }
        }
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns")
            .field("target", &self.cname_target)
            .field("addresses", &self.addresses)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

fn resolver(servers: &[SocketAddr], timeout: Duration) -> Result<TokioResolver, NetError> {
    dns::resolver(servers, |options| {
        // Looks up what browsers elsewhere find, not the hosts file of this machine.
        options.use_hosts_file = ResolveHosts::Never;
        options.positive_max_ttl = Some(MAX_CACHE_TTL);
        options.negative_max_ttl = Some(MAX_NEGATIVE_CACHE_TTL);
        // Leaves time for a second attempt.
        options.timeout = timeout / 2;
    })
}

/// Parses a name as fully qualified, so that no search list is applied.
fn name(text: &str) -> Option<Name> {
    Name::from_ascii(text).ok().filter(|name| name.iter().len() > 0).map(|mut name| {
        name.set_fqdn(true);
        name
    })
}

fn written(name: &Name) -> String {
    format_name(&name.to_lowercase())
}

/// Strips white space and the quotation marks that some web forms leave around a value.
fn bare(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

fn down(name: &Name, kind: RecordType, reason: &dyn fmt::Display) -> Failure {
    let name = written(name);
    Failure::Down(format!("The name servers cannot tell the {kind} records of {name}: {reason}."))
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
