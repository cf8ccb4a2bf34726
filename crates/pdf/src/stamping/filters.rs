//! Decodes the stream filters of a PDF, up to a size limit.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;

use super::Unreadable;
use super::lexer::is_space;
use super::value::{Dict, Value};

/// The maximum number of filters of a stream. One or two are normal; more only occur in decompression bombs.
const MAX_FILTERS: usize = 3;

/// Decodes the data of a stream; `None` if a filter is not supported.
pub(super) fn unpacked<'a>(
    dict: &Dict,
    data: &'a [u8],
    most: usize,
) -> Result<Option<Cow<'a, [u8]>>, Unreadable> {
    let (filters, parameters) = (many(dict, "Filter"), many(dict, "DecodeParms"));
    if filters.len() > MAX_FILTERS {
        return Ok(None);
    }
    let mut data = Cow::from(data);
    for (place, filter) in filters.iter().enumerate() {
        let Value::Name(filter) = filter else { return Ok(None) };
        let unpacked = match filter.as_slice() {
            b"FlateDecode" | b"Fl" => {
                let inflated = inflated(&data, most)?;
                match parameters.get(place) {
                    Some(Value::Dict(parameters)) => without_predictor(inflated, parameters),
                    Some(Value::Null) | None => Some(inflated),
                    Some(_) => None,
                }
            }
            b"ASCII85Decode" | b"A85" => base_85(&data),
            b"ASCIIHexDecode" | b"AHx" => base_16(&data),
            b"RunLengthDecode" | b"RL" => runs(&data, most)?,
            _ => None,
        };
        match unpacked {
            Some(unpacked) => data = unpacked.into(),
            None => return Ok(None),
        }
    }
    if data.len() > most { Err(Unreadable::Unpacks) } else { Ok(Some(data)) }
}

/// Returns the values under a key that holds one value or an array.
fn many<'a>(dict: &'a Dict, key: &str) -> &'a [Value] {
    match dict.get(key) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(values)) => values,
        Some(one) => std::slice::from_ref(one),
    }
}

/// Returns the digits up to the end marker.
fn digits(data: &[u8], end: u8) -> impl Iterator<Item = u8> {
    data.iter().copied().take_while(move |byte| *byte != end).filter(|byte| !is_space(*byte))
}

fn base_16(data: &[u8]) -> Option<Vec<u8>> {
    let digits: Option<Vec<_>> =
        digits(data, b'>').map(|digit| u8::try_from(char::from(digit).to_digit(16)?).ok()).collect();
    let pair = |pair: &[u8]| pair.iter().chain(&[0]).take(2).fold(0, |byte, digit| byte * 16 + digit);
    Some(digits?.chunks(2).map(pair).collect())
}

/// Decodes run lengths: a length byte, followed by that many bytes or by one byte to repeat.
fn runs(data: &[u8], most: usize) -> Result<Option<Vec<u8>>, Unreadable> {
    let (mut out, mut rest) = (Vec::new(), data);
    while let [length, after @ ..] = rest {
        let length = usize::from(*length);
        rest = match length {
            0..=127 => {
                let Some((bytes, after)) = after.split_at_checked(length + 1) else { return Ok(None) };
                out.extend_from_slice(bytes);
                after
            }
            128 => return Ok(Some(out)),
            _ => {
                let [byte, after @ ..] = after else { return Ok(None) };
                out.resize(out.len() + 257 - length, *byte);
                after
            }
        };
        if out.len() > most {
            return Err(Unreadable::Unpacks);
        }
    }
    Ok(Some(out))
}

/// Decodes base 85: five digits for four bytes, or one letter for four zeros.
fn base_85(data: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(data.len() / 5 * 4 + 4);
    let mut group = Vec::with_capacity(5);
    for digit in digits(data, b'~') {
        match digit {
            b'z' if group.is_empty() => out.extend([0; 4]),
            b'!'..=b'u' => group.push(digit - b'!'),
            _ => return None,
        }
        if group.len() == 5 {
            out.extend(four(&group));
            group.clear();
        }
    }
    // An incomplete group has one byte fewer than it has digits.
    let bytes = group.len().saturating_sub(1);
    group.resize(5, 84);
    out.extend(four(&group).get(..bytes)?);
    Some(out)
}

fn four(group: &[u8]) -> [u8; 4] {
    let number =
        group.iter().fold(0_u32, |number, digit| number.wrapping_mul(85).wrapping_add((*digit).into()));
    number.to_be_bytes()
}

/// Reverses the predictor, which was applied to improve compression.
fn without_predictor(data: Vec<u8>, parameters: &Dict) -> Option<Vec<u8>> {
    let number = |key, default| parameters.number::<usize>(key).unwrap_or(default);
    match number("Predictor", 1) {
        1 => Some(data),
        10..=15 => {
            let bits = number("Colors", 1).saturating_mul(number("BitsPerComponent", 8));
            let row = bits.saturating_mul(number("Columns", 1)).div_ceil(8);
            unpredicted(&data, bits.div_ceil(8), row)
        }
        _ => None,
    }
}

/// Decompresses as much as possible: a damaged stream lacks its end.
fn inflated(data: &[u8], most: usize) -> Result<Vec<u8>, Unreadable> {
    let mut out = Vec::new();
    let mut unpacking = ZlibDecoder::new(data).take(most as u64 + 1);
    // The bytes before an error are used.
    let _ = unpacking.read_to_end(&mut out);
    if out.len() > most { Err(Unreadable::Unpacks) } else { Ok(out) }
}

/// Reverses the filters of PNG: each row starts with a byte that selects its filter.
fn unpredicted(data: &[u8], pixel: usize, row: usize) -> Option<Vec<u8>> {
    if row == 0 || row > data.len() || pixel == 0 || pixel > row {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamping::lexer::Lexer;

    fn unpack(dict: &str, data: &[u8]) -> Option<Vec<u8>> {
        let Some(Value::Dict(dict)) = Value::read(&mut Lexer::new(dict.as_bytes(), 0)).0 else { return None };
        unpacked(&dict, data, 1_000).ok()?.map(Cow::into_owned)
    }

    #[test]
    fn text_is_unpacked() {
        let text = |dict, data| unpack(dict, data).map(|text| String::from_utf8_lossy(&text).into_owned());
        assert_eq!(text("<<>>", b"as it is").as_deref(), Some("as it is"));
        assert_eq!(text("<</Filter /ASCIIHexDecode>>", b"48 656C\n6c6F7>zz").as_deref(), Some("Hellop"));
        assert_eq!(text("<</Filter [/A85]>>", b"87cUR\nD]j7BEbo80~>").as_deref(), Some("Hello world!"));
        assert_eq!(text("<</Filter /A85>>", b">>>>>~>").as_deref(), Some("[N\u{5}\u{19}"));
        for unknown in ["/LZWDecode", "[/Fl /Fl /Fl /Fl]", "[5]", "(text)"] {
            assert_eq!(unpack(&format!("<</Filter {unknown}>>"), b"x"), None);
        }
    }

    #[test]
    fn no_more_than_allowed_is_unpacked() {
        for (dict, data) in [
            ("<<>>", vec![b' '; 1_001]),
            ("<</Filter /A85>>", vec![b'z'; 251]),
            ("<</Filter /RL>>", vec![129; 20]),
        ] {
            let Some(Value::Dict(dict)) = Value::read(&mut Lexer::new(dict.as_bytes(), 0)).0 else {
                panic!()
            };
            assert_eq!(unpacked(&dict, &data, 1_000), Err(Unreadable::Unpacks));
            assert!(unpacked(&dict, &data, 2_000).is_ok());
        }
    }

    #[test]
    fn predictions_are_undone() {
        let rows = [0, 1, 2, 3, 1, 1, 1, 1, 2, 1, 1, 1, 3, 4, 4, 4, 4, 1, 1, 1];
        let expected = [1, 2, 3, 1, 2, 3, 2, 3, 4, 5, 8, 10, 6, 9, 11];
        assert_eq!(unpredicted(&rows, 1, 3).as_deref(), Some(&expected[..]));
        for (pixel, row) in [(0, 3), (1, 0), (4, 3), (1, usize::MAX)] {
            assert_eq!(unpredicted(&rows, pixel, row), None);
        }
    }
}
