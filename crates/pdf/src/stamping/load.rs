//! Loads an uploaded PDF into objects that can be written again without ambiguity: each number belongs to one object,
//! and all references lead to it.

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::resume_unwind;

use lopdf::xref::XrefEntry;
use lopdf::{
    DecompressError, Dictionary, Document, Error, LoadOptions, Object, ObjectId, ObjectStream, Stream,
};
use memchr::memmem;

use super::{Damage, MAX_UNPACKED_BYTES, Unreadable};

/// The maximum object number; readers reject objects with higher ones.
pub(super) const MAX_OBJECT_NUMBER: u32 = (1 << 23) - 1;

pub(super) struct Loaded {
    pub document: Document,
    /// Objects that others refer to are in the cross-reference table, but were not found.
    pub is_incomplete: bool,
}

#[derive(Default)]
struct Loading {
    /// The number of bytes that the data of further streams may have.
    remaining_bytes: usize,
    /// The object streams.
    containers: Vec<ObjectId>,
}

thread_local! {
    /// State of [`admit`], which the loader calls without a context.
    static LOADING: RefCell<Loading> = RefCell::default();
}

/// Loads a file, which starts with its header.
pub(super) fn load(bytes: &[u8]) -> Result<Loaded, Unreadable> {
    // Damaged tables may list an object twice.
    LOADING.set(Loading { remaining_bytes: bytes.len().saturating_mul(2), containers: Vec::new() });
    let options = LoadOptions {
        filter: Some(admit),
        max_decompressed_size: Some(MAX_UNPACKED_BYTES),
        ..LoadOptions::default()
    };
    let mut document = Document::load_mem_with_options(bytes, options).map_err(|error| match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => Unreadable::Unpacks,
        Error::Decryption(_) | Error::InvalidPassword | Error::UnsupportedSecurityHandler(_) => {
            Unreadable::Protected
        }
        _ => Unreadable::Damaged(Damage::NoTable),
    })?;
    if document.was_encrypted() || document.trailer.has(b"Encrypt") {
        return Err(Unreadable::Protected);
    }
    unpack(&mut document, LOADING.take().containers)?;
    find_data(&mut document, bytes);
    let is_incomplete = number(&mut document)?;
    Ok(Loaded { document, is_incomplete })
}

/// Checks an object that was read from the file. The loader goes on with the object in place, and would do so with the
/// returned one only for members of object streams, which it does not find.
#[expect(clippy::unnecessary_wraps, reason = "the loader asks for it")]
fn admit(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    if let Object::Stream(stream) = object {
        LOADING.with_borrow_mut(|loading| {
            match loading.remaining_bytes.checked_sub(stream.content.len()) {
                Some(remaining) => loading.remaining_bytes = remaining,
                None => resume_unwind(Box::new(Unreadable::Damaged(Damage::OverlappingObjects))),
            }
            if stream.dict.has_type(b"ObjStm") {
                // The loader would skip one that unpacks to too much, and ignore which member the table selects.
                stream.dict.remove(b"Type");
                loading.containers.push(id);
            }
        });
    }
    Some((id, Object::Null))
}

/// Replaces object streams by their members.
fn unpack(document: &mut Document, containers: Vec<ObjectId>) -> Result<(), Unreadable> {
    let mut remaining = MAX_UNPACKED_BYTES;
    for id in containers {
        let Some(Object::Stream(mut container)) = document.objects.remove(&id) else { continue };
        match container.get_plain_content_with_limit(remaining) {
            Ok(content) => container.set_plain_content(content),
            Err(Error::Decompress(DecompressError::MemoryLimitExceeded { .. })) => {
                return Err(Unreadable::Unpacks);
            }
            Err(_) => continue,
        }
        remaining = remaining.saturating_sub(container.content.len());
        let Ok(mut members) = ObjectStream::new(&container) else { continue };
        for (number, index, start) in repeated_members(&container) {
            let selected = document.reference_table.get(number).is_some_and(|entry| {
                matches!(entry, XrefEntry::Compressed { container, index: entry }
                    if *container == id.0 && usize::from(*entry) == index)
            });
            if let Some(object) = selected.then(|| member(container.content.get(start..)?)).flatten() {
                members.objects.insert((number, 0), object);
            }
        }
        for (member, object) in members.objects {
            match document.reference_table.get(member.0) {
                Some(XrefEntry::Compressed { container, .. }) if *container != id.0 => {}
                _ => {
                    document.objects.entry(member).or_insert(object);
                }
            }
        }
    }
    Ok(())
}

/// Returns the number, index and offset of members whose number occurs more than once.
fn repeated_members(container: &Stream) -> Vec<(u32, usize, usize)> {
    let first = container.dict.get(b"First").and_then(Object::as_i64).ok();
    let Some(first) = first.and_then(|first| usize::try_from(first).ok()) else { return Vec::new() };
    let header = String::from_utf8_lossy(container.content.get(..first).unwrap_or_default());
    let numbers: Vec<Option<usize>> = header.split_whitespace().map(|number| number.parse().ok()).collect();
    let mut seen = HashSet::new();
    let repeated: HashSet<_> = numbers.iter().step_by(2).filter(|number| !seen.insert(*number)).collect();
    let members = numbers.chunks_exact(2).enumerate().filter_map(|(index, pair)| match pair {
        [Some(number), Some(offset)] if repeated.contains(&Some(*number)) => {
            Some((u32::try_from(*number).ok()?, index, first.checked_add(*offset)?))
        }
        _ => None,
    });
    members.collect()
}

/// Parses one member of an object stream.
fn member(bytes: &[u8]) -> Option<Object> {
    const HEADER: [u8; 4] = *b"1 0 ";
    let entries = [("N", Object::from(1)), ("First", 4.into())];
    let alone = Stream::new(Dictionary::from_iter(entries), [&HEADER, bytes].concat());
    ObjectStream::new(&alone).ok()?.objects.remove(&(1, 0))
}

/// Finds the data of streams whose length is missing.
fn find_data(document: &mut Document, bytes: &[u8]) {
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

/// Sets all generations to zero, because readers differ in how they look at them, and the highest number that is in
/// use or referred to: new objects get higher ones, so that nothing in the file refers to them. Returns true if objects
/// are missing that the cross-reference table lists.
fn number(document: &mut Document) -> Result<bool, Unreadable> {
    let objects = std::mem::take(&mut document.objects);
    let objects = objects.into_iter().filter(|((number, _), object)| {
        // The tables and hints of the file that was read say nothing about the one that is written.
        let is_obsolete = matches!(object.type_name(), Ok(b"XRef" | b"Linearized"));
        *number <= MAX_OBJECT_NUMBER && !is_obsolete
    });
    document.objects = objects.map(|((number, _), object)| ((number, 0), object)).collect();
    let mut referenced = HashSet::new();
    let mut note = |id: &mut ObjectId| {
        id.1 = 0;
        referenced.insert(id.0);
    };
    document.objects.values_mut().for_each(|object| for_each_reference(object, &mut note));
    document.trailer.iter_mut().for_each(|(_, value)| for_each_reference(value, &mut note));
    let missing = referenced.iter().filter(|number| !document.objects.contains_key(&(**number, 0)));
    let is_incomplete = missing.clone().any(|number| match document.reference_table.get(*number) {
        // No object is at offset 0.
        Some(XrefEntry::Normal { offset, .. }) => *offset > 0,
        Some(XrefEntry::Compressed { .. }) => true,
        _ => false,
    });
    let missing = missing.copied().filter(|number| *number <= MAX_OBJECT_NUMBER).max();
    let last = document.objects.last_key_value().map(|((number, _), _)| *number);
    let size = document.trailer.get(b"Size").and_then(Object::as_i64).unwrap_or_default().max(1);
    let size = u32::try_from(size - 1).map_err(|_| Unreadable::TooComplex)?;
    document.max_id = size.max(last.max(missing).unwrap_or_default());
    Ok(is_incomplete)
}

/// Calls `change` for all references in the value.
pub(super) fn for_each_reference(value: &mut Object, change: &mut impl FnMut(&mut ObjectId)) {
    match value {
        Object::Reference(id) => change(id),
        Object::Array(values) => values.iter_mut().for_each(|value| for_each_reference(value, change)),
        Object::Dictionary(dict) | Object::Stream(Stream { dict, .. }) => {
            dict.iter_mut().for_each(|(_, value)| for_each_reference(value, change));
        }
        _ => {}
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
