//! Checks a URL against the organization's allow list.

use attestry_domain::automations::hosts::AllowedHosts;
use url::Url;

use crate::Refusal;

/// Normalizes a URL for the request: no fragment, and no dot at the end of the host.
pub(crate) fn tidy(mut url: Url) -> Option<Url> {
    url.set_fragment(None);
    if let Some(name) = url.domain().and_then(|name| name.strip_suffix('.')).map(str::to_owned) {
        url.set_host(Some(&name)).ok()?;
    }
    Some(url)
}

/// Rejects a URL that the list does not permit.
pub(crate) fn check(hosts: &AllowedHosts, url: &Url) -> Result<(), Refusal> {
    let plain = match url.scheme() {
        "http" => true,
        "https" => false,
        _ => return Err(Refusal::Url),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::Credentials);
    }
    let (host, port) = (host_of(url)?.to_owned(), url.port_or_known_default().ok_or(Refusal::Url)?);
    match (hosts.permits_url(url), hosts.permits_host(&host), plain) {
        (true, ..) => Ok(()),
        (_, false, _) => Err(Refusal::Host(host)),
        (_, _, true) => Err(Refusal::PlainHttp(url.port().map_or(host.clone(), |p| format!("{host}:{p}")))),
        (_, _, false) => Err(Refusal::Port { host, port }),
    }
}

/// The host as written in the URL.
pub(crate) fn host_of(url: &Url) -> Result<&str, Refusal> {
    url.host_str().filter(|host| !host.is_empty()).ok_or(Refusal::Url)
}
