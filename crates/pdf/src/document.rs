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

#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A statement of applicability. As with policies, dates are text already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    pub organization: String,
    /// What it is a statement of: `ISO/IEC 27001:2022`.
    pub framework: String,
    /// "Draft", "Awaiting approval" and the like, as printed on the title page.
    pub status: String,
    pub version: u32,
    pub date: String,
    pub prepared_by: Option<String>,
    /// Without it, every page says that the statement is not approved.
    pub approval: Option<Approval>,
    /// Small print at the end of the title page.
    pub attribution: String,
    pub rows: Vec<StatementRow>,
}

/// What a statement says about one control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementRow {
    /// Rows of one theme are one table, wherever they are. Themes keep the order in which they first appear.
    pub theme: String,
    pub code: String,
    pub title: String,
    /// Nothing, as long as it is not answered.
    pub is_applicable: Option<bool>,
    pub justification: String,
    pub status: String,
    pub owner: Option<String>,
    /// No person has confirmed it yet.
    pub is_proposed: bool,
}

/// A confidentiality agreement. As with policies, dates are text already.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    pub title: String,
    /// Who discloses.
    pub organization: String,
    pub content: Content,
    pub date: String,
    /// Without it, there are empty lines for a signature.
    pub signer: Option<Signer>,
    /// What stands across every page behind the text: `PREVIEW`.
    pub watermark: Option<String>,
}

/// Who signed an agreement, and how that can be proved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signer {
    pub name: String,
    pub email: String,
    pub company: Option<String>,
    pub at: String,
    /// The network address from which it was signed.
    pub address: String,
    /// The SHA-256 of the text to which the signer agreed, in hexadecimal.
    pub document_hash: String,
    /// What is asked for at `verify_url`.
    pub code: String,
    pub verify_url: String,
}

/// A finished file.
#[derive(Clone, Debug)]
pub struct Pdf {
    pub bytes: Vec<u8>,
    /// The characters that no embedded font has, each once, in order. U+FFFD is printed in their place.
    pub missing: Vec<char>,
}
