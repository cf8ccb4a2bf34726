//! Descriptions of what was found. The data is untrusted, so it is shortened and made printable.

use std::fmt::Display;

/// The maximum number of bytes of a text that are shown.
const TEXT: usize = 64;
/// The maximum number of items that are listed by name.
const NAMED: usize = 3;

/// Quotes a text, shortened, with everything but printable ASCII escaped.
pub(crate) fn quoted(text: &[u8]) -> String {
    match text.get(..TEXT) {
        Some(beginning) if text.len() > TEXT => format!("\"{}…\"", beginning.escape_ascii()),
        _ => format!("\"{}\"", text.escape_ascii()),
    }
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(crate) fn listed<T: Display>(things: &[T]) -> String {
    let mut words: Vec<String> = things.iter().take(NAMED).map(ToString::to_string).collect();
    if things.len() > NAMED {
        words.push(format!("{} more", things.len() - NAMED));
    }
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// `x has the address 192.0.2.1.`
pub(crate) fn has_addresses<T: Display>(domain: &str, addresses: &[T]) -> String {
    let noun = if addresses.len() == 1 { "address" } else { "addresses" };
    format!("{domain} has the {noun} {}.", listed(addresses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_short_and_printable() {
        assert_eq!(quoted(b""), r#""""#);
        assert_eq!(quoted(b"v=spf1 -all"), r#""v=spf1 -all""#);
        assert_eq!(quoted("\"grün\u{202e}\n\0".as_bytes()), r#""\"gr\xc3\xbcn\xe2\x80\xae\n\x00""#);
        assert_eq!(quoted(&[b'x'; TEXT]), format!("\"{}\"", "x".repeat(TEXT)));
        assert_eq!(quoted(&[b'x'; TEXT + 1]), format!("\"{}…\"", "x".repeat(TEXT)));
    }

    #[test]
    fn lists_read_like_sentences() {
        for (count, words) in [
            (1, "1"),
            (2, "1 and 2"),
            (3, "1, 2 and 3"),
            (4, "1, 2, 3 and 1 more"),
            (9, "1, 2, 3 and 6 more"),
        ] {
            assert_eq!(listed(&(1..=count).collect::<Vec<_>>()), words);
        }
    }
}
