//! Arithmetic on eight numbers at once, in a fixed order: the compiler makes vector instructions of
//! it if a machine has them, and the results are the same everywhere.

/// Numbers that are computed together.
pub(super) const LANES: usize = 8;

/// Numbers in one lane, such as units of a layer.
pub(super) type Lane = [f32; LANES];

pub(super) const ZERO: Lane = [0.0; LANES];

/// The number of lanes for this many units.
pub(super) const fn lanes(units: usize) -> usize {
    units.div_ceil(LANES)
}

/// Adds `factor` times `from` to `to`, element by element.
#[inline(always)]
pub(super) fn add_scaled(to: &mut Lane, factor: f32, from: &Lane) {
    for lane in 0..LANES {
        to[lane] += factor * from[lane];
    }
}

/// The sum of products: first along each lane, then of the lanes in pairs.
#[inline(always)]
pub(super) fn dot(first: &[Lane], second: &[Lane]) -> f32 {
    let mut sums = ZERO;
    for (a, b) in first.iter().zip(second) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Beyond this, a sigmoid is 0 or 1 within a float's precision.
const SIGMOID_MAX: f32 = 87.0;

/// 1 / (1 + e^-x), within 2^-22 of it; NaN for NaN.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    let x = if x > SIGMOID_MAX { SIGMOID_MAX } else { x };
    let x = if x < -SIGMOID_MAX { -SIGMOID_MAX } else { x };
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent, within 2^-21 of it, by the sigmoid.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

/// The exponential of a number within ±[`SIGMOID_MAX`], by additions and multiplications alone: the
/// polynomial of Cephes (Moshier 1992, `expf`) on the remainder after a power of two.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding it leaves no room for a fraction: the sum's lowest bits are the nearest integer.
    const SHIFT: f32 = 12_582_912.0;
    // The logarithm of 2 in two parts, the first with few bits, so that its products are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const TERMS: [f32; 6] =
        [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5];
    let shifted = x * std::f32::consts::LOG2_E + SHIFT;
    let integer = shifted - SHIFT;
    let rest = (x - integer * LN_2[0]) - integer * LN_2[1];
    let mut sum = TERMS[0];
    sum = sum * rest + TERMS[1];
    sum = sum * rest + TERMS[2];
    sum = sum * rest + TERMS[3];
    sum = sum * rest + TERMS[4];
    sum = sum * rest + TERMS[5];
    let fraction = (sum * rest * rest + rest) + 1.0;
    // The integer moves into the exponent of 1; higher bits of the mantissa drop out.
    fraction * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from the whole range, and beyond it.
    fn numbers() -> impl Iterator<Item = f32> {
        let small = (-60_000..=60_000).map(|step| step as f32 / 631.7);
        let others =
            [0.0, -0.0, 1e-30, -1e-30, 1e-7, 1e30, -1e30, f32::INFINITY, f32::NEG_INFINITY];
        small.chain(others)
    }

    #[test]
    fn exponentials_are_those_of_libm() {
        for x in numbers().filter(|x| x.abs() <= SIGMOID_MAX) {
            let (found, expected) = (f64::from(exp(x)), libm::exp(f64::from(x)));
            assert!((found / expected - 1.0).abs() < 2.5e-7, "exp({x}) is {found}, not {expected}");
        }
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn sigmoids_and_tangents_are_those_of_libm() {
        for x in numbers() {
            let expected = 1.0 / (1.0 + libm::exp(-f64::from(x)));
            assert!((f64::from(sigmoid(x)) - expected).abs() < 2.4e-7, "sigmoid({x})");
            assert!((f64::from(tanh(x)) - libm::tanh(f64::from(x))).abs() < 4.8e-7, "tanh({x})");
            assert!((0.0..=1.0).contains(&sigmoid(x)), "sigmoid({x})");
        }
        assert_eq!((sigmoid(0.0), tanh(0.0)), (0.5, 0.0));
        assert!(sigmoid(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
    }

    /// A greater number never has a lesser sigmoid, which is all that scores need.
    #[test]
    fn sigmoids_grow() {
        let mut numbers: Vec<f32> = numbers().collect();
        numbers.sort_by(f32::total_cmp);
        for pair in numbers.windows(2) {
            assert!(sigmoid(pair[0]) <= sigmoid(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn products_are_summed_lane_by_lane() {
        let first: Vec<Lane> = (0..3).map(|at| [at as f32 + 0.1; LANES]).collect();
        let second: Vec<Lane> = (0..3)
            .map(|at| std::array::from_fn(|lane| (at * 8 + lane) as f32 * 1e-3 + 1.0))
            .collect();
        let lane =
            |lane: usize| (0..3).fold(0.0, |sum, at| sum + first[at][lane] * second[at][lane]);
        let pair = |at: usize| lane(at) + lane(at + 4);
        assert_eq!(dot(&first, &second), (pair(0) + pair(2)) + (pair(1) + pair(3)));
        assert_eq!(dot(&[], &[]), 0.0);
        let mut to = [1.0; LANES];
        add_scaled(&mut to, 2.0, &second[1]);
        assert_eq!(to, second[1].map(|number| 1.0 + 2.0 * number));
    }
}
