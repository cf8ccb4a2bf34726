//! Loads an uploaded PDF into objects that can be written again without ambiguity: each number belongs to one object,
//! and all references lead to it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;

use lopdf::xref::XrefEntry;
use lopdf::{
    DecompressError, Dictionary, Document, Error, LoadOptions, Object, ObjectId, ObjectStream, Stream,
};

use super::{Damage, MAX_UNPACKED_BYTES, Unreadable, repair};

/// The maximum object number; readers reject objects with higher ones.
pub(super) const MAX_OBJECT_NUMBER: u32 = (1 << 23) - 1;

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
pub(super) fn load(bytes: &[u8]) -> Result<Document, Unreadable> {
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
    must_be_distinct(&document, bytes)?;
    unpack(&mut document, LOADING.take().containers)?;
    repair::find_data(&mut document, bytes);
    Ok(document)
}

/// Fails if the cross-reference table leads to two objects with the same number, because readers may choose different
/// ones.
fn must_be_distinct(document: &Document, bytes: &[u8]) -> Result<(), Unreadable> {
    let mut offsets = HashMap::new();
    for entry in document.reference_table.entries.values() {
        let XrefEntry::Normal { offset, .. } = entry else { continue };
        let Some((number, offset)) = header(bytes, *offset as usize) else { continue };
        if offsets.insert(number, offset).is_some_and(|other| other != offset) {
            return Err(Unreadable::Damaged(Damage::AmbiguousTable));
        }
    }
    Ok(())
}

/// Parses the header of an object. Returns its number, and the offset behind it.
fn header(bytes: &[u8], offset: usize) -> Option<(u32, usize)> {
    let number = |rest: &[u8]| -> Option<(u32, usize)> {
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let rest = rest.get(blanks..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
        Some((number, blanks + digits))
    };
    let (object, length) = number(bytes.get(offset..)?)?;
    let end = offset + length;
    let (_, length) = number(bytes.get(end..)?)?;
    let rest = bytes.get(end + length..)?;
    rest.trim_ascii_start().starts_with(b"obj").then_some((object, end))
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
            let is_selected = match document.reference_table.get(member.0) {
                Some(XrefEntry::Compressed { container, .. }) => *container == id.0,
                other => other.is_none(),
            };
            if is_selected {
                document.objects.entry(member).or_insert(object);
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

/// Sets all generations to zero, because readers differ in how they look at them. Returns the numbers of the objects
/// that others refer to.
pub(super) fn number(document: &mut Document) -> HashSet<u32> {
    let objects = std::mem::take(&mut document.objects).into_iter().filter(|((number, _), object)| {
        // The tables and hints of the file that was read say nothing about the one that is written.
        let is_obsolete = matches!(object.type_name(), Ok(b"XRef" | b"Linearized"));
        *number <= MAX_OBJECT_NUMBER && !is_obsolete
    });
    document.objects = objects.map(|((number, _), object)| ((number, 0), object)).collect();
    let mut referenced = HashSet::new();
    let mut set = |id: &mut ObjectId| {
        id.1 = 0;
        referenced.insert(id.0);
    };
    document.objects.values_mut().for_each(|object| for_each_reference(object, &mut set));
    document.trailer.iter_mut().for_each(|(_, value)| for_each_reference(value, &mut set));
    referenced
}

/// Returns the highest number that is in use or referred to. New objects get higher ones, so that nothing in the file
/// refers to them.
pub(super) fn last_number(document: &Document, referenced: &HashSet<u32>) -> Result<u32, Unreadable> {
    let size = document.trailer.get(b"Size").and_then(Object::as_i64).unwrap_or_default().max(1);
    let size = u32::try_from(size - 1).map_err(|_| Unreadable::TooComplex)?;
    let referenced = referenced.iter().copied().filter(|number| *number <= MAX_OBJECT_NUMBER).max();
    let used = document.objects.last_key_value().map(|((number, _), _)| *number);
    Ok(size.max(referenced.max(used).unwrap_or_default()))
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
