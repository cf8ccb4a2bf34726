//! Masks secrets in the output of a script: its log, its result and its errors.
//!
//! Masking is linear in the text, however many secrets there are: all their forms are patterns of one Aho–Corasick
//! automaton. Building it and searching megabytes takes a while, so neither belongs on a thread of the runtime.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

/// Replaces a secret in a masked text.
pub const MASK: &str = "***";
/// The minimum length of a masked piece; shorter pieces are part of too many words.
const MIN_PIECE_BYTES: usize = 4;
/// The maximum total size of the patterns of a run, whose automaton takes about 20 bytes per pattern byte.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The error for a run that has read more secrets than can be masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The secrets that this run has read are too large together to be kept out of its log.")]
pub struct TooManyPatterns;

/// The secrets a run has read, in all the forms in which they are recognised.
#[derive(Clone, Default)]
pub struct Patterns {
    forms: BTreeSet<String>,
    bytes: usize,
}

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Patterns({})", self.forms.len())
    }
}

impl Patterns {
    /// Adds a secret and each of its lines.
    pub fn add(&mut self, secret: &str) -> Result<(), TooManyPatterns> {
        self.add_forms(secret);
        for line in secret.lines().map(str::trim).filter(|line| line.len() >= MIN_PIECE_BYTES) {
            self.add_forms(line);
        }
        if self.bytes > MAX_PATTERN_BYTES { Err(TooManyPatterns) } else { Ok(()) }
    }

    fn add_forms(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        let reversed: String = secret.chars().rev().collect();
        for form in [secret, &reversed] {
            self.insert(form.to_owned());
            if secret.len() < MIN_PIECE_BYTES {
                continue;
            }
            let (hex, percent) = (crate::hash::hex(form.as_bytes()), percent(form));
            let escaped = serde_json::to_string(form).unwrap_or_default();
            let encodings = [
                hex.to_uppercase(),
                hex,
                escaped.trim_matches('"').to_owned(),
                percent.replace("%20", "+"),
                percent.to_lowercase(),
                percent,
                address(form),
                html(form),
            ];
            for encoded in base64_pieces(form).into_iter().chain(encodings) {
                self.insert(encoded);
            }
        }
    }

    fn insert(&mut self, form: String) {
        let bytes = form.len();
        if self.forms.insert(form) {
            self.bytes += bytes;
        }
    }

    /// Builds the automaton.
    pub fn mask(&self) -> Result<Mask, aho_corasick::BuildError> {
        if self.forms.is_empty() {
            return Ok(Mask(None));
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&self.forms)?;
        Ok(Mask(Some(automaton)))
    }
}

/// Masks the secrets of a run.
#[derive(Clone, Debug, Default)]
pub struct Mask(Option<AhoCorasick>);

impl Mask {
    /// Returns the text with its secrets masked.
    pub fn text(&self, text: &str) -> String {
        let Some(automaton) = &self.0 else { return text.to_owned() };
        let mut masked = String::with_capacity(text.len());
        automaton.replace_all_with(text, &mut masked, |_, _, masked| {
            masked.push_str(MASK);
            true
        });
        masked
    }

    /// Masks every string in a JSON value, including property names.
    pub fn json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.json(item)).collect()),
            Value::Object(map) => Value::Object(
                map.into_iter().map(|(name, value)| (self.text(&name), self.json(value))).collect(),
            ),
            Value::Number(number) if self.is_secret(&number.to_string()) => Value::String(MASK.to_owned()),
            other => other,
        }
    }

    /// Returns true when the whole text is a secret.
    fn is_secret(&self, text: &str) -> bool {
        let found = self.0.as_ref().and_then(|automaton| automaton.find(text));
        found.is_some_and(|found| found.range() == (0..text.len()))
    }
}

/// The base64 encodings of a text within a longer text: for each of the three offsets in a group, the part that does
/// not depend on the neighbouring bytes.
fn base64_pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for before in 0..3_usize {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(text.as_bytes());
            let encoded = engine.encode(&bytes);
            // Leaves out digits that share bits with the bytes before or after the text.
            let start = (before * 8).div_ceil(6);
            let end = bytes.len() * 8 / 6;
            pieces.extend(
                encoded.get(start..end).filter(|piece| piece.len() >= MIN_PIECE_BYTES).map(ToOwned::to_owned),
            );
        }
        pieces.push(engine.encode(text));
    }
    pieces
}

/// Percent-encodes a text like `encodeURI`.
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
            encoded.push_str(&crate::hash::hex(&[byte]).to_uppercase());
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

    fn mask_of(secret: &str) -> Mask {
        let mut patterns = Patterns::default();
        patterns.add(secret).unwrap();
        patterns.mask().unwrap()
    }

    fn mask() -> Mask {
        mask_of(SECRET)
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
            crate::hash::hex(SECRET.as_bytes()),
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
        let mask = mask_of("-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----");
        assert_eq!(mask.text("ijklmnop then hgfedcba"), "*** then ***");
    }

    #[test]
    fn values_and_names_are_masked() {
        let mask = mask_of("123456");
        let masked = mask.json(json!({"a123456": ["x123456", 123_456, 7], "b": null}));
        assert_eq!(masked, json!({"a***": ["x***", "***", 7], "b": null}));
    }

    /// A text with `count` distinct lines.
    fn lines(count: usize) -> String {
        (0..count).map(|number| format!("k{number:05}")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn masking_takes_no_longer_with_many_secrets() {
        let values = || json!((0..50_000).collect::<Vec<u32>>());
        let time = |mask: &Mask| {
            let runs = (0..3).map(|_| {
                let (values, began) = (values(), std::time::Instant::now());
                assert_eq!(mask.json(values), self::json!((0..50_000).collect::<Vec<u32>>()));
                began.elapsed()
            });
            runs.min().unwrap()
        };
        let (one, many) = (time(&mask_of("k00001")), time(&mask_of(&lines(1_400))));
        // A search for each pattern would take thousands of times as long.
        assert!(many < one * 50, "{one:?}, with many lines {many:?}");
    }

    #[test]
    fn the_automaton_is_bounded() {
        let mut patterns = Patterns::default();
        let added =
            (0..100).try_for_each(|secret| patterns.add(&lines(1_400).replace('k', &secret.to_string())));
        assert_eq!(added, Err(TooManyPatterns));
        assert_eq!(Patterns::default().add(&lines(1_400)), Ok(()), "one of the largest secrets");
    }
}
