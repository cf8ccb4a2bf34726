//! The input of each template: `data.json`.

use serde::Serialize;

use crate::blocks::{self, Node};
use crate::document::{Approval, Collection, Document, Signature};
use crate::text::{self, Line, Text};

/// The maximum length of words that are never broken: in a title on a cover, and elsewhere.
pub(crate) const TITLE_WORD: usize = 22;
pub(crate) const WORD: usize = 30;
/// The maximum number of characters next to the page number.
const FOOTER: usize = 75;

/// Metadata of the file, and the footer.
#[derive(Debug, Serialize)]
pub(crate) struct Meta {
    title: String,
    organization: String,
    footer: Line,
}

impl Meta {
    pub(crate) fn new(title: &str, organization: &str, text: &mut Text) -> Self {
        let (title, organization) = (text.clean(title), text.clean(organization));
        let footer =
            text::shortened(&format!("{} · {title}", text::shortened(&organization, FOOTER / 2)), FOOTER);
        let footer = text.line(&footer, WORD);
        Self { title, organization, footer }
    }

    /// Metadata of a document in landscape orientation, whose footer has room for the version.
    pub(crate) fn of_version(title: &str, organization: &str, version: u32, text: &mut Text) -> Self {
        let organization = text.clean(organization);
        let footer = format!("{} · {title} · Version {version}", text::shortened(&organization, FOOTER / 2));
        let footer = text.line(&footer, WORD);
        Self { title: title.to_owned(), organization, footer }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct PolicyInput {
    meta: Meta,
    organization: Line,
    policy: Policy,
}

#[derive(Debug, Serialize)]
pub(crate) struct CollectionInput {
    meta: Meta,
    organization: Line,
    title: Line,
    title_length: usize,
    date: Line,
    policies: Vec<Policy>,
}

#[derive(Debug, Serialize)]
struct Policy {
    title: Line,
    title_length: usize,
    description: Option<Line>,
    status: Line,
    version: Option<u32>,
    owner: Option<Line>,
    approval: Option<Mark>,
    review_date: Option<Line>,
    signatures: Vec<Mark>,
    blocks: Vec<Node>,
}

/// An approval or a signature: its author and its date.
#[derive(Debug, Serialize)]
pub(crate) struct Mark {
    by: Line,
    at: Line,
}

impl Mark {
    pub(crate) fn new(by: &str, at: &str, text: &mut Text) -> Self {
        text.block();
        Self { by: text.line(by, WORD), at: text.line(at, WORD) }
    }
}

impl PolicyInput {
    pub(crate) fn new(document: &Document, text: &mut Text) -> Self {
        Self {
            meta: Meta::new(&document.title, &document.organization, text),
            organization: text.line(&document.organization, TITLE_WORD),
            policy: Policy::new(document, text),
        }
    }
}

impl CollectionInput {
    pub(crate) fn new(collection: &Collection, text: &mut Text) -> Self {
        let Collection { organization, title, date, policies } = collection;
        Self {
            meta: Meta::new(title, organization, text),
            organization: text.line(organization, TITLE_WORD),
            title: text.line(title, TITLE_WORD),
            title_length: text::width(title),
            date: text.line(date, WORD),
            policies: policies.iter().map(|policy| Policy::new(policy, text)).collect(),
        }
    }
}

impl Policy {
    fn new(document: &Document, text: &mut Text) -> Self {
        let Document { title, description, organization: _, status, version, owner, .. } = document;
        let Document { approval, review_date, signatures, content, .. } = document;
        let mut optional = |field: &Option<String>| field.as_deref().map(|field| text.line(field, WORD));
        let (description, owner, review_date) =
            (optional(description), optional(owner), optional(review_date));
        Self {
            title: text.line(title, TITLE_WORD),
            title_length: text::width(title),
            description,
            status: text.line(status, WORD),
            version: *version,
            owner,
            approval: approval.as_ref().map(|Approval { by, at }| Mark::new(by, at, text)),
            review_date,
            signatures: signatures.iter().map(|Signature { name, at }| Mark::new(name, at, text)).collect(),
            blocks: blocks::nodes(content, text),
        }
    }
}
