//! Prepares text for layout: replaces characters without a glyph, adds line break opportunities, detects the
//! direction.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::Serialize;

use crate::Failure;
use crate::failure::MAX_PAGES;
use crate::fonts::{self, Fonts};

/// Printed instead of a character that no font has.
const REPLACEMENT: char = '\u{FFFD}';

/// The number of characters of a full page, roughly. Text that exceeds the page limit even at this density is
/// rejected before layout.
const FULL_PAGE: usize = 4_000;

/// The minimum size of a block, in characters: one line.
const LINE: usize = 80;

/// The maximum length of a word and number of combining marks on a letter, above those of any script. Laying out
/// longer ones would take minutes.
const MAX_WORD_CHARS: usize = 400;
const MAX_STACKED_MARKS: usize = 8;

/// Returns true for combining marks.
fn is_stacked(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// A line of text in the form the templates expect.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Line {
    /// Pieces of the text; a line may break between two of them.
    t: Vec<String>,
    rtl: bool,
}

/// Prepares all text of one document and keeps track of its size and of missing characters.
pub(crate) struct Text {
    fonts: &'static Fonts,
    drawable: HashMap<char, bool>,
    /// Sequences that no font has, and their replacements.
    replaced: Vec<(String, String)>,
    missing: BTreeSet<char>,
    size: usize,
}

impl Text {
    pub(crate) fn new() -> Result<Self, Failure> {
        let fonts = fonts::get()?;
        Ok(Self { fonts, drawable: HashMap::new(), replaced: Vec::new(), missing: BTreeSet::new(), size: 0 })
    }

    /// Prepares a document from its start; fails if it is too long.
    pub(crate) fn read<I>(&mut self, input: impl Fn(&mut Self) -> I) -> Result<I, Failure> {
        self.size = 0;
        let input = input(self);
        if self.is_too_large() { Err(Failure::TooLarge) } else { Ok(input) }
    }

    fn is_too_large(&self) -> bool {
        self.size > MAX_PAGES * FULL_PAGE
    }

    /// Replaces these sequences of characters from now on, except for the first character, which has a glyph.
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

    /// Adds the minimum size of one block.
    pub(crate) fn block(&mut self) {
        self.size += LINE;
    }

    /// Adds the extra room that a text of this size takes if it has this many lines.
    pub(crate) fn lines(&mut self, lines: usize, size: usize) {
        self.size += (lines * LINE).saturating_sub(size);
    }

    /// A line of plain text in which words longer than `longest` may be broken.
    pub(crate) fn line(&mut self, text: &str, longest: usize) -> Line {
        let text = self.clean(text);
        Line { rtl: is_right_to_left(&text), t: pieces(&text, longest) }
    }

    /// Returns the text on one line, without characters that have no glyph.
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
            if stacked > MAX_STACKED_MARKS {
                self.missing.insert(c);
                continue;
            }
            solid = if c.is_whitespace() { 0 } else { solid + 1 };
            if solid > MAX_WORD_CHARS {
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

/// Returns true for characters that control the text around them and have no glyph.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns true if the first letter belongs to a right-to-left script.
pub(crate) fn is_right_to_left(text: &str) -> bool {
    text.chars().find(|c| c.is_alphabetic()).is_some_and(|c| {
        matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFF}'
            | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
    })
}

/// Splits words longer than `longest` so that a line may break within them: at punctuation if there is any, else
/// between letters. The pieces concatenate to the text.
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

/// Splits the text where Typst breaks lines anyway: at spaces, and after a hyphen unless a digit follows.
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

/// Returns true for characters before which a word can be split: no marks, no joined scripts, and no scripts without
/// spaces, since Typst knows their line breaks.
fn is_solid(c: char) -> bool {
    matches!(c, '!'..='~' | '\u{A1}'..='\u{2FF}' | '\u{370}'..='\u{482}' | '\u{48A}'..='\u{590}'
        | '\u{5D0}'..='\u{5EA}' | '\u{10A0}'..='\u{10FF}' | '\u{1E00}'..='\u{1FFF}' | '\u{2100}'..='\u{2BFF}')
}

/// The width of the text, in letters.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '\u{1100}'..='\u{11FF}' | '\u{2E80}'..) { 2 } else { 1 }).sum()
}

/// Truncates the text to a number of characters.
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
