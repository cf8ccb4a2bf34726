//! The scope of a programme: a few questions about the company. An answer sets flags, under which controls of the
//! catalogue apply, and leaves out requirements that do not concern the company, with the justification for the
//! statement of applicability. An unanswered question leaves nothing out.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::RequirementId;
use crate::json::numbers::whole;
use crate::programme::catalogue::{Codes, resolved};

const SOURCE: &str = include_str!("../../data/scope-questions.json");

crate::words! {
    /// The form of an answer.
    QuestionKind {
        YesNo = "yes_no",
        Number = "number",
        Choice = "choice",
    }
}

/// An answer of a question with a choice.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Choice {
    pub value: String,
    pub label: String,
    /// Left out while it is not chosen.
    #[serde(default)]
    requirements_left_out: Codes,
    /// Left out once it is chosen.
    #[serde(default)]
    leaves_out: Codes,
    #[serde(default)]
    justification: Option<String>,
}

/// A question about the scope.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    pub key: String,
    pub question: String,
    pub help: String,
    pub kind: QuestionKind,
    #[serde(default)]
    pub options: Vec<Choice>,
    /// Several options can be chosen.
    #[serde(default)]
    pub multiple: bool,
    /// The flags that each answer sets; for a number, the key is the lowest one that sets them.
    sets: BTreeMap<String, Vec<String>>,
    /// Left out when the answer is no, or below the lowest number that sets a flag.
    requirements_left_out: Codes,
    justification: Option<String>,
    /// Flags of other questions that keep the requirements in.
    #[serde(default)]
    unless: Vec<String>,
    /// The flag without which the question is not asked, and counts as answered with no.
    #[serde(default)]
    pub only_if: Option<String>,
    /// The aliases of the frameworks that need it; empty for all.
    #[serde(default)]
    pub frameworks: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    questions: Vec<Question>,
}

static QUESTIONS: LazyLock<Vec<Question>> = LazyLock::new(|| {
    // A test verifies that this file can be parsed completely.
    serde_json::from_str(SOURCE).map(|source: Source| source.questions).unwrap_or_default()
});

/// All questions, in the order in which they are asked.
pub fn questions() -> &'static [Question] {
    &QUESTIONS
}

fn question(key: &str) -> Option<&'static Question> {
    questions().iter().find(|question| question.key == key)
}

/// An answer, as it is written in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    YesNo(bool),
    Number(i64),
    Choice(String),
    Choices(BTreeSet<String>),
}

/// The highest number that answers a question.
pub const MAX_NUMBER: i64 = 1_000_000;

impl Question {
    /// The flags that its answers set.
    pub fn flags(&self) -> impl Iterator<Item = &str> {
        self.sets.values().flatten().map(String::as_str)
    }

    /// The flags that each answer sets.
    pub fn sets(&self) -> &BTreeMap<String, Vec<String>> {
        &self.sets
    }

    fn is_option(&self, value: &str) -> bool {
        self.options.iter().any(|option| option.value == value)
    }

    /// Reads an answer; the error says what is expected.
    fn read(&self, value: &Value) -> Result<Answer, String> {
        let values =
            || self.options.iter().map(|option| option.value.as_str()).collect::<Vec<_>>().join(", ");
        let option = |value: &Value| value.as_str().filter(|value| self.is_option(value)).map(str::to_owned);
        match self.kind {
            QuestionKind::YesNo => {
                value.as_bool().map(Answer::YesNo).ok_or_else(|| "must be true or false".to_owned())
            }
            QuestionKind::Number => whole(value)
                .filter(|number| (0..=MAX_NUMBER).contains(number))
                .map(Answer::Number)
                .ok_or_else(|| format!("must be a whole number from 0 to {MAX_NUMBER}")),
            QuestionKind::Choice if self.multiple => {
                let chosen = value.as_array().and_then(|all| all.iter().map(option).collect());
                chosen.map(Answer::Choices).ok_or_else(|| format!("must be an array of: {}", values()))
            }
            QuestionKind::Choice => {
                option(value).map(Answer::Choice).ok_or_else(|| format!("must be one of: {}", values()))
            }
        }
    }

    /// The flags that an answer sets.
    fn set_by<'a>(&'a self, answer: Option<&Answer>) -> Vec<&'a str> {
        let of = |key: &str| self.sets.get(key).into_iter().flatten().map(String::as_str);
        match answer {
            // It may be any of them.
            None => self.flags().collect(),
            Some(Answer::YesNo(true)) => of("yes").collect(),
            Some(Answer::YesNo(false)) => of("no").collect(),
            Some(Answer::Number(number)) => {
                let reached = |key: &&String| key.parse::<i64>().is_ok_and(|lowest| lowest <= *number);
                self.sets.keys().filter(reached).flat_map(|key| of(key)).collect()
            }
            Some(Answer::Choice(chosen)) => of(chosen).collect(),
            Some(Answer::Choices(chosen)) => chosen.iter().flat_map(|one| of(one)).collect(),
        }
    }

    /// The requirements that an answer leaves out, with the justification of each group.
    fn left_out_by(&self, answer: &Answer) -> Vec<(&Codes, &str)> {
        let is_no = match answer {
            Answer::YesNo(yes) => !yes,
            Answer::Number(number) => self
                .sets
                .keys()
                .filter_map(|key| key.parse::<i64>().ok())
                .min()
                .is_some_and(|low| *number < low),
            Answer::Choice(_) | Answer::Choices(_) => false,
        };
        let chosen = |value: &str| match answer {
            Answer::Choice(one) => one == value,
            Answer::Choices(all) => all.contains(value),
            Answer::YesNo(_) | Answer::Number(_) => false,
        };
        let mut all: Vec<(&Codes, &str)> = Vec::new();
        if let (true, Some(own)) = (is_no, self.justification.as_deref()) {
            all.push((&self.requirements_left_out, own));
        }
        for option in &self.options {
            let codes =
                if chosen(&option.value) { &option.leaves_out } else { &option.requirements_left_out };
            let own = option.justification.as_deref().or(self.justification.as_deref());
            if let (false, Some(own)) = (codes.is_empty(), own) {
                all.push((codes, own));
            }
        }
        all
    }

    /// Returns true when one of its answers leaves a requirement out.
    pub fn leaves_something_out(&self) -> bool {
        let of_option =
            |option: &Choice| !option.leaves_out.is_empty() || !option.requirements_left_out.is_empty();
        !self.requirements_left_out.is_empty() || self.options.iter().any(of_option)
    }

    /// The answer that stands for no.
    fn no(&self) -> Answer {
        match self.kind {
            QuestionKind::YesNo => Answer::YesNo(false),
            QuestionKind::Number => Answer::Number(0),
            QuestionKind::Choice if self.multiple => Answer::Choices(BTreeSet::new()),
            QuestionKind::Choice => Answer::Choice("none".to_owned()),
        }
    }

    /// An answer in words, for the facts about the organization.
    pub fn in_words(&self, answer: &Answer) -> String {
        let label = |value: &str| {
            let found = self.options.iter().find(|option| option.value == value);
            found.map_or_else(|| value.to_owned(), |option| option.label.clone())
        };
        match answer {
            Answer::YesNo(true) => "Yes.".to_owned(),
            Answer::YesNo(false) => "No.".to_owned(),
            Answer::Number(number) => number.to_string(),
            Answer::Choice(chosen) => label(chosen),
            Answer::Choices(chosen) if chosen.is_empty() => "None.".to_owned(),
            Answer::Choices(chosen) => chosen.iter().map(|one| label(one)).collect::<Vec<_>>().join("; "),
        }
    }
}

/// Answers by the keys of their questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers(BTreeMap<String, Answer>);

/// An invalid answer: the key of its question, and a message.
pub type WrongAnswer = (String, String);

impl Answers {
    /// Reads answers; all errors are reported.
    pub fn read(answers: &Map<String, Value>) -> Result<Self, Vec<WrongAnswer>> {
        let (mut read, mut wrong) = (BTreeMap::new(), Vec::new());
        for (key, value) in answers {
            let answer = match question(key) {
                Some(question) => question.read(value),
                None => Err("is not one of the questions; GET /v1/programme/questions lists them".to_owned()),
            };
            match answer {
                Ok(answer) => drop(read.insert(key.clone(), answer)),
                Err(message) => wrong.push((key.clone(), message)),
            }
        }
        if wrong.is_empty() { Ok(Self(read)) } else { Err(wrong) }
    }

    pub fn get(&self, key: &str) -> Option<&Answer> {
        self.0.get(key)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static Question, &Answer)> {
        questions().iter().filter_map(|question| Some((question, self.get(&question.key)?)))
    }
}

/// A requirement that an answer leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub requirement: RequirementId,
    /// The question whose answer leaves it out; `None` if it concerns no company.
    pub question: Option<&'static str>,
    pub justification: String,
}

/// The consequences of the answers.
#[derive(Clone, Debug, Default)]
pub struct Consequences {
    flags: HashSet<&'static str>,
    /// The keys of the questions that were to be asked.
    asked: HashSet<&'static str>,
    /// At most one for each requirement.
    pub left_out: Vec<LeftOut>,
    /// The questions that were to be asked and have no answer.
    pub unanswered: Vec<&'static Question>,
}

impl Consequences {
    /// Derives the consequences of answers for the frameworks with these aliases.
    pub fn of(answers: &Answers, aliases: &[&str]) -> Self {
        let mut found = Self::default();
        let mut given: Vec<(&'static Question, Answer)> = Vec::new();
        let concerns = |question: &&Question| {
            question.frameworks.is_empty()
                || question.frameworks.iter().any(|one| aliases.contains(&one.as_str()))
        };
        for question in questions().iter().filter(concerns) {
            let is_asked = question.only_if.as_ref().is_none_or(|flag| found.flags.contains(flag.as_str()));
            if is_asked {
                found.asked.insert(&question.key);
            }
            let no = question.no();
            let answer = if is_asked { answers.get(&question.key) } else { Some(&no) };
            found.flags.extend(question.set_by(answer));
            match answer {
                Some(answer) => given.push((question, answer.clone())),
                None => found.unanswered.push(question),
            }
        }
        let mut seen = HashSet::new();
        for (question, answer) in &given {
            if question.unless.iter().any(|flag| found.has(flag)) {
                continue;
            }
            for (codes, justification) in question.left_out_by(answer) {
                for requirement in resolved(codes).into_iter().filter(|one| seen.insert(*one)) {
                    let (question, justification) = (Some(question.key.as_str()), justification.to_owned());
                    found.left_out.push(LeftOut { requirement, question, justification });
                }
            }
        }
        found
    }

    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    /// Returns true when the question was to be asked.
    pub fn asks(&self, question: &Question) -> bool {
        self.asked.contains(question.key.as_str())
    }

    /// Returns true when something that depends on a flag applies.
    pub fn applies(&self, flag: Option<&str>) -> bool {
        flag.is_none_or(|flag| self.has(flag))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::frameworks;

    fn read(value: &Value) -> Result<Answers, Vec<WrongAnswer>> {
        Answers::read(value.as_object().expect("an object"))
    }

    fn left_out(answers: &Value, alias: &str) -> Vec<String> {
        let found = Consequences::of(&read(answers).expect("answers"), &[alias]);
        let framework = frameworks::shipped().iter().find(|one| one.alias == alias).expect("a framework");
        let code = |one: &LeftOut| framework.requirement(one.requirement).map(|one| one.code.clone());
        found.left_out.iter().filter_map(code).collect()
    }

    #[test]
    fn every_question_is_complete() {
        let source: Source = serde_json::from_str(SOURCE).expect("the questions");
        assert_eq!(source.questions, questions());
        let codes = |codes: &Codes| {
            let count: usize = codes.values().map(Vec::len).sum();
            assert_eq!(resolved(codes).len(), count, "{codes:?}");
        };
        let mut known = HashSet::new();
        for question in questions() {
            assert!(
                known.is_superset(&question.only_if.iter().map(String::as_str).collect()),
                "{}",
                question.key
            );
            known.extend(question.flags());
            codes(&question.requirements_left_out);
            assert!(question.requirements_left_out.is_empty() || question.justification.is_some());
            for option in &question.options {
                codes(&option.leaves_out);
                codes(&option.requirements_left_out);
                let leaves_out = !option.leaves_out.is_empty() || !option.requirements_left_out.is_empty();
                assert!(!leaves_out || option.justification.is_some() || question.justification.is_some());
            }
            assert_eq!(
                question.options.is_empty(),
                question.kind != QuestionKind::Choice,
                "{}",
                question.key
            );
        }
    }

    #[test]
    fn an_answer_leaves_out_what_does_not_concern_the_company() {
        assert!(left_out(&json!({}), "iso_27001").is_empty(), "without an answer everything applies");
        let remote = left_out(&json!({"offices": 0, "own_servers": false}), "iso_27001");
        assert!(remote.contains(&"7.1".to_owned()) && remote.contains(&"7.6".to_owned()), "{remote:?}");
        let servers = left_out(&json!({"offices": 0, "own_servers": true}), "iso_27001");
        assert!(!servers.contains(&"7.1".to_owned()), "server rooms are premises: {servers:?}");
        assert!(left_out(&json!({"offices": 2}), "iso_27001").is_empty());
        // Questions that depend on a no are answered by it.
        let no_data = left_out(&json!({"personal_data": false}), "gdpr");
        assert!(no_data.contains(&"Art. 44".to_owned()), "{no_data:?}");
    }

    #[test]
    fn a_wrong_answer_is_named() {
        let wrong = read(&json!({"offices": -1, "ai": "yes", "special_cases": ["x"], "colour": 1}));
        let mut keys: Vec<String> = wrong.expect_err("errors").into_iter().map(|(key, _)| key).collect();
        keys.sort();
        assert_eq!(keys, ["ai", "colour", "offices", "special_cases"]);
        assert!(read(&json!({"offices": 2.0, "ai": true, "special_cases": []})).is_ok());
    }
}
