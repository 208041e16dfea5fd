//! Durations as people write them.

/// The units, longest suffix first where one ends with another, and their microseconds.
const UNITS: &[(&str, u64)] = &[("us", 1), ("µs", 1), ("ms", 1_000), ("s", 1_000_000)];

/// Parses a duration with its unit (`us`, `ms` or `s`), such as `"200us"`, `"10ms"` or `"1.5s"`, as
/// microseconds. Exact: `None` for other texts, fractions of a microsecond, and more than a `u64`
/// holds.
#[must_use]
pub fn parse_duration_us(text: &str) -> Option<u64> {
    let (digits, unit_us) = UNITS
        .iter()
        .find_map(|&(suffix, unit_us)| Some((text.strip_suffix(suffix)?.trim_end(), unit_us)))?;
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let mut total_us = decimal(integer)?.checked_mul(unit_us)?;
    let mut digit_us = unit_us;
    decimal(fraction)?;
    for digit in fraction.trim_end_matches('0').bytes() {
        if digit_us % 10 != 0 {
            return None;
        }
        digit_us /= 10;
        total_us = total_us.checked_add(u64::from(digit - b'0') * digit_us)?;
    }
    Some(total_us)
}

/// Writes a duration in the largest unit of which it is a whole number; [`parse_duration_us`] reads
/// the same value.
#[must_use]
pub fn format_duration_us(us: u64) -> String {
    let (unit, unit_us) = [("s", 1_000_000), ("ms", 1_000), ("us", 1)]
        .into_iter()
        .find(|(_, unit_us)| us.is_multiple_of(*unit_us))
        .unwrap_or(("us", 1));
    format!("{}{unit}", us / unit_us)
}

/// Digits only (`str::parse` would accept a sign).
fn decimal(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::parse_duration_us;

    #[test]
    fn reads_whole_microseconds_exactly() {
        for (text, us) in [
            ("1us", 1),
            ("200us", 200),
            ("200µs", 200),
            ("10ms", 10_000),
            ("0.25ms", 250),
            ("1.5s", 1_500_000),
            ("1.500000s", 1_500_000),
            ("1.0us", 1),
            ("0.1s", 100_000),
            ("10 ms", 10_000),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration_us(text), Some(us), "{text}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            "10",
            "ms",
            "s",
            ".5s",
            "1.s",
            "+1s",
            "-1s",
            "1e3ms",
            "1.5us",
            "0.0001ms",
            "1,5s",
            "1.2.3s",
            "10 m s",
            "10min",
            "1.-5s",
            "99999999999999999999us",
            "18446744073710s",
        ] {
            assert_eq!(parse_duration_us(text), None, "{text}");
        }
    }
}
