//! A point in time in UTC milliseconds, the precision that both databases store and every response shows.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::json::JsonSchema;
use crate::text::Parse;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

const DAY: i64 = 86_400_000;
/// The range from 0001-01-01 to 9999-12-31, which RFC 3339 can write with four digits.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

impl Time {
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(*RANGE.start(), *RANGE.end()))
    }

    pub fn as_millis(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(millis(duration)))
    }

    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self::from_millis(self.0.saturating_sub(millis(duration)))
    }

    /// The next multiple of a duration.
    #[must_use]
    pub fn next(self, every: Duration) -> Self {
        let every = millis(every).max(1);
        Self::from_millis((self.0.div_euclid(every) + 1) * every)
    }

    /// The same moment for calendar calculations.
    pub fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }

    /// The duration since `earlier`; zero when that is in the future.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// The human-readable form in UTC: `2026-11-16 10:12:33 UTC`.
    pub fn in_utc(self) -> String {
        self.timestamp().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
    }

    /// RFC 3339 with milliseconds and `Z`, written into a buffer on the stack.
    fn with_str<R>(self, f: impl FnOnce(&str) -> R) -> R {
        let (days, of_day) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        let mut buffer = *b"0000-00-00T00:00:00.000Z";
        digits(&mut buffer[0..4], year);
        digits(&mut buffer[5..7], month);
        digits(&mut buffer[8..10], day);
        digits(&mut buffer[11..13], of_day / 3_600_000);
        digits(&mut buffer[14..16], of_day / 60_000 % 60);
        digits(&mut buffer[17..19], of_day / 1000 % 60);
        digits(&mut buffer[20..23], of_day % 1000);
        f(std::str::from_utf8(&buffer).unwrap_or_default())
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn digits(slot: &mut [u8], mut value: i64) {
    for byte in slot.iter_mut().rev() {
        *byte = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
    }
}

/// Days since 1970 to year, month and day in the proleptic Gregorian calendar, counting years
/// from March so that the leap day is the last of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_str(|text| f.pad(text))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_str(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl Parse for Time {
    fn parse(text: &str) -> Result<Self, String> {
        let stamp: jiff::Timestamp =
            text.parse().map_err(|_| "must be a date and time such as 2026-11-15T09:30:00Z".to_owned())?;
        let time = stamp.as_millisecond();
        if RANGE.contains(&time) {
            Ok(Self(time))
        } else {
            Err("must lie between the years 1 and 9999".to_owned())
        }
    }
}

impl JsonSchema for Time {
    fn json_schema() -> Value {
        json!({"type": "string", "format": "date-time", "examples": ["2026-11-15T09:30:00.000Z"]})
    }
}

crate::given_as_text!(Time);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_agrees_with_the_calendar_library() {
        let mut millis = -62_135_596_800_000_i64;
        while millis < 253_402_300_799_999 {
            let ours = Time::from_millis(millis).to_string();
            let theirs = format!("{:.3}", jiff::Timestamp::from_millisecond(millis).expect("in range"));
            assert_eq!(ours, theirs);
            assert_eq!(Time::parse(&ours), Ok(Time(millis)));
            millis += 86_400_000 * 13 + 7_654_321;
        }
    }
}
