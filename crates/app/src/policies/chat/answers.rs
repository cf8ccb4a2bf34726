//! Parses an answer of a model: text, and optionally a policy between two marker lines.

use attestry_domain::content::markdown;

use super::AnswerPart;

/// The marker lines before and after a policy. The Markdown writer escapes such lines within a policy.
pub(super) const OPEN: &str = "<policy>";
pub(super) const CLOSE: &str = "</policy>";
/// The maximum size of an answer, in bytes; larger than any policy.
const MAX_ANSWER_BYTES: usize = 8 << 20;

/// Separates text from policy while the answer arrives.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// A partial line that may become the opening marker.
    held: String,
    /// True in the middle of a line whose beginning was already returned as text.
    within_line: bool,
    /// The policy, once its opening marker was read.
    policy: Option<String>,
    /// All text so far, searched for a fenced policy at the end.
    text: String,
}

/// Returns true when a line is the opening marker or a prefix of it.
fn could_open(line: &str) -> bool {
    let line = line.trim_start();
    OPEN.starts_with(line.trim_end()) || line.trim_end() == OPEN
}

impl Splitter {
    /// Consumes a chunk of the answer; returns the text in it.
    pub(super) fn take(&mut self, delta: &str) -> Result<Option<String>, String> {
        if self.text.len() + self.policy.as_ref().map_or(0, String::len) + delta.len() > MAX_ANSWER_BYTES {
            return Err("The answer is longer than any policy; it was stopped.".to_owned());
        }
        let mut said = String::new();
        for piece in delta.split_inclusive('\n') {
            self.piece(piece, &mut said);
        }
        self.text.push_str(&said);
        Ok((!said.is_empty()).then_some(said))
    }

    /// Consumes a chunk of one line.
    fn piece(&mut self, piece: &str, said: &mut String) {
        if let Some(policy) = &mut self.policy {
            policy.push_str(piece);
            return;
        }
        let ends = piece.ends_with('\n');
        if self.within_line {
            said.push_str(piece);
            self.within_line = !ends;
            return;
        }
        self.held.push_str(piece);
        if ends && self.held.trim() == OPEN {
            self.held.clear();
            self.policy = Some(String::new());
        } else if ends || !could_open(&self.held) {
            said.push_str(&std::mem::take(&mut self.held));
            self.within_line = !ends;
        }
    }

    /// Returns the remaining text, the policy and any errors.
    pub(super) fn end(mut self) -> Vec<Result<AnswerPart, String>> {
        let mut all = Vec::new();
        if !self.held.is_empty() {
            self.text.push_str(&self.held);
            all.push(Ok(AnswerPart::Text(self.held)));
        }
        let found = match &self.policy {
            Some(policy) => match closed(policy) {
                Some((policy, after)) => {
                    all.extend((!after.is_empty()).then(|| Ok(AnswerPart::Text(after.to_owned()))));
                    Some(policy)
                }
                None => {
                    all.push(Err(
                        "The answer ended in the middle of the policy, so there is no proposal.".to_owned()
                    ));
                    None
                }
            },
            None => fenced(&self.text),
        };
        if let Some(policy) = found.map(str::trim).filter(|policy| !policy.is_empty()) {
            let read = markdown::read(policy).map(AnswerPart::Policy);
            all.push(read.map_err(|message| format!("The proposed policy cannot be used: {message}")));
        }
        all
    }
}

/// Splits a policy at its last closing marker; returns the policy and the text after it.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut end = text.len();
    for line in text.split_inclusive('\n').rev() {
        let start = end - line.len();
        if line.trim() == CLOSE {
            return Some((&text[..start], text[end..].trim_end()));
        }
        end = start;
    }
    None
}

/// The fenced Markdown block at the end of an answer: some models prefer a fence to the marker lines.
fn fenced(text: &str) -> Option<&str> {
    let inner = text.trim_end().strip_suffix("```")?;
    let (start, fence) = ["```markdown\n", "```md\n"]
        .into_iter()
        .filter_map(|fence| inner.rfind(fence).map(|at| (at, fence)))
        .max()?;
    let policy = &inner[start + fence.len()..];
    // A block without a heading is an excerpt, not a whole policy.
    policy.trim_start().starts_with('#').then_some(policy)
}

#[cfg(test)]
mod tests {
    use attestry_domain::content::Content;

    use super::*;

    fn told(pieces: &[&str]) -> (String, Result<Option<Content>, String>) {
        let mut splitter = Splitter::default();
        let mut text = String::new();
        for piece in pieces {
            text.extend(splitter.take(piece).expect("short"));
        }
        let mut policy = Ok(None);
        for said in splitter.end() {
            match said {
                Ok(AnswerPart::Text(more)) => text.push_str(&more),
                Ok(AnswerPart::Policy(content)) => policy = Ok(Some(content)),
                Err(message) => policy = Err(message),
            }
        }
        (text, policy)
    }

    #[test]
    fn the_policy_is_taken_out_however_it_is_cut() {
        let answer = "I renamed it <b>.\n\n<policy>\n# A\n\n`<policy>` text\n</policy>\nAnything else?";
        let expected = markdown::read("# A\n\n`<policy>` text").ok();
        for size in 1..answer.len() {
            let pieces: Vec<&str> = answer
                .as_bytes()
                .chunks(size)
                .map(|piece| std::str::from_utf8(piece).expect("ASCII"))
                .collect();
            let (text, policy) = told(&pieces);
            assert_eq!(text, "I renamed it <b>.\n\nAnything else?");
            assert_eq!(policy, Ok(expected.clone()), "{size}");
        }
    }

    #[test]
    fn only_whole_lines_open_and_close() {
        for text in ["Just <polite> words <policy", "Between <policy> lines. No change.", "<policy> it is"] {
            assert_eq!(told(&[text]), (text.to_owned(), Ok(None)));
        }
        let (_, policy) = told(&["<policy>\n# A\n\nA \\</policy> in it, and\n</policy>\nmore\n</policy>\n"]);
        let whole = markdown::read("# A\n\nA \\</policy> in it, and\n</policy>\nmore").ok();
        assert_eq!(policy, Ok(whole), "the last one counts");
        let (_, policy) = told(&["Done.\n<policy>\n# A\n\nhalf a pol"]);
        assert!(policy.expect_err("half").contains("in the middle"));
    }

    #[test]
    fn a_fence_at_the_end_is_a_policy_too() {
        let answer = "Here:\n```markdown\n# A\n\ntext\n```\n";
        assert_eq!(told(&[answer]), (answer.to_owned(), Ok(markdown::read("# A\n\ntext").ok())));
        assert_eq!(told(&["Like ```markdown\nthis\n``` or that."]).1, Ok(None));
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        assert!(
            told(&["<policy>\n[x](javascript:y)\n</policy>"])
                .1
                .expect_err("a script")
                .contains("cannot be used")
        );
    }
}
