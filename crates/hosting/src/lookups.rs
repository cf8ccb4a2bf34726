//! Look-ups of DNS records.

use std::fmt;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use attestry_net::dns::{self, format_name, is_answer};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::ResolveHosts;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};

use crate::Failure;
use crate::settings::bounded;
use crate::words::{listed, quoted};

/// The maximum time that a record is cached, unless its TTL is shorter.
const MAX_CACHE_TTL: Duration = Duration::from_mins(1);
/// The maximum time that the absence of a record is cached. It is short, because users check right after they create
/// a record.
const MAX_NEGATIVE_CACHE_TTL: Duration = Duration::from_secs(5);

pub(crate) struct Lookups {
    servers: Vec<SocketAddr>,
    /// Created by the first look-up.
    resolver: OnceLock<TokioResolver>,
    timeout: Duration,
}

/// The result of looking up one record type of a name.
pub(crate) enum Found {
    Records(Vec<RData>),
    /// The name exists, but has no records of this type.
    Nothing,
    NoSuchName,
}

impl Lookups {
    pub(crate) fn new(servers: Vec<SocketAddr>, timeout: Duration) -> Self {
        Self { servers, resolver: OnceLock::new(), timeout: bounded(timeout) }
    }

    /// Runs all look-ups of a domain, within the timeout.
    pub(crate) async fn within<T>(
        &self,
        domain: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::time::timeout(self.timeout, work).await.map_err(|_| {
            let seconds = self.timeout.as_secs_f64();
            Failure::Down(format!("The name servers did not answer for {domain} within {seconds} s."))
        })?
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

    pub(crate) async fn look_up(&self, name: &Name, kind: RecordType) -> Result<Found, Failure> {
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
    pub(crate) fn forget(&self, names: &[Name], kinds: &[RecordType]) {
        let Some(resolver) = self.resolver.get() else { return };
        for name in names {
            for kind in kinds {
                resolver.clear_lookup_cache(name.clone(), *kind);
            }
        }
    }
}

impl fmt::Debug for Lookups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").field("timeout", &self.timeout).finish_non_exhaustive()
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
pub(crate) fn name(text: &str) -> Option<Name> {
    Name::from_ascii(text).ok().filter(|name| name.iter().len() > 0).map(|mut name| {
        name.set_fqdn(true);
        name
    })
}

pub(crate) fn written(name: &Name) -> String {
    format_name(&name.to_lowercase())
}

/// Strips white space and the quotation marks that some web forms leave around a value.
fn bare(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// Describes the TXT records that were found instead of the value; `None` if one has it.
pub(crate) fn unlike(found: &[RData], value: &str) -> Option<String> {
    let texts: Vec<_> = found
        .iter()
        .filter_map(|record| if let RData::TXT(txt) = record { Some(&txt.txt_data) } else { None })
        .collect();
    let is_value = |text: &[u8]| !value.is_empty() && bare(text) == value.as_bytes();
    if texts.iter().any(|parts| is_value(&parts.concat()) || parts.iter().any(|part| is_value(part))) {
        return None;
    }
    let found: Vec<_> = texts.iter().map(|parts| quoted(&parts.concat())).collect();
    let records = if found.len() == 1 { "record holds" } else { "records hold" };
    Some(format!("The TXT {records} {} instead.", listed(&found)))
}

fn down(name: &Name, kind: RecordType, reason: &dyn fmt::Display) -> Failure {
    let name = written(name);
    Failure::Down(format!("The name servers cannot tell the {kind} records of {name}: {reason}."))
}
