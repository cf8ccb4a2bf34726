//! Keeps secrets out of what a script leaves behind: its log, its result, its errors.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// What is shown in place of a secret.
pub const MASK: &str = "***";
/// Shorter pieces are part of too many words.
const SHORTEST: usize = 4;

/// The secrets a run has seen, in all the forms in which they are recognised.
#[derive(Clone, Default)]
pub struct Mask {
    /// Longest first, so that a piece never hides in a larger one.
    needles: Vec<String>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} forms)", self.needles.len())
    }
}

impl Mask {
    pub fn add(&mut self, secret: &str) {
        self.forms_of(secret);
        for line in secret.lines().map(str::trim).filter(|line| line.len() >= SHORTEST) {
            self.forms_of(line);
        }
        self.needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.needles.dedup();
    }

    fn forms_of(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.needles.push(secret.to_owned());
        let reversed: String = secret.chars().rev().collect();
        self.needles.push(reversed.clone());
        if secret.len() < SHORTEST {
            return;
        }
        for form in [secret, &reversed] {
            self.needles.extend(base64_pieces(form));
            self.needles.push(crate::journal::hex(form.as_bytes()));
            self.needles.push(crate::journal::hex(form.as_bytes()).to_uppercase());
            let escaped = serde_json::to_string(form).unwrap_or_default();
            self.needles.push(escaped.trim_matches('"').to_owned());
            let percent = percent(form);
            self.needles.push(percent.replace("%20", "+"));
            self.needles.push(percent.to_lowercase());
            self.needles.push(percent);
            self.needles.push(address(form));
            self.needles.push(html(form));
        }
    }

    /// The text without the secrets.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for needle in &self.needles {
            if text.contains(needle.as_str()) {
                text = text.replace(needle.as_str(), MASK);
            }
        }
        text
    }

    /// The same for every text in a JSON value, its names included.
    pub fn json(&self, value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.json(item)).collect()),
            Value::Object(map) => Value::Object(
                map.into_iter().map(|(name, value)| (self.text(&name), self.json(value))).collect(),
            ),
            Value::Number(number) if self.needles.iter().any(|needle| *needle == number.to_string()) => {
                Value::String(MASK.to_owned())
            }
            other => other,
        }
    }
}

/// What a text looks like in base64, wherever in a longer text it stands: the part that does not depend on its
/// neighbours, for each of the three places in a group.
fn base64_pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for before in 0..3_usize {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(text.as_bytes());
            let encoded = engine.encode(&bytes);
            // Digits that also hold bits of what stands before or behind are left out.
            let start = (before * 8).div_ceil(6);
            let end = bytes.len() * 8 / 6;
            pieces.extend(
                encoded.get(start..end).filter(|piece| piece.len() >= SHORTEST).map(ToOwned::to_owned),
            );
        }
        pieces.push(engine.encode(text));
    }
    pieces
}

/// As `encodeURI` writes it.
fn address(text: &str) -> String {
    let mut encoded = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || "-_.!~*'();/?:@&=+$,#".contains(c) {
            encoded.push(c);
        } else {
            encoded.push_str(&percent(c.encode_utf8(&mut [0; 4])));
        }
    }
    encoded
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn percent(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push_str(&crate::journal::hex(&[byte]).to_uppercase());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    const SECRET: &str = "s3cr3t/ with+äöü \"quotes\"";

    fn mask() -> Mask {
        let mut mask = Mask::default();
        mask.add(SECRET);
        mask
    }

    #[test]
    fn a_secret_is_recognised_in_its_usual_disguises() {
        let reversed: String = SECRET.chars().rev().collect();
        for text in [
            SECRET.to_owned(),
            reversed.clone(),
            STANDARD.encode(SECRET),
            STANDARD.encode(&reversed),
            URL_SAFE_NO_PAD.encode(SECRET),
            percent(SECRET),
            percent(SECRET).replace("%20", "+"),
            address(SECRET),
            html(SECRET),
            crate::journal::hex(SECRET.as_bytes()),
            json!(SECRET).to_string(),
        ] {
            let masked = mask().text(&format!("a {text} b"));
            assert!(
                masked.starts_with("a ") && masked.ends_with(" b") && masked.len() < 14,
                "{text}: {masked}"
            );
        }
    }

    #[test]
    fn base64_of_a_longer_text_gives_nothing_away() {
        for before in ["", "x", "xy", "xyz", "user:"] {
            let encoded = STANDARD.encode(format!("{before}{SECRET} and more"));
            let masked = mask().text(&encoded);
            assert!(masked.contains(MASK), "{before}: {masked}");
            assert!(masked.len() < encoded.len() / 2, "{before}: {masked}");
        }
    }

    #[test]
    fn each_line_of_a_key_is_a_secret() {
        let mut mask = Mask::default();
        mask.add("-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----");
        assert_eq!(mask.text("ijklmnop then hgfedcba"), "*** then ***");
    }

    #[test]
    fn values_and_names_are_masked() {
        let mut mask = Mask::default();
        mask.add("123456");
        let masked = mask.json(json!({"a123456": ["x123456", 123_456, 7], "b": null}));
        assert_eq!(masked, json!({"a***": ["x***", "***", 7], "b": null}));
    }
}
