//! Moments as dates. The core has no clock: a moment is passed in, and this says what it is called.

use crate::procedure::Millis;

const DAY: u64 = 86_400_000;

/// Year, month and day in UTC.
pub fn date_of(millis: Millis) -> (u64, u64, u64) {
    // Days since 0000-03-01, in eras of 400 years: the usual way to a civil date without a calendar.
    let days = millis / DAY + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// `2026-11-16T07:30:00.125Z`: sorts as text in the order of time.
pub fn rfc3339(millis: Millis) -> String {
    let (year, month, day) = date_of(millis);
    let (seconds, fraction) = (millis % DAY / 1000, millis % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

/// The moment that a forge writes as `2026-11-16T07:30:00Z`, with or without a fraction, and with any offset.
pub fn millis_of(text: &str) -> Option<Millis> {
    let (date, rest) = text.trim().split_once(['T', 't', ' '])?;
    let numbers = |text: &str, by: char| text.split(by).map(|part| part.parse::<u64>().ok()).collect::<Option<Vec<u64>>>();
    let [year, month, day] = numbers(date, '-')?[..] else { return None };
    let at = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(at);
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(whole, ':')?[..] else { return None };
    let fits = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !fits || hour > 23 || minute > 59 || second > 60 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let thousandths: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let utc = (days_of(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000 + thousandths;
    let minutes = |offset: &str| match numbers(offset, ':')?[..] {
        [hours, minutes] if hours <= 23 && minutes <= 59 => Some((hours * 60 + minutes) * 60_000),
        _ => None,
    };
    match zone.split_at_checked(1)? {
        ("Z" | "z", "") => Some(utc),
        ("+", offset) => utc.checked_sub(minutes(offset)?),
        ("-", offset) => utc.checked_add(minutes(offset)?),
        _ => None,
    }
}

/// Days since 1970-01-01: the way back of [`date_of`].
fn days_of(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments_have_their_known_names() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_798_761_599_000, "2026-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(millis), text);
        }
    }

    #[test]
    fn one_moment_has_many_spellings() {
        let noon = millis_of("2026-01-31T12:00:00Z").unwrap();
        for text in ["2026-01-31T14:00:00+02:00", "2026-01-31T07:30:00.000-04:30", "2026-01-31 12:00:00.0009Z"] {
            assert_eq!(millis_of(text), Some(noon), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2026-01-31",
            "2026-13-31T12:00:00Z",
            "2026-01-31T12:00:00",
            "2026-01-31T25:00:00Z",
            "2026-01-31T12:00:00+2",
        ] {
            assert_eq!(millis_of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_moment_is_read_back(millis in 0_u64..4_102_444_800_000) {
            prop_assert_eq!(millis_of(&rfc3339(millis)), Some(millis));
        }

        #[test]
        fn any_text_is_survived(text in "\\PC{0,40}") {
            let _ = millis_of(&text);
        }

        #[test]
        fn text_sorts_as_time_does(a in 0_u64..4_102_444_800_000, b in 0_u64..4_102_444_800_000) {
            prop_assert_eq!(a.cmp(&b), rfc3339(a).cmp(&rfc3339(b)));
        }
    }
}
