//! The time zone of an organization, which determines its dates.

use std::fmt;

use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::date::Date;
use crate::json::JsonSchema;
use crate::text::Parse;
use crate::time::Time;

/// A zone of the IANA database, which ships with the binary: `Europe/Berlin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    pub fn as_str(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    pub fn time_zone(&self) -> &TimeZone {
        &self.0
    }

    /// The date of a moment in this zone.
    pub fn date_of(&self, time: Time) -> Date {
        Date::from(self.zoned(time).date())
    }

    /// The hour of the day in this zone, 0 to 23.
    pub fn hour_of(&self, time: Time) -> u8 {
        u8::try_from(self.zoned(time).hour()).unwrap_or(0)
    }

    fn zoned(&self, time: Time) -> jiff::Zoned {
        time.timestamp().to_zoned(self.0.clone())
    }
}

impl Parse for Zone {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "must be a time zone of the IANA database, such as UTC or Europe/Berlin".to_owned();
        let zone = TimeZone::get(text).map_err(|_| wrong())?;
        if zone.iana_name().is_none() {
            return Err(wrong());
        }
        Ok(Self(zone))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

crate::kept_as_text!(Zone);

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Zone {
    fn json_schema() -> Value {
        json!({"type": "string", "examples": ["Europe/Berlin"]})
    }
}

crate::given_as_text!(Zone);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_depends_on_the_place() {
        let time = Time::parse("2026-11-15T11:30:00Z").expect("a time");
        let day = |zone: &str| Zone::parse(zone).expect("a zone").date_of(time).to_string();
        assert_eq!(day("UTC"), "2026-11-15");
        assert_eq!(day("Pacific/Kiritimati"), "2026-11-16");
        assert_eq!(day("Pacific/Pago_Pago"), "2026-11-15");
        assert_eq!(Zone::parse("Europe/Berlin").expect("a zone").hour_of(time), 12);
        assert_eq!(Zone::parse("europe/berlin").expect("a zone").as_str(), "Europe/Berlin");
    }

    #[test]
    fn what_is_no_zone_is_refused() {
        for bad in ["", "Europe", "Mars/Olympus", "+02:00", "Europe/Berlin ", "../etc/passwd"] {
            assert!(Zone::parse(bad).is_err(), "{bad}");
        }
    }
}
