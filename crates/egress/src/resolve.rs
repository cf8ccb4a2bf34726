//! Resolves a host to addresses that are allowed.

use std::net::{IpAddr, SocketAddr};

use attestry_net::dns;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, ResolveHosts};
use url::Host;

use crate::{Error, Parts, Refusal, address};

pub(crate) fn resolver(servers: &[SocketAddr]) -> Result<TokioResolver, Error> {
    dns::resolver(servers, |options| {
        options.use_hosts_file = if servers.is_empty() { ResolveHosts::Always } else { ResolveHosts::Never };
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        // A look-up must return the current state.
        options.cache_size = 0;
    })
    .map_err(|error| Error::Resolver(error.to_string()))
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
