//! Converts numbers to integer evaluations, for evaluations that compute with floats.

use crate::core::score::WIN_MIN;

/// Up to here values are scored in ten-thousandths.
const LINEAR_MAX: f64 = 16.0;
const PER_UNIT: f64 = 10_000.0;
/// From here on, the octaves are coarse.
const FINE_MAX: f64 = 16_777_216.0;
/// The bits of the mantissa that count up to `FINE_MAX`, and beyond.
const FINE_BITS: u32 = 15;
const COARSE_BITS: u32 = 7;

const LINEAR_SCORES: u64 = 160_000;
const FINE_SCORES: u64 = steps(LINEAR_MAX, FINE_MAX, FINE_BITS);
const SCORE_MAX: u64 = LINEAR_SCORES + FINE_SCORES + steps(FINE_MAX, f64::INFINITY, COARSE_BITS);

const _: () = assert!(SCORE_MAX < WIN_MIN as u64);

/// The evaluation for a number, such as the value of a formula: monotone, with equal evaluations for values
/// too close to distinguish. Strictly between `-WIN_MIN` and `WIN_MIN`.
///
/// A negated value has the negated evaluation. For the others:
///
/// - up to 16: the value in ten-thousandths, rounded to the nearest, halves to even;
/// - up to 2^24: 160,000 plus 32,768 for each doubling, linear within an octave: the float's
///   exponent and the first 15 bits of its mantissa form an integer that grows with the float;
/// - beyond: 815,360 plus 128 for each doubling, by the first 7 bits;
/// - an infinity: 943,360, more than any number.
///
/// So whole numbers up to 65,536 have distinct evaluations. NaN, such as a difference of infinities, is 0.
#[must_use]
pub fn score(value: f64) -> i32 {
    if value.is_nan() {
        return 0;
    }
    let size = value.abs();
    let score = if size <= LINEAR_MAX {
        rounded(size * PER_UNIT)
    } else if size <= FINE_MAX {
        LINEAR_SCORES + steps(LINEAR_MAX, size, FINE_BITS)
    } else {
        LINEAR_SCORES + FINE_SCORES + steps(FINE_MAX, size, COARSE_BITS)
    };
    // `SCORE_MAX` bounds it.
    let score = i32::try_from(score).unwrap_or(WIN_MIN - 1);
    if value < 0.0 { -score } else { score }
}

/// The nearest integer, halves to even, of a number from 0 to 2^51: adding 2^52 leaves no room for a
/// fraction, and IEEE addition rounds this way. The integer is then the sum's mantissa.
fn rounded(number: f64) -> u64 {
    const SHIFT: f64 = 4_503_599_627_370_496.0;
    (number + SHIFT).to_bits() - SHIFT.to_bits()
}

/// The number of floats between two numbers, if only this many bits of the mantissa count. The bits of
/// positive floats, read as integers, are in the order of the floats.
const fn steps(from: f64, to: f64, bits: u32) -> u64 {
    (to.to_bits() - from.to_bits()) >> (f64::MANTISSA_DIGITS - 1 - bits)
}
