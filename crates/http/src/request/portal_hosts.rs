//! Requests to a portal's own domain, on which only that portal is served.

use attestry_app::portals::domains;
use attestry_domain::id::OrganizationId;
use http::{HeaderMap, Uri, header};

use crate::answer::problem::Problem;
use crate::state::Api;

/// The routes served on a portal's own domain, in addition to the public operations under [`PREFIX`].
const ROUTES: &[&str] = &[
    "/",
    "/assets/{*path}",
    "/trust/{friendlyUrl}",
    "/trust/nda",
    "/trust/access",
    "/trust/confirm",
    "/trust/leave",
    "/v1/files/{ticket}",
];
const PREFIX: &str = "/v1/trust-access/";
const ADMIN: &str = "/v1/trust-access/admin/";

pub fn serves(route: Option<&str>) -> bool {
    route.is_some_and(|route| {
        ROUTES.contains(&route) || (route.starts_with(PREFIX) && !route.starts_with(ADMIN))
    })
}

/// Returns the host of a request, without its port.
fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let text = uri.host().or_else(|| headers.get(header::HOST)?.to_str().ok())?;
    let name = match text.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => text,
    };
    Some(name.trim_end_matches('.'))
}

/// Returns true if there is at most one `Host` header, and it is a host with or without a port.
fn is_sound(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(header::HOST).iter();
    let is_host = |value: &http::HeaderValue| {
        value.to_str().is_ok_and(|text| match text.rsplit_once(':') {
            _ if text.contains('@') => false,
            Some((name, port)) if !name.contains(':') => port.bytes().all(|b| b.is_ascii_digit()),
            _ => true,
        })
    };
    all.next().is_none_or(is_host) && all.next().is_none()
}

/// Returns the organization whose portal domain a request is for.
pub async fn owner(api: &Api, headers: &HeaderMap, uri: &Uri) -> Result<Option<OrganizationId>, Problem> {
    if !is_sound(headers) {
        return Err(Problem::new(
            "bad_request",
            "The Host header must be one host name, with or without a port.",
        ));
    }
    // IP addresses and names without a dot cannot be portal domains.
    let Some(host) = host(headers, uri).filter(|host| host.contains('.')) else { return Ok(None) };
    if host.parse::<std::net::IpAddr>().is_ok() || host.eq_ignore_ascii_case(&api.own_host) {
        return Ok(None);
    }
    Ok(domains::owner(&api.ctx, &host.to_ascii_lowercase()).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read() {
        for (given, wanted) in [
            ("trust.example.com", "trust.example.com"),
            ("trust.example.com:8443", "trust.example.com"),
            ("trust.example.com.", "trust.example.com"),
            ("trust.example.com..:80", "trust.example.com"),
            ("127.0.0.1:8080", "127.0.0.1"),
            ("[::1]:80", "[::1]"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, given.parse().expect("a header"));
            assert_eq!(host(&headers, &Uri::from_static("/x")), Some(wanted), "{given}");
        }
        let absolute = Uri::from_static("http://trust.example.com:80/x");
        assert_eq!(host(&HeaderMap::new(), &absolute), Some("trust.example.com"));
    }

    #[test]
    fn a_header_says_one_host() {
        let with = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::HOST, value.parse().expect("a header"));
            }
            is_sound(&headers)
        };
        assert!(
            with(&[])
                && with(&["a.example"])
                && with(&["a.example:80"])
                && with(&["[::1]:80"])
                && with(&["my_app"])
        );
        assert!(!with(&["a.example", "b.example"]) && !with(&["x@a.example"]) && !with(&["a.example:abc"]));
    }

    #[test]
    fn a_portal_is_served_and_nothing_else() {
        for route in ["/", "/v1/trust-access/{friendlyUrl}", "/v1/files/{ticket}", "/trust/nda"] {
            assert!(serves(Some(route)), "{route}");
        }
        let others =
            ["/v1/trust-access/admin/requests", "/v1/people", "/v1/health", "/setup", "/docs", "/metrics"];
        for route in others.map(Some).into_iter().chain([None]) {
            assert!(!serves(route), "{route:?}");
        }
    }
}
