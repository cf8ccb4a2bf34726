//! What the content of a page leaves open at its end, and would thus move or hide what is drawn after it.

use memchr::memmem;

use super::lexer::{Lexer, Token, is_space};

/// How deep something is at the end, and at its deepest below the beginning.
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

    /// What must be opened before, so that nothing closes what is not open.
    pub(super) fn before(self) -> usize {
        usize::try_from(self.low.saturating_neg()).unwrap_or_default()
    }

    /// What must be closed after, with that which was opened before.
    pub(super) fn after(self) -> usize {
        usize::try_from(self.end.saturating_sub(self.low)).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Balance {
    /// Saved states of drawing.
    pub states: Depth,
    /// Marked parts, which may be hidden.
    pub marks: Depth,
    /// Whether text is being drawn.
    pub text: Option<bool>,
}

impl Balance {
    /// Of one content after the other.
    pub(super) fn then(self, next: Self) -> Self {
        Self {
            states: self.states.then(next.states),
            marks: self.marks.then(next.marks),
            text: next.text.or(self.text),
        }
    }

    pub(super) fn of(content: &[u8]) -> Self {
        let mut balance = Self::default();
        let mut lexer = Lexer::new(content, 0);
        while lexer.at < content.len() {
            match lexer.next() {
                Some(Token::Word(b"q")) => balance.states = balance.states.then(Depth::OPEN),
                Some(Token::Word(b"Q")) => balance.states = balance.states.then(Depth::CLOSE),
                Some(Token::Word(b"BMC" | b"BDC")) => balance.marks = balance.marks.then(Depth::OPEN),
                Some(Token::Word(b"EMC")) => balance.marks = balance.marks.then(Depth::CLOSE),
                Some(Token::Word(b"BT")) => balance.text = Some(true),
                Some(Token::Word(b"ET")) => balance.text = Some(false),
                Some(Token::Word(b"ID")) => lexer.at = end_of_picture(content, lexer.at),
                _ => {}
            }
        }
        balance
    }
}

/// Behind the data of a picture in the content.
fn end_of_picture(content: &[u8], start: usize) -> usize {
    let is_space_at =
        |at: Option<usize>| at.and_then(|at| content.get(at)).is_none_or(|byte| is_space(*byte));
    memmem::find_iter(content.get(start..).unwrap_or_default(), b"EI")
        .map(|at| start + at)
        .find(|at| is_space_at(at.checked_sub(1)) && is_space_at(Some(at + 2)))
        .map_or(content.len(), |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(content: &str) -> (usize, usize, usize, Option<bool>) {
        let Balance { states, marks, text } = Balance::of(content.as_bytes());
        (states.before(), states.after(), marks.after(), text)
    }

    #[test]
    fn what_is_open_is_counted() {
        assert_eq!(sums(""), (0, 0, 0, None));
        assert_eq!(sums("q 1 0 0 1 0 0 cm Q"), (0, 0, 0, None));
        assert_eq!(sums("q q (Q Q \\) Q) Tj /Q gs <51> Tj % Q\nBT"), (0, 2, 0, Some(true)));
        assert_eq!(sums("Q Q q /P BMC /P <</MCID 0>> BDC EMC BT ET"), (2, 1, 1, Some(false)));
        assert_eq!(sums("BI /W 1 ID Q EIQ ) ( EI q"), (0, 1, 0, None));
        assert_eq!(sums(") > } q <zz q"), (0, 2, 0, None));
        assert_eq!(sums("q (q"), (0, 1, 0, None));
    }

    #[test]
    fn contents_add_up() {
        let all = ["q q", "Q Q Q", "BT q", ""].map(|content| Balance::of(content.as_bytes()));
        let sum = all.into_iter().fold(Balance::default(), Balance::then);
        assert_eq!(sum, Balance::of(b"q q Q Q Q BT q"));
    }
}
