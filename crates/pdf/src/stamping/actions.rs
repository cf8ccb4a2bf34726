//! Active content of a PDF: scripts, launch actions, embedded files. A certificate is pages to read, so a file with
//! active content is rejected. Every object that can be reached from the root is checked.

use std::collections::HashSet;

use super::Unreadable;
use super::file::File;
use super::value::{Dict, Value};

/// Action types that are rejected.
const REFUSED: &[(&[u8], Unreadable)] = &[
    (b"JavaScript", Unreadable::Scripts),
    (b"Launch", Unreadable::Launches),
    (b"ImportData", Unreadable::Launches),
    (b"GoToE", Unreadable::Attachments),
];

pub(super) fn must_be_passive(file: &File) -> Result<(), Unreadable> {
    let mut open: Vec<Value> = file.trailer.get("Root").cloned().into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        match value {
            Value::Reference(id) => {
                if seen.insert(id.number) {
                    open.extend(file.object(id.number)?.map(|object| object.value));
                }
            }
            Value::Array(values) => open.extend(values),
            Value::Dict(dict) => {
                must_be_harmless(file, &dict)?;
                open.extend(dict.0.into_iter().map(|(_, value)| value));
            }
            Value::Null | Value::Name(_) | Value::Plain(_) => {}
        }
    }
    Ok(())
}

fn must_be_harmless(file: &File, dict: &Dict) -> Result<(), Unreadable> {
    if dict.get("JS").is_some() {
        return Err(Unreadable::Scripts);
    }
    if dict.get("EF").is_some() || dict.name("Type") == Some(b"EmbeddedFile") {
        return Err(Unreadable::Attachments);
    }
    let Some(kind) = dict.get("S") else { return Ok(()) };
    let Value::Name(kind) = file.resolve(kind)? else { return Ok(()) };
    match REFUSED.iter().find(|(refused, _)| *refused == kind.as_slice()) {
        Some((_, reason)) => Err(*reason),
        None => Ok(()),
    }
}
