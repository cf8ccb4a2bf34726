//! TLS to PostgreSQL, with the settings of libpq: `sslmode` is `disable`, `prefer` (default), `require` (encrypted,
//! the server not verified), `verify-ca` or `verify-full`; `sslrootcert` names a file of certificate authorities to
//! trust instead of the system's.

use std::sync::Arc;
use std::time::Duration;

use attestry_net::tls;
use percent_encoding::percent_decode_str;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Error;

/// Default keep-alive and timeout settings, by which a host that vanished is detected.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const USER_TIMEOUT: Duration = Duration::from_secs(10);

fn wrong(message: impl Into<String>) -> Error {
    Error::Other(message.into())
}

/// A database URL split into its TLS settings and the rest, which the driver parses.
struct Split {
    mode: String,
    authorities: Option<String>,
    rest: String,
    /// True when the URL has its own settings for standbys, keep-alives and the TCP user timeout.
    names_attributes: bool,
    names_keepalives: bool,
    names_user_timeout: bool,
}

impl Split {
    /// Reads both forms of libpq: `postgres://user@a:5432,b:5432/db?sslmode=…` and `host=a,b dbname=db sslmode=…`.
    fn of(url: &str) -> Self {
        let mut split = Self {
            mode: "prefer".to_owned(),
            authorities: None,
            rest: String::new(),
            names_attributes: false,
            names_keepalives: false,
            names_user_timeout: false,
        };
        let is_url = is_url(url);
        let (base, parameters) = if is_url { url.split_once('?').unwrap_or((url, "")) } else { ("", url) };
        let mut kept = Vec::new();
        for parameter in parameters.split(if is_url { '&' } else { ' ' }).filter(|one| !one.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = if is_url { percent_decode_str(value).decode_utf8_lossy() } else { value.into() };
            match name {
                "sslmode" => split.mode = value.into_owned(),
                "sslrootcert" => split.authorities = Some(value.into_owned()),
                // The driver expects one `host` parameter per host.
                "host" if is_url => {
                    kept.extend(
                        parameter["host=".len().min(parameter.len())..]
                            .split(',')
                            .map(|one| format!("host={one}")),
                    );
                }
                _ => {
                    split.names_attributes |= name == "target_session_attrs";
                    split.names_keepalives |= name.starts_with("keepalives");
                    split.names_user_timeout |= name == "tcp_user_timeout";
                    kept.push(parameter.to_owned());
                }
            }
        }
        split.rest = match (is_url, kept.is_empty()) {
            (true, true) => base.to_owned(),
            (true, false) => format!("{base}?{}", kept.join("&")),
            (false, _) => kept.join(" "),
        };
        split
    }
}

fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Returns true for a PostgreSQL connection string in one of libpq's forms.
pub fn is_postgres(text: &str) -> bool {
    is_url(text) || text.split(' ').any(|part| part.starts_with("host=") || part.starts_with("hostaddr="))
}

/// Splits a database URL into the driver's configuration and the TLS connector.
pub(crate) fn parse(url: &str) -> Result<(tokio_postgres::Config, MakeRustlsConnect), Error> {
    let split = Split::of(url);
    let mut config: tokio_postgres::Config = split.rest.parse().map_err(|error: tokio_postgres::Error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        wrong(format!("the database URL is not understood: {cause}"))
    })?;
    let (ssl_mode, verified) = match split.mode.as_str() {
        "disable" => (SslMode::Disable, false),
        "allow" | "prefer" => (SslMode::Prefer, split.authorities.is_some()),
        "require" => (SslMode::Require, split.authorities.is_some()),
        "verify-ca" | "verify-full" => (SslMode::Require, true),
        other => {
            return Err(wrong(format!(
                "sslmode={other} is not one of disable, prefer, require, verify-ca, verify-full"
            )));
        }
    };
    let (hosts, ports) = (config.get_hosts().len(), config.get_ports().len());
    if ports > 1 && ports != hosts {
        return Err(wrong(format!(
            "the database URL names {hosts} hosts and {ports} ports; give one port, or one for each host"
        )));
    }
    config.ssl_mode(ssl_mode);
    if config.get_hosts().len() > 1 && !split.names_attributes {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    if !split.names_keepalives {
        config.keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_INTERVAL).keepalives_retries(3);
    }
    if !split.names_user_timeout {
        config.tcp_user_timeout(USER_TIMEOUT);
    }
    Ok((config, MakeRustlsConnect::new(client_config(verified, split.authorities.as_deref())?)))
}

fn client_config(verified: bool, authorities: Option<&str>) -> Result<ClientConfig, Error> {
    let provider = tls::provider();
    let builder = tls::client(&provider).map_err(|error| wrong(error.to_string()))?;
    if !verified {
        return Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(EncryptOnly(provider)))
            .with_no_client_auth());
    }
    let roots = match authorities {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| wrong(format!("sslrootcert={path} cannot be read: {error}")))?;
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(certificates);
            roots
        }
        None => tls::system_roots(),
    };
    if roots.is_empty() {
        return Err(wrong(
            "no certificate authority to check the database's certificate with; set sslrootcert",
        ));
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// libpq's `require`: encrypts the connection but does not verify the server.
#[derive(Debug)]
struct EncryptOnly(Arc<CryptoProvider>);

impl ServerCertVerifier for EncryptOnly {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(url: &str) -> (usize, Vec<u16>, TargetSessionAttrs, SslMode) {
        let (config, _) = parse(url).expect(url);
        let ports = config.get_ports().to_vec();
        (config.get_hosts().len(), ports, config.get_target_session_attrs(), config.get_ssl_mode())
    }

    #[test]
    fn both_forms_may_name_several_hosts() {
        for url in [
            "postgres://u@a:5432,b:5433/db",
            "postgresql://u:p%40ss@a:5432,b:5433/db?sslmode=disable&target_session_attrs=read-write",
            "postgres:///db?host=a,b&port=5432,5433&sslmode=require",
            "host=a,b port=5432,5433 user=u dbname=db sslmode=disable",
        ] {
            let (hosts, ports, attributes, _) = hosts(url);
            assert_eq!((hosts, ports), (2, vec![5432, 5433]), "{url}");
            assert!(matches!(attributes, TargetSessionAttrs::ReadWrite), "{url}");
            assert!(is_postgres(url));
        }
        let (_, _, attributes, mode) = hosts("postgres://u@a,b/db?target_session_attrs=any&sslmode=disable");
        assert!(matches!(attributes, TargetSessionAttrs::Any) && mode == SslMode::Disable);
        assert!(matches!(hosts("postgres://u@a/db").2, TargetSessionAttrs::Any), "one host is what it is");
        assert!(!is_postgres("mysql://u@a/db"));
    }

    #[test]
    fn silent_hosts_are_noticed_unless_the_url_says_otherwise() {
        let (config, _) = parse("postgres://u@a/db").expect("a URL");
        assert_eq!(config.get_tcp_user_timeout(), Some(&USER_TIMEOUT));
        assert_eq!(config.get_keepalives_idle(), KEEPALIVE_IDLE);
        let (config, _) = parse("postgres://u@a/db?tcp_user_timeout=3000&keepalives_idle=7").expect("a URL");
        assert_ne!(config.get_tcp_user_timeout(), Some(&USER_TIMEOUT));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(7));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (url, part) in [
            ("postgres://u@a/db?sslmode=maybe", "sslmode=maybe"),
            ("postgres://u@a/db?colour=red", "colour"),
            ("postgres://u@a:x/db", "port"),
            ("postgres://u@a,b,c/db?port=1,2", "port"),
        ] {
            let error = parse(url).map(drop).expect_err(url).to_string();
            assert!(error.contains(part), "{url}: {error}");
        }
    }
}
