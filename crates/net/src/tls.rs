//! TLS of clients, with one crypto provider and the certificate authorities of the system.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

/// Starts a configuration for TLS 1.2 and 1.3.
pub fn client(
    provider: &Arc<CryptoProvider>,
) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(Arc::clone(provider)).with_safe_default_protocol_versions()
}

/// Returns the certificate authorities of the system. Empty if it has none.
pub fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}
