//! Prints documents as PDF: a single policy, all policies of an organization, the statement of applicability, and
//! confidentiality agreements. Also stamps uploaded PDFs.
//!
//! A document is one of our Typst templates plus data. The data reaches the template only as a virtual JSON file, so
//! user text is always a string and never markup or code. Fonts are embedded and unpacked on first use; the same
//! input produces the same bytes, since no clock is read.
//!
//! Printing is CPU-bound and synchronous: call it on a thread for blocking work. Uploaded files are read in confined
//! processes, by the [`Stamper`].

mod agreements;
mod blocks;
mod document;
mod failure;
mod fonts;
mod input;
mod stamping;
mod statements;
mod tables;
mod text;
mod world;

pub use document::{
    Agreement, Approval, Collection, Document, Pdf, Signature, Signer, SoaReport, StatementRow,
};
pub use failure::Failure;
pub use stamping::{
    Damage, Inspected, Label, Stamp, Stamper, StamperError, StamperSettings, Unreadable, inspect, stamp,
    stamping_child,
};

use agreements::AgreementInput;
use input::{CollectionInput, PolicyInput};
use statements::StatementInput;
use text::Text;
use world::{Pages, Template};

/// Prints one policy: cover, contents, text, approval and signatures.
pub fn policy(document: &Document) -> Result<Pdf, Failure> {
    print(Template::Policy, |text| PolicyInput::new(document, text))
}

/// Prints many policies as one file, with one cover and one table of contents. Each policy starts on a new page.
pub fn collection(collection: &Collection) -> Result<Pdf, Failure> {
    print(Template::Collection, |text| CollectionInput::new(collection, text))
}

/// Prints a statement of applicability: title page, then a table for each theme in landscape orientation.
pub fn statement(statement: &SoaReport) -> Result<Pdf, Failure> {
    print(Template::SoaReport, |text| StatementInput::new(statement, text))
}

/// Prints a confidentiality agreement: its text, and the signature or blank lines for it.
pub fn agreement(agreement: &Agreement) -> Result<Pdf, Failure> {
    print(Template::Agreement, |text| AgreementInput::new(agreement, text))
}

/// Prints a document. A sequence of characters may have no glyph although each character has one, and this shows only
/// after layout. Such sequences are replaced and the layout is repeated, which is expensive but rare.
fn print<I: serde::Serialize>(template: Template, input: impl Fn(&mut Text) -> I) -> Result<Pdf, Failure> {
    let mut text = Text::new()?;
    let mut pages = Pages::new(template, serde_json::to_vec(&text.read(&input)?)?)?;
    let undrawn = pages.undrawn();
    if !undrawn.is_empty() {
        text.replace(undrawn);
        pages = Pages::new(template, serde_json::to_vec(&text.read(&input)?)?)?;
    }
    Ok(Pdf { bytes: pages.write()?, missing: text.missing() })
}
