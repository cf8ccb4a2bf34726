//! A day of the calendar, without a time and without a zone.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::json::JsonSchema;
use crate::text::Parse;
use crate::time::Time;

const DAY: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(jiff::civil::Date);

impl Date {
    /// The day a moment belongs to, in UTC.
    pub fn of(time: Time) -> Self {
        Self(time.timestamp().to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// The date `days` later, or the last day of the calendar.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        Self(self.0.saturating_add(jiff::Span::new().days(days.clamp(-3_650_000, 3_650_000))))
    }

    /// The same day `months` later, or the last day of a month that is too short.
    #[must_use]
    pub fn plus_months(self, months: i64) -> Self {
        Self(self.0.saturating_add(jiff::Span::new().months(months.clamp(-100_000, 100_000))))
    }

    /// The number of days until another date; negative for an earlier one.
    pub fn days_until(self, other: Self) -> i64 {
        other.0.duration_since(self.0).as_hours() / 24
    }

    /// The first Friday from this date on.
    #[must_use]
    pub fn friday(self) -> Self {
        let past = i64::from(jiff::civil::Weekday::Friday.since(self.0.weekday()));
        self.plus_days(past)
    }

    /// The Monday of the week of this date.
    #[must_use]
    pub fn monday(self) -> Self {
        self.plus_days(-i64::from(self.0.weekday().to_monday_zero_offset()))
    }

    /// The first millisecond of the day in UTC.
    pub fn start(self) -> Time {
        let since = self.0.duration_since(jiff::civil::date(1970, 1, 1));
        Time::from_millis(since.as_secs() * 1000)
    }

    /// The last millisecond of the day in UTC.
    pub fn end(self) -> Time {
        Time::from_millis(self.start().as_millis() + DAY - 1)
    }
}

impl From<jiff::civil::Date> for Date {
    fn from(date: jiff::civil::Date) -> Self {
        Self(date)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl Parse for Date {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "must be a date such as 2026-11-15".to_owned();
        let is_plain = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if !is_plain {
            return Err(wrong());
        }
        text.parse().map(Self).map_err(|_| wrong())
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Date {
    fn json_schema() -> Value {
        json!({"type": "string", "format": "date", "examples": ["2026-11-15"]})
    }
}

/// A time, or a whole day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Time(Time),
    Day(Date),
}

impl Moment {
    pub fn start(self) -> Time {
        match self {
            Self::Time(time) => time,
            Self::Day(date) => date.start(),
        }
    }

    /// The time itself, or the last millisecond of the day.
    pub fn end(self) -> Time {
        match self {
            Self::Time(time) => time,
            Self::Day(date) => date.end(),
        }
    }

    /// The exclusive upper bound: the time itself, or the start of the next day.
    pub fn limit(self) -> Time {
        match self {
            Self::Time(time) => time,
            Self::Day(date) => Time::from_millis(date.end().as_millis() + 1),
        }
    }
}

impl Parse for Moment {
    fn parse(text: &str) -> Result<Self, String> {
        match Date::parse(text) {
            Ok(date) => Ok(Self::Day(date)),
            Err(_) => Time::parse(text).map(Self::Time).map_err(|_| {
                "must be a time such as 2026-11-15T09:30:00Z, or a date such as 2026-11-15".to_owned()
            }),
        }
    }
}

impl JsonSchema for Moment {
    fn json_schema() -> Value {
        json!({
            "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9].*)?$",
            "examples": ["2026-11-15T09:30:00.000Z", "2026-11-15"]
        })
    }
}

crate::given_as_text!(Date);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_day_of_the_calendar_is_a_day() {
        let last = Date::parse("9999-12-31").expect("a date");
        assert_eq!(last.start().as_millis(), 253_402_214_400_000);
    }

    #[test]
    fn a_day_has_a_beginning_and_an_end() {
        let day = Date::parse("2026-11-15").expect("a date");
        assert_eq!(day.start().to_string(), "2026-11-15T00:00:00.000Z");
        assert_eq!(day.end().to_string(), "2026-11-15T23:59:59.999Z");
        assert_eq!((Date::of(day.start()), Date::of(day.end())), (day, day));
        assert_eq!(day.to_string(), "2026-11-15");
        for bad in ["", "2026-02-30", "2026-1-1", "20261115", "2026-11-15T00:00:00Z", "15.11.2026"] {
            assert!(Date::parse(bad).is_err(), "{bad}");
        }
    }
}
