//! Verification of certificates, and explanations for untrusted ones.

use std::sync::{Arc, Mutex, PoisonError};

use attestry_domain::Time;
use attestry_net::tls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};

use crate::Error;

/// The certificate authorities of the system and of the operator.
#[derive(Debug)]
pub(crate) struct Trust {
    provider: Arc<CryptoProvider>,
    verifier: Arc<WebPkiServerVerifier>,
    strict: Arc<ClientConfig>,
}

impl Trust {
    pub(crate) fn new(extra: Vec<CertificateDer<'static>>) -> Result<Self, Error> {
        let mut roots = tls::system_roots();
        for authority in extra {
            roots.add(authority).map_err(|error| Error::Authority(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(Error::NoAuthorities);
        }
        let provider = tls::provider();
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(|error| Error::Tls(error.to_string()))?;
        let mut strict = config(&provider, Arc::<WebPkiServerVerifier>::clone(&verifier))
            .map_err(|error| Error::Tls(error.to_string()))?;
        strict.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { provider, verifier, strict: Arc::new(strict) })
    }

    /// A configuration that accepts only trusted certificates.
    pub(crate) fn strict(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.strict)
    }

    /// A configuration that accepts any certificate and records the problem.
    pub(crate) fn watching(&self) -> Result<(Arc<ClientConfig>, Arc<Watch>), rustls::Error> {
        let watch = Arc::new(Watch { verifier: Arc::clone(&self.verifier), wrong: Mutex::default() });
        let config = config(&self.provider, Arc::<Watch>::clone(&watch))?;
        Ok((Arc::new(config), watch))
    }
}

/// Configures TLS 1.2 and 1.3 without session resumption, because a later connection may belong to another
/// organization.
fn config(
    provider: &Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
) -> Result<ClientConfig, rustls::Error> {
    let mut config =
        tls::client(provider)?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// Verifies the certificate but always continues the handshake. The server must still prove that it has the key.
#[derive(Debug)]
pub(crate) struct Watch {
    verifier: Arc<WebPkiServerVerifier>,
    wrong: Mutex<Option<rustls::Error>>,
}

impl Watch {
    /// The error that the verification returned.
    pub(crate) fn problem(&self) -> Option<rustls::Error> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerCertVerifier for Watch {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = self.verifier.verify_server_cert(certificate, intermediates, name, ocsp, now);
        *self.wrong.lock().unwrap_or_else(PoisonError::into_inner) = found.err();
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

fn moment(time: UnixTime) -> Time {
    Time::from_millis(i64::try_from(time.as_secs()).unwrap_or(i64::MAX).saturating_mul(1000))
}

/// Explains a certificate error in one sentence.
pub(crate) fn explain(wrong: &CertificateError) -> String {
    match wrong {
        CertificateError::Expired => "It has expired.".to_owned(),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("It expired at {}.", moment(*not_after))
        }
        CertificateError::NotValidYet => "It is not valid yet.".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("It is not valid before {}.", moment(*not_before))
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "It was issued for another name.".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "It was not issued by a trusted authority, or the server does not send the certificates between."
                .to_owned()
        }
        CertificateError::Revoked => "It was revoked.".to_owned(),
        CertificateError::BadSignature => "Its signature is wrong.".to_owned(),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "It is not meant for a server.".to_owned()
        }
        _ => "It does not follow the rules for certificates of servers.".to_owned(),
    }
}
