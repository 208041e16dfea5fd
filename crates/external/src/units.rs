//! Durations and amounts of memory as the engines file writes them.

use std::time::Duration;

/// An error in an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoAmount {
    /// The problem.
    pub(crate) problem: String,
    /// The remedy, as a sentence without an end mark.
    pub(crate) remedy: &'static str,
}

/// A positive duration such as `250ms`, `1.5s` or `2m`.
pub(crate) fn duration(text: &str) -> Result<Duration, NoAmount> {
    let wrong =
        |problem: &str, remedy| NoAmount { problem: format!("`{text}` is {problem}"), remedy };
    let needs = || wrong("not a duration", "write a number with a unit, such as 250ms, 1.5s or 2m");
    let (number, us) = [("µs", 1), ("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000)]
        .into_iter()
        .find_map(|(unit, us)| Some((text.strip_suffix(unit)?, us)))
        .ok_or_else(needs)?;
    let (units, parts) = number.split_once('.').unwrap_or((number, ""));
    if parts.len() > 6 || number.ends_with('.') {
        return Err(needs());
    }
    let digits = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse::<u64>().ok() } else { None }
    };
    let units = digits(units).and_then(|units| units.checked_mul(us)).ok_or_else(needs)?;
    let part = if parts.is_empty() {
        0
    } else {
        let scale = 10_u64.pow(u32::try_from(parts.len()).unwrap_or(0));
        digits(parts).ok_or_else(needs)? * us / scale
    };
    match units.saturating_add(part) {
        0 => Err(wrong("zero", "write at least 1us")),
        us if us > 24 * 3_600_000_000 => Err(wrong("more than a day", "write at most 1440m")),
        us => Ok(Duration::from_micros(us)),
    }
}

/// An amount of memory such as `900MiB` or `4GiB`, in bytes.
pub(crate) fn memory(text: &str) -> Result<u64, NoAmount> {
    let wrong =
        |problem: &str, remedy| NoAmount { problem: format!("`{text}` is {problem}"), remedy };
    let number = [("MiB", 20), ("GiB", 30)].into_iter().find_map(|(unit, shift)| {
        let number = text.strip_suffix(unit)?.trim_end_matches(' ');
        Some(u64::from(number.parse::<u32>().ok()?) << shift)
    });
    match number {
        Some(bytes) if bytes > 0 => Ok(bytes),
        Some(_) => Err(wrong("zero", "write at least 1MiB")),
        None => Err(wrong(
            "not an amount of memory",
            "write a whole number of MiB or GiB, such as 900MiB or 4GiB",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let ms = Duration::from_millis;
        for (text, expected) in [
            ("250ms", ms(250)),
            ("1.5s", ms(1_500)),
            ("2m", ms(120_000)),
            ("10us", Duration::from_micros(10)),
            ("10µs", Duration::from_micros(10)),
            ("0.25ms", Duration::from_micros(250)),
        ] {
            assert_eq!(duration(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "5", "-1s", "1.s", "1,5s", "1e3s", "99999999999999999999s", "+1s"] {
            let wrong = duration(text).unwrap_err();
            assert_eq!(wrong.problem, format!("`{text}` is not a duration"));
            assert_eq!(wrong.remedy, "write a number with a unit, such as 250ms, 1.5s or 2m");
        }
        let error =
            |text| duration(text).map_err(|error| (error.problem, error.remedy)).unwrap_err();
        assert_eq!(error("0s"), ("`0s` is zero".to_owned(), "write at least 1us"));
        assert_eq!(
            error("1441m"),
            ("`1441m` is more than a day".to_owned(), "write at most 1440m")
        );
    }

    #[test]
    fn memory_has_units() {
        assert_eq!(memory("900MiB"), Ok(900 << 20));
        assert_eq!(memory("4 GiB"), Ok(4 << 30));
        let none = memory("0MiB").unwrap_err();
        assert_eq!(none.problem, "`0MiB` is zero");
        assert_eq!(none.remedy, "write at least 1MiB");
        for text in ["", "4", "4GB", "MiB", "-1MiB", "1.5GiB"] {
            let wrong = memory(text).unwrap_err();
            assert_eq!(wrong.problem, format!("`{text}` is not an amount of memory"));
            assert_eq!(wrong.remedy, "write a whole number of MiB or GiB, such as 900MiB or 4GiB");
        }
    }
}
