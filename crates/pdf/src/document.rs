//! What can be printed, and what comes of it.

use attestry_domain::content::Content;

/// One policy. All dates are text already, in the form in which they shall be read.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub title: String,
    pub description: Option<String>,
    pub organization: String,
    /// "Published", "Draft" and the like, as printed on the cover.
    pub status: String,
    pub version: Option<u32>,
    pub owner: Option<String>,
    pub approval: Option<Approval>,
    /// When it is to be reviewed next.
    pub review_date: Option<String>,
    pub signatures: Vec<Signature>,
    pub content: Content,
}

#[derive(Clone, Debug)]
pub struct Approval {
    pub by: String,
    pub at: String,
}

#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    pub at: String,
}

/// Many policies in one file.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    pub organization: String,
    pub title: String,
    /// The date of the collection, printed on its cover.
    pub date: String,
    pub policies: Vec<Document>,
}

/// A finished file.
#[derive(Clone, Debug)]
pub struct Pdf {
    pub bytes: Vec<u8>,
    /// The characters that no embedded font has, each once, in order. U+FFFD is printed in their place.
    pub missing: Vec<char>,
}
