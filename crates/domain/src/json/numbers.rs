//! Numbers as JSON writes them.

use serde_json::Value;

/// The largest integer that every JSON parser represents exactly.
pub const MAX_EXACT: i64 = (1 << 53) - 1;

/// Reads an integer in any notation: `12`, `12.0` and `1.2e1` are the same.
pub fn whole(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and the bound is checked")]
    let whole = number as i64;
    (whole.unsigned_abs() <= MAX_EXACT.unsigned_abs()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
        let read = |text: &str| whole(&serde_json::from_str(text).expect("JSON"));
        for (text, number) in [
            ("12", 12),
            ("12.0", 12),
            ("1e2", 100),
            ("1.2E1", 12),
            ("-0.0", 0),
            ("-3.0", -3),
            ("9007199254740991.0", MAX_EXACT),
        ] {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for text in ["12.5", "1e-1", "1e300", "-1e300", "9007199254740993.0", "\"12\"", "null", "true", "[1]"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
