//! Moments as text.

/// Formats a moment of Unix time according to RFC 3339, to the second.
#[must_use]
pub fn date_time(unix_us: i64) -> String {
    let seconds = unix_us.div_euclid(1_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days: eras of 400 years, whose
    // years begin in March.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates_and_times() {
        let second = 1_000_000;
        assert_eq!(date_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(date_time(951_782_400 * second), "2000-02-29T00:00:00Z");
        assert_eq!(date_time(1_735_689_599 * second + 999_999), "2024-12-31T23:59:59Z");
        assert_eq!(date_time(-1), "1969-12-31T23:59:59Z");
    }
}
