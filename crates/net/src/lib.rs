//! Shared parts of outgoing connections: TLS and its certificate authorities, resolvers, HTTP clients, and secrets for
//! their headers.

pub mod dns;
pub mod http;
mod secret;
pub mod tls;

pub use secret::Secret;
