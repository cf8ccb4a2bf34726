//! TLS certificates are checked against the authorities of the system.

use std::net::Ipv4Addr;
use std::sync::Arc;

use attestry_ai::Failure;
use attestry_ai::fake::Reply;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::{KINDS, meet_with, refused};

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused() {
    let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(identity.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![identity.cert.der().clone()], key)
        .expect("an identity");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let listening = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            assert!(acceptor.accept(stream).await.is_err(), "the client does not go on");
        }
    });
    for kind in KINDS {
        let (fake, provider) = meet_with(kind, [Reply::text(["yes"])], |settings| {
            settings.base_url = format!("https://localhost:{port}/v1").parse().expect("a URL");
        })
        .await;
        let Failure::Unreachable { reason: Some(reason), .. } = refused(&provider).await else {
            panic!("not unreachable")
        };
        assert!(reason.contains("certificate"), "{reason}");
        assert_eq!(fake.connections(), 0);
    }
    assert!(!listening.is_finished(), "no handshake was finished");
    listening.abort();
}
