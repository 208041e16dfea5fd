//! From values to evaluations.

use proptest::prelude::*;
use spelrum_engine::evaluation::score;
use spelrum_engine::search::WIN_MIN;

#[test]
fn scores_are_those_documented() {
    for (value, expected) in [
        (0.0, 0),
        (-0.0, 0),
        (1.0, 10_000),
        (0.000_05, 0),
        (0.000_1, 1),
        (-1.5, -15_000),
        (16.0, 160_000),
        (24.0, 160_000 + 16_384),
        (32.0, 160_000 + 32_768),
        (65_535.0, 160_000 + 12 * 32_768 - 1),
        (65_536.0, 160_000 + 12 * 32_768),
        (16_777_216.0, 815_360),
        (33_554_432.0, 815_360 + 128),
        (f64::MAX, 943_359),
        (f64::INFINITY, 943_360),
        (f64::NEG_INFINITY, -943_360),
        (f64::NAN, 0),
        (f64::MIN_POSITIVE, 0),
    ] {
        assert_eq!(score(value), expected, "{value}");
    }
    assert!(score(f64::INFINITY) < WIN_MIN);
}

#[test]
fn whole_numbers_are_told_apart() {
    for number in 0..65_536 {
        assert!(score(f64::from(number)) < score(f64::from(number + 1)), "{number}");
    }
}

/// Rounding by the textbook: the nearest integer, of two the even one.
#[test]
fn ten_thousandths_are_rounded_halves_to_even() {
    for quarter in 0..640_000 {
        let exact = f64::from(quarter) / 4.0;
        let down = quarter / 4;
        let expected = match quarter % 4 {
            0 | 1 => down,
            3 => down + 1,
            _ => down + down % 2,
        };
        // The product must come out as the quarter: where it does not, there is nothing to be seen.
        let value = exact / 10_000.0;
        if value * 10_000.0 == exact {
            assert_eq!(score(value), expected, "{exact}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn greater_values_have_no_smaller_scores(a: f64, b in prop::num::f64::ANY) {
        let near = f64::from_bits(a.to_bits() ^ 1);
        for (a, b) in [(a, b), (a, near), (a / 1e150, b / 1e150), (a % 100.0, b % 100.0)] {
            if a <= b {
                prop_assert!(score(a) <= score(b));
            }
            prop_assert_eq!(score(-a), -score(a));
            prop_assert!(score(a).abs() < WIN_MIN);
        }
    }
}
