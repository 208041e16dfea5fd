//! Numbers for people: three or four significant digits, and a unit.

/// Formats a count in groups of thousands: `1,234,567`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun in the singular or plural: `1 cell`, `2 cells`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Relative rounding error of a sum, which depends on the order of summation.
const ROUNDING: f64 = 1e-12;

/// Formats a duration in microseconds, in the unit that fits: `12.3 µs`, `4.56 ms`, `1.23 s`, `2m 05s`.
///
/// A mean of whole microseconds is often halfway between two displayed values. It is rounded up, regardless of the
/// order of summation.
pub fn duration_us(us: f64) -> String {
    let us = us * (1.0 + ROUNDING);
    // The bounds are where rounding to three figures would reach the next unit.
    match us {
        us if us < 999.5 => format!("{} µs", three_figures(us)),
        us if us < 999_500.0 => format!("{} ms", three_figures(us / 1e3)),
        us if us < 119_500_000.0 => format!("{} s", three_figures(us / 1e6)),
        us => clock((us / 1e6).round() as u64),
    }
}

/// Formats seconds as a clock: `2m 05s`, `3h 07m`, `4d 02h`.
fn clock(seconds: u64) -> String {
    match seconds {
        0..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Formats a number with three digits, or all of a larger whole part.
fn three_figures(number: f64) -> String {
    match number.abs() {
        size if size < 9.995 => format!("{number:.2}"),
        size if size < 99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// Formats a factor: `×2.04`; a small one with two significant digits: `×0.0031`.
pub fn ratio(ratio: f64) -> String {
    if ratio == 0.0 || ratio >= 0.1 {
        return format!("×{}", three_figures(ratio));
    }
    let zeros = -ratio.log10().floor();
    // Beyond twelve places no digits are significant.
    format!("×{ratio:.*}", (zeros + 1.0).clamp(2.0, 12.0) as usize)
}

/// Formats half the width of an interval, as a share of the figure: `±0.4%`, `±12%`.
pub fn relative_error(share: f64) -> String {
    let percents = share * 100.0;
    let places = usize::from(percents < 0.95);
    format!("±{percents:.places$}%")
}

/// Formats a rate in 0..=1 as a percentage: `57.8 %`; a small one with its significant digits: `0.0031 %`.
pub fn percent(rate: f64) -> String {
    let percents = rate * 100.0;
    if percents == 0.0 || percents >= 0.995 {
        return format!("{percents:.1} %");
    }
    let zeros = -percents.log10().floor();
    // Beyond twelve places no digits are significant.
    format!("{percents:.*} %", (zeros + 1.0).clamp(1.0, 12.0) as usize)
}

/// Formats a rate that a sweep states, with its own digits: `5%`, `3.5%`.
pub fn stated_rate(rate: f64) -> String {
    // Without the rounding errors of the product.
    format!("{}%", (rate * 1e12).round() / 1e10)
}

/// Formats a probability as a percentage: `57.8 %`; `< 0.1 %` and `> 99.9 %` near its ends.
pub fn probability(chance: f64) -> String {
    match chance {
        _ if chance < 0.001 => "< 0.1 %".to_owned(),
        _ if chance > 0.999 => "> 99.9 %".to_owned(),
        _ => format!("{:.1} %", 100.0 * chance),
    }
}

/// Formats a difference with its sign: `+36`, `-7`, `0`.
pub fn signed(difference: f64) -> String {
    match difference.round() {
        0.0 => "0".to_owned(),
        rounded => format!("{rounded:+.0}"),
    }
}

/// Formats a value, or a dash if it is absent.
pub fn optional<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_rates_have_their_own_digits() {
        let rates = [0.05, 0.07, 0.035, 0.0166, 0.5].map(stated_rate);
        assert_eq!(rates, ["5%", "7%", "3.5%", "1.66%", "50%"]);
    }

    #[test]
    fn counts_are_grouped() {
        let shown = [0, 7, 999, 1_000, 12_345, 1_234_567].map(count);
        assert_eq!(shown, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        let shown = [0, 1, 1_001].map(|cells| counted(cells, "cell"));
        assert_eq!(shown, ["0 cells", "1 cell", "1,001 cells"]);
    }

    #[test]
    fn ratios_and_errors_have_the_figures_that_count() {
        let shown = [0.0, 0.000_313, 0.052, 0.5, 2.0, 31.25, 1_234.0].map(ratio);
        assert_eq!(shown, ["×0.00", "×0.00031", "×0.052", "×0.50", "×2.00", "×31.2", "×1234"]);
        let shown = [0.0, 0.004, 0.0096, 0.0994, 1.5].map(relative_error);
        assert_eq!(shown, ["±0.0%", "±0.4%", "±1%", "±10%", "±150%"]);
    }

    #[test]
    fn durations_take_the_unit_that_fits() {
        let shown = [
            0.0,
            12.34,
            999.4,
            999.6,
            4_560.0,
            999_499.0,
            999_500.0,
            1_234_000.0,
            119_400_000.0,
            125_000_000.0,
            11_220_000_000.0,
            352_800_000_000.0,
        ]
        .map(duration_us);
        assert_eq!(
            shown,
            [
                "0.00 µs", "12.3 µs", "999 µs", "1.00 ms", "4.56 ms", "999 ms", "1.00 s", "1.23 s",
                "119 s", "2m 05s", "3h 07m", "4d 02h"
            ]
        );
    }

    #[test]
    fn a_sum_in_another_order_is_shown_alike() {
        let halfway = 0.675_f64;
        let shown = [halfway.next_down().next_down(), halfway, halfway.next_up()].map(duration_us);
        assert_eq!(shown, ["0.68 µs"; 3]);
        assert_eq!(duration_us(0.674_999), "0.67 µs");
    }

    #[test]
    fn small_percents_keep_their_figures() {
        let shown = [0.0, 1.0, 0.578, 0.012, 0.001_23, 0.000_031, 1e-20].map(percent);
        assert_eq!(
            shown,
            ["0.0 %", "100.0 %", "57.8 %", "1.2 %", "0.12 %", "0.0031 %", "0.000000000000 %"]
        );
    }

    #[test]
    fn probabilities_have_no_rows_of_zeros() {
        let shown = [0.0, 1e-9, 0.000_99, 0.001, 0.012_3, 0.999, 0.999_1, 1.0].map(probability);
        assert_eq!(
            shown,
            ["< 0.1 %", "< 0.1 %", "< 0.1 %", "0.1 %", "1.2 %", "99.9 %", "> 99.9 %", "> 99.9 %"]
        );
    }

    #[test]
    fn differences_have_signs() {
        assert_eq!([36.4, -7.0, 0.2, -0.2].map(signed), ["+36", "-7", "0", "0"]);
    }
}
