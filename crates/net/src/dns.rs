//! Resolvers, and what their answers have in common.

use std::net::SocketAddr;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;

/// Creates a resolver for these name servers; if there are none, for those of the system.
pub fn resolver(
    servers: &[SocketAddr],
    configure: impl FnOnce(&mut ResolverOpts),
) -> Result<TokioResolver, NetError> {
    let mut builder = if servers.is_empty() {
        TokioResolver::builder_tokio()?
    } else {
        let servers = servers.iter().map(|server| name_server(*server)).collect();
        let config = ResolverConfig::from_name_servers(servers);
        TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
    };
    configure(builder.options_mut());
    builder.build()
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// Returns true for a response that says which records exist. Every other code is a failure, even with records.
pub fn is_answer(code: ResponseCode) -> bool {
    matches!(code, ResponseCode::NoError | ResponseCode::NXDomain)
}

/// Formats a name without its final dot; the root is `.`.
pub fn format_name(name: &Name) -> String {
    let name = name.to_ascii();
    name.strip_suffix('.').filter(|rest| !rest.is_empty()).unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_has_no_final_dot_except_the_root() {
        let format = |name: &str| format_name(&Name::from_ascii(name).expect(name));
        assert_eq!(
            ["www.example.com.", "example.com", "."].map(format),
            ["www.example.com", "example.com", "."]
        );
    }

    #[test]
    fn server_failure_is_no_answer() {
        assert!(is_answer(ResponseCode::NoError) && is_answer(ResponseCode::NXDomain));
        assert!(!is_answer(ResponseCode::ServFail) && !is_answer(ResponseCode::Refused));
    }
}
