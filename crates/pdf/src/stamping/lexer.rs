//! The tokens of a PDF.

/// One token, verbatim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    ArrayStart,
    ArrayEnd,
    DictStart,
    DictEnd,
    /// Without its slash.
    Name(&'a [u8]),
    Number(&'a [u8]),
    /// With its brackets.
    Text(&'a [u8]),
    Word(&'a [u8]),
}

#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    pub at: usize,
    /// Bytes read since the last `take_work`, including repeated reads.
    work: usize,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, work: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Advances while the predicate holds.
    fn skip(&mut self, is_such: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !is_such(*byte)).unwrap_or(rest.len());
    }

    pub(super) fn skip_space(&mut self) {
        loop {
            self.skip(is_space);
            if self.peek() != Some(b'%') {
                return;
            }
            self.skip(|byte| !matches!(byte, b'\r' | b'\n'));
        }
    }

    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// Returns and resets the number of bytes read, including those read again after backtracking.
    pub(super) const fn take_work(&mut self) -> usize {
        std::mem::replace(&mut self.work, 0)
    }

    /// Returns the next token; `None` at the end, and where the bytes are not a token.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        let token = self.token();
        self.work += self.at - start;
        token
    }

    fn token(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        let start = self.at;
        let first = self.peek()?;
        self.at += 1;
        Some(match first {
            b'[' => Token::ArrayStart,
            b']' => Token::ArrayEnd,
            b'<' if self.peek() == Some(b'<') => self.second(Token::DictStart),
            b'>' if self.peek() == Some(b'>') => self.second(Token::DictEnd),
            b'<' => {
                self.skip(|byte| byte.is_ascii_hexdigit() || is_space(byte));
                if self.peek()? != b'>' {
                    return None;
                }
                self.at += 1;
                Token::Text(self.since(start))
            }
            b'(' => {
                self.skip_text()?;
                Token::Text(self.since(start))
            }
            b'/' => {
                self.skip(is_regular);
                Token::Name(self.since(start + 1))
            }
            b'{' | b'}' => Token::Word(self.since(start)),
            _ if is_regular(first) => {
                self.skip(is_regular);
                let word = self.since(start);
                // Some programs write large numbers in exponential notation, which is not allowed.
                let is_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                if !first.is_ascii_alphabetic() && word.iter().all(is_number) {
                    Token::Number(word)
                } else {
                    Token::Word(word)
                }
            }
            _ => return None,
        })
    }

    fn second(&mut self, token: Token<'a>) -> Token<'a> {
        self.at += 1;
        token
    }

    /// Advances behind the closing parenthesis of a string.
    fn skip_text(&mut self) -> Option<()> {
        let mut open = 1;
        while open > 0 {
            self.skip(|byte| !matches!(byte, b'(' | b')' | b'\\'));
            match self.peek()? {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => self.at += 1,
            }
            self.at += 1;
        }
        Some(())
    }

    /// Returns the next token if it is an integer.
    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        match self.next()? {
            Token::Number(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// Consumes the next token and returns true if it is this keyword.
    pub(super) fn takes(&mut self, word: &[u8]) -> bool {
        self.next() == Some(Token::Word(word))
    }
}

/// Returns true for structural keywords, which stand between values.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    const KEYWORDS: [&[u8]; 7] =
        [b"obj", b"endobj", b"stream", b"endstream", b"xref", b"trailer", b"startxref"];
    KEYWORDS.contains(&word)
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b'\0' | b'\t' | b'\n' | b'\x0C' | b'\r' | b' ')
}

const fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}
