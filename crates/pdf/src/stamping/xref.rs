//! Parses cross-reference tables and streams, and the older ones they refer to.

use std::collections::HashSet;

use memchr::memmem;

use super::Unreadable;
use super::file::{File, LARGEST_NUMBER, ObjectLocation, ObjectLocations};
use super::lexer::{Lexer, Token};
use super::value::{Dict, Value};

/// The maximum number of objects, above that of any file of the accepted size.
pub(super) const MAX_OBJECTS: usize = 500_000;
const MAX_SECTIONS: usize = 1_000;

/// Returns the locations of all objects and the trailer; `None` if they are missing or cannot be parsed.
pub(super) fn read(file: &File) -> Result<Option<(ObjectLocations, Dict)>, Unreadable> {
    let start = memmem::rfind(file.bytes, b"startxref").map(|at| at + b"startxref".len());
    let Some(mut lexer) = start.map(|at| Lexer::new(file.bytes, at)) else { return Ok(None) };
    let start = lexer.number();
    file.pay(lexer.take_work())?;
    let Some(start) = start else { return Ok(None) };
    let (mut places, mut newest) = (ObjectLocations::new(), None);
    let (mut next, mut seen) = (Some(start), HashSet::new());
    while let Some(at) = next.filter(|at| seen.insert(*at) && seen.len() <= MAX_SECTIONS) {
        let Some((section, trailer)) = section(file, at)? else { return Ok(None) };
        // In a hybrid file, objects hidden from old readers are in a stream and marked as free in the table.
        if let Some(hidden) = trailer.number("XRefStm").filter(|at| seen.insert(*at))
            && let Some((hidden, _)) = self::section(file, hidden)?
        {
            merge(&mut places, hidden)?;
        }
        merge(&mut places, section)?;
        next = trailer.number("Prev");
        newest.get_or_insert(trailer);
    }
    places.retain(|number, place| *number <= LARGEST_NUMBER && *place != ObjectLocation::Free);
    Ok(newest.filter(|trailer| trailer.get("Root").is_some()).map(|trailer| (places, trailer)))
}

fn merge(places: &mut ObjectLocations, older: Vec<(u32, ObjectLocation)>) -> Result<(), Unreadable> {
    for (number, place) in older {
        places.entry(number).or_insert(place);
    }
    if places.len() > MAX_OBJECTS { Err(Unreadable::TooComplex) } else { Ok(()) }
}

type Section = (Vec<(u32, ObjectLocation)>, Dict);

fn section(file: &File, at: usize) -> Result<Option<Section>, Unreadable> {
    let mut lexer = Lexer::new(file.bytes, at);
    let is_table = lexer.takes(b"xref");
    let section = if is_table { table(&mut lexer) } else { None };
    file.pay(lexer.take_work())?;
    if is_table { Ok(section) } else { stream(file, at) }
}

fn table(lexer: &mut Lexer) -> Option<Section> {
    let mut places = Vec::new();
    loop {
        match lexer.next()? {
            Token::Word(b"trailer") => break,
            Token::Number(first) => {
                let first: u32 = std::str::from_utf8(first).ok()?.parse().ok()?;
                let count: u32 = lexer.number()?;
                for number in first..first.checked_add(count)? {
                    let (offset, generation) = (lexer.number()?, lexer.number::<u32>()?);
                    let place = match lexer.next()? {
                        // No object is at offset 0.
                        Token::Word(b"n") if offset > 0 => {
                            ObjectLocation::At { offset, generation: generation.try_into().ok()? }
                        }
                        Token::Word(b"n" | b"f") => ObjectLocation::Free,
                        _ => return None,
                    };
                    places.push((number, place));
                }
            }
            _ => return None,
        }
    }
    match Value::read(lexer).0? {
        Value::Dict(trailer) => Some((places, trailer)),
        _ => None,
    }
}

fn stream(file: &File, at: usize) -> Result<Option<Section>, Unreadable> {
    let Some(outline) = file.outline(at)? else { return Ok(None) };
    let Some(dict) = file.dict_at(at)? else { return Ok(None) };
    let (Some(b"XRef"), Some(data)) = (dict.name("Type"), outline.stream) else { return Ok(None) };
    let Some(data) = file.unpacked(&dict, data)? else { return Ok(None) };
    Ok(entries(&dict, &data)?.map(|places| (places, dict)))
}

fn entries(dict: &Dict, data: &[u8]) -> Result<Option<Vec<(u32, ObjectLocation)>>, Unreadable> {
    let numbers = |key| -> Option<Vec<usize>> { dict.get(key)?.array()?.iter().map(Value::number).collect() };
    let Some(Ok(widths)) = numbers("W").map(<[usize; 3]>::try_from) else { return Ok(None) };
    let size: usize = dict.number("Size").unwrap_or(0);
    let ranges = numbers("Index").unwrap_or_else(|| vec![0, size]);
    let row: usize = widths.iter().fold(0, |sum: usize, width| sum.saturating_add(*width));
    if row == 0 || row > 24 {
        return Ok(None);
    }
    if data.len() / row > MAX_OBJECTS {
        return Err(Unreadable::TooComplex);
    }
    let numbers = ranges.chunks_exact(2).flat_map(|range| {
        let first = range.first().and_then(|first| u32::try_from(*first).ok());
        first
            .map(|first| (first..=u32::MAX).take(range.last().copied().unwrap_or_default()))
            .into_iter()
            .flatten()
    });
    let places =
        numbers.zip(data.chunks_exact(row)).filter_map(|(number, row)| Some((number, place(row, widths)?)));
    Ok(Some(places.collect()))
}

fn place(row: &[u8], [kind, first, _]: [usize; 3]) -> Option<ObjectLocation> {
    let number = |bytes: &[u8]| -> Option<usize> {
        bytes.iter().try_fold(0_usize, |sum, byte| Some(sum.checked_mul(256)? + usize::from(*byte)))
    };
    let (kind, row) = row.split_at_checked(kind)?;
    let (first, second) = row.split_at_checked(first)?;
    Some(match (kind, number(kind)?) {
        ([], _) | (_, 1) => ObjectLocation::At {
            offset: number(first)?,
            generation: u16::try_from(number(second)?).unwrap_or(0),
        },
        (_, 2) => ObjectLocation::In {
            container: u32::try_from(number(first)?).ok()?,
            index: u32::try_from(number(second)?).ok()?,
        },
        _ => ObjectLocation::Free,
    })
}
