//! An answer of a model: what it says, and the policy it gives between two lines.

use attestry_domain::content::markdown;

use super::Said;

pub(super) const OPEN: &str = "<policy>";
pub(super) const CLOSE: &str = "</policy>";
/// More than any policy has.
const MOST: usize = 4 << 20;

/// Takes an answer apart while it comes.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// What may be the beginning of a line that opens the policy.
    held: String,
    /// The policy, once it has begun.
    policy: Option<String>,
    /// Everything that was said, for a policy that comes in a fence.
    text: String,
}

impl Splitter {
    /// Takes a piece; answers what of it is said.
    pub(super) fn take(&mut self, delta: &str) -> Result<Option<String>, String> {
        if self.text.len() + self.policy.as_ref().map_or(0, String::len) + delta.len() > MOST {
            return Err("The answer is longer than any policy; it was stopped.".to_owned());
        }
        if let Some(policy) = &mut self.policy {
            policy.push_str(delta);
            return Ok(None);
        }
        self.held.push_str(delta);
        if let Some(at) = self.held.find(OPEN) {
            let said = self.held[..at].trim_end().to_owned();
            self.policy = Some(self.held[at + OPEN.len()..].to_owned());
            self.held.clear();
            return Ok(self.say(said));
        }
        let rest = could_begin(&self.held);
        let said = self.held.drain(..self.held.len() - rest).collect();
        Ok(self.say(said))
    }

    fn say(&mut self, said: String) -> Option<String> {
        self.text.push_str(&said);
        (!said.is_empty()).then_some(said)
    }

    /// What is left when all was said.
    pub(super) fn end(mut self) -> Vec<Result<Said, String>> {
        let held = std::mem::take(&mut self.held);
        let mut said: Vec<Result<Said, String>> =
            self.say(held).into_iter().map(|text| Ok(Said::Text(text))).collect();
        let found = match &self.policy {
            Some(policy) => {
                let (policy, after) = policy.split_once(CLOSE).unwrap_or((policy, ""));
                let after = after.trim();
                said.extend((!after.is_empty()).then(|| Ok(Said::Text(format!("\n\n{after}")))));
                Some(policy)
            }
            None => fenced(&self.text),
        };
        if let Some(policy) = found.map(str::trim).filter(|policy| !policy.is_empty()) {
            said.push(
                markdown::read(policy)
                    .map(Said::Policy)
                    .map_err(|message| format!("The proposed policy cannot be used: {message}")),
            );
        }
        said
    }
}

/// How many bytes at the end could be the beginning of the opening line.
fn could_begin(text: &str) -> usize {
    (1..OPEN.len()).rev().find(|length| text.ends_with(&OPEN[..*length])).unwrap_or(0)
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

    fn told(pieces: &[&str]) -> (String, Option<Content>) {
        let mut splitter = Splitter::default();
        let mut text = String::new();
        for piece in pieces {
            text.extend(splitter.take(piece).expect("short"));
        }
        let mut policy = None;
        for said in splitter.end() {
            match said.expect("a policy") {
                Said::Text(more) => text.push_str(&more),
                Said::Policy(content) => policy = Some(content),
            }
        }
        (text, policy)
    }

    #[test]
    fn the_policy_is_taken_out_however_it_is_cut() {
        let answer = "I renamed it <b>.\n\n<policy>\n# A\n\ntext\n</policy>\nAnything else?";
        let expected = markdown::read("# A\n\ntext").ok();
        for size in 1..answer.len() {
            let pieces: Vec<&str> = answer
                .as_bytes()
                .chunks(size)
                .map(|piece| std::str::from_utf8(piece).expect("ASCII"))
                .collect();
            let (text, policy) = told(&pieces);
            assert_eq!(
                text.split_whitespace().collect::<Vec<_>>().join(" "),
                "I renamed it <b>. Anything else?"
            );
            assert_eq!(policy, expected, "{size}");
        }
        assert_eq!(
            told(&["Just <pol", "ite> words <policy"]),
            ("Just <polite> words <policy".to_owned(), None)
        );
    }

    #[test]
    fn a_fence_at_the_end_is_a_policy_too() {
        let answer = "Here:\n```markdown\n# A\n\ntext\n```\n";
        assert_eq!(told(&[answer]), (answer.to_owned(), markdown::read("# A\n\ntext").ok()));
        assert_eq!(told(&["Like ```markdown\nthis\n``` or that."]).1, None);
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let mut splitter = Splitter::default();
        splitter.take("<policy>[x](javascript:y)</policy>").expect("short");
        assert!(matches!(splitter.end().as_slice(), [Err(message)] if message.contains("cannot be used")));
    }
}
