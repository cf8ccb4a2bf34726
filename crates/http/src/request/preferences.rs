//! Content negotiation by `Accept`, `Accept-Encoding` and `Accept-Language`.

use http::header::ACCEPT;
use http::{HeaderMap, HeaderName};

/// Returns the values of a header with their weights, in order. Values with the weight 0 are unacceptable and left
/// out.
pub fn listed<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = (&'a str, f32)> {
    let all = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).filter_map(|one| {
        let (word, weight) = one.split_once(';').unwrap_or((one, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|text| text.trim().parse().ok());
        Some((word.trim(), weight.unwrap_or(1.0))).filter(|(_, weight)| *weight > 0.0)
    })
}

/// Returns true if the client is a browser.
pub fn is_browser(headers: &HeaderMap) -> bool {
    listed(headers, &ACCEPT).any(|(kind, _)| kind.eq_ignore_ascii_case("text/html"))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::ACCEPT_ENCODING;

    use super::*;

    #[test]
    fn what_weighs_nothing_is_not_listed() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br;q=0.5, zstd;q=0"));
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("deflate ; q=0.1"));
        let found: Vec<_> = listed(&headers, &ACCEPT_ENCODING).collect();
        assert_eq!(found, [("gzip", 1.0), ("br", 0.5), ("deflate", 0.1)]);
    }

    #[test]
    fn a_browser_asks_for_pages() {
        let of = |value| HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(value))]);
        assert!(is_browser(&of("text/html,application/xhtml+xml,*/*;q=0.8")));
        assert!(!is_browser(&of("*/*")) && !is_browser(&of("application/json")));
        assert!(!is_browser(&HeaderMap::new()));
    }
}
