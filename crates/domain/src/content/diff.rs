//! Differences between two texts: block by block, and word by word within a changed block.

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Block, Content, plain_text};

crate::words! {
    /// The kind of change to a block or to words.
    ChangeKind {
        Same = "same",
        Changed = "changed",
        Added = "added",
        Removed = "removed",
    }
}

/// One entry of a diff: a block of one text, or matching blocks of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<'a> {
    pub fate: ChangeKind,
    pub before: Option<&'a Block>,
    pub after: Option<&'a Block>,
    /// The words of a changed block.
    pub words: Vec<Words>,
}

/// A run of words with the same kind of change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Words {
    #[serde(rename = "change")]
    pub fate: ChangeKind,
    pub text: String,
}

/// The maximum number of words in a block that is compared word by word, and of block pairs that are compared.
const MAX_WORDS: usize = 5_000;
const MAX_PAIRS: usize = 4_000;
/// The minimum percentage of common words for a block to count as changed rather than replaced.
const MIN_SIMILARITY_PERCENT: usize = 35;

/// Compares two texts and returns all blocks of both, in order.
pub fn diff<'a>(before: &'a Content, after: &'a Content) -> Vec<Difference<'a>> {
    let (Content(before), Content(after)) = (before, after);
    // Equal blocks get the same number, so that their content is compared only once.
    let mut numbers: HashMap<&Block, usize> = HashMap::new();
    let mut numbered = |blocks: &'a [Block]| -> Vec<usize> {
        blocks
            .iter()
            .map(|block| {
                let next = numbers.len();
                *numbers.entry(block).or_insert(next)
            })
            .collect()
    };
    let (old, new) = (numbered(before), numbered(after));
    let mut all = Vec::with_capacity(old.len().max(new.len()));
    for op in capture_diff_slices(Algorithm::Patience, &old, &new) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => all.extend((0..len).map(|at| Difference {
                fate: ChangeKind::Same,
                before: before.get(old_index + at),
                after: after.get(new_index + at),
                words: Vec::new(),
            })),
            DiffOp::Delete { old_index, old_len, .. } => {
                all.extend(range(before, old_index, old_len).iter().map(removed));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                all.extend(range(after, new_index, new_len).iter().map(added));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                replaced(range(before, old_index, old_len), range(after, new_index, new_len), &mut all);
            }
        }
    }
    all
}

fn range(blocks: &[Block], start: usize, length: usize) -> &[Block] {
    blocks.get(start..start + length).unwrap_or_default()
}

fn removed(block: &Block) -> Difference<'_> {
    Difference { fate: ChangeKind::Removed, before: Some(block), after: None, words: Vec::new() }
}

fn added(block: &Block) -> Difference<'_> {
    Difference { fate: ChangeKind::Added, before: None, after: Some(block), words: Vec::new() }
}

/// Compares replaced blocks: similar ones are changed, the others removed and added.
fn replaced<'a>(before: &'a [Block], after: &'a [Block], all: &mut Vec<Difference<'a>>) {
    let (mut old, mut new) = (0, 0);
    for (a, b) in pairs(before, after) {
        all.extend(before[old..a].iter().map(removed));
        all.extend(after[new..b].iter().map(added));
        all.push(Difference {
            fate: ChangeKind::Changed,
            before: Some(&before[a]),
            after: Some(&after[b]),
            words: words_between(&before[a], &after[b]),
        });
        (old, new) = (a + 1, b + 1);
    }
    all.extend(before[old..].iter().map(removed));
    all.extend(after[new..].iter().map(added));
}

/// Pairs similar blocks in order, so that the texts have as much as possible in common.
fn pairs(before: &[Block], after: &[Block]) -> Vec<(usize, usize)> {
    if before.len() * after.len() > MAX_PAIRS {
        return Vec::new();
    }
    let texts = |blocks: &[Block]| -> Vec<String> {
        blocks.iter().map(|block| plain_text(std::slice::from_ref(block))).collect()
    };
    let (old, new) = (texts(before), texts(after));
    let alike: Vec<Vec<usize>> = (0..before.len())
        .map(|a| {
            (0..after.len())
                .map(|b| {
                    let same_kind = std::mem::discriminant(&before[a]) == std::mem::discriminant(&after[b]);
                    if same_kind { likeness(&old[a], &new[b]) } else { 0 }
                })
                .collect()
        })
        .collect();
    let mut best = vec![vec![0; after.len() + 1]; before.len() + 1];
    for a in (0..before.len()).rev() {
        for b in (0..after.len()).rev() {
            let together =
                if alike[a][b] >= MIN_SIMILARITY_PERCENT { alike[a][b] + best[a + 1][b + 1] } else { 0 };
            best[a][b] = together.max(best[a + 1][b]).max(best[a][b + 1]);
        }
    }
    let (mut a, mut b, mut found) = (0, 0, Vec::new());
    while a < before.len() && b < after.len() {
        if alike[a][b] >= MIN_SIMILARITY_PERCENT && best[a][b] == alike[a][b] + best[a + 1][b + 1] {
            found.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if best[a][b] == best[a + 1][b] {
            a += 1;
        } else {
            b += 1;
        }
    }
    found
}

/// The percentage of words that two texts have in common.
fn likeness(a: &str, b: &str) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut total, mut common) = (0_usize, 0_usize);
    for word in a.split_whitespace() {
        *counts.entry(word).or_default() += 1;
        total += 1;
    }
    for word in b.split_whitespace() {
        total += 1;
        if let Some(left) = counts.get_mut(word).filter(|left| **left > 0) {
            *left -= 1;
            common += 1;
        }
    }
    (200 * common).checked_div(total).unwrap_or(100)
}

fn words_between(before: &Block, after: &Block) -> Vec<Words> {
    let (before, after) = (plain_text(std::slice::from_ref(before)), plain_text(std::slice::from_ref(after)));
    let (old, new) = (words_of(&before), words_of(&after));
    let mut all: Vec<Words> = Vec::new();
    let mut say = |fate, words: &[&str]| {
        if words.is_empty() {
            return;
        }
        match all.last_mut() {
            Some(last) if last.fate == fate => last.text.push_str(&words.concat()),
            _ => all.push(Words { fate, text: words.concat() }),
        }
    };
    if old.len().max(new.len()) > MAX_WORDS {
        say(ChangeKind::Removed, &old);
        say(ChangeKind::Added, &new);
        return all;
    }
    for op in capture_diff_slices(Algorithm::Patience, &old, &new) {
        let (tag, from, to): (_, Range<usize>, Range<usize>) = op.as_tag_tuple();
        if tag == similar::DiffTag::Equal {
            say(ChangeKind::Same, &old[from]);
        } else {
            say(ChangeKind::Removed, &old[from]);
            say(ChangeKind::Added, &new[to]);
        }
    }
    all
}

/// Splits a text into words and the separators between them.
fn words_of(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        let goes_on = before.is_some_and(|before| {
            (before.is_alphanumeric() && c.is_alphanumeric()) || (before.is_whitespace() && c.is_whitespace())
        });
        if !goes_on && at > start {
            words.push(&text[start..at]);
            start = at;
        }
        before = Some(c);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// The text with only some of the changes applied; `wanted` contains their indices in `differences`.
pub fn applied(differences: &[Difference<'_>], wanted: &[usize]) -> Content {
    let pick = |(place, one): (usize, &Difference<'_>)| match wanted.contains(&place) {
        true => one.after.cloned(),
        false => one.before.cloned(),
    };
    Content(differences.iter().enumerate().filter_map(pick).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::markdown;

    fn content(text: &str) -> Content {
        markdown::read(text).expect("Markdown")
    }

    #[test]
    fn blocks_and_words_are_compared() {
        let before = content("# Access\n\nWe review access every quarter.\n\nGone.\n\nStays.");
        let after = content("# Access\n\nWe review all access every month.\n\nStays.\n\n- New");
        let found = diff(&before, &after);
        let fates: Vec<ChangeKind> = found.iter().map(|one| one.fate).collect();
        assert_eq!(
            fates,
            [ChangeKind::Same, ChangeKind::Changed, ChangeKind::Removed, ChangeKind::Same, ChangeKind::Added]
        );
        let words: Vec<(ChangeKind, &str)> =
            found[1].words.iter().map(|words| (words.fate, words.text.as_str())).collect();
        assert_eq!(
            words,
            [
                (ChangeKind::Same, "We review "),
                (ChangeKind::Added, "all "),
                (ChangeKind::Same, "access every "),
                (ChangeKind::Removed, "quarter"),
                (ChangeKind::Added, "month"),
                (ChangeKind::Same, "."),
            ]
        );
    }

    #[test]
    fn all_changes_make_the_new_text_and_none_the_old() {
        let before = content("# A\n\none two three\n\nfour\n\n---\n\nfive");
        let after = content("# B\n\none two 3\n\n- four\n\nfive\n\nfive");
        let found = diff(&before, &after);
        assert_eq!(applied(&found, &[]), before);
        assert_eq!(applied(&found, &(0..found.len()).collect::<Vec<_>>()), after);
        let changed = found.iter().position(|one| one.fate == ChangeKind::Changed).expect("a change");
        assert_eq!(applied(&found, &[changed]), content("# A\n\none two 3\n\nfour\n\n---\n\nfive"));
    }

    #[test]
    fn very_large_texts_are_compared_too() {
        let line = |n: usize| format!("Line {n} of a long text.\n\n");
        let before: String = (0..4000).map(line).collect();
        let after: String = (2000..6000).map(line).collect();
        let (before, after) = (content(&before), content(&after));
        let found = diff(&before, &after);
        assert_eq!(applied(&found, &(0..found.len()).collect::<Vec<_>>()), after);
    }
}
