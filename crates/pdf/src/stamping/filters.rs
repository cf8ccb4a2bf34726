//! Unpacks what is packed in a PDF, never more than is allowed.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;

use super::Unreadable;
use super::value::{Dict, Value};

/// The data of a stream, unpacked. Nothing, if it is packed in a way that is not known here.
pub(super) fn unpacked<'a>(
    dict: &Dict,
    data: &'a [u8],
    most: usize,
) -> Result<Option<Cow<'a, [u8]>>, Unreadable> {
    let filter = match dict.get("Filter") {
        None | Some(Value::Null) => return Ok(Some(data.into())),
        Some(Value::Array(filters)) if filters.is_empty() => return Ok(Some(data.into())),
        Some(Value::Array(filters)) if filters.len() == 1 => filters.first(),
        one => one,
    };
    if !matches!(filter, Some(Value::Name(name)) if name == b"FlateDecode" || name == b"Fl") {
        return Ok(None);
    }
    let inflated = inflated(data, most)?;
    let parameters = match dict.get("DecodeParms") {
        Some(Value::Array(all)) => all.first(),
        one => one,
    };
    let number = |key| parameters.and_then(Value::dict).and_then(|dict| dict.number::<usize>(key));
    Ok(match (parameters, number("Predictor")) {
        (None | Some(Value::Null), _) | (Some(Value::Dict(_)), None | Some(1)) => Some(inflated.into()),
        (Some(Value::Dict(_)), Some(10..=15)) => {
            let bits = number("Colors").unwrap_or(1).saturating_mul(number("BitsPerComponent").unwrap_or(8));
            let row = bits.saturating_mul(number("Columns").unwrap_or(1)).div_ceil(8);
            unpredicted(&inflated, bits.div_ceil(8), row).map(Cow::from)
        }
        _ => None,
    })
}

/// As much as can be unpacked: the end of a damaged stream is missing.
fn inflated(data: &[u8], most: usize) -> Result<Vec<u8>, Unreadable> {
    let mut out = Vec::new();
    let mut unpacking = ZlibDecoder::new(data).take(most as u64 + 1);
    // What came before an error is kept.
    let _ = unpacking.read_to_end(&mut out);
    if out.len() > most { Err(Unreadable::Unpacks) } else { Ok(out) }
}

/// Undoes the filters of PNG: each row begins with a byte that says which one it has.
fn unpredicted(data: &[u8], pixel: usize, row: usize) -> Option<Vec<u8>> {
    if row == 0 || pixel == 0 || pixel > row {
        return None;
    }
    let mut out = Vec::with_capacity(data.len());
    let mut above = vec![0; row];
    for line in data.chunks(row + 1) {
        let (kind, line) = line.split_first()?;
        let mut current = vec![0; row];
        for (place, byte) in line.iter().enumerate() {
            let before = |line: &[u8]| place.checked_sub(pixel).and_then(|at| line.get(at)).copied();
            let left = before(&current).unwrap_or(0);
            let (up, corner) = (above.get(place).copied().unwrap_or(0), before(&above).unwrap_or(0));
            let guess = match kind {
                0 => 0,
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => paeth(left, up, corner),
                _ => return None,
            };
            *current.get_mut(place)? = byte.wrapping_add(guess);
        }
        out.extend(current.get(..line.len())?);
        above = current;
    }
    Some(out)
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |byte: u8| (guess - i16::from(byte)).abs();
    [left, up, corner].into_iter().min_by_key(|byte| far(*byte)).unwrap_or(left)
}
