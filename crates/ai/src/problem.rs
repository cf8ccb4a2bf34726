//! Parses a provider's error and maps it to a failure. Each provider has its own format.

use std::time::Duration;

use attestry_net::Secret;
use serde_json::Value;

use crate::Failure;

/// The maximum number of characters of a provider's message that are passed on.
const MESSAGE: usize = 300;
/// The maximum length of a part of the key that may be shown.
const PART_OF_KEY: usize = 7;

#[derive(Debug, Default)]
pub(crate) struct Problem {
    /// The error's type and code.
    names: Vec<String>,
    pub(crate) message: Option<String>,
}

impl Problem {
    /// Parses the body of an error response or the data of an error event.
    pub(crate) fn read(body: &[u8], key: Option<&Secret>) -> Self {
        let Ok(whole) = serde_json::from_slice::<Value>(body) else {
            return Self { names: Vec::new(), message: plain(body).and_then(|text| clean(text, key)) };
        };
        // `{"error": {…}}` with OpenAI and Anthropic, `{"error": "…"}`, or without any envelope.
        let error = whole.get("error").filter(|error| !error.is_null()).unwrap_or(&whole);
        let text = error.as_str().or_else(|| {
            ["message", "detail"].iter().find_map(|name| error.get(name).and_then(Value::as_str))
        });
        let names = ["type", "code"].iter().filter_map(|name| match error.get(name)? {
            Value::String(name) => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        Self { names: names.collect(), message: text.and_then(|text| clean(text, key)) }
    }

    fn is(&self, any: &[&str]) -> bool {
        self.names.iter().any(|name| any.contains(&name.as_str()))
    }

    /// Maps the error of an HTTP response.
    pub(crate) fn with_status(self, status: u16, retry_after: Option<Duration>) -> Failure {
        // Waiting does not refill an account.
        let broke = self.is(&["insufficient_quota", "billing_error", "enforced_spend_limit_reached"]);
        let filtered = self.is(&["content_filter", "content_policy_violation"]);
        let message = self.message;
        match status {
            429 if !broke => Failure::RateLimited { retry_after, message },
            500.. => Failure::Overloaded { status: Some(status), message },
            400 if filtered => Failure::Filtered { message },
            _ => Failure::Refused { status: Some(status), message },
        }
    }

    /// Maps an error within a stream, which has no status.
    pub(crate) fn within_stream(self) -> Failure {
        if self.is(&["rate_limit_error", "rate_limit_exceeded", "429"]) {
            Failure::RateLimited { retry_after: None, message: self.message }
        } else if self.is(&["content_filter", "content_policy_violation"]) {
            Failure::Filtered { message: self.message }
        } else if self.is(&["overloaded_error", "api_error", "server_error", "timeout_error"])
            || self.is(&["500", "502", "503", "529"])
        {
            Failure::Overloaded { status: None, message: self.message }
        } else {
            Failure::Refused { status: None, message: self.message }
        }
    }
}

/// Returns a short plain-text body such as `404 page not found`. An HTML page is not a message.
fn plain(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body).ok()?.trim_start();
    let short = !text.starts_with(['<', '{', '[']) && text.len() <= 4 * MESSAGE;
    short.then_some(text)
}

/// Shortens a message to one line and removes the key and anything like a part of it.
pub(crate) fn clean(text: &str, key: Option<&Secret>) -> Option<String> {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(if shows_key(word, key) { "[key]" } else { word });
        if let Some((end, _)) = line.char_indices().nth(MESSAGE) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    // The surrounding sentence has its own punctuation.
    let line = line.trim_end_matches(['.', ':', ' ']);
    (!line.is_empty()).then(|| line.to_owned())
}

/// Returns true if a word contains a long part of the key, or a masked one: providers often repeat a key as
/// `sk-ab*****yz`.
fn shows_key(word: &str, key: Option<&Secret>) -> bool {
    let Some(key) = key.map(Secret::as_str) else { return false };
    let part = key.len().min(PART_OF_KEY + 1);
    word.contains("***")
        || (0..=key.len() - part).filter_map(|at| key.get(at..at + part)).any(|part| word.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> Option<String> {
        Problem::read(body.as_bytes(), None).message
    }

    #[test]
    fn messages_are_found_in_every_shape() {
        for (body, found) in [
            (
                r#"{"error":{"message":"No such model.","type":"invalid_request_error"}}"#,
                Some("No such model"),
            ),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Some("Overloaded"),
            ),
            (r#"{"error":"model \"x\" not found"}"#, Some(r#"model "x" not found"#)),
            (r#"{"object":"error","message":"too long","code":400}"#, Some("too long")),
            (r#"{"detail":"Not Found"}"#, Some("Not Found")),
            ("404 page not found\n", Some("404 page not found")),
            ("<html><title>Not found</title></html>", None),
            (r#"{"error":{"message":"cut of"#, None),
            ("", None),
            ("{}", None),
        ] {
            assert_eq!(message(body).as_deref(), found, "{body}");
        }
    }

    #[test]
    fn messages_are_one_short_line() {
        assert_eq!(clean(" a\n\tb\u{1b}[1m ", None).as_deref(), Some("a b [1m"));
        let long = clean(&"ü ".repeat(1000), None).unwrap();
        assert_eq!(long.chars().count(), MESSAGE + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn the_key_is_never_repeated() {
        let key = Secret::new("sk-proj-0123456789abcdef");
        for text in [
            "Incorrect API key provided: sk-proj-0123456789abcdef. Find yours.",
            "Incorrect API key provided: sk-proj-********cdef. Find yours.",
            "Incorrect API key provided: x:456789abcdef Find yours.",
        ] {
            assert_eq!(
                clean(text, Some(&key)).as_deref(),
                Some("Incorrect API key provided: [key] Find yours")
            );
        }
        assert_eq!(clean("not abc!", Some(&Secret::new("abc"))).as_deref(), Some("not [key]"));
    }

    #[test]
    fn an_empty_account_is_not_a_rate_limit() {
        let body = br#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#;
        let failure = Problem::read(body, None).with_status(429, None);
        assert!(matches!(failure, Failure::Refused { status: Some(429), .. }), "{failure:?}");
    }
}
