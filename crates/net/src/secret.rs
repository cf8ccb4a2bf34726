//! Secrets of the operator.

use std::fmt;

use reqwest::header::HeaderValue;

/// An API key or an access token. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret without surrounding white space: one read from a file often ends in a line break.
    pub fn new(secret: &str) -> Self {
        Self(secret.trim().to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the header value, marked as sensitive so that `Debug` never prints it. `None` unless the secret is one
    /// word of ASCII characters.
    pub fn header(&self, prefix: &str) -> Option<HeaderValue> {
        if self.0.is_empty() || !self.0.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let mut value = HeaderValue::try_from(format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_one_word_and_stays_hidden() {
        let secret = Secret::new(" sk-secret\n");
        let header = secret.header("Bearer ").expect("a header");
        assert_eq!(header, "Bearer sk-secret");
        assert_eq!(format!("{secret:?} {header:?}"), "Secret(hidden) Sensitive");
        for invalid in ["", " ", "two words", "schlüssel", "a\nb"] {
            assert_eq!(Secret::new(invalid).header(""), None, "{invalid:?}");
        }
    }
}
