//! Tests against real servers on this machine: HTTP, TLS and DNS.

#![expect(clippy::expect_used, reason = "test code")]

mod addresses;
mod answers;
mod dns;
mod peers;
mod redirects;
mod requests;
mod tls;
