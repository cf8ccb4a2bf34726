//! Rules for headers: those that a script may set, and those that are sent to another origin.

use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH,
    CONTENT_LOCATION, CONTENT_TYPE, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::Refusal;

/// The maximum number of request headers, and of bytes in all of them.
const COUNT: usize = 100;
const LENGTH: usize = 32 * 1024;

/// Headers of the connection, of its framing, or of the client itself.
const MANAGED: &[HeaderName] =
    &[ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// More of these, for which the library has no constant.
const MANAGED_NAMES: &[&str] = &["http2-settings", "keep-alive"];

/// The headers that are sent to another origin. Any other header may carry a secret.
const HARMLESS: &[HeaderName] = &[ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT];

/// Headers that describe a body.
const BODY_HEADERS: &[HeaderName] = &[CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE];

/// Parses and checks the headers of a script.
pub(crate) fn read(headers: &[(String, String)]) -> Result<HeaderMap, Refusal> {
    let length: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > COUNT || length > LENGTH {
        return Err(Refusal::Headers);
    }
    let mut read = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Refusal::HeaderName)?;
        if is_managed(&name) {
            return Err(Refusal::Header(name.to_string()));
        }
        let value = HeaderValue::from_str(value).map_err(|_| Refusal::HeaderValue(name.to_string()))?;
        read.append(name, value);
    }
    Ok(read)
}

fn is_managed(name: &HeaderName) -> bool {
    MANAGED.contains(name) || MANAGED_NAMES.contains(&name.as_str()) || name.as_str().starts_with("proxy-")
}

/// Removes all headers that another origin must not see.
pub(crate) fn for_another_origin(headers: &mut HeaderMap) {
    let secret: Vec<_> = headers.keys().filter(|name| !HARMLESS.contains(name)).cloned().collect();
    for name in secret {
        headers.remove(name);
    }
}

/// Removes the headers that describe a body.
pub(crate) fn without_body(headers: &mut HeaderMap) {
    for name in BODY_HEADERS {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: &str) -> Result<HeaderMap, Refusal> {
        read(&[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn headers_of_the_connection_are_refused() {
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Connection",
            "Keep-Alive",
            "TE",
            "Trailer",
            "Expect",
            "Upgrade",
            "HTTP2-Settings",
            "Proxy-Authorization",
            "Proxy-Connection",
            "proxy-x",
            "Accept-Encoding",
        ] {
            assert_eq!(one(name, "x"), Err(Refusal::Header(name.to_ascii_lowercase())), "{name}");
        }
        for name in ["Authorization", "Cookie", "X-Api-Key", "Accept", "If-None-Match"] {
            assert!(one(name, "x").is_ok(), "{name}");
        }
    }

    #[test]
    fn names_and_values_are_checked() {
        for name in ["", "a b", "a:b", "a\r\nb", "ä"] {
            assert_eq!(one(name, "x"), Err(Refusal::HeaderName), "{name:?}");
        }
        for value in ["a\r\nHost: evil", "a\nb", "a\0b", "a\u{7f}b"] {
            assert_eq!(one("x-key", value), Err(Refusal::HeaderValue("x-key".to_owned())), "{value:?}");
        }
        assert_eq!(one("x", &"y".repeat(LENGTH)), Err(Refusal::Headers));
        let header = ("x".to_owned(), "y".to_owned());
        assert!(read(&vec![header.clone(); COUNT]).is_ok());
        assert_eq!(read(&vec![header; COUNT + 1]), Err(Refusal::Headers));
    }
}
