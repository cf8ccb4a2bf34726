//! Documents as PDF: one policy, or all of an organization in one file, the statement of applicability, and
//! confidentiality agreements. And stamps on PDFs that somebody gave.
//!
//! A document is a template of ours in Typst's language plus data. The data reaches the template as a virtual
//! JSON file and as nothing else, so what people write is always a string and never markup or code. Fonts are
//! embedded and unpacked on first use; the same input gives the same bytes, since no clock is read.
//!
//! Everything here computes and nothing waits: call it on a thread for blocking work.

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
    Agreement, Approval, Collection, Document, Pdf, Signature, Signer, Statement, StatementRow,
};
pub use failure::Failure;
pub use stamping::{Inspected, Stamp, Unreadable, inspect, stamp};

use agreements::AgreementInput;
use input::{CollectionInput, PolicyInput};
use statements::StatementInput;
use text::Text;
use world::{Pages, Template};

/// Prints one policy: cover, contents, text, approval and signatures.
pub fn policy(document: &Document) -> Result<Pdf, Failure> {
    print(Template::Policy, |text| PolicyInput::new(document, text))
}

/// Prints many policies as one file, with one cover and one table of contents. Each begins on a page of its own.
pub fn collection(collection: &Collection) -> Result<Pdf, Failure> {
    print(Template::Collection, |text| CollectionInput::new(collection, text))
}

/// Prints a statement of applicability: title page, then a table for each theme on pages that lie on their side.
pub fn statement(statement: &Statement) -> Result<Pdf, Failure> {
    print(Template::Statement, |text| StatementInput::new(statement, text))
}

/// Prints a confidentiality agreement: its text, and who signed it or where that is still to be done.
pub fn agreement(agreement: &Agreement) -> Result<Pdf, Failure> {
    print(Template::Agreement, |text| AgreementInput::new(agreement, text))
}

/// Whether a combination of characters can be drawn shows only on the finished pages, although each of them can.
/// Such combinations are replaced, and the pages made again: that is as rare as it is dear.
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
