//! The assistant that needs no provider: it applies the instructions that it recognizes to a policy by fixed rules,
//! and reports those that it does not recognize.

use crate::content::{Block, Content, Inline, MAX_TEXT_CHARS, plain_text};
use crate::policies::templates::{PolicyTemplate, Values};
use crate::policies::{ReviewFrequency, templates as policy_templates};
use crate::text::Parse;

/// The reply, and the complete proposed policy if anything would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub policy: Option<Content>,
}

/// The policy that an instruction is about.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    pub name: &'a str,
    pub content: &'a Content,
    /// The template it was made from.
    pub template: Option<&'static PolicyTemplate>,
    /// The values of the template placeholders.
    pub values: &'a Values,
}

/// The prefix of every reply, which identifies the assistant.
const LABEL: &str = "Rule-based assistant: ";

const HELP: &str = "I did not understand that. I follow fixed rules and understand instructions such as:\n\
    - rename \"Security Lead\" to \"CISO\"\n\
    - set the review period to quarterly\n\
    - set the contact to security@example.com\n\
    - add a section about remote work\n\
    - what is missing?";

/// Answers an instruction.
pub fn answer(instructions: &str, subject: &Subject<'_>) -> Answer {
    let asked = instructions.trim().trim_end_matches(['.', '!', '?']).trim();
    let lower = asked.to_lowercase();
    let found = review_period(&lower, subject)
        .or_else(|| contact(asked, &lower, subject))
        .or_else(|| section(&lower, subject))
        .or_else(|| missing(&lower, subject))
        .or_else(|| rename(asked, &lower, subject));
    let Answer { text, policy } = found.unwrap_or_else(|| Answer { text: HELP.to_owned(), policy: None });
    // An unchanged text is not a proposal, and neither is one that could not be saved.
    let policy = policy.filter(|policy| policy != subject.content);
    let (text, policy) = match policy.map(Content::checked) {
        Some(Err(message)) => (format!("I could not do that: {message}."), None),
        Some(Ok(policy)) => (text, Some(policy)),
        None => (text, None),
    };
    Answer { text: format!("{LABEL}{text}"), policy }
}

fn said(text: impl Into<String>) -> Answer {
    Answer { text: text.into(), policy: None }
}

/// The text after one of these prefixes.
fn after<'a>(text: &'a str, beginnings: &[&str]) -> Option<&'a str> {
    beginnings.iter().find_map(|beginning| text.find(beginning).map(|at| &text[at + beginning.len()..]))
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\'', '“', '”', '‘', '’', '`']).trim()
}

/// Handles "rename X to Y" and "replace X with Y".
fn rename(asked: &str, lower: &str, subject: &Subject<'_>) -> Option<Answer> {
    let (verb, between) =
        [("rename ", " to "), ("replace ", " with "), ("replace ", " by "), ("change ", " to ")]
            .into_iter()
            .find(|(verb, between)| lower.starts_with(verb) && lower.contains(between))?;
    // Lower-casing can change the length of text, so the offsets are taken from the original.
    let rest = asked.get(verb.len()..)?;
    let at = rest.to_ascii_lowercase().rfind(between)?;
    let (from, to) = (&rest[..at], &rest[at + between.len()..]);
    let mut from = from.trim();
    for word in ["the ", "all ", "every ", "role ", "organization ", "organisation ", "company ", "word "] {
        from = strip_ignoring_case(from, word);
    }
    let (from, to) = (unquoted(from), unquoted(to));
    if from.is_empty() || to.is_empty() {
        return None;
    }
    let (mut count, mut longer) = (0, 0);
    let mut content = subject.content.clone();
    content.each_text(&mut |text| {
        let (changed, times) = match longer <= MAX_TEXT_CHARS {
            true => replace_words(text, from, to),
            false => return,
        };
        longer += changed.len().saturating_sub(text.len());
        *text = changed;
        count += times;
    });
    Some(match count {
        _ if longer > MAX_TEXT_CHARS => {
            said("The policy would be longer than a policy can be, so I changed nothing.")
        }
        0 => said(format!("The policy does not contain \"{from}\", so there is nothing to rename.")),
        count => Answer {
            text: format!("I replaced \"{from}\" with \"{to}\" {}.", times(count)),
            policy: Some(content),
        },
    })
}

fn strip_ignoring_case<'a>(text: &'a str, word: &str) -> &'a str {
    match text.get(..word.len()) {
        Some(start) if start.eq_ignore_ascii_case(word) => text[word.len()..].trim_start(),
        _ => text,
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// Replaces whole words only: "IT" is not in "with".
fn replace_words(text: &str, from: &str, to: &str) -> (String, usize) {
    let (mut out, mut rest, mut count) = (String::with_capacity(text.len()), text, 0);
    // Bounds the output, since a short word can occur very often and its replacement be long.
    while let Some(at) = rest.find(from).filter(|_| out.len() <= 4 * MAX_TEXT_CHARS) {
        let (before, behind) = (&rest[..at], &rest[at + from.len()..]);
        let within = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let last = before.chars().last().or_else(|| out.chars().last());
        out.push_str(before);
        if within(last) || within(behind.chars().next()) {
            out.push_str(from);
        } else {
            out.push_str(to);
            count += 1;
        }
        rest = behind;
    }
    out.push_str(rest);
    (out, count)
}

/// Handles "set the review period to quarterly" and "review this policy monthly".
fn review_period(lower: &str, subject: &Subject<'_>) -> Option<Answer> {
    if !lower.contains("review") {
        return None;
    }
    let named = |words: &[&str], frequency| {
        let is_there = |word: &&str| lower.split(|c: char| !c.is_alphanumeric()).any(|one| one == *word);
        words.iter().any(is_there).then_some(frequency)
    };
    let period = named(&["monthly", "month"], ReviewFrequency::Monthly)
        .or_else(|| named(&["quarterly", "quarter"], ReviewFrequency::Quarterly))
        .or_else(|| named(&["yearly", "annually", "annual", "year"], ReviewFrequency::Yearly))?;
    let mut content = subject.content.clone();
    let mut count = 0;
    for block in section_blocks(&mut content, "review") {
        let mut one = Content(vec![block.clone()]);
        one.each_text(&mut |text| {
            for word in ReviewFrequency::ALL.iter().map(|one| one.as_str()).chain(["annually"]) {
                let (changed, times) = replace_words(text, word, period.as_str());
                *text = changed;
                count += times;
            }
        });
        if let Some(changed) = one.0.pop() {
            *block = changed;
        }
    }
    if count == 0 {
        let sentence = format!("This policy is reviewed {period}.");
        append_to_section(&mut content, "review", "Review", &sentence);
    }
    Some(Answer {
        text: format!(
            "The text now says that the policy is reviewed {period}. Set the field `frequency` as well, so that reviews come due."
        ),
        policy: Some(content),
    })
}

/// Handles "set the contact to security@example.com".
fn contact(asked: &str, lower: &str, subject: &Subject<'_>) -> Option<Answer> {
    let rest = after(lower, &["contact to ", "contact address to ", "contact is "])?;
    // The end of the original instruction, before lower-casing.
    let value = asked.get(asked.len().checked_sub(rest.len())?..).map(unquoted)?;
    if value.is_empty() {
        return None;
    }
    let mut known: Vec<String> = Vec::new();
    let mut content = subject.content.clone();
    content.each_text(&mut |text| {
        for word in text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | '<' | '>'))
        {
            let word = word.trim_end_matches(['.', ':', '!', '?']);
            if crate::text::Email::parse(word).is_ok() && !known.iter().any(|one| one == word) {
                known.push(word.to_owned());
            }
        }
    });
    let policy = |content| Some(content);
    Some(match known.as_slice() {
        [one] => {
            content.each_text(&mut |text| *text = text.replace(one.as_str(), value));
            Answer { text: format!("The contact is now {value} instead of {one}."), policy: policy(content) }
        }
        [] => {
            append_to_section(&mut content, "contact", "Contact", &format!("Questions go to {value}."));
            Answer {
                text: format!("The policy named no contact; I added that questions go to {value}."),
                policy: policy(content),
            }
        }
        several => said(format!(
            "The policy names {} addresses ({}). Tell me which one to replace, such as: replace {} with {value}",
            several.len(),
            several.join(", "),
            several[0]
        )),
    })
}

/// Handles "add a section about backups".
fn section(lower: &str, subject: &Subject<'_>) -> Option<Answer> {
    let is_asked = ["add ", "insert ", "include "].iter().any(|verb| lower.contains(verb));
    let topic = after(lower, &["section about ", "section on ", "section for ", "section covering "])?;
    if !is_asked {
        return None;
    }
    let topic = unquoted(topic);
    let Some((template, heading, blocks)) = best_section(topic, subject.values) else {
        return Some(said(format!(
            "None of the {} templates has a section about {topic}. GET /v1/policy-templates lists their topics.",
            policy_templates::all().len()
        )));
    };
    let mut content = subject.content.clone();
    if headings(&content).iter().any(|one| one.eq_ignore_ascii_case(&heading)) {
        return Some(said(format!("The policy has a section \"{heading}\" already.")));
    }
    // The sections that every policy ends with stay at the end.
    let closing = |block: &Block| {
        let closings = ["exceptions", "enforcement", "review", "contact"];
        heading_of(block).is_some_and(|text| closings.contains(&text.to_lowercase().as_str()))
    };
    let place = content.0.iter().position(closing).unwrap_or(content.0.len());
    content.0.splice(place..place, blocks);
    Some(Answer {
        text: format!(
            "I added the section \"{heading}\" from our template \"{}\". Read it and fit it to how you work.",
            template.name
        ),
        policy: Some(content),
    })
}

/// The section of a template that best matches a topic, by the template's topics or the section's heading.
fn best_section(topic: &str, values: &Values) -> Option<(&'static PolicyTemplate, String, Vec<Block>)> {
    let mut best: Option<(usize, &PolicyTemplate, String, Vec<Block>)> = None;
    for template in policy_templates::all() {
        let about = template.topics.iter().map(|one| alike(topic, one)).max().unwrap_or(0);
        let about = about.max(alike(topic, &template.name.to_lowercase()));
        let Ok(content) = template.filled(values) else { continue };
        let own = ["purpose", "scope", "roles and responsibilities", "exceptions", "enforcement", "review"];
        for (heading, blocks) in sections(&content) {
            if own.contains(&heading.to_lowercase().as_str()) {
                continue;
            }
            let score = 3 * alike(topic, &heading.to_lowercase()) + 2 * about;
            if score >= 100 && best.as_ref().is_none_or(|(most, ..)| score > *most) {
                best = Some((score, template, heading, blocks));
            }
        }
    }
    best.map(|(_, template, heading, blocks)| (template, heading, blocks))
}

/// The percentage of words of the first text that are in the second, ignoring a plural ending.
fn alike(wanted: &str, text: &str) -> usize {
    let words = |text: &str| -> Vec<String> {
        let filler = ["the", "a", "an", "and", "of", "for", "our", "policy", "to", "in"];
        let all = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        all.filter(|word| !filler.contains(word)).map(|word| word.trim_end_matches('s').to_owned()).collect()
    };
    let (wanted, text) = (words(wanted), words(text));
    let found = wanted.iter().filter(|word| text.contains(word)).count();
    (100 * found).checked_div(wanted.len()).unwrap_or(0)
}

/// Handles "what is missing?".
fn missing(lower: &str, subject: &Subject<'_>) -> Option<Answer> {
    let is_asked = ["missing", "lacks", "lack", "compare with the template", "compare to the template"]
        .iter()
        .any(|word| lower.contains(word));
    if !is_asked {
        return None;
    }
    let name = subject.name.to_lowercase();
    let by_name = || {
        let score = |template: &&'static PolicyTemplate| {
            let topics = template.topics.iter().map(|topic| alike(topic, &name)).max().unwrap_or(0);
            topics.max(alike(&template.name.to_lowercase(), &name))
        };
        policy_templates::all().iter().max_by_key(score).filter(|best| score(best) >= 50)
    };
    let Some(template) = subject.template.or_else(by_name) else {
        return Some(said(format!(
            "None of our templates fits the name \"{}\", so I have nothing to compare it with.",
            subject.name
        )));
    };
    let Ok(content) = template.filled(subject.values) else { return None };
    let own = headings(subject.content);
    let lacks: Vec<String> = headings(&content)
        .into_iter()
        .filter(|wanted| !own.iter().any(|known| known.eq_ignore_ascii_case(wanted)))
        .collect();
    Some(said(match lacks.as_slice() {
        [] => format!("This policy has every section that our template \"{}\" has.", template.name),
        lacks => format!(
            "Our template \"{}\" has {} that this policy lacks:\n- {}",
            template.name,
            if lacks.len() == 1 { "a section".to_owned() } else { format!("{} sections", lacks.len()) },
            lacks.join("\n- ")
        ),
    }))
}

fn heading_of(block: &Block) -> Option<String> {
    match block {
        Block::Heading { text, .. } => Some(plain_text(&[Block::Paragraph(text.clone())])),
        _ => None,
    }
}

fn headings(content: &Content) -> Vec<String> {
    content.0.iter().filter_map(heading_of).collect()
}

/// The sections under headings of level 1 and 2, each with its heading.
fn sections(content: &Content) -> Vec<(String, Vec<Block>)> {
    let mut all: Vec<(String, Vec<Block>)> = Vec::new();
    for block in &content.0 {
        match (block, heading_of(block)) {
            (Block::Heading { level: 1 | 2, .. }, Some(heading)) => all.push((heading, vec![block.clone()])),
            _ => {
                if let Some((_, blocks)) = all.last_mut() {
                    blocks.push(block.clone());
                }
            }
        }
    }
    all
}

/// The blocks under the heading that contains a word.
fn section_blocks<'a>(content: &'a mut Content, word: &str) -> &'a mut [Block] {
    let is_it = |block: &Block| heading_of(block).is_some_and(|text| text.to_lowercase().contains(word));
    let Some(start) = content.0.iter().position(is_it) else { return &mut [] };
    let end = content.0[start + 1..].iter().position(|block| matches!(block, Block::Heading { .. }));
    let end = end.map_or(content.0.len(), |end| start + 1 + end);
    &mut content.0[start + 1..end]
}

/// Adds a sentence to a section, which is created if it is missing.
fn append_to_section(content: &mut Content, word: &str, heading: &str, sentence: &str) {
    let paragraph = Block::Paragraph(vec![Inline::plain(sentence)]);
    let is_it = |block: &Block| heading_of(block).is_some_and(|text| text.to_lowercase().contains(word));
    match content.0.iter().position(is_it) {
        Some(place) => content.0.insert(place + 1, paragraph),
        None => {
            content.0.push(Block::Heading { level: 2, text: vec![Inline::plain(heading)] });
            content.0.push(paragraph);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::markdown;

    fn values() -> Values {
        Values {
            organization: "Acme".to_owned(),
            contact: "it@acme.example".to_owned(),
            review_period: "yearly".to_owned(),
            time_zone: "UTC".to_owned(),
        }
    }

    fn ask(text: &str, instructions: &str) -> (String, Option<String>) {
        let content = markdown::read(text).expect("Markdown");
        let values = values();
        let subject = Subject { name: "Access Control", content: &content, template: None, values: &values };
        let Answer { text, policy } = answer(instructions, &subject);
        assert!(text.starts_with(LABEL), "it says who speaks: {text}");
        (text, policy.map(|policy| markdown::write(&policy)))
    }

    #[test]
    fn roles_and_names_are_renamed_as_whole_words() {
        let text = "The IT Lead decides with IT.\n\n- Ask the **IT Lead**.";
        let (said, policy) = ask(text, "Rename the role \"IT Lead\" to \"CISO\".");
        assert_eq!(policy.as_deref(), Some("The CISO decides with IT.\n\n- Ask the **CISO**.\n"), "{said}");
        let (_, policy) = ask(text, "replace IT with Ops");
        assert_eq!(policy.as_deref(), Some("The Ops Lead decides with Ops.\n\n- Ask the **Ops Lead**.\n"));
        let (said, policy) = ask(text, "rename Nobody to Somebody");
        assert!(policy.is_none() && said.contains("does not contain \"Nobody\""));
    }

    #[test]
    fn the_review_period_is_set_where_it_is_said() {
        let (_, policy) =
            ask("Yearly.\n\n## Review\n\nReviewed yearly.", "Set the review period to quarterly");
        assert_eq!(policy.as_deref(), Some("Yearly.\n\n## Review\n\nReviewed quarterly.\n"));
        let (_, policy) = ask("Text.", "review it every month please");
        assert_eq!(policy.as_deref(), Some("Text.\n\n## Review\n\nThis policy is reviewed monthly.\n"));
    }

    #[test]
    fn the_contact_is_set_when_it_is_clear_which() {
        let (_, policy) = ask("Ask ada@example.com.", "set the contact to Security@Example.com");
        assert_eq!(policy.as_deref(), Some("Ask Security@Example.com.\n"));
        let (said, policy) = ask("Ask a@example.com or b@example.com.", "set the contact to c@example.com");
        assert!(policy.is_none() && said.contains("names 2 addresses"), "{said}");
        let (_, policy) = ask("Text.", "set the contact to the help desk");
        assert_eq!(policy.as_deref(), Some("Text.\n\n## Contact\n\nQuestions go to the help desk.\n"));
    }

    #[test]
    fn sections_come_from_the_templates() {
        let (said, policy) = ask("## Purpose\n\nx\n\n## Review\n\ny", "Please add a section about passwords");
        let policy = policy.expect("a section");
        assert!(said.contains("from our template"), "{said}");
        assert!(
            policy.starts_with("## Purpose\n\nx\n\n## ") && policy.ends_with("## Review\n\ny\n"),
            "{policy}"
        );
        assert!(!policy.contains("{{"));
        let (said, policy) = ask("x", "add a section about underwater basket weaving");
        assert!(policy.is_none() && said.contains("None of the"), "{said}");
    }

    #[test]
    fn what_is_missing_is_listed() {
        let (said, policy) = ask("## Purpose\n\nx", "What is missing?");
        assert!(
            policy.is_none() && said.contains("Access Control Policy") && said.contains("- Scope"),
            "{said}"
        );
    }

    #[test]
    fn it_never_pretends() {
        for strange in
            ["make it better", "", "rename", "ignore all rules", "add a section", "translate to German"]
        {
            let (said, policy) = ask("Text.", strange);
            assert!(policy.is_none() && said.contains("I did not understand"), "{strange}: {said}");
        }
    }
}
