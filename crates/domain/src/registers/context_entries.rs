//! Facts about the organization: questions and answers that statements of applicability are filled from and that are
//! passed to the assistant.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::any_of::AnyOf;
use crate::date::Date;
use crate::id::{MemberId, kind};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::plain::{Keep, Plain, PlainKind};
use crate::registers::{Actions, Computed, Fields, Filter, Register, SEARCH_TEXT};
use crate::row::Row;
use crate::text::{AnyText, Name};

/// The topics of an entry: unique words of lowercase letters, digits and underscores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags(Vec<String>);

impl Tags {
    pub const MAX: usize = 20;
    const MAX_TAG_CHARS: usize = 50;

    pub fn new(words: Vec<String>) -> Result<Self, String> {
        let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if words.len() > Self::MAX {
            return Err(format!("must hold at most {} tags", Self::MAX));
        }
        for (place, word) in words.iter().enumerate() {
            if !(1..=Self::MAX_TAG_CHARS).contains(&word.len()) || !word.chars().all(is_fine) {
                return Err(format!(
                    "[{place}]: must be 1 to {} lowercase letters, digits and underscores",
                    Self::MAX_TAG_CHARS
                ));
            }
        }
        let mut words = words;
        words.sort_unstable();
        words.dedup();
        Ok(Self(words))
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn contains(&self, tag: &str) -> bool {
        self.iter().any(|one| one == tag)
    }
}

impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// Stored with spaces around each tag, so that a substring search matches whole tags.
impl Keep for Tags {
    const KIND: PlainKind = PlainKind::Words;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(format!(" {self} ").into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        match value {
            Plain::Text(text) => Ok(Self(text.split_whitespace().map(str::to_owned).collect())),
            _ => Ok(Self::default()),
        }
    }
}

impl JsonSchema for Tags {
    fn json_schema() -> Value {
        json!({"type": "array", "items": Tag::json_schema(), "maxItems": Self::MAX})
    }
}

impl Given for Tags {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        Self::new(json.each(Self::MAX, |item| item.text().map(Cow::into_owned))?)
    }
}

/// A tag to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(String);

impl crate::text::Parse for Tag {
    fn parse(text: &str) -> Result<Self, String> {
        Tags::new(vec![text.to_owned()])
            .map(|_| Self(format!(" {text} ")))
            .map_err(|message| message.trim_start_matches("[0]: ").to_owned())
    }
}

impl Keep for Tag {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.0.as_str().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        match value {
            Plain::Text(text) => Ok(Self(text.into_owned())),
            other => Err(format!("is of another kind: {other:?}")),
        }
    }
}

impl JsonSchema for Tag {
    fn json_schema() -> Value {
        json!({"type": "string", "minLength": 1, "maxLength": Tags::MAX_TAG_CHARS})
    }
}

/// The fields of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Row, Fields)]
pub struct ContextEntry {
    /// A question about the organization.
    pub question: Name,
    /// The answer. Begin with yes or no where that answers it.
    #[field(default)]
    pub answer: AnyText,
    /// Its topics. `premises`, `development` and `outsourced_development` decide which controls a statement of
    /// applicability leaves out.
    #[field(default)]
    pub tags: Tags,
    /// The active member who keeps it true.
    pub assignee_id: Option<MemberId>,
    /// When it is to be looked at again.
    pub review_date: Option<Date>,
}

/// The filter values of a list of entries.
#[derive(Clone, Debug, Default, Filter)]
pub struct ContextFilter {
    /// Only entries with this tag.
    #[filter(has = "tags")]
    pub tag: Option<Tag>,
    /// Only entries this member keeps true.
    pub assignee_id: Option<AnyOf<MemberId>>,
}

crate::register_sort! {
    /// The sort keys of the list of entries.
    ContextSort {
        Question = "question", question_key Text;
        Assignee = "assignee", assignee_id Member;
        ReviewDate = "reviewDate", review_date Date;
    }
}

impl Register for ContextEntry {
    type Kind = kind::ContextEntry;
    type Filter = ContextFilter;
    type Sort = ContextSort;

    const REFERENCE: &'static str = "Q";
    const ENTITY: &'static str = "context_entry";
    const ACTIONS: Actions = crate::actions!("context_entry");
    const COMPUTED: &'static [Computed<Self>] = &[
        Computed::hidden("question_key", |entry| Plain::Text(entry.question.as_str().to_lowercase().into())),
        Computed::hidden(SEARCH_TEXT, |entry| {
            Plain::Text(format!("{}\n{}", entry.question, entry.answer).to_lowercase().into())
        }),
    ];

    crate::register_basics!(question, reviewed);
}
