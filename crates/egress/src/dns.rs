//! DNS look-ups.

use attestry_domain::automations::hosts::{AllowedHosts, canonical};
use attestry_net::dns::{format_name, is_answer};
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use serde::{Deserialize, Serialize};
use url::Host;

use crate::resolve::complete;
use crate::{Parts, Refusal};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DnsQuery {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: DnsType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum DnsType {
    A,
    Aaaa,
    Caa,
    Cname,
    Mx,
    Ns,
    Txt,
}

impl DnsType {
    fn of_records(self) -> RecordType {
        match self {
            Self::A => RecordType::A,
            Self::Aaaa => RecordType::AAAA,
            Self::Caa => RecordType::CAA,
            Self::Cname => RecordType::CNAME,
            Self::Mx => RecordType::MX,
            Self::Ns => RecordType::NS,
            Self::Txt => RecordType::TXT,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DnsAnswer {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: DnsType,
    /// False if the name does not exist, or if it is an alias of a name that does not.
    pub exists: bool,
    /// Empty also when the name exists and has no records of this type.
    pub records: Vec<DnsRecord>,
}

/// A record's data. Names are written without a final dot; the root is `.`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DnsRecord {
    /// An address, a name, or the concatenated strings of a TXT record.
    Text(String),
    Mx {
        preference: u16,
        exchange: String,
    },
    Caa {
        critical: bool,
        tag: String,
        value: String,
    },
}

pub(crate) async fn dns(parts: &Parts, hosts: &AllowedHosts, query: DnsQuery) -> Result<DnsAnswer, Refusal> {
    let name = canonical(&query.name)
        .filter(|name| matches!(Host::parse(name), Ok(Host::Domain(_))))
        .ok_or(Refusal::Name)?;
    if !hosts.permits_name(&name) {
        return Err(Refusal::Host(name));
    }
    let failed = || Refusal::Lookup(name.clone());
    let look_up = parts.resolver.lookup(complete(&name), query.kind.of_records());
    let found = tokio::time::timeout(parts.timeout, look_up).await.map_err(|_| failed())?;
    let (exists, records) = match found {
        // An unknown response code comes with an answer, but it is a failure.
        Ok(found) if !is_answer(found.message().response_code) => return Err(failed()),
        Ok(found) => (true, found.answers().iter().filter_map(|record| read(record, query.kind)).collect()),
        Err(NetError::Dns(DnsError::NoRecordsFound(none))) if is_answer(none.response_code) => {
            (none.response_code == ResponseCode::NoError, Vec::new())
        }
        Err(error) => {
            tracing::debug!(name, %error, "look-up failed");
            return Err(failed());
        }
    };
    Ok(DnsAnswer { name, kind: query.kind, exists, records })
}

/// Converts a record if it is of the requested type.
fn read(record: &Record, kind: DnsType) -> Option<DnsRecord> {
    if record.record_type() != kind.of_records() {
        return None;
    }
    match &record.data {
        RData::A(address) => Some(DnsRecord::Text(address.to_string())),
        RData::AAAA(address) => Some(DnsRecord::Text(address.to_string())),
        RData::CNAME(name) => Some(DnsRecord::Text(format_name(name))),
        RData::NS(name) => Some(DnsRecord::Text(format_name(name))),
        RData::MX(mx) => {
            Some(DnsRecord::Mx { preference: mx.preference, exchange: format_name(&mx.exchange) })
        }
        RData::TXT(txt) => Some(DnsRecord::Text(text(&txt.txt_data.concat()))),
        RData::CAA(caa) => Some(DnsRecord::Caa {
            critical: caa.issuer_critical,
            tag: caa.tag.clone(),
            value: text(&caa.value),
        }),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
