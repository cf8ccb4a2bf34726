//! Repairs damaged files: finds objects that are not where the cross-reference table says, and the end of streams whose
//! length is invalid.

use lopdf::xref::XrefEntry;
use lopdf::{Document, Object};
use memchr::memmem;

use super::load;

/// Adds objects that the cross-reference table lists, but not where they are. Objects that were found stay.
pub(super) fn add_missing(document: &mut Document, bytes: &[u8]) {
    let Ok(scanned) = load::load(&repaired(bytes)) else { return };
    for (id, object) in scanned.objects {
        if is_listed(document, id.0) {
            document.objects.entry(id).or_insert(object);
        }
    }
}

/// Returns true if the cross-reference table has an offset for this number. No object is at offset 0.
pub(super) fn is_listed(document: &Document, number: u32) -> bool {
    match document.reference_table.get(number) {
        Some(XrefEntry::Normal { offset, .. }) => *offset > 0,
        Some(XrefEntry::Compressed { .. }) => true,
        _ => false,
    }
}

/// Finds the data of streams whose length is missing.
pub(super) fn find_data(document: &mut Document, bytes: &[u8]) {
    for object in document.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let Some(start) = stream.start_position.filter(|_| stream.content.is_empty()) else { continue };
        let rest = bytes.get(start..).unwrap_or_default();
        let data = memmem::find(rest, b"endstream").and_then(|end| rest.get(..end)).unwrap_or_default();
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        let data = data.strip_suffix(b"\r").unwrap_or(data);
        stream.set_content(data.to_vec());
    }
}

/// Returns a copy of a damaged file in which objects are found by scanning, and the end of streams whose length is not a
/// number as well.
pub(super) fn repaired(bytes: &[u8]) -> Vec<u8> {
    const TABLE_OFFSET: &[u8] = b"startxref";
    const LENGTH: &[u8] = b"/Length ";
    let mut copy = bytes.to_vec();
    for at in memmem::find_iter(bytes, TABLE_OFFSET) {
        copy.iter_mut().skip(at).take(TABLE_OFFSET.len()).for_each(|byte| *byte = b' ');
    }
    for at in memmem::find_iter(bytes, LENGTH) {
        let value = bytes.get(at + LENGTH.len()..).unwrap_or_default();
        let digits = value.iter().take_while(|byte| b"+-0123456789".contains(byte)).count();
        let digits = value.get(..digits).unwrap_or_default();
        let length = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i64>().ok());
        if length.is_none_or(|length| length < 0) {
            copy.iter_mut().skip(at + LENGTH.len()).take(digits.len()).for_each(|byte| *byte = b'0');
        }
    }
    if memmem::find(bytes, b"/XRef").is_none()
        && memmem::find(bytes, b"trailer").is_none()
        && let Some(catalog) = catalog(bytes)
        && let Some(line) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
    {
        let trailer = format!("\ntrailer <</Root {catalog} 0 R>>\n");
        copy.splice(line..line, trailer.into_bytes());
    }
    copy
}

/// Returns the number of the last object that says that it is a catalog.
fn catalog(bytes: &[u8]) -> Option<u32> {
    let before = bytes.get(..memmem::rfind(bytes, b"/Catalog")?)?;
    let before = before.get(..memmem::rfind(before, b" obj")?)?;
    let id = before.get(before.len().saturating_sub(20)..).unwrap_or_default();
    let id = String::from_utf8_lossy(id);
    id.split_whitespace().nth_back(1)?.parse().ok()
}
