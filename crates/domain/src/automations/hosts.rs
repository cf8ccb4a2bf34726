//! The hosts that the automations of an organization may reach. An entry is a host with its port; the scheme is https
//! unless `http://` is written out. The addresses that a name resolves to are checked on connecting.

use std::fmt;
use std::net::Ipv6Addr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use url::{Host, Url};

use crate::json::JsonSchema;
use crate::text::Parse;

const EXAMPLES: &str =
    "a host such as api.example.com, api.example.com:8443, *.example.com or http://intranet.example.com:8080";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// One entry: a host, or all subdomains of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AllowedHost {
    scheme: Scheme,
    /// True when the entry matches the subdomains of `host` but not `host` itself.
    below: bool,
    /// In lower case, as ASCII, without a dot at the end; an IPv6 address in brackets.
    host: String,
    port: u16,
}

impl AllowedHost {
    /// The maximum length of an entry in characters.
    pub const LENGTH: usize = 255;

    fn matches(&self, host: &str) -> bool {
        if self.below {
            host.strip_suffix(self.host.as_str())
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|below| !below.is_empty())
        } else {
            host == self.host
        }
    }
}

/// Normalizes a host: names become lower-case ASCII without a trailing dot, addresses take their usual notation.
pub fn canonical(host: &str) -> Option<String> {
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return Some(format!("[{address}]"));
    }
    match Host::parse(host).ok()? {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name);
            let fine = |label: &str| {
                (1..=63).contains(&label.len())
                    && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            };
            (name.len() <= 253 && name.split('.').all(fine)).then(|| name.to_owned())
        }
        address => Some(address.to_string()),
    }
}

/// Splits the host from the port.
fn split(text: &str) -> Result<(&str, Option<u16>), String> {
    let end = if text.starts_with('[') { text.find(']').map_or(text.len(), |at| at + 1) } else { 0 };
    let Some(colon) = text[end..].find(':').map(|at| end + at) else { return Ok((text, None)) };
    let (host, port) = (&text[..colon], &text[colon + 1..]);
    if port.contains(':') {
        return Err("must have an IPv6 address in brackets, such as [2001:db8::1]:8443".to_owned());
    }
    match port.parse() {
        Ok(number) if number > 0 && port.bytes().all(|b| b.is_ascii_digit()) => Ok((host, Some(number))),
        _ => Err("must have a port from 1 to 65535 after the colon".to_owned()),
    }
}

impl Parse for AllowedHost {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("must be {EXAMPLES}");
        let must_not = |what: &str| Err(format!("must not have {what}; write {EXAMPLES}"));
        let text = text.trim();
        if text.chars().count() > Self::LENGTH {
            return Err(format!("must have at most {} characters", Self::LENGTH));
        }
        let (scheme, rest) = match text.split_once("://") {
            None => (Scheme::Https, text),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
            Some(_) => {
                return Err(format!("must not have another scheme than https or http; write {EXAMPLES}"));
            }
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains('@') {
            return must_not("a user name or password");
        }
        if rest.contains('?') || rest.contains('#') {
            return must_not("a query");
        }
        if rest.contains('/') {
            return must_not("a path");
        }
        if rest.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\' || c == '%') {
            return Err(wrong());
        }
        let (below, rest) = match rest.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        if rest.contains('*') {
            return Err(format!("may have a * only as its first part; write {EXAMPLES}"));
        }
        let (host, port) = split(rest)?;
        let host = canonical(host).ok_or_else(wrong)?;
        if below && (!host.contains('.') || !matches!(Host::parse(&host), Ok(Host::Domain(_)))) {
            return Err(
                "must have a name of at least two parts after the *, such as *.example.com".to_owned()
            );
        }
        Ok(Self { scheme, below, host, port: port.unwrap_or(scheme.port()) })
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scheme == Scheme::Http {
            f.write_str("http://")?;
        }
        if self.below {
            f.write_str("*.")?;
        }
        f.write_str(&self.host)?;
        if self.port != self.scheme.port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

impl Serialize for AllowedHost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AllowedHost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for AllowedHost {
    fn json_schema() -> Value {
        json!({
            "type": "string", "minLength": 1, "maxLength": Self::LENGTH, "examples": ["api.example.com"]
        })
    }
}

/// All entries of an organization. An empty list permits no host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AllowedHosts(Vec<AllowedHost>);

impl AllowedHosts {
    /// The maximum number of entries in a list.
    pub const COUNT: usize = 200;

    /// Removes duplicates and preserves the order.
    pub fn new(entries: impl IntoIterator<Item = AllowedHost>) -> Result<Self, String> {
        let mut hosts = Vec::new();
        for entry in entries {
            if !hosts.contains(&entry) {
                hosts.push(entry);
            }
            if hosts.len() > Self::COUNT {
                return Err(format!("must have at most {} hosts", Self::COUNT));
            }
        }
        Ok(Self(hosts))
    }

    /// Parses entries. An error message starts with the invalid entry.
    pub fn parse<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Result<Self, String> {
        let read = |entry: T| {
            let entry = entry.as_ref();
            AllowedHost::parse(entry).map_err(|wrong| format!("{entry:?} {wrong}"))
        };
        Self::new(entries.into_iter().map(read).collect::<Result<Vec<_>, _>>()?)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, AllowedHost> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true when an entry has the scheme, the host and the port of `url`.
    pub fn permits_url(&self, url: &Url) -> bool {
        let Some(host) = url.host_str().and_then(canonical) else { return false };
        self.iter().any(|entry| {
            entry.scheme.name() == url.scheme()
                && Some(entry.port) == url.port_or_known_default()
                && entry.matches(&host)
        })
    }

    /// Returns true when an entry has this host, with any scheme and port.
    pub fn permits_host(&self, host: &str) -> bool {
        canonical(host).is_some_and(|host| self.iter().any(|entry| entry.matches(&host)))
    }

    /// Returns true when DNS records of this name may be looked up: those of a permitted host, and those stored for
    /// it under names of their own, such as `_dmarc.example.com` and `mail._domainkey.example.com`.
    pub fn permits_name(&self, name: &str) -> bool {
        let Some(name) = canonical(name) else { return false };
        let labels: Vec<&str> = name.split('.').collect();
        let from = labels.iter().rposition(|label| label.starts_with('_')).map_or(0, |at| at + 1);
        self.permits_host(&name) || self.permits_host(&labels[from..].join("."))
    }
}

impl<'a> IntoIterator for &'a AllowedHosts {
    type Item = &'a AllowedHost;
    type IntoIter = std::slice::Iter<'a, AllowedHost>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'de> Deserialize<'de> for AllowedHosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(Vec::<String>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for AllowedHosts {
    fn json_schema() -> Value {
        json!({"type": "array", "items": AllowedHost::json_schema(), "maxItems": Self::COUNT})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        AllowedHost::parse(text).map(|host| host.to_string())
    }

    fn hosts(entries: &[&str]) -> AllowedHosts {
        AllowedHosts::parse(entries).unwrap()
    }

    #[test]
    fn entries_have_one_form() {
        for (text, form) in [
            ("api.example.com", "api.example.com"),
            ("  API.Example.COM. ", "api.example.com"),
            ("https://api.example.com:443/", "api.example.com"),
            ("HTTPS://api.example.com:8443", "api.example.com:8443"),
            ("*.example.com", "*.example.com"),
            ("https://*.example.com:8443", "*.example.com:8443"),
            ("http://intranet.example.com:8080", "http://intranet.example.com:8080"),
            ("http://intranet.example.com:80", "http://intranet.example.com"),
            ("http://intranet.example.com:443", "http://intranet.example.com:443"),
            ("api.example.com:80", "api.example.com:80"),
            ("Bücher.example", "xn--bcher-kva.example"),
            ("*.bücher.example", "*.xn--bcher-kva.example"),
            ("localhost:8080", "localhost:8080"),
            ("10.0.0.7", "10.0.0.7"),
            ("0x7f.1", "127.0.0.1"),
            ("[::1]:8443", "[::1]:8443"),
            ("[2001:DB8:0::1]", "[2001:db8::1]"),
            ("my_host.example.com", "my_host.example.com"),
        ] {
            assert_eq!(read(text), Ok(form.to_owned()), "{text}");
            assert_eq!(read(form), Ok(form.to_owned()), "{form}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = format!("{}.example.com", "a".repeat(64));
        let longer = "a.".repeat(127) + "example";
        for (text, wrong) in [
            ("", "must be a host"),
            ("   ", "must be a host"),
            ("https://", "must be a host"),
            ("a b.example.com", "must be a host"),
            ("a\t.example.com", "must be a host"),
            ("a%2eb.example.com", "must be a host"),
            ("example.com\\x", "must be a host"),
            ("a..example.com", "must be a host"),
            (".example.com", "must be a host"),
            ("exam!ple.com", "must be a host"),
            ("999.1.1.1", "must be a host"),
            ("[::1", "must be a host"),
            (&long, "must be a host"),
            (&longer, "at most 255 characters"),
            ("api.example.com/v1", "must not have a path"),
            ("https://api.example.com//", "must not have a path"),
            ("api.example.com?x=1", "must not have a query"),
            ("api.example.com#x", "must not have a query"),
            ("user@api.example.com", "must not have a user name"),
            ("https://u:p@api.example.com", "must not have a user name"),
            ("ftp://api.example.com", "another scheme"),
            ("*", "only as its first part"),
            ("api.*.com", "only as its first part"),
            ("a*.example.com", "only as its first part"),
            ("*.*.example.com", "only as its first part"),
            ("*.com", "at least two parts"),
            ("*.com.", "at least two parts"),
            ("*.10.0.0.7", "at least two parts"),
            ("*.[::1]", "at least two parts"),
            ("*.", "must be a host"),
            ("::1", "in brackets"),
            ("a.example:b:c", "in brackets"),
            ("api.example.com:", "a port from 1 to 65535"),
            ("api.example.com:0", "a port from 1 to 65535"),
            ("api.example.com:+80", "a port from 1 to 65535"),
            ("api.example.com:65536", "a port from 1 to 65535"),
            ("[::1]8443", "must be a host"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.contains(wrong), "{text:?}: {said}");
        }
    }

    #[test]
    fn addresses_are_held_against_scheme_host_and_port() {
        let hosts = hosts(&[
            "api.example.com",
            "*.example.org:8443",
            "http://intranet.example.com:8080",
            "127.0.0.1",
            "[::1]:8443",
            "bücher.example",
        ]);
        let permits = |url: &str| hosts.permits_url(&Url::parse(url).unwrap());
        for url in [
            "https://api.example.com/v1?x#y",
            "https://API.example.com.:443",
            "https://a.example.org:8443",
            "https://a.b.example.org:8443",
            "http://intranet.example.com:8080/",
            "https://2130706433/",
            "https://[0:0::1]:8443",
            "https://bücher.example",
        ] {
            assert!(permits(url), "{url}");
        }
        for url in [
            "http://api.example.com",
            "https://api.example.com:8443",
            "https://example.com",
            "https://xapi.example.com",
            "https://api.example.com.evil.example",
            "https://example.org:8443",
            "https://.example.org:8443",
            "https://evilexample.org:8443",
            "https://a.example.org",
            "https://intranet.example.com:8080",
            "http://intranet.example.com",
            "http://127.0.0.1",
            "https://127.0.0.2",
            "ftp://api.example.com",
            "data:text/plain,x",
        ] {
            assert!(!permits(url), "{url}");
        }
        assert!(!AllowedHosts::default().permits_url(&Url::parse("https://api.example.com").unwrap()));
    }

    #[test]
    fn names_are_looked_up_for_permitted_hosts() {
        let hosts = hosts(&["example.com", "*.example.org:8443", "http://a.example.net"]);
        for name in [
            "example.com",
            "Example.COM.",
            "_dmarc.example.com",
            "_a._b.example.com",
            "mail._domainkey.example.com",
            "a.example.org",
            "_dmarc.example.org",
            "_dmarc.a.example.org",
            "a.example.net",
        ] {
            assert!(hosts.permits_name(name), "{name}");
        }
        for name in
            ["www.example.com", "example.org", "_dmarc.example.net", "com", "_x.com", "_x", "", "a..b", "_x."]
        {
            assert!(!hosts.permits_name(name), "{name}");
        }
        assert!(!hosts.permits_host("_dmarc.example.com"));
        assert!(hosts.permits_host("a.example.net"));
    }

    #[test]
    fn a_list_is_kept_as_text() {
        let list: AllowedHosts =
            serde_json::from_str(r#"["https://API.example.com","*.example.com","api.example.com"]"#).unwrap();
        assert_eq!(serde_json::to_string(&list).unwrap(), r#"["api.example.com","*.example.com"]"#);
        let wrong = serde_json::from_str::<AllowedHosts>(r#"["*"]"#).unwrap_err().to_string();
        assert!(wrong.starts_with("\"*\" may have a * only"), "{wrong}");
        let many = |count: usize| (0..count).map(|n| format!("h{n}.example.com")).collect::<Vec<_>>();
        assert!(AllowedHosts::parse(many(200)).is_ok());
        assert_eq!(AllowedHosts::parse(many(201)), Err("must have at most 200 hosts".to_owned()));
    }
}
