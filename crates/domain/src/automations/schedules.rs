//! Cron schedules in a time zone.

use std::fmt;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::json::JsonSchema;
use crate::text::Parse;
use crate::time::Time;
use crate::zone::Zone;

/// The schedule of an automation: a cron expression of five fields, evaluated in a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(String);

fn cron(text: &str) -> Result<Cron, String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(text).map_err(|error| {
        format!("must be a cron expression of five fields, such as 0 6 * * 1 (Mondays at 6:00): {error}")
    })
}

impl Schedule {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Wraps a stored value without validating it.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    /// The next occurrence after a moment in a time zone; `None` if there never is one.
    pub fn next(&self, after: Time, zone: &Zone) -> Option<Time> {
        let after = after.timestamp().to_zoned(zone.time_zone().clone());
        let next = cron(&self.0).ok()?.find_next_occurrence(&after, false).ok()?;
        Some(Time::from_millis(next.timestamp().as_millisecond()))
    }
}

impl Parse for Schedule {
    fn parse(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let joined = fields.join(" ");
        if joined.len() > 200 {
            return Err("must have at most 200 characters".to_owned());
        }
        cron(&joined)?;
        if never_comes(&fields) {
            return Err("is a schedule that never comes: none of its months has such a day".to_owned());
        }
        Ok(Self(joined))
    }
}

/// Returns true when no month of a schedule is long enough for any of its days. Fields that are not plain numbers are
/// assumed to occur.
fn never_comes(fields: &[&str]) -> bool {
    const LENGTHS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let [_, _, days, months, "*" | "?"] = fields else { return false };
    let numbers =
        |text: &str| -> Option<Vec<u32>> { text.split(',').map(|part| part.parse().ok()).collect() };
    let (Some(days), Some(months)) = (numbers(days), numbers(months)) else { return false };
    let longest = months.iter().filter_map(|month| LENGTHS.get((*month as usize).checked_sub(1)?)).max();
    longest.is_some_and(|longest| days.iter().all(|day| day > longest))
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

crate::kept_as_stored!(Schedule);

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl JsonSchema for Schedule {
    fn json_schema() -> Value {
        json!({"type": "string", "examples": ["0 6 * * 1"]})
    }
}

crate::given_as_text!(Schedule);

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        Time::parse(text).expect("a time")
    }

    #[test]
    fn schedules_follow_the_clocks_of_their_zone() {
        let six = Schedule::parse(" 0  6 * * MON ").expect("a schedule");
        assert_eq!(six.as_str(), "0 6 * * MON");
        let berlin = Zone::parse("Europe/Berlin").expect("a zone");
        assert_eq!(six.next(time("2026-11-15T09:30:00Z"), &berlin), Some(time("2026-11-16T05:00:00Z")));
        assert_eq!(six.next(time("2026-06-15T03:00:00Z"), &berlin), Some(time("2026-06-15T04:00:00Z")));
        assert_eq!(
            six.next(time("2026-11-16T06:00:00Z"), &Zone::default()),
            Some(time("2026-11-23T06:00:00Z"))
        );
    }

    #[test]
    fn bad_schedules_are_refused() {
        for bad in ["", "* * * *", "* * * * * *", "61 * * * *", "0 0 31 2 *", "soon", "@never"] {
            assert!(Schedule::parse(bad).is_err(), "{bad}");
        }
    }
}
