//! Connections to checked addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

use crate::{Parts, Refusal, trust};

/// The timeout for connecting to one address before the next is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// An open connection and its remote address.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) address: IpAddr,
}

impl Parts {
    /// Connects to the first address of the host that accepts the connection.
    pub(crate) async fn connect(&self, host: &Host<&str>, port: u16) -> Result<Connection, Refusal> {
        for address in self.addresses(host).await? {
            let checked = SocketAddr::new(address, port);
            let target = self.detours.get(&checked).copied().unwrap_or(checked);
            match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(target)).await {
                Ok(Ok(stream)) => {
                    // Sends small messages without delay; a failure only makes them slower.
                    let _ = stream.set_nodelay(true);
                    return Ok(Connection { stream, address });
                }
                Ok(Err(error)) => tracing::debug!(%address, port, %error, "no connection"),
                Err(_) => tracing::debug!(%address, port, "no connection in time"),
            }
        }
        Err(Refusal::Unreachable(host.to_string()))
    }

    /// Performs the TLS handshake for the name of the host, regardless of the address.
    pub(crate) async fn encrypt(
        &self,
        host: &Host<&str>,
        stream: TcpStream,
        config: Arc<ClientConfig>,
    ) -> Result<TlsStream<TcpStream>, Refusal> {
        let name = match host {
            Host::Domain(name) => ServerName::try_from((*name).to_owned()).map_err(|_| Refusal::Name)?,
            Host::Ipv4(address) => ServerName::from(IpAddr::V4(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::V6(*address)),
        };
        TlsConnector::from(config).connect(name, stream).await.map_err(|error| {
            tracing::debug!(%host, %error, "no TLS");
            match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(rustls::Error::InvalidCertificate(wrong)) => {
                    Refusal::Certificate { host: host.to_string(), problem: trust::explain(wrong) }
                }
                _ => Refusal::Handshake(host.to_string()),
            }
        })
    }
}
