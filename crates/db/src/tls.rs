//! TLS to PostgreSQL, with the words of libpq: `sslmode` is `disable`, `prefer` (default), `require`
//! (encrypted, the server not checked), `verify-ca` or `verify-full`; `sslrootcert` names a file of
//! authorities to trust instead of the system's.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

use crate::error::Error;

fn wrong(message: impl Into<String>) -> Error {
    Error::Other(message.into())
}

/// Splits a database URL into the driver's settings and the TLS side of it.
pub(crate) fn parse(url: &str) -> Result<(tokio_postgres::Config, MakeRustlsConnect), Error> {
    let mut parsed =
        Url::parse(url).map_err(|error| wrong(format!("the database URL is not a URL: {error}")))?;
    let (mut mode, mut authorities, mut rest) = ("prefer".to_owned(), None, Vec::new());
    for (name, value) in parsed.query_pairs() {
        match name.as_ref() {
            "sslmode" => mode = value.into_owned(),
            "sslrootcert" => authorities = Some(value.into_owned()),
            _ => rest.push((name.into_owned(), value.into_owned())),
        }
    }
    parsed.set_query(None);
    if !rest.is_empty() {
        parsed.query_pairs_mut().extend_pairs(rest);
    }
    let mut config: tokio_postgres::Config = parsed
        .as_str()
        .parse()
        .map_err(|error| wrong(format!("the database URL is not understood: {error}")))?;
    let (ssl_mode, verified) = match mode.as_str() {
        "disable" => (SslMode::Disable, false),
        "allow" | "prefer" => (SslMode::Prefer, authorities.is_some()),
        "require" => (SslMode::Require, authorities.is_some()),
        "verify-ca" | "verify-full" => (SslMode::Require, true),
        other => {
            return Err(wrong(format!(
                "sslmode={other} is not one of disable, prefer, require, verify-ca, verify-full"
            )));
        }
    };
    config.ssl_mode(ssl_mode);
    Ok((config, MakeRustlsConnect::new(client_config(verified, authorities.as_deref())?)))
}

fn client_config(verified: bool, authorities: Option<&str>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?;
    if !verified {
        return Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(EncryptOnly(provider)))
            .with_no_client_auth());
    }
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| wrong(format!("sslrootcert={path} cannot be read: {error}")))?;
            roots.add_parsable_certificates(certificates);
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(wrong(
            "no certificate authority to check the database's certificate with; set sslrootcert",
        ));
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// libpq's `require`: nobody on the way can read along, but the server is not asked who it is.
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
