//! Finds the objects of a PDF whose cross-reference table is missing or invalid.

use memchr::memmem;

use super::Unreadable;
use super::file::{File, ObjectLocation, Outline, header, is_start};
use super::lexer::{Lexer, is_space};
use super::value::{Dict, Value};
use super::xref::MAX_OBJECTS;

const NO_ROOT: Unreadable = Unreadable::Damaged("its table of contents is missing");

/// Checks that each object is at its offset, and searches for those that are not.
pub(super) fn mend(file: &mut File) -> Result<(), Unreadable> {
    let mut lost = Vec::new();
    for (number, place) in &file.places {
        let ObjectLocation::At { offset, generation } = place else { continue };
        let mut lexer = Lexer::new(file.bytes, *offset);
        let found = header(&mut lexer);
        file.pay(lexer.take_work())?;
        if found.is_none_or(|id| id.number != *number || id.generation != *generation) {
            lost.push(*number);
        }
    }
    if lost.is_empty() {
        return Ok(());
    }
    let found = objects(file)?;
    for number in &lost {
        file.places.remove(number);
    }
    for (offset, Outline { id, .. }) in found {
        if lost.binary_search(&id.number).is_ok() {
            file.places.insert(id.number, ObjectLocation::At { offset, generation: id.generation });
        }
    }
    Ok(())
}

/// Discards the cross-reference table and scans the file for objects.
pub(super) fn rebuild(file: &mut File) -> Result<(), Unreadable> {
    file.forget();
    let found = objects(file)?;
    let (mut trailers, mut catalog) = (Vec::new(), None);
    for (offset, outline) in &found {
        let (number, generation) = (outline.id.number, outline.id.generation);
        file.places.insert(number, ObjectLocation::At { offset: *offset, generation });
        match outline.kind.as_deref() {
            Some(b"XRef") => trailers.extend(file.dict_at(*offset)?),
            Some(b"Catalog") => catalog = Some(outline.id),
            Some(b"ObjStm") => {
                for (index, inner) in (0..).zip(file.contained(number)?) {
                    file.places.insert(inner, ObjectLocation::In { container: number, index });
                    if file.places.len() > MAX_OBJECTS {
                        return Err(Unreadable::TooComplex);
                    }
                }
            }
            _ => {}
        }
    }
    trailers.extend(written_trailers(file)?);
    if trailers.iter().any(|trailer| trailer.get("Encrypt").is_some()) {
        return Err(Unreadable::Protected);
    }
    let rooted = trailers.into_iter().rev().find(|trailer| trailer.get("Root").is_some());
    file.trailer = match (rooted, catalog) {
        (Some(trailer), _) => trailer,
        (None, Some(id)) => Dict(vec![(b"Root".into(), Value::Reference(id))]),
        (None, None) => return Err(NO_ROOT),
    };
    Ok(())
}

/// Trailer dictionaries, in the order of the file.
fn written_trailers(file: &File) -> Result<Vec<Dict>, Unreadable> {
    const WORD: &[u8] = b"trailer";
    const MAX_MATCHES: usize = 100;
    let mut trailers = Vec::new();
    for at in memmem::find_iter(file.bytes, WORD).take(MAX_MATCHES) {
        if let Some(Value::Dict(trailer)) = file.value(&mut Lexer::new(file.bytes, at + WORD.len()))? {
            trailers.push(trailer);
        }
    }
    Ok(trailers)
}

/// Returns every complete object, in the order of the file. Objects inside the data of another one do not count.
fn objects<'a>(file: &File<'a>) -> Result<Vec<(usize, Outline<'a>)>, Unreadable> {
    const WORD: &[u8] = b" obj";
    let mut found = Vec::new();
    let mut at = 0;
    file.pay(file.bytes.len())?;
    while let Some(word) = memmem::find(file.bytes.get(at..).unwrap_or_default(), WORD) {
        let word = at + word;
        at = word + WORD.len();
        let Some(offset) = start_of_header(file.bytes, word) else { continue };
        if let Some(outline) = file.outline(offset)? {
            at = at.max(outline.end);
            found.push((offset, outline));
            if found.len() > MAX_OBJECTS {
                return Err(Unreadable::TooComplex);
            }
        }
    }
    Ok(found)
}

/// Returns the offset of the two numbers before the `obj` keyword.
fn start_of_header(bytes: &[u8], word: usize) -> Option<usize> {
    let back = |from: usize, is_such: fn(u8) -> bool| {
        let before = bytes.get(..from).unwrap_or_default();
        // Numbers are at most ten digits long.
        let count = before.iter().rev().take(10).take_while(|byte| is_such(**byte)).count();
        (count > 0).then_some(from - count)
    };
    let digit = |byte: u8| byte.is_ascii_digit();
    let start = back(back(back(word, digit)?, is_space)?, digit)?;
    is_start(bytes, start).then_some(start)
}
