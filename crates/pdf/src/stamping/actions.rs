//! Active content of a PDF: scripts, launch actions, embedded files. A certificate is pages to read, so a file with
//! active content is rejected. Every object that can be reached from the root is checked.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, Stream};

use super::{Unreadable, pages};

/// Action types that are rejected.
const REFUSED: &[(&[u8], Unreadable)] = &[
    (b"JavaScript", Unreadable::Scripts),
    (b"Launch", Unreadable::Launches),
    (b"ImportData", Unreadable::Launches),
    (b"GoToE", Unreadable::Attachments),
];

pub(super) fn must_be_passive(document: &Document) -> Result<(), Unreadable> {
    let mut open: Vec<&Object> = document.trailer.get(b"Root").into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        match value {
            Object::Reference(id) if seen.insert(id) => open.extend(document.objects.get(id)),
            Object::Array(values) => open.extend(values),
            Object::Dictionary(dict) | Object::Stream(Stream { dict, .. }) => {
                must_be_harmless(document, dict)?;
                open.extend(dict.iter().map(|(_, value)| value));
            }
            _ => {}
        }
    }
    Ok(())
}

fn must_be_harmless(document: &Document, dict: &Dictionary) -> Result<(), Unreadable> {
    if dict.has(b"JS") {
        return Err(Unreadable::Scripts);
    }
    if dict.has(b"EF") || dict.has_type(b"EmbeddedFile") {
        return Err(Unreadable::Attachments);
    }
    let Ok(kind) = dict.get(b"S") else { return Ok(()) };
    let Object::Name(kind) = pages::resolved(document, kind) else { return Ok(()) };
    match REFUSED.iter().find(|(refused, _)| *refused == kind.as_slice()) {
        Some((_, reason)) => Err(*reason),
        None => Ok(()),
    }
}
