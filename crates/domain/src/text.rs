//! Validated text. A value of one of these types is trimmed, has a valid length and no NUL, and a name is one line,
//! so that later layers need not check it again.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::json::{Given, GivenJson, JsonSchema};

/// A value that can be parsed from text, with an error message for the user.
pub trait Parse: Sized {
    fn parse(text: &str) -> Result<Self, String>;
}

impl Parse for bool {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "must be true or false".to_owned())
    }
}

/// Text of `MIN` to `MAX` characters after trimming, in several lines or in one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const MIN: usize, const MAX: usize, const LINES: bool = true>(String);

/// Text without control characters: it may end up in the header of a mail or a cell of a table.
pub type Line<const MIN: usize, const MAX: usize> = Text<MIN, MAX, false>;
/// A title or a name.
pub type Name = Line<1, 255>;
/// A description and other long text.
pub type LongText = Text<1, 10_000>;
/// Long text that may be empty.
pub type AnyText = Text<0, 10_000>;

impl<const MIN: usize, const MAX: usize, const LINES: bool> Text<MIN, MAX, LINES> {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// Wraps a stored value without validating it.
    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

impl<const MAX: usize, const LINES: bool> Default for Text<0, MAX, LINES> {
    fn default() -> Self {
        Self(String::new())
    }
}

impl<const MIN: usize, const MAX: usize, const LINES: bool> Serialize for Text<MIN, MAX, LINES> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const MIN: usize, const MAX: usize, const LINES: bool> Deserialize<'de> for Text<MIN, MAX, LINES> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl<const MIN: usize, const MAX: usize, const LINES: bool> Parse for Text<MIN, MAX, LINES> {
    fn parse(text: &str) -> Result<Self, String> {
        no_nul(text)?;
        let text = text.trim();
        if !LINES && text.chars().any(char::is_control) {
            return Err("must be a single line without control characters".to_owned());
        }
        let length = text.chars().count();
        if length >= MIN && length <= MAX {
            return Ok(Self(text.to_owned()));
        }
        Err(match (MIN, length) {
            (1, 0) => "must not be empty".to_owned(),
            _ => format!("must have {MIN} to {MAX} characters; it has {length}"),
        })
    }
}

impl<const MIN: usize, const MAX: usize, const LINES: bool> From<Text<MIN, MAX, LINES>> for String {
    fn from(text: Text<MIN, MAX, LINES>) -> Self {
        text.0
    }
}

impl<const MIN: usize, const MAX: usize, const LINES: bool> fmt::Display for Text<MIN, MAX, LINES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<const MIN: usize, const MAX: usize, const LINES: bool> JsonSchema for Text<MIN, MAX, LINES> {
    fn json_schema() -> Value {
        let mut schema = json!({"type": "string", "minLength": MIN, "maxLength": MAX});
        if !LINES {
            schema["pattern"] = json!(r"^[^\u0000-\u001f\u007f-\u009f]+$");
        }
        schema
    }
}

fn no_nul(text: &str) -> Result<(), String> {
    if text.contains('\0') { Err("must not contain a NUL character".to_owned()) } else { Ok(()) }
}

/// Escapes a text for HTML.
pub fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A password in a request. It is not trimmed, and only its hash is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    const LENGTH: std::ops::RangeInclusive<usize> = 8..=200;

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

impl Parse for Password {
    fn parse(text: &str) -> Result<Self, String> {
        no_nul(text)?;
        let (least, most) = (Self::LENGTH.start(), Self::LENGTH.end());
        if Self::LENGTH.contains(&text.chars().count()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("must have {least} to {most} characters"))
        }
    }
}

impl JsonSchema for Password {
    fn json_schema() -> Value {
        let (min, max) = (Self::LENGTH.start(), Self::LENGTH.end());
        json!({"type": "string", "format": "password", "minLength": min, "maxLength": max})
    }
}

/// An e-mail address as it was entered. Addresses that differ only in case belong to the same person: see
/// [`Email::key`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Email(String);

impl Email {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The unique form of the address.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl Parse for Email {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || Err("must be an e-mail address such as ada@example.com".to_owned());
        let text = text.trim();
        if text.chars().count() > 254 {
            return Err("must have at most 254 characters".to_owned());
        }
        let Some((local, host)) = text.rsplit_once('@') else { return wrong() };
        let odd = |c: char| c.is_whitespace() || c.is_control() || "<>()[]\\,;:\"@".contains(c);
        let labels_fine = host.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        });
        if local.is_empty()
            || local.len() > 64
            || local.chars().any(odd)
            || !labels_fine
            || !host.contains('.')
        {
            return wrong();
        }
        if local.starts_with('.') || local.ends_with('.') || local.contains("..") {
            return wrong();
        }
        Ok(Self(text.to_owned()))
    }
}

impl Serialize for Email {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl JsonSchema for Email {
    fn json_schema() -> Value {
        json!({"type": "string", "format": "email", "maxLength": 254, "examples": ["ada@example.com"]})
    }
}

/// An http or https URL; a bare host name gets `https://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress(String);

impl WebAddress {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// Wraps a stored value without validating it.
    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

crate::kept_as_stored!(WebAddress);

impl Serialize for WebAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WebAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl Parse for WebAddress {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || Err("must be a web address such as https://example.com".to_owned());
        let text = text.trim();
        if text.chars().count() > 2048 {
            return Err("must have at most 2048 characters".to_owned());
        }
        if text.is_empty()
            || text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"\\^`{|}".contains(c))
        {
            return wrong();
        }
        let lower = text.to_ascii_lowercase();
        let full = match lower.split_once("://") {
            Some(("http" | "https", _)) => text.to_owned(),
            Some(_) => return wrong(),
            None if lower.starts_with("javascript:")
                || lower.starts_with("data:")
                || lower.starts_with("mailto:") =>
            {
                return wrong();
            }
            None => format!("https://{text}"),
        };
        let after = full.split_once("://").map_or("", |(_, rest)| rest);
        let authority = after.split(['/', '?', '#']).next().unwrap_or("");
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(']') || !port.is_empty() => (host, Some(port)),
            _ => (authority, None),
        };
        let port_fine = port.is_none_or(|port| port.parse::<u16>().is_ok());
        let host_fine = !host.is_empty()
            && host.len() <= 253
            && host.split('.').all(|label| {
                !label.is_empty()
                    && label.len() <= 63
                    && !label.starts_with('-')
                    && !label.ends_with('-')
                    && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            });
        let bare_needs_dot = lower.contains("://") || host.contains('.');
        if port_fine && host_fine && bare_needs_dot { Ok(Self(full)) } else { wrong() }
    }
}

impl JsonSchema for WebAddress {
    fn json_schema() -> Value {
        json!({
            "type": "string", "maxLength": 2048, "examples": ["https://example.com"],
            "description": "An http or https address; a bare host name gets https://."
        })
    }
}

crate::given_as_text!(Email, Password, WebAddress);

impl<const MIN: usize, const MAX: usize, const LINES: bool> Given for Text<MIN, MAX, LINES> {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        Self::parse(&json.text()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_trimmed_and_counted_in_characters() {
        assert_eq!(Name::parse("  Ada  ").map(String::from), Ok("Ada".to_owned()));
        assert!(Name::parse(&"ä".repeat(255)).is_ok());
        assert!(Name::parse(&"ä".repeat(256)).is_err());
        assert!(Name::parse("   ").is_err());
        for bad in ["a\0b", "a\nb", "a\r\nBcc: b", "a\tb", "a\u{1b}b", "a\u{85}b"] {
            assert!(Name::parse(bad).is_err(), "{bad:?}");
        }
        assert!(LongText::parse("a\n\tb").is_ok());
    }

    #[test]
    fn addresses() {
        for good in ["ada@example.com", "a.b+c@sub.example.co", "jörg@bücher.example", " x@y.zz "] {
            assert!(Email::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@example",
            "a b@example.com",
            "a..b@x.com",
            "a@-x.com",
            "a@x..com",
            "<a@x.com>",
        ] {
            assert!(Email::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn web_addresses() {
        let read = |text| WebAddress::parse(text).map(WebAddress::into_string);
        assert_eq!(read("example.com"), Ok("https://example.com".to_owned()));
        assert_eq!(read("http://localhost:8080/a?b#c"), Ok("http://localhost:8080/a?b#c".to_owned()));
        for bad in [
            "",
            "ftp://example.com",
            "javascript:alert(1)",
            "example",
            "https://",
            "https://exa mple.com",
            "https://a:99999",
            "//example.com",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
