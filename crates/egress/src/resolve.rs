//! Resolves a host to addresses that are allowed.

use std::net::{IpAddr, SocketAddr};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use url::Host;

use crate::{Error, Parts, Refusal, address};

pub(crate) fn resolver(servers: &[SocketAddr]) -> Result<TokioResolver, Error> {
    let wrong = |error: NetError| Error::Resolver(error.to_string());
    let mut builder = if servers.is_empty() {
        TokioResolver::builder_tokio().map_err(wrong)?
    } else {
        let servers = servers.iter().map(|server| name_server(*server)).collect();
        let config = ResolverConfig::from_name_servers(servers);
        TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
    };
    let options = builder.options_mut();
    options.use_hosts_file = if servers.is_empty() { ResolveHosts::Always } else { ResolveHosts::Never };
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    // A look-up must return the current state.
    options.cache_size = 0;
    builder.build().map_err(wrong)
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// Makes a name fully qualified, so that no search list is applied.
pub(crate) fn complete(name: &str) -> String {
    format!("{name}.")
}

impl Parts {
    /// All addresses of a host. Fails if any of them is not allowed.
    pub(crate) async fn addresses(&self, host: &Host<&str>) -> Result<Vec<IpAddr>, Refusal> {
        let addresses = match host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => self.look_up(name).await?,
        };
        match addresses.iter().find(|address| !self.permits(**address)) {
            Some(address) => Err(Refusal::PrivateAddress { host: host.to_string(), address: *address }),
            None => Ok(addresses),
        }
    }

    fn permits(&self, address: IpAddr) -> bool {
        !address::is_metadata(address) && (self.allow_private_networks || address::is_public(address))
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Refusal> {
        let found = match self.resolver.lookup_ip(complete(name)).await {
            Ok(found) => found.iter().collect(),
            Err(error) if error.is_no_records_found() => Vec::new(),
            Err(error) => {
                tracing::debug!(name, %error, "look-up failed");
                return Err(Refusal::Lookup(name.to_owned()));
            }
        };
        if found.is_empty() { Err(Refusal::NoAddress(name.to_owned())) } else { Ok(found) }
    }
}
