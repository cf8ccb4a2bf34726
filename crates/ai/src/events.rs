//! Incremental parser of server-sent events.
//!
//! A line is parsed once it is complete, so bytes may be split anywhere, even within a character. Lines end with LF,
//! CR LF or CR. Only `data` is read: both providers repeat the event's name within it, and these streams are never
//! resumed.

use bytes::{Buf, Bytes};
use memchr::memchr2;

/// The maximum number of bytes of one line, and of the data of one event.
const LIMIT: usize = 1024 * 1024;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// A line or an event exceeded the limit, which is above that of any provider.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Bytes not parsed yet.
    chunk: Bytes,
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// The data of the current event, with a line break after each line.
    data: Vec<u8>,
    /// True once the event in `data` was returned.
    done: bool,
    /// True if the last line ended with CR: a following LF belongs to it.
    after_cr: bool,
    /// True after the first line, the only one that may start with a byte order mark.
    begun: bool,
}

impl Events {
    /// Adds the next bytes. [`Events::next`] must have consumed the previous ones.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty(), "bytes are pushed before the last ones were used up");
        self.chunk = chunk;
    }

    /// Returns the data of the next event; `None` until more bytes are pushed.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, TooLarge> {
        if self.done {
            self.data.clear();
            self.done = false;
        }
        loop {
            if self.after_cr && !self.chunk.is_empty() {
                self.after_cr = false;
                if self.chunk[0] == b'\n' {
                    self.chunk.advance(1);
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', &self.chunk) else {
                self.keep_for_later()?;
                return Ok(None);
            };
            let rest = self.chunk.split_to(end);
            self.after_cr = self.chunk[0] == b'\r';
            self.chunk.advance(1);
            if self.line.is_empty() {
                self.take(&rest)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&rest);
                self.take(&line)?;
                line.clear();
                self.line = line;
            }
            if self.done {
                // Without the line break after the last line.
                return Ok(self.data.split_last().map(|(_, data)| data));
            }
        }
    }

    fn keep_for_later(&mut self) -> Result<(), TooLarge> {
        if self.line.len() + self.chunk.len() > LIMIT {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(&self.chunk);
        self.chunk.clear();
        Ok(())
    }

    /// Parses one line without its end.
    fn take(&mut self, mut line: &[u8]) -> Result<(), TooLarge> {
        if !self.begun {
            self.begun = true;
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            // An event without data does not count.
            self.done = !self.data.is_empty();
            return Ok(());
        }
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', value @ ..]) => value.strip_prefix(b" ").unwrap_or(value),
            // A comment or another field.
            _ => return Ok(()),
        };
        if self.data.len() + value.len() > LIMIT {
            return Err(TooLarge);
        }
        self.data.extend_from_slice(value);
        self.data.push(b'\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Result<Vec<String>, TooLarge> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for chunk in chunks {
            events.push(Bytes::copy_from_slice(chunk));
            while let Some(data) = events.next()? {
                found.push(String::from_utf8(data.to_vec()).expect("whole characters"));
            }
        }
        Ok(found)
    }

    const STREAM: &str = "\u{feff}: hello\n\nevent: message\ndata: one\n\ndata:two\r\n\r\ndata: three\rdata:  lines\r\rid: 7\n\
        retry: 10\ndata\ndata:\n\nevent: nothing\n\ndatabase: no\n\ndata: n\u{e4}h \u{1f511}\n\n\n\ndata: cut off";
    /// The fourth event is two lines without text.
    const EVENTS: [&str; 5] = ["one", "two", "three\n lines", "\n", "n\u{e4}h \u{1f511}"];

    #[test]
    fn events_are_found_however_the_bytes_are_cut() {
        let bytes = STREAM.as_bytes();
        assert_eq!(read(&[bytes]).unwrap(), EVENTS[..]);
        for at in 0..=bytes.len() {
            let (left, right) = bytes.split_at(at);
            assert_eq!(read(&[left, right]).unwrap(), EVENTS[..], "cut at {at}");
        }
        let single: Vec<_> = bytes.chunks(1).collect();
        assert_eq!(read(&single).unwrap(), EVENTS[..]);
    }

    #[test]
    fn a_byte_order_mark_counts_at_the_beginning_only() {
        assert_eq!(
            read(&["\u{feff}data: a\n\n\u{feff}data: b\n\ndata: c\n\n".as_bytes()]).unwrap(),
            ["a", "c"]
        );
    }

    #[test]
    fn lines_and_events_are_bounded() {
        let long = vec![b'x'; LIMIT + 1];
        assert_eq!(read(&[&long]), Err(TooLarge));
        assert_eq!(read(&[b"data: ", &long, b"\n\n"]), Err(TooLarge));
        let mut event = Vec::new();
        for _ in 0..=LIMIT / 1024 {
            event.extend_from_slice(b"data: ");
            event.extend_from_slice(&long[..1024]);
            event.push(b'\n');
        }
        assert_eq!(read(&[&event]), Err(TooLarge));
        // Many events of normal size are accepted.
        assert_eq!(read(&[&b"data: x\n\n".repeat(LIMIT)]).unwrap().len(), LIMIT);
    }
}
