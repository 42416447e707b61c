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

    proptest! {
        #[test]
        fn text_sorts_as_time_does(a in 0_u64..4_102_444_800_000, b in 0_u64..4_102_444_800_000) {
            prop_assert_eq!(a.cmp(&b), rfc3339(a).cmp(&rfc3339(b)));
        }
    }
}
