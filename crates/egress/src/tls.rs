//! TLS handshakes that report the server's certificate. A server with an invalid certificate is inspected too: the
//! problem is reported and no data is sent.

use attestry_domain::Time;
use attestry_domain::automations::hosts::{AllowedHosts, canonical};
use attestry_domain::hash::{hex, sha256};
use rustls::ProtocolVersion;
use rustls::pki_types::CertificateDer;
use serde::{Deserialize, Serialize};
use url::Url;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::{Parts, Refusal, permission, trust};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TlsQuery {
    pub host: String,
    pub port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TlsAnswer {
    pub host: String,
    pub port: u16,
    /// The address that was connected to.
    pub address: String,
    /// `TLS 1.3` or `TLS 1.2`.
    pub protocol: String,
    /// True if a client that checks certificates would proceed.
    pub trusted: bool,
    /// The reason why it is not trusted.
    pub problem: Option<String>,
    /// The server's own certificate.
    pub certificate: Certificate,
    /// The number of certificates the server sent.
    pub chain_length: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    /// As in RFC 4514: `CN=example.com,O=Example`.
    pub subject: String,
    pub issuer: String,
    /// In hexadecimal.
    pub serial_number: String,
    pub not_before: Time,
    pub not_after: Time,
    pub dns_names: Vec<String>,
    /// The fingerprint, in hexadecimal.
    pub sha256: String,
}

pub(crate) async fn tls(parts: &Parts, hosts: &AllowedHosts, query: TlsQuery) -> Result<TlsAnswer, Refusal> {
    let host = canonical(&query.host).ok_or(Refusal::Name)?;
    let url = Url::parse(&format!("https://{host}:{}", query.port)).map_err(|_| Refusal::Name)?;
    permission::check(hosts, &url)?;
    parts.within(parts.deadline(), &host, shake_hands(parts, &url)).await
}

async fn shake_hands(parts: &Parts, url: &Url) -> Result<TlsAnswer, Refusal> {
    let (host, port) = (url.host().ok_or(Refusal::Name)?, url.port_or_known_default().ok_or(Refusal::Name)?);
    let name = || host.to_string();
    let connection = parts.connect(&host, port).await?;
    let (config, watch) = parts.trust.watching().map_err(|_| Refusal::Handshake(name()))?;
    let stream = parts.encrypt(&host, connection.stream, config).await?;
    let (_, session) = stream.get_ref();
    let chain = session.peer_certificates().unwrap_or_default();
    let leaf = chain.first().ok_or_else(|| Refusal::Handshake(name()))?;
    let certificate = read(leaf).ok_or_else(|| Refusal::UnreadableCertificate(name()))?;
    let problem = watch.problem().map(|wrong| describe(&wrong, &certificate, &name()));
    let protocol = match session.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
        Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
        _ => return Err(Refusal::Handshake(name())),
    };
    Ok(TlsAnswer {
        host: name(),
        port,
        address: connection.address.to_string(),
        protocol: protocol.to_owned(),
        trusted: problem.is_none(),
        problem,
        certificate,
        chain_length: chain.len(),
    })
}

/// Describes the problem, with details from the certificate.
fn describe(wrong: &rustls::Error, certificate: &Certificate, host: &str) -> String {
    use rustls::CertificateError::{NotValidForName, NotValidForNameContext, UnknownIssuer};
    let rustls::Error::InvalidCertificate(wrong) = wrong else {
        return "It cannot be verified.".to_owned();
    };
    match wrong {
        NotValidForName | NotValidForNameContext { .. } => match certificate.dns_names.as_slice() {
            [] => format!("It was not issued for {host}."),
            names => format!("It was issued for {}, not for {host}.", names.join(", ")),
        },
        UnknownIssuer | rustls::CertificateError::Other(_) if certificate.subject == certificate.issuer => {
            "It is signed by itself, not by a trusted authority.".to_owned()
        }
        other => trust::explain(other),
    }
}

fn read(certificate: &CertificateDer<'_>) -> Option<Certificate> {
    let parsed = x509_cert::Certificate::from_der(certificate).ok()?.tbs_certificate;
    let time = |time: x509_cert::time::Time| {
        let seconds = i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX);
        Time::from_millis(seconds.saturating_mul(1000))
    };
    let names = parsed.get::<SubjectAltName>().ok()?.map(|(_, names)| names.0).unwrap_or_default();
    Some(Certificate {
        subject: parsed.subject.to_string(),
        issuer: parsed.issuer.to_string(),
        serial_number: hex(parsed.serial_number.as_bytes()),
        not_before: time(parsed.validity.not_before),
        not_after: time(parsed.validity.not_after),
        dns_names: names
            .into_iter()
            .filter_map(|name| match name {
                GeneralName::DnsName(name) => Some(name.to_string()),
                _ => None,
            })
            .collect(),
        sha256: hex(&sha256(certificate)),
    })
}
