//! Documents that can be printed, and the resulting file.

use attestry_domain::content::Content;

/// One policy. All dates are already formatted for reading.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub title: String,
    pub description: Option<String>,
    pub organization: String,
    /// The status as printed on the cover, such as "Published" or "Draft".
    pub status: String,
    pub version: Option<u32>,
    pub owner: Option<String>,
    pub approval: Option<Approval>,
    /// The date of the next review.
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

/// A statement of applicability. All dates are already formatted for reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoaReport {
    pub organization: String,
    /// The framework's name, such as `ISO/IEC 27001:2022`.
    pub framework: String,
    /// The status as printed on the title page, such as "Draft" or "Awaiting approval".
    pub status: String,
    pub version: u32,
    pub date: String,
    pub prepared_by: Option<String>,
    /// Without an approval, every page is marked as not approved.
    pub approval: Option<Approval>,
    /// Small print at the end of the title page.
    pub attribution: String,
    pub rows: Vec<StatementRow>,
}

/// One control of a statement of applicability.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementRow {
    /// The table of this row. Themes are printed in the order in which they first appear, even if their rows are
    /// scattered.
    pub theme: String,
    pub code: String,
    pub title: String,
    /// `None` until it is decided.
    pub is_applicable: Option<bool>,
    pub justification: String,
    pub status: String,
    pub owner: Option<String>,
    /// True until a person confirms the row.
    pub is_proposed: bool,
}

/// A confidentiality agreement. All dates are already formatted for reading.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    pub title: String,
    /// The disclosing party.
    pub organization: String,
    pub content: Content,
    pub date: String,
    /// Without a signer, blank signature lines are printed.
    pub signer: Option<Signer>,
    /// Text across every page, such as `PREVIEW`.
    pub watermark: Option<String>,
}

/// The signer of an agreement, and the proof of the signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signer {
    pub name: String,
    pub email: String,
    pub company: Option<String>,
    pub at: String,
    /// The IP address from which it was signed.
    pub address: String,
    /// The SHA-256 of the signed text, in hexadecimal.
    pub document_hash: String,
    /// The code to enter at `verify_url`.
    pub code: String,
    pub verify_url: String,
}

/// A printed document.
#[derive(Clone, Debug)]
pub struct Pdf {
    pub bytes: Vec<u8>,
    /// Characters that no embedded font has, without duplicates and sorted. They are printed as U+FFFD.
    pub missing: Vec<char>,
}
