//! Secrets that scripts use.

use serde_json::{Value, json};

use crate::json::JsonSchema;
use crate::text::Parse;

/// The name of a secret: upper-case letters, digits and underscores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SecretName(String);

impl SecretName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Parse for SecretName {
    fn parse(text: &str) -> Result<Self, String> {
        let is_fine = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        if (1..=64).contains(&text.len()) && text.bytes().all(is_fine) {
            return Ok(Self(text.to_owned()));
        }
        Err("must have 1 to 64 characters: capitals, digits and underscores".to_owned())
    }
}

impl JsonSchema for SecretName {
    fn json_schema() -> Value {
        json!({"type": "string", "pattern": "^[A-Z0-9_]{1,64}$", "examples": ["GITHUB_TOKEN"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_capitals() {
        assert!(SecretName::parse("GITHUB_TOKEN_2").is_ok());
        for bad in ["", "token", "A-B", "Ä", &"A".repeat(65)] {
            assert!(SecretName::parse(bad).is_err(), "{bad}");
        }
    }
}
