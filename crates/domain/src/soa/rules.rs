//! Answers that follow by rule from known facts about the organization, without a model; each has a justification.

use crate::frameworks::Requirement;
use crate::registers::context_entries::ContextEntry;
use crate::soa::ImplementationStatus;

/// A fact about an organization that decides which requirements apply.
struct Fact {
    /// The tag of the requirements that it decides, and of the entries that answer it.
    tag: &'static str,
    /// Questions that ask for the opposite, so that yes means that the fact is false; they need no tag.
    opposites: &'static [&'static str],
    /// The justification for requirements that do not apply because the fact is false.
    otherwise: &'static str,
}

const FACTS: &[Fact] = &[
    Fact {
        tag: "premises",
        opposites: &["fully remote"],
        otherwise: "The organization has no premises of its own.",
    },
    Fact { tag: "development", opposites: &[], otherwise: "The organization does not develop software." },
    Fact { tag: "outsourced_development", opposites: &[], otherwise: "No development is outsourced." },
];

/// The beginnings of questions about the whole organization.
const ABOUT_US: &[&str] = &[
    "is the company ",
    "is the organization ",
    "is the organisation ",
    "is your company ",
    "is your organization ",
    "is your organisation ",
    "are we ",
    "are you ",
];

/// Parses an answer that begins with yes or no, followed by punctuation, a line break or the end.
fn yes_or_no(answer: &str) -> Option<bool> {
    let answer = answer.trim();
    let word: String = answer.chars().take_while(|c| c.is_alphabetic()).collect();
    let next = answer.chars().nth(word.chars().count());
    if next.is_some_and(|c| !matches!(c, '.' | ',' | ';' | ':' | '!' | '\n' | '\r')) {
        return None;
    }
    match word.to_lowercase().as_str() {
        "yes" => Some(true),
        "no" | "none" => Some(false),
        _ => None,
    }
}

impl Fact {
    /// The value of the fact according to an entry.
    fn said_by(&self, entry: &ContextEntry) -> Option<bool> {
        let question = entry.question.as_str().to_lowercase();
        let question = question.trim_end_matches(['?', ' ']);
        let is_about_us = ABOUT_US.iter().any(|start| question.starts_with(start));
        let is_opposite = is_about_us && self.opposites.iter().any(|end| question.ends_with(end));
        if !is_opposite && !entry.tags.contains(self.tag) {
            return None;
        }
        yes_or_no(entry.answer.as_str()).map(|yes| yes != is_opposite)
    }

    /// The value of the fact, and the entry that states it. A single yes overrides every no.
    fn known<'a>(&self, context: &'a [(String, ContextEntry)]) -> Option<(bool, &'a str)> {
        let said = || context.iter().filter_map(|(name, entry)| Some((self.said_by(entry)?, name.as_str())));
        said().find(|(is_there, _)| *is_there).or_else(|| said().next())
    }
}

/// An answer proposed by a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub is_applicable: bool,
    pub justification: String,
    pub implementation_status: Option<ImplementationStatus>,
}

/// A control that meets a requirement, with the fields that rules use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetBy {
    /// Its human-readable label.
    pub label: String,
    /// The labels of the risks it treats, and of the policies that state it.
    pub risks: Vec<String>,
    pub policies: Vec<String>,
    /// A risk or a policy is linked to it.
    pub has_reason: bool,
    pub status: ImplementationStatus,
}

/// Proposes an answer for a requirement: not applicable because of a known fact, or else applicable because the
/// organization has controls for it.
pub fn propose(
    requirement: &Requirement,
    context: &[(String, ContextEntry)],
    met_by: &[MetBy],
) -> Option<Proposal> {
    let facts: Vec<&Fact> = FACTS.iter().filter(|fact| requirement.has_tag(fact.tag)).collect();
    // The first fact decides; the others only keep a requirement that one of them needs.
    if let Some((first, others)) = facts.split_first()
        && let Some((false, reference)) = first.known(context)
        && others.iter().all(|other| !matches!(other.known(context), Some((true, _))))
    {
        let justification =
            format!("{} See {reference} of what is known of the organization.", first.otherwise);
        return Some(Proposal { is_applicable: false, justification, implementation_status: None });
    }
    let both = |one, other| if one == other { one } else { ImplementationStatus::InProgress };
    let status = met_by.iter().map(|one| one.status).reduce(both)?;
    Some(Proposal {
        is_applicable: true,
        justification: justification(met_by),
        implementation_status: Some(status),
    })
}

/// The maximum number of labels of one kind in a justification.
const MAX_LABELS: usize = 5;

/// Distinct labels in one phrase; empty without any.
fn phrase<'a>(start: &str, labels: impl Iterator<Item = &'a String>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for label in labels {
        if all.len() < MAX_LABELS && !all.contains(&label.as_str()) {
            all.push(label);
        }
    }
    if all.is_empty() { String::new() } else { format!("{start} {}. ", all.join(", ")) }
}

/// The reason for a requirement: the risks behind it and the policies that ask for it, then the controls that meet it.
fn justification(met_by: &[MetBy]) -> String {
    let risks = phrase("Treats", met_by.iter().flat_map(|one| &one.risks));
    let policies = phrase("Required by", met_by.iter().flat_map(|one| &one.policies));
    let controls = phrase("Met by", met_by.iter().map(|one| &one.label));
    let has_reason = met_by.iter().any(|one| one.has_reason);
    let open = match has_reason {
        false => "No risk, law, contract or policy is linked to it yet.",
        true => "",
    };
    format!("{risks}{policies}{controls}{open}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frameworks::FrameworkName;
    use crate::registers::Fields;
    use crate::registers::context_entries::ContextEntryPatch;
    use crate::text::Parse;

    fn entry(question: &str, answer: &str, tags: &[&str]) -> (String, ContextEntry) {
        let patch = ContextEntryPatch {
            question: Some(Parse::parse(question).expect("a question")),
            answer: Some(Parse::parse(answer).expect("an answer")),
            tags: Some(
                crate::registers::context_entries::Tags::new(
                    tags.iter().map(|tag| (*tag).to_owned()).collect(),
                )
                .expect("tags"),
            ),
            ..ContextEntryPatch::default()
        };
        ("Q-1".to_owned(), ContextEntry::given(patch).expect("an entry"))
    }

    fn left_out(context: &[(String, ContextEntry)]) -> Vec<String> {
        let iso = FrameworkName::Alias("iso_27001".to_owned()).shipped().expect("the framework");
        let is_out =
            |one: &&Requirement| propose(one, context, &[]).is_some_and(|found| !found.is_applicable);
        iso.questions().filter(is_out).map(|one| one.code.clone()).collect()
    }

    #[test]
    fn a_remote_organization_has_no_premises() {
        let codes = ["7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.11", "7.12"];
        for (question, answer, tags) in [
            ("Does the company have offices?", "No. Everybody works from home.", &["premises"][..]),
            ("Is the company fully remote?", "Yes", &["premises"]),
            ("Is the company fully remote?", "Yes, since 2020.", &[]),
            ("Are you fully remote", "yes", &["work"]),
            ("Offices", "none", &["premises"]),
        ] {
            assert_eq!(left_out(&[entry(question, answer, tags)]), codes, "{question} {answer}");
        }
        for (question, answer, tags) in [
            ("Does the company have offices?", "Yes, in Lisbon.", &["premises"][..]),
            ("Is the company fully remote?", "No", &["premises"]),
            ("Is anybody fully remote?", "Yes", &[]),
            ("Do you have offices outside the EU?", "No", &[]),
            ("Are visitors left alone in the offices?", "No, never.", &[]),
            ("How many offices are there?", "No fewer than five.", &["premises"]),
            ("Are offices locked?", "Not on weekends", &["premises"]),
            ("Do people work remotely?", "Yes, some. The office is in Lisbon.", &["premises"]),
            ("Where do people work?", "In Lisbon.", &["premises"]),
        ] {
            assert!(left_out(&[entry(question, answer, tags)]).is_empty(), "{question} {answer}");
        }
        // A single office makes the requirements apply.
        let two =
            [entry("Are there offices?", "No", &["premises"]), entry("And in Lisbon?", "Yes", &["premises"])];
        assert!(left_out(&two).is_empty());
    }

    #[test]
    fn nobody_who_makes_no_software_develops() {
        let out = left_out(&[entry("Do you develop software?", "No, we buy it.", &["development"])]);
        assert!(out.contains(&"8.25".to_owned()) && !out.contains(&"8.30".to_owned()), "{out:?}");
        let outsourced =
            |answer: &str| entry("Is development outsourced?", answer, &["outsourced_development"]);
        assert_eq!(left_out(&[outsourced("No")]), ["8.30"]);
        // Outsourced development still needs most of the controls.
        let out = left_out(&[entry("Do you develop software?", "No", &["development"]), outsourced("Yes")]);
        assert_eq!(out, ["8.28"]);
    }

    #[test]
    fn what_controls_meet_applies() {
        let iso = FrameworkName::Alias("iso_27001".to_owned()).shipped().expect("the framework");
        let first = iso.questions().next().expect("a control");
        assert_eq!(propose(first, &[], &[]), None);
        let done = |label: &str, status| MetBy {
            label: label.to_owned(),
            risks: vec!["R-1 Nobody knows the rules".to_owned()],
            policies: Vec::new(),
            has_reason: true,
            status,
        };
        let two = [
            done("C-1 Policies are written", ImplementationStatus::Implemented),
            done("C-2 Policies are read", ImplementationStatus::NotStarted),
        ];
        let found = propose(first, &[], &two).expect("a proposal");
        assert!(found.is_applicable);
        assert_eq!(found.implementation_status, Some(ImplementationStatus::InProgress));
        assert_eq!(
            found.justification,
            "Treats R-1 Nobody knows the rules. Met by C-1 Policies are written, C-2 Policies are read."
        );
        let alone = [MetBy { risks: Vec::new(), has_reason: false, ..two[0].clone() }];
        let found = propose(first, &[], &alone).expect("a proposal");
        assert!(found.justification.ends_with("No risk, law, contract or policy is linked to it yet."));
    }
}
