//! An answer of a model: what it says, and the policy it gives between two lines.

use attestry_domain::content::markdown;

use super::Said;

/// The lines before and after a policy. A line of a policy is never one of them: the writer escapes it.
pub(super) const OPEN: &str = "<policy>";
pub(super) const CLOSE: &str = "</policy>";
/// More than any policy has.
const MOST: usize = 8 << 20;

/// Takes an answer apart while it comes.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// A line that may become the opening one.
    held: String,
    /// Whether what comes next continues a line of which something was said.
    within_line: bool,
    /// The policy, once it has begun.
    policy: Option<String>,
    /// Everything that was said, for a policy that comes in a fence.
    text: String,
}

/// Whether a line is the opening one, or could become it.
fn could_open(line: &str) -> bool {
    let line = line.trim_start();
    OPEN.starts_with(line.trim_end()) || line.trim_end() == OPEN
}

impl Splitter {
    /// Takes a piece; answers what of it is said.
    pub(super) fn take(&mut self, delta: &str) -> Result<Option<String>, String> {
        if self.text.len() + self.policy.as_ref().map_or(0, String::len) + delta.len() > MOST {
            return Err("The answer is longer than any policy; it was stopped.".to_owned());
        }
        let mut said = String::new();
        for piece in delta.split_inclusive('\n') {
            self.piece(piece, &mut said);
        }
        self.text.push_str(&said);
        Ok((!said.is_empty()).then_some(said))
    }

    /// Takes a piece of one line.
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

    /// What is left when all was said.
    pub(super) fn end(mut self) -> Vec<Result<Said, String>> {
        let mut all = Vec::new();
        if !self.held.is_empty() {
            self.text.push_str(&self.held);
            all.push(Ok(Said::Text(self.held)));
        }
        let found = match &self.policy {
            Some(policy) => match closed(policy) {
                Some((policy, after)) => {
                    all.extend((!after.is_empty()).then(|| Ok(Said::Text(after.to_owned()))));
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
            let read = markdown::read(policy).map(Said::Policy);
            all.push(read.map_err(|message| format!("The proposed policy cannot be used: {message}")));
        }
        all
    }
}

/// A policy up to the last line that closes it, and what comes after.
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

/// The one block of Markdown that an answer ends with: some models prefer a fence.
fn fenced(text: &str) -> Option<&str> {
    let inner = text.trim_end().strip_suffix("```")?;
    let (start, fence) = ["```markdown\n", "```md\n"]
        .into_iter()
        .filter_map(|fence| inner.rfind(fence).map(|at| (at, fence)))
        .max()?;
    let policy = &inner[start + fence.len()..];
    // A piece of a policy is no policy.
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
                Ok(Said::Text(more)) => text.push_str(&more),
                Ok(Said::Policy(content)) => policy = Ok(Some(content)),
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
