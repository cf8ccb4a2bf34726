//! The values of a PDF: parsed, changed and written.

use super::lexer::{Lexer, Token, is_keyword};

/// The maximum nesting of values, above what any program writes.
const MAX_NESTING: usize = 64;
/// The maximum number of values in one object. Only pages and the objects on the path to them are parsed as values.
const MAX_VALUES_PER_OBJECT: usize = 200_000;

/// The id of an object: a number, and a generation that counts how often the number was reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub number: u32,
    pub generation: u16,
}

impl Id {
    pub(super) const fn new(number: u32) -> Self {
        Self { number, generation: 0 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    /// A name, unescaped.
    Name(Vec<u8>),
    Reference(Id),
    Array(Vec<Value>),
    Dict(Dict),
    /// A number, a string or a keyword, verbatim.
    Plain(Vec<u8>),
}

/// A dictionary in the order of the file, which is preserved on writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dict(pub Vec<(Vec<u8>, Value)>);

impl Dict {
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(name, _)| name == key.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn set(&mut self, key: &str, value: Value) {
        self.remove(key);
        self.0.push((key.into(), value));
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key.as_bytes());
    }

    pub(super) fn name(&self, key: &str) -> Option<&[u8]> {
        match self.get(key)? {
            Value::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn number<N: std::str::FromStr>(&self, key: &str) -> Option<N> {
        self.get(key)?.number()
    }
}

impl Value {
    pub(super) fn name_of(name: &str) -> Self {
        Self::Name(name.into())
    }

    pub(super) fn number_of(number: impl std::fmt::Display) -> Self {
        Self::Plain(number.to_string().into())
    }

    pub(super) fn number<N: std::str::FromStr>(&self) -> Option<N> {
        match self {
            Self::Plain(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    /// Parses the next value. Also returns the number of values parsed.
    pub(super) fn read(lexer: &mut Lexer) -> (Option<Self>, usize) {
        let mut count = 0;
        (read(lexer, MAX_NESTING, &mut count), count)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend(b"null"),
            Self::Name(name) => write_name(name, out),
            Self::Reference(Id { number, generation }) => {
                out.extend(format!("{number} {generation} R").into_bytes());
            }
            Self::Plain(raw) => out.extend(raw),
            Self::Array(values) => {
                out.push(b'[');
                for (place, value) in values.iter().enumerate() {
                    if place > 0 {
                        out.push(b' ');
                    }
                    value.write(out);
                }
                out.push(b']');
            }
            Self::Dict(dict) => {
                out.extend(b"<<");
                for (name, value) in &dict.0 {
                    write_name(name, out);
                    out.push(b' ');
                    value.write(out);
                    out.push(b'\n');
                }
                out.extend(b">>");
            }
        }
    }

    /// The number of values it contains, including itself.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Array(values) => 1 + values.iter().map(Self::count).sum::<usize>(),
            Self::Dict(dict) => 1 + dict.0.iter().map(|(_, value)| 1 + value.count()).sum::<usize>(),
            Self::Null | Self::Name(_) | Self::Reference(_) | Self::Plain(_) => 1,
        }
    }

    /// Calls `change` for all references in the value.
    pub(super) fn references_mut(&mut self, change: &mut impl FnMut(&mut Id)) {
        match self {
            Self::Reference(id) => change(id),
            Self::Array(values) => values.iter_mut().for_each(|value| value.references_mut(change)),
            Self::Dict(dict) => dict.0.iter_mut().for_each(|(_, value)| value.references_mut(change)),
            Self::Null | Self::Name(_) | Self::Plain(_) => {}
        }
    }
}

fn read(lexer: &mut Lexer, deeper: usize, count: &mut usize) -> Option<Value> {
    *count += 1;
    if deeper == 0 || *count > MAX_VALUES_PER_OBJECT {
        return None;
    }
    Some(match lexer.next()? {
        Token::Name(name) => Value::Name(unescaped(name)),
        Token::Text(text) => Value::Plain(text.into()),
        Token::Number(number) => reference(lexer, number).unwrap_or_else(|| Value::Plain(number.into())),
        Token::Word(b"null") => Value::Null,
        Token::Word(word) if !is_keyword(word) => Value::Plain(word.into()),
        Token::ArrayStart => {
            let mut values = Vec::new();
            while !ends(lexer, Token::ArrayEnd) {
                values.push(read(lexer, deeper - 1, count)?);
            }
            Value::Array(values)
        }
        Token::DictStart => {
            let mut dict = Dict::default();
            while !ends(lexer, Token::DictEnd) {
                let Token::Name(name) = lexer.next()? else { return None };
                dict.0.push((unescaped(name), read(lexer, deeper - 1, count)?));
            }
            Value::Dict(dict)
        }
        Token::ArrayEnd | Token::DictEnd | Token::Word(_) => return None,
    })
}

fn ends(lexer: &mut Lexer, end: Token) -> bool {
    let before = lexer.at;
    let is = lexer.next() == Some(end);
    if !is {
        lexer.at = before;
    }
    is
}

/// Parses the rest of a reference, which is two numbers and a letter and thus starts like a number.
fn reference(lexer: &mut Lexer, number: &[u8]) -> Option<Value> {
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    let before = lexer.at;
    let generation = lexer.number().filter(|_| lexer.takes(b"R"));
    if generation.is_none() {
        lexer.at = before;
    }
    Some(Value::Reference(Id { number, generation: generation? }))
}

pub(super) fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'#' => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

fn write_name(name: &[u8], out: &mut Vec<u8>) {
    out.push(b'/');
    for byte in name {
        if byte.is_ascii_alphanumeric() || b"+-._*:,;!?$&'@^`|~=".contains(byte) {
            out.push(*byte);
        } else {
            out.extend(format!("#{byte:02X}").into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> Option<String> {
        let value = Value::read(&mut Lexer::new(text.as_bytes(), 0)).0?;
        let mut out = Vec::new();
        value.write(&mut out);
        Some(String::from_utf8_lossy(&out).replace('\n', " "))
    }

    #[test]
    fn what_is_read_is_written_again() {
        for text in
            ["<</A 1 /B [2 0 R 1 0 3 0 R -.5 true null] /C (a\\)(b)) /D <0aF> >>", "/A#20B#23", "[[[]] <<>>]"]
        {
            assert_eq!(again(text).as_deref(), Some(text));
        }
        assert_eq!(again("<< % a remark >>\n/A/B>>").as_deref(), Some("<</A /B >>"));
    }

    #[test]
    fn what_is_no_value_is_not_read() {
        for text in ["", "]", "<</A", "<<1 2>>", "(a", "<zz>", "obj", "[1", "<</A>>", &"[".repeat(1_000_000)]
        {
            assert_eq!(again(text), None, "{text:.20}");
        }
    }
}
