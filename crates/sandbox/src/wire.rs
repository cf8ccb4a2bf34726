//! Messages between server and child: a length of four bytes, then JSON, or the input or output of a function. Also the
//! orders of the server to the template.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Code, Mistake, Outcome};

/// The environment variable with the child's limits.
pub(crate) const LIMITS: &str = "SANDBOX_LIMITS";

/// The exit code of a child that ran out of memory, other than on the script's heap.
pub(crate) const OUT_OF_MEMORY: i32 = 3;

/// The number of bytes of a frame before its JSON.
pub(crate) const HEADER: usize = 4;

/// The number of bytes of an [`Order`].
pub(crate) const ORDER: usize = 5;

/// The status of a process that was never started.
pub(crate) const UNKNOWN: i32 = -1;

/// An order of the server to the template. The server numbers the children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Forks a child, which gets the socket sent with the order.
    Start(u32),
    /// Kills a child and responds with its status as returned by `wait`: four bytes.
    End(u32),
}

impl Order {
    pub(crate) fn bytes(self) -> [u8; ORDER] {
        let (kind, number) = match self {
            Self::Start(number) => (b's', number),
            Self::End(number) => (b'e', number),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    pub(crate) fn parse([kind, number @ ..]: [u8; ORDER]) -> Option<Self> {
        let number = u32::from_le_bytes(number);
        match kind {
            b's' => Some(Self::Start(number)),
            b'e' => Some(Self::End(number)),
            _ => None,
        }
    }
}

/// A message from the server to the child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Down<'a> {
    Run {
        source: String,
        #[serde(borrow)]
        context: &'a RawValue,
    },
    Check {
        source: String,
    },
    /// The response to the call with this number.
    Answer(u32, &'a RawValue),
    /// The call with this number failed.
    Refusal(u32, String),
}

/// A message from the child to the server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Up {
    /// Confined, and ready to read its input.
    Ready,
    /// Not confined, with the reason.
    Refused(String),
    Log(String),
    /// Number, operation and argument of a call.
    Call(u32, String, Box<RawValue>),
    /// The script exceeded a limit.
    Exceeded(Code),
    Failed(Code, String),
    Done(Outcome),
    Checked(Option<Mistake>),
}

/// Serializes a message for the socket.
pub(crate) fn frame(message: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut frame = vec![0; HEADER];
    serde_json::to_writer(&mut frame, message).map_err(|error| error.to_string())?;
    let length = u32::try_from(frame.len() - HEADER).map_err(|error| error.to_string())?;
    frame[..HEADER].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// Replaces lone surrogates, which JavaScript allows and UTF-8 does not. `JSON.stringify` writes a pair as one
/// character, so an escaped surrogate is always alone.
pub(crate) fn mend(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let bytes = escape.as_bytes();
        let half = matches!(bytes, [_, b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', _, _, ..]);
        let length = if half { "\\ud800".len() } else { "\\\\".len() };
        mended.push_str(if half { "\\ufffd" } else { escape.get(..length).unwrap_or(escape) });
        rest = escape.get(length..).unwrap_or_default();
    }
    mended.push_str(rest);
    mended
}

/// The nesting depth of arrays and objects.
pub(crate) fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_surrogate_pairs_are_replaced_and_nothing_else() {
        let cases = [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""a\uDFFFb\n""#, r#""a\ufffdb\n""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""\ud7ff\ue000\u0000""#, r#""\ud7ff\ue000\u0000""#),
            ("\"\u{1f600}\u{e9}\"", "\"\u{1f600}\u{e9}\""),
        ];
        for (json, mended) in cases {
            assert_eq!(mend(json), mended);
            serde_json::from_str::<String>(&mend(json)).expect("it is a string");
        }
    }

    #[test]
    fn depth_ignores_what_is_quoted() {
        assert_eq!(depth("1"), 0);
        assert_eq!(depth(r#"{"a[\"[":[[],{}]}"#), 3);
    }

    #[test]
    fn orders_are_read_as_they_were_written() {
        for order in [Order::Start(0), Order::Start(u32::MAX), Order::End(0x0102_0304)] {
            assert_eq!(Order::parse(order.bytes()), Some(order));
        }
        assert_eq!(Order::parse(*b"x\0\0\0\0"), None);
    }

    #[test]
    fn a_frame_starts_with_its_length() {
        assert_eq!(frame(&Up::Ready).expect("it is small"), b"\x07\0\0\0\"Ready\"");
    }
}
