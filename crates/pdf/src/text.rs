//! Text on its way to paper: characters that can be drawn, places where a line may break, the direction of reading.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::Serialize;

use crate::Failure;
use crate::failure::MOST_PAGES;
use crate::fonts::{self, Fonts};

/// What is drawn for a character that no font has.
const REPLACEMENT: char = '\u{FFFD}';

/// About as many characters as a full page holds. Text that would not fit the most pages even so is refused
/// before any time is spent on its layout.
const FULL_PAGE: usize = 4_000;

/// The room that a block takes at least, in characters: a line.
const LINE: usize = 80;

/// No writing has longer words or more marks on a letter. Laying them out would take minutes.
const LONGEST_WORD: usize = 400;
const MOST_STACKED: usize = 8;

/// Whether a character is put on the one before it.
fn is_stacked(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// A line of text, as the templates take it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Line {
    /// A line may break between two pieces.
    t: Vec<String>,
    rtl: bool,
}

/// Reads all text of one document and keeps account of it.
pub(crate) struct Text {
    fonts: &'static Fonts,
    drawable: HashMap<char, bool>,
    /// Combinations that no font has, and what is drawn for them.
    replaced: Vec<(String, String)>,
    missing: BTreeSet<char>,
    size: usize,
}

impl Text {
    pub(crate) fn new() -> Result<Self, Failure> {
        let fonts = fonts::get()?;
        Ok(Self { fonts, drawable: HashMap::new(), replaced: Vec::new(), missing: BTreeSet::new(), size: 0 })
    }

    /// Reads a document from its beginning. Refuses one that is too long.
    pub(crate) fn read<I>(&mut self, input: impl Fn(&mut Self) -> I) -> Result<I, Failure> {
        self.size = 0;
        let input = input(self);
        if self.is_too_large() { Err(Failure::TooLarge) } else { Ok(input) }
    }

    fn is_too_large(&self) -> bool {
        self.size > MOST_PAGES * FULL_PAGE
    }

    /// Has these combinations of characters replaced from now on: all but the first, which can be drawn alone.
    pub(crate) fn replace(&mut self, undrawn: BTreeSet<String>) {
        for text in undrawn {
            let mut chars = text.chars();
            let mut drawn: String = chars.next().into_iter().collect();
            for c in chars.filter(|c| !is_ignorable(*c)) {
                drawn.push(REPLACEMENT);
                self.missing.insert(c);
            }
            self.replaced.push((text, drawn));
        }
        self.replaced.sort_by_key(|(text, _)| Reverse(text.len()));
    }

    /// The characters that no font has.
    pub(crate) fn missing(self) -> Vec<char> {
        self.missing.into_iter().collect()
    }

    /// Accounts for one block, however little text it has.
    pub(crate) fn block(&mut self) {
        self.size += LINE;
    }

    /// Accounts for the room that a text of this size takes beyond it, if it has so many lines.
    pub(crate) fn lines(&mut self, lines: usize, size: usize) {
        self.size += (lines * LINE).saturating_sub(size);
    }

    /// A line of plain text in which words longer than `longest` may be broken.
    pub(crate) fn line(&mut self, text: &str, longest: usize) -> Line {
        let text = self.clean(text);
        Line { rtl: is_right_to_left(&text), t: pieces(&text, longest) }
    }

    /// The text with nothing in it but what can be drawn, on one line.
    pub(crate) fn clean(&mut self, text: &str) -> String {
        self.size += text.len();
        if self.is_too_large() {
            return String::new();
        }
        let mut composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
        for (text, drawn) in &self.replaced {
            composed = composed.replace(text, drawn).into();
        }
        let (mut out, mut solid, mut stacked) = (String::with_capacity(composed.len()), 0, 0);
        for c in composed.chars() {
            let Some(c) = self.drawn(c) else { continue };
            stacked = if is_stacked(c) { stacked + 1 } else { 0 };
            if stacked > MOST_STACKED {
                self.missing.insert(c);
                continue;
            }
            solid = if c.is_whitespace() { 0 } else { solid + 1 };
            if solid > LONGEST_WORD {
                out.push(' ');
                solid = 1;
            }
            out.push(c);
        }
        out
    }

    fn drawn(&mut self, c: char) -> Option<char> {
        match c {
            ' '..='~' => Some(c),
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
            _ if c.is_control() => None,
            _ if is_ignorable(c) => Some(c),
            REPLACEMENT => Some(c),
            _ if *self.drawable.entry(c).or_insert_with(|| self.fonts.cover(c)) => Some(c),
            _ => {
                self.missing.insert(c);
                Some(REPLACEMENT)
            }
        }
    }
}

/// Characters that steer the text around them and are never drawn themselves.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether the first letter belongs to a script that is written from right to left.
pub(crate) fn is_right_to_left(text: &str) -> bool {
    text.chars().find(|c| c.is_alphabetic()).is_some_and(|c| {
        matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFF}'
            | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
    })
}

/// Cuts the text where a line may break although its writing has no place for it: in words longer than `longest`.
/// Between letters only if there is no punctuation at which to cut. The pieces together are the text.
pub(crate) fn pieces(text: &str, longest: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for word in words(text) {
        if word.chars().filter(|c| is_solid(*c)).count() <= longest {
            push(&mut pieces, word);
            continue;
        }
        for part in word.split_inclusive(['/', '.', ',', ';', ':', '?', '&', '=', '_', '@', '|', '+', '-']) {
            if part.chars().count() <= longest {
                push(&mut pieces, part);
            } else {
                for c in part.chars() {
                    if is_solid(c) {
                        pieces.push(c.into());
                    } else if let Some(last) = pieces.last_mut() {
                        last.push(c);
                    }
                }
            }
            pieces.push(String::new());
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The text in parts between which Typst breaks a line anyway. It does so after a hyphen, but not before a digit.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut start) = (Vec::new(), 0);
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let next = chars.peek();
        let end = next.map_or(text.len(), |(at, _)| *at);
        let is_tied = next.is_some_and(|(_, next)| next.is_numeric());
        if c.is_whitespace() || (c == '-' && !is_tied) || end == text.len() {
            words.extend(text.get(start..end));
            start = end;
        }
    }
    words
}

fn push(pieces: &mut [String], text: &str) {
    if let Some(last) = pieces.last_mut() {
        last.push_str(text);
    }
}

/// Characters before which a word can be cut without harm: no marks, no joined scripts, and none of the scripts
/// that have no spaces, since Typst knows where their lines break.
fn is_solid(c: char) -> bool {
    matches!(c, '!'..='~' | '\u{A1}'..='\u{2FF}' | '\u{370}'..='\u{482}' | '\u{48A}'..='\u{590}'
        | '\u{5D0}'..='\u{5EA}' | '\u{10A0}'..='\u{10FF}' | '\u{1E00}'..='\u{1FFF}' | '\u{2100}'..='\u{2BFF}')
}

/// How wide the text is, in letters.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '\u{1100}'..='\u{11FF}' | '\u{2E80}'..) { 2 } else { 1 }).sum()
}

/// The text, cut to a number of characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text() {
        for text in [
            "",
            "a b",
            "aaaaaaaaaa bb",
            "https://example.com/a/b?c=d",
            "  x ",
            "e\u{301}e\u{301}e\u{301}e\u{301}",
        ] {
            assert_eq!(pieces(text, 3).concat(), text);
        }
    }

    #[test]
    fn only_long_words_are_cut() {
        assert_eq!(pieces("one two three", 5), ["one two three"]);
        assert_eq!(pieces("abcdef", 3), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(pieces("ab/cd/efghi", 5), ["ab/", "cd/", "efghi"]);
        assert_eq!(pieces("abc-def abc-123", 5), ["abc-def abc-", "123"]);
    }

    #[test]
    fn the_first_letter_decides_the_direction() {
        assert!(is_right_to_left("1. שלום world"));
        assert!(!is_right_to_left("hello שלום"));
    }
}
