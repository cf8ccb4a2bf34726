//! The data of a confidentiality agreement.

use serde::Serialize;

use crate::blocks::{self, Node};
use crate::document::{Agreement, Signer};
use crate::input::{Meta, TITLE_WORD, WORD};
use crate::text::{self, Line, Text};

/// The maximum length of a watermark; longer ones would fill the page and are cut.
const MAX_WATERMARK_CHARS: usize = 40;

#[derive(Debug, Serialize)]
pub(crate) struct AgreementInput {
    meta: Meta,
    organization: Line,
    title: Line,
    title_length: usize,
    date: Line,
    watermark: Option<Watermark>,
    blocks: Vec<Node>,
    /// Label and value of each fact about the signature; `None` if the agreement is not signed.
    signature: Option<Vec<(&'static str, Line)>>,
}

#[derive(Debug, Serialize)]
struct Watermark {
    text: Line,
    length: usize,
}

impl AgreementInput {
    pub(crate) fn new(agreement: &Agreement, text: &mut Text) -> Self {
        let Agreement { title, organization, content, date, signer, watermark } = agreement;
        Self {
            meta: Meta::new(title, organization, text),
            organization: text.line(organization, TITLE_WORD),
            title: text.line(title, TITLE_WORD),
            title_length: text::width(title),
            date: text.line(date, WORD),
            watermark: watermark
                .as_deref()
                .map(str::trim)
                .filter(|watermark| !watermark.is_empty())
                .map(|watermark| Watermark::new(watermark, text)),
            blocks: blocks::nodes(content, text),
            signature: signer.as_ref().map(|signer| facts(signer, text)),
        }
    }
}

impl Watermark {
    fn new(watermark: &str, text: &mut Text) -> Self {
        let watermark = text::shortened(watermark, MAX_WATERMARK_CHARS);
        // A watermark is never broken into lines.
        Self { length: text::width(&watermark), text: text.line(&watermark, usize::MAX) }
    }
}

fn facts(signer: &Signer, text: &mut Text) -> Vec<(&'static str, Line)> {
    let Signer { name, email, company, at, address, document_hash, code, verify_url } = signer;
    let facts = [
        ("Name", Some(name)),
        ("E-mail", Some(email)),
        ("Company", company.as_ref()),
        ("Signed on", Some(at)),
        ("IP address", Some(address)),
        ("Text (SHA-256)", Some(document_hash)),
        ("Verification code", Some(code)),
        ("Verify at", Some(verify_url)),
    ];
    facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name, fact.filter(|fact| !fact.trim().is_empty())?)))
        .map(|(name, fact)| {
            text.block();
            (name, text.line(fact, WORD))
        })
        .collect()
}
