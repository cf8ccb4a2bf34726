//! HTTP clients for a service that the operator has configured.

use std::error::Error as _;

use reqwest::{Client, ClientBuilder, redirect};
use url::Url;

/// Starts a client for the host of a URL.
pub fn client(url: &Url) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(concat!("attestry/", env!("CARGO_PKG_VERSION")))
        // Credentials are only for the configured host.
        .redirect(redirect::Policy::none())
        // Other crates may enable these features.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    // A local service needs no certificate authorities, and there may be none.
    if url.scheme() == "https" { builder } else { builder.tls_certs_only([]) }
}

/// Returns the innermost cause, which contains no URL.
pub fn root_cause(error: reqwest::Error) -> Option<String> {
    let error = error.without_url();
    let mut cause = error.source()?;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Some(cause.to_string())
}

/// Returns the host of a URL, with its port unless that is the default.
pub fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_has_a_port_unless_it_is_the_default() {
        for (url, expected) in [
            ("https://ai.example.com/v1", "ai.example.com"),
            ("https://ai.example.com:443", "ai.example.com"),
            ("http://user@localhost:11434/v1", "localhost:11434"),
            ("http://[::1]:8000", "[::1]:8000"),
        ] {
            assert_eq!(host(&Url::parse(url).expect(url)), expected);
        }
    }
}
