//! Lengths of time as people write them: `30s`, `20m`, `2h`, `1h30m`, or a bare number of seconds.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    seconds: u64,
}

impl Span {
    pub const fn seconds(seconds: u64) -> Self {
        Span { seconds }
    }

    pub fn as_seconds(self) -> u64 {
        self.seconds
    }

    pub fn as_millis(self) -> u64 {
        self.seconds.saturating_mul(1000)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no length of time; write it as 30s, 20m, 2h or 1h30m");
        let mut total: u64 = 0;
        let mut digits = String::new();
        let mut last_unit = u64::MAX;
        for c in text.trim().chars() {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            let unit = match c {
                'd' => 86_400,
                'h' => 3_600,
                'm' => 60,
                's' => 1,
                _ => return Err(wrong()),
            };
            // Larger units come first, each at most once.
            if unit >= last_unit {
                return Err(wrong());
            }
            last_unit = unit;
            let count: u64 = digits.parse().map_err(|_| wrong())?;
            total = count.checked_mul(unit).and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
            digits.clear();
        }
        if !digits.is_empty() {
            if last_unit != u64::MAX {
                return Err(wrong());
            }
            total = digits.parse().map_err(|_| wrong())?;
        } else if last_unit == u64::MAX {
            return Err(wrong());
        }
        Ok(Span { seconds: total })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, seconds) = (self.seconds / 3_600, self.seconds % 3_600 / 60, self.seconds % 60);
        if self.seconds == 0 {
            return f.write_str("0s");
        }
        for (count, unit) in [(hours, 'h'), (minutes, 'm'), (seconds, 's')] {
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Seconds(u64),
            Words(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Seconds(seconds) => Ok(Span { seconds }),
            Written::Words(words) => words.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "30s, 20m, 2h, 1h30m, or a number of seconds",
            "type": ["string", "integer"],
            "minimum": 0,
            "pattern": "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$|^[0-9]+$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_is_read() {
        for (text, seconds) in [("30s", 30), ("20m", 1200), ("2h", 7200), ("1h30m", 5400), ("90", 90), ("1d", 86_400), ("0s", 0)]
        {
            assert_eq!(text.parse::<Span>().map(Span::as_seconds), Ok(seconds), "{text}");
        }
        for text in ["", "s", "m30", "1m1h", "1h1h", "1h30", "-5s", "1.5h", "10 s", "99999999999999999999s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in 0_u64..10_000_000) {
            prop_assert_eq!(Span::seconds(seconds).to_string().parse::<Span>(), Ok(Span::seconds(seconds)));
        }
    }
}
