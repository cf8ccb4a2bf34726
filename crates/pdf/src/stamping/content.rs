//! Counts the operators that the content of a page leaves open at its end, because they would move or hide later
//! drawing.
//!
//! PDF readers differ in how they parse malformed content. Content is rejected where that changes the counts.

use memchr::memmem;

use super::{Damage, Unreadable};

const UNFINISHED: Unreadable = Unreadable::Damaged(Damage::UnfinishedContent);
const AMBIGUOUS: Unreadable = Unreadable::Damaged(Damage::AmbiguousContent);

/// All operators that open or close something.
const WORDS: [&[u8]; 10] = [b"q", b"Q", b"BMC", b"BDC", b"EMC", b"BT", b"ET", b"BI", b"ID", b"EI"];

/// The maximum nesting of brackets, above what any program writes.
const MAX_NESTING: usize = 32;

/// Nesting depth relative to the start: at the end, and its minimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Depth {
    end: i32,
    low: i32,
}

impl Depth {
    const OPEN: Self = Self { end: 1, low: 0 };
    const CLOSE: Self = Self { end: -1, low: -1 };

    fn then(self, next: Self) -> Self {
        let low = self.low.min(self.end.saturating_add(next.low));
        Self { end: self.end.saturating_add(next.end), low }
    }

    /// The number of levels to open beforehand, so that no operator closes a level that is not open.
    pub(super) fn before(self) -> usize {
        usize::try_from(self.low.saturating_neg()).unwrap_or_default()
    }

    /// The number of levels to close afterwards, including those opened beforehand.
    pub(super) fn after(self) -> usize {
        usize::try_from(self.end.saturating_sub(self.low)).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Array,
    Dict,
}

/// Open and closed brackets of a content stream. An array or a dictionary may start in one stream and end in the
/// next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Brackets {
    /// Brackets of an earlier stream that are closed here.
    closed: Vec<Bracket>,
    /// Brackets that are open at the end.
    open: Vec<Bracket>,
    /// True after an operator that opens or closes something. A bracket that is closed after it without being open is
    /// ignored.
    has_words: bool,
}

impl Brackets {
    fn open(&mut self, bracket: Bracket) -> Result<(), Unreadable> {
        self.open.push(bracket);
        if self.open.len() > MAX_NESTING { Err(Unreadable::TooComplex) } else { Ok(()) }
    }

    fn close(&mut self, bracket: Bracket) -> Result<(), Unreadable> {
        match self.open.pop() {
            Some(open) if open == bracket => return Ok(()),
            Some(_) => return Err(AMBIGUOUS),
            None if self.has_words => return Ok(()),
            None => self.closed.push(bracket),
        }
        if self.closed.len() > MAX_NESTING { Err(Unreadable::TooComplex) } else { Ok(()) }
    }

    /// Counts an operator. Inside brackets it is ambiguous: some readers execute it and others do not.
    fn word(&mut self) -> Result<(), Unreadable> {
        self.has_words = true;
        if self.open.is_empty() { Ok(()) } else { Err(AMBIGUOUS) }
    }

    fn then(mut self, next: &Self) -> Result<Self, Unreadable> {
        next.closed.iter().try_for_each(|bracket| self.close(*bracket))?;
        if next.has_words {
            self.word()?;
        }
        next.open.iter().try_for_each(|bracket| self.open(*bracket))?;
        Ok(self)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Balance {
    /// Saved graphics states.
    pub states: Depth,
    /// Marked-content sequences, which may be hidden.
    pub marks: Depth,
    /// True if a text object is open at the end; `None` if there is no text operator.
    pub text: Option<bool>,
    brackets: Brackets,
}

impl Balance {
    /// Combines the balances of two consecutive streams.
    pub(super) fn then(self, next: &Self) -> Result<Self, Unreadable> {
        Ok(Self {
            states: self.states.then(next.states),
            marks: self.marks.then(next.marks),
            text: next.text.or(self.text),
            brackets: self.brackets.then(&next.brackets)?,
        })
    }

    /// Fails if brackets are still open, because the next stream would become part of them.
    pub(super) fn must_be_closed(&self) -> Result<(), Unreadable> {
        if self.brackets.open.is_empty() { Ok(()) } else { Err(UNFINISHED) }
    }

    pub(super) fn of(content: &[u8]) -> Result<Self, Unreadable> {
        let mut balance = Self::default();
        let mut tokens = Tokens { bytes: content, at: 0 };
        let mut is_image = false;
        while let Some(token) = tokens.next()? {
            match token {
                Token::Open(bracket) => balance.brackets.open(bracket)?,
                Token::Close(bracket) => balance.brackets.close(bracket)?,
                Token::Word(word) if WORDS.contains(&word) => {
                    balance.brackets.word()?;
                    // Before its data, an inline image consists of names and values only.
                    if is_image != (word == b"ID") {
                        return Err(AMBIGUOUS);
                    }
                    is_image = word == b"BI";
                    if word == b"ID" {
                        tokens.at = end_of_image(content, tokens.at)?;
                    }
                    balance.count(word)?;
                }
                Token::Word(word) if is_ambiguous(word) => return Err(AMBIGUOUS),
                Token::Word(_) | Token::Other => {}
            }
        }
        if is_image { Err(UNFINISHED) } else { Ok(balance) }
    }

    fn count(&mut self, word: &[u8]) -> Result<(), Unreadable> {
        match word {
            b"q" => self.states = self.states.then(Depth::OPEN),
            b"Q" => self.states = self.states.then(Depth::CLOSE),
            b"BMC" | b"BDC" => self.marks = self.marks.then(Depth::OPEN),
            b"EMC" => self.marks = self.marks.then(Depth::CLOSE),
            b"BT" => self.text = Some(true),
            b"ET" => self.text = Some(false),
            // The end of an inline image without a start.
            b"EI" => return Err(AMBIGUOUS),
            _ => {}
        }
        Ok(())
    }
}

/// Returns true if readers may split this word into several, one of which is a counted operator.
fn is_ambiguous(word: &[u8]) -> bool {
    let starts_as_number = word.first().is_some_and(|first| first.is_ascii_digit() || b"+-.".contains(first));
    (starts_as_number && word.iter().any(u8::is_ascii_alphabetic))
        || WORDS.iter().any(|known| word.windows(known.len()).any(|part| part == *known))
}

/// Returns the offset behind the data of an inline image. Some readers require white space before the `EI` that ends
/// it, others do not.
fn end_of_image(content: &[u8], start: usize) -> Result<usize, Unreadable> {
    let is_space_at = |at: usize| content.get(at).is_none_or(|byte| is_space(*byte));
    let end = memmem::find_iter(content.get(start..).unwrap_or_default(), b"EI")
        .map(|at| start + at)
        .find(|at| is_space_at(at + 2))
        .ok_or(UNFINISHED)?;
    if is_space_at(end.saturating_sub(1)) { Ok(end + 2) } else { Err(AMBIGUOUS) }
}

enum Token<'a> {
    Open(Bracket),
    Close(Bracket),
    /// An operator or a keyword.
    Word(&'a [u8]),
    /// A name, a number, a string, or bytes that are no token.
    Other,
}

struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    /// Advances while the predicate holds, and returns the bytes.
    fn skip(&mut self, is_such: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().position(|byte| !is_such(*byte)).unwrap_or(rest.len());
        self.at += count;
        rest.get(..count).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns the next token; `None` at the end. Fails if a string does not end.
    fn next(&mut self) -> Result<Option<Token<'a>>, Unreadable> {
        self.skip(is_space);
        while self.peek() == Some(b'%') {
            self.skip(|byte| !matches!(byte, b'\r' | b'\n'));
            self.skip(is_space);
        }
        let Some(first) = self.peek() else { return Ok(None) };
        if is_regular(first) {
            let word = self.skip(is_regular);
            // Some programs write large numbers in exponential notation, which is not allowed.
            let is_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            let is_number = !first.is_ascii_alphabetic() && word.iter().all(is_number);
            return Ok(Some(if is_number { Token::Other } else { Token::Word(word) }));
        }
        self.at += 1;
        Ok(Some(match (first, self.peek()) {
            (b'[', _) => Token::Open(Bracket::Array),
            (b']', _) => Token::Close(Bracket::Array),
            (b'<', Some(b'<')) => self.second(Token::Open(Bracket::Dict)),
            (b'>', Some(b'>')) => self.second(Token::Close(Bracket::Dict)),
            (b'<', _) => {
                self.skip(|byte| byte.is_ascii_hexdigit() || is_space(byte));
                if self.peek() != Some(b'>') {
                    return Err(UNFINISHED);
                }
                self.second(Token::Other)
            }
            (b'(', _) => self.string()?,
            (b'/', _) => {
                self.skip(is_regular);
                Token::Other
            }
            (b'{', _) => Token::Word(b"{"),
            (b'}', _) => Token::Word(b"}"),
            _ => Token::Other,
        }))
    }

    const fn second(&mut self, token: Token<'a>) -> Token<'a> {
        self.at += 1;
        token
    }

    /// Skips a string behind its opening parenthesis.
    fn string(&mut self) -> Result<Token<'a>, Unreadable> {
        let mut open = 1;
        while open > 0 {
            self.skip(|byte| !matches!(byte, b'(' | b')' | b'\\'));
            match self.peek() {
                Some(b'(') => open += 1,
                Some(b')') => open -= 1,
                Some(_) => self.at += 1,
                None => return Err(UNFINISHED),
            }
            self.at += 1;
        }
        Ok(Token::Other)
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b'\0' | b'\t' | b'\n' | b'\x0C' | b'\r' | b' ')
}

const fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content: &str) -> Result<Balance, Unreadable> {
        Balance::of(content.as_bytes())
    }

    fn sums(content: &str) -> (usize, usize, usize, Option<bool>) {
        let Balance { states, marks, text, .. } = of(content).unwrap();
        (states.before(), states.after(), marks.after(), text)
    }

    /// Combines the balances of many streams, up to the end of the page.
    fn sum(contents: &[&str]) -> Result<Balance, Unreadable> {
        let sum = contents.iter().try_fold(Balance::default(), |sum, content| sum.then(&of(content)?));
        sum.and_then(|sum| sum.must_be_closed().map(|()| sum))
    }

    #[test]
    fn what_is_open_is_counted() {
        assert_eq!(sums(""), (0, 0, 0, None));
        assert_eq!(sums("q 1 0 0 1 0 0 cm Q"), (0, 0, 0, None));
        assert_eq!(sums("q q (Q Q \\) Q) Tj /Q gs <51> Tj % Q\nBT"), (0, 2, 0, Some(true)));
        assert_eq!(sums("Q Q q /P BMC /P <</MCID 0>> BDC EMC BT ET"), (2, 1, 1, Some(false)));
        assert_eq!(sums("BI /W 1 ID Q EIQ ) ( EI q"), (0, 1, 0, None));
        assert_eq!(sums("BI /D [1 0] /DP <</K -1>> /IM true ID \0 EI"), (0, 0, 0, None));
        assert_eq!(sums(") > } ] >> q [(q) -.5] TJ T* f* (') ' ]"), (0, 1, 0, None));
    }

    #[test]
    fn what_swallows_the_rest_is_refused() {
        for open in ["q (q", "(a\\", "(()", "<51 q", "<zz q", "BI", "BI /W 1", "BI ID q", "BI ID EIq", "q <"]
        {
            assert_eq!(of(open), Err(UNFINISHED), "{open}");
        }
        for open in [&["["][..], &["/P <</A [1] ", "q"], &["[", "]", "<<"], &["<</A [", "]"]] {
            assert!(sum(open).is_err(), "{open:?}");
        }
        assert_eq!(sum(&["[(a)", "", "(b)] TJ q"]).map(|sum| sum.states.after()), Ok(1));
        assert_eq!(sum(&["<</A [", "] >> [", "]"]).map(|sum| sum.states.after()), Ok(0));
        assert_eq!(of(&"[".repeat(1_000_000)), Err(Unreadable::TooComplex));
        assert_eq!(of(&"]".repeat(1_000_000)), Err(Unreadable::TooComplex));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for two in [
            "0q",
            "1 0 0 1 0 0cm",
            "-.5Q",
            "0ET",
            "qQ",
            "Qq",
            "q0",
            "rgQ",
            "BTET",
            "#q",
            "[q]",
            "<</A Q>>",
            "[ >> q",
            "<< ]",
            "ID a EI",
            "EI",
            "BI q ID a EI",
            "BI BI ID a EI",
            "BI ET",
            "BI [ID a EI",
            "BI ID aEI Q EI",
            "BI ID EI EI",
        ] {
            assert_eq!(of(two), Err(AMBIGUOUS), "{two}");
        }
        assert_eq!(sum(&["[", "q ]"]), Err(AMBIGUOUS));
        assert_eq!(sum(&["[", ">>"]), Err(AMBIGUOUS));
    }

    #[test]
    fn contents_add_up() {
        assert_eq!(sum(&["q q", "Q Q Q", "BT q", ""]), of("q q Q Q Q BT q"));
    }
}
