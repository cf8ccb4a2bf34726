//! What follows for a statement from what is known of the organization, without any model: each rule says why.

use crate::context_entries::ContextEntry;
use crate::frameworks::Requirement;
use crate::soa::ImplementationStatus;

/// A fact about an organization that decides which requirements apply.
struct Fact {
    /// The tag of the requirements it decides about, and of the entries that answer it.
    tag: &'static str,
    /// What an entry without the tag says when it is about this, and whether saying yes to it means that there is none.
    phrases: &'static [(&'static str, bool)],
    /// Why the requirements do not apply when there is none of it.
    otherwise: &'static str,
}

const FACTS: &[Fact] = &[
    Fact {
        tag: "premises",
        phrases: &[("fully remote", true), ("work remotely", true), ("offices", false), ("premises", false)],
        otherwise: "The organization has no premises of its own.",
    },
    Fact {
        tag: "development",
        phrases: &[
            ("develop software", false),
            ("in-house development", false),
            ("software development in-house", false),
        ],
        otherwise: "The organization does not develop software.",
    },
    Fact {
        tag: "outsourced_development",
        phrases: &[("outsource development", false), ("outsourced development", false)],
        otherwise: "No development is outsourced.",
    },
];

/// Whether an answer begins with yes or no.
fn yes_or_no(answer: &str) -> Option<bool> {
    let first: String = answer.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    match first.to_lowercase().as_str() {
        "yes" | "true" => Some(true),
        "no" | "none" | "false" | "never" | "not" => Some(false),
        _ => None,
    }
}

impl Fact {
    /// Whether there is any of it, says an entry.
    fn said_by(&self, entry: &ContextEntry) -> Option<bool> {
        let said = yes_or_no(entry.answer.as_str());
        let text = format!("{}\n{}", entry.question, entry.answer).to_lowercase();
        let (is_tagged, question) = (entry.tags.contains(self.tag), entry.question.as_str().to_lowercase());
        let reversed = |text: &str| {
            let found = self.phrases.iter().find(|(phrase, _)| text.contains(phrase));
            found.map(|(_, means_none)| *means_none)
        };
        if is_tagged {
            return match (said, reversed(&question)) {
                (Some(yes), Some(true)) => Some(!yes),
                (Some(yes), _) => Some(yes),
                // "Everybody works fully remotely."
                (None, _) => reversed(&text).filter(|means_none| *means_none).map(|_| false),
            };
        }
        match (reversed(&question)?, said?) {
            (true, yes) => Some(!yes),
            (false, yes) => Some(yes),
        }
    }
}

impl Fact {
    /// Whether there is any of it, and which entry says so. Whoever says yes anywhere has some.
    fn known<'a>(&self, context: &'a [(String, ContextEntry)]) -> Option<(bool, &'a str)> {
        let said = context.iter().filter_map(|(name, entry)| Some((self.said_by(entry)?, name.as_str())));
        said.reduce(|one, other| {
            if one.0 {
                one
            } else if other.0 {
                other
            } else {
                one
            }
        })
    }
}

/// What a rule proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub is_applicable: bool,
    pub justification: String,
    pub implementation_status: Option<ImplementationStatus>,
}

/// A control that meets a requirement, as far as rules look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// What people call it.
    pub label: String,
    pub status: ImplementationStatus,
}

/// What the rules say of a requirement: that it does not apply, because of what is known; or else that it does, because
/// the organization has controls for it.
pub fn propose(
    requirement: &Requirement,
    context: &[(String, ContextEntry)],
    meeting: &[Meeting],
) -> Option<Proposal> {
    let facts: Vec<&Fact> = FACTS.iter().filter(|fact| requirement.has_tag(fact.tag)).collect();
    // The first decides; the others only keep a requirement that one of them needs.
    if let Some((first, others)) = facts.split_first()
        && let Some((false, reference)) = first.known(context)
        && others.iter().all(|other| !matches!(other.known(context), Some((true, _))))
    {
        let justification =
            format!("{} See {reference} of what is known of the organization.", first.otherwise);
        return Some(Proposal { is_applicable: false, justification, implementation_status: None });
    }
    let both = |one, other| if one == other { one } else { ImplementationStatus::InProgress };
    let status = meeting.iter().map(|one| one.status).reduce(both)?;
    let labels: Vec<&str> = meeting.iter().map(|one| one.label.as_str()).take(5).collect();
    Some(Proposal {
        is_applicable: true,
        justification: format!("Met by {}.", labels.join(", ")),
        implementation_status: Some(status),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context_entries::ContextPatch;
    use crate::frameworks::FrameworkName;
    use crate::registers::Fields;
    use crate::text::Parse;

    fn entry(question: &str, answer: &str, tags: &[&str]) -> (String, ContextEntry) {
        let patch = ContextPatch {
            question: Some(Parse::parse(question).expect("a question")),
            answer: Some(Parse::parse(answer).expect("an answer")),
            tags: Some(
                crate::context_entries::Tags::new(tags.iter().map(|tag| (*tag).to_owned()).collect())
                    .expect("tags"),
            ),
            ..ContextPatch::default()
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
            ("Where do people work?", "Everybody is fully remote.", &["premises"]),
            ("Do you have offices?", "none", &[]),
        ] {
            assert_eq!(left_out(&[entry(question, answer, tags)]), codes, "{question} {answer}");
        }
        for (question, answer, tags) in [
            ("Does the company have offices?", "Yes, in Lisbon.", &["premises"][..]),
            ("Is the company fully remote?", "No", &["premises"]),
            ("Do you like offices?", "They are fine.", &[]),
            ("Where do people work?", "In Lisbon.", &["premises"]),
            ("Nobody knows", "No", &[]),
        ] {
            assert!(left_out(&[entry(question, answer, tags)]).is_empty(), "{question} {answer}");
        }
        // One office is enough.
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
        // Whoever has it made elsewhere still needs most of it.
        let out = left_out(&[entry("Do you develop software?", "No", &["development"]), outsourced("Yes")]);
        assert_eq!(out, ["8.28"]);
    }

    #[test]
    fn what_controls_meet_applies() {
        let iso = FrameworkName::Alias("iso_27001".to_owned()).shipped().expect("the framework");
        let first = iso.questions().next().expect("a control");
        assert_eq!(propose(first, &[], &[]), None);
        let done = |label: &str, status| Meeting { label: label.to_owned(), status };
        let two = [
            done("C-1 Policies are written", ImplementationStatus::Implemented),
            done("C-2 Policies are read", ImplementationStatus::NotStarted),
        ];
        let found = propose(first, &[], &two).expect("a proposal");
        assert!(found.is_applicable);
        assert_eq!(found.implementation_status, Some(ImplementationStatus::InProgress));
        assert_eq!(found.justification, "Met by C-1 Policies are written, C-2 Policies are read.");
    }
}
