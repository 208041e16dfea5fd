//! A trained network's errors on its validation positions: by side, by distance to mate, and by the square of
//! black's king.

use std::collections::BTreeMap;

use super::examples::Example;
use super::recipe::Target;
use crate::core::position::Side;

/// The errors on one side's validation positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideErrors {
    /// The index of the network that values them.
    pub network: u32,
    /// Whose move it is: white is the first side.
    pub to_move: Side,
    /// The number of positions.
    pub positions: u64,
    /// The mean of their plies to mate.
    pub mean_plies: f64,
    /// The standard deviation of their plies to mate: the error of always answering the mean.
    pub spread: f64,
    /// The error of the trained network, as in [`Epoch`](super::Epoch).
    pub error: f64,
}

/// The errors on validation positions at one distance from mate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceErrors {
    /// The index of the network that values them.
    pub network: u32,
    /// Plies to mate, odd if white is to move.
    pub plies: u32,
    /// The number of positions.
    pub positions: u64,
    /// The error of the trained network, as in [`Epoch`](super::Epoch).
    pub error: f64,
    /// The mean number of plies by which the network underestimates the distance to mate; negative if it
    /// overestimates it.
    pub nearer: f64,
}

/// The errors on validation positions with black's king on one square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SquareErrors {
    /// The index of the network that values them.
    pub network: u32,
    /// The square of black's king, as the network sees the board: a1 is 0, b1 is 1, h8 is 63.
    pub square: u8,
    /// The number of positions.
    pub positions: u64,
    /// The error of the trained network, as in [`Epoch`](super::Epoch).
    pub error: f64,
}

/// A network's answer minus its target.
pub(super) type Difference = (Example, f64);

/// The errors of one network, each kind in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Errors {
    pub(super) sides: Vec<SideErrors>,
    pub(super) distances: Vec<DistanceErrors>,
    pub(super) squares: Vec<SquareErrors>,
}

impl Errors {
    /// For a network with such targets, by its validation positions.
    pub(super) fn from_differences(
        network: u32,
        target: Target,
        differences: &[Difference],
    ) -> Self {
        let mut errors = Self::default();
        for to_move in [Side::First, Side::Second] {
            let is_of_side =
                |difference: &&Difference| difference.0.white_moves() == (to_move == Side::First);
            let of_side: Vec<Difference> = differences.iter().filter(is_of_side).copied().collect();
            if of_side.is_empty() {
                continue;
            }
            // A draw counts as the distance at which targets end.
            let plies = |difference: &Difference| {
                difference.0.plies().map_or(target.start * target.over, f64::from)
            };
            let plies = of_side.iter().map(plies);
            let mean_plies = mean(plies.clone());
            errors.sides.push(SideErrors {
                network,
                to_move,
                positions: of_side.len() as u64,
                mean_plies,
                spread: mean(plies.map(|plies| square(plies - mean_plies))).sqrt(),
                error: target.over * root_mean_square(&of_side),
            });
        }
        let decided =
            differences.iter().filter_map(|difference| Some((difference.0.plies()?, *difference)));
        for (plies, group) in groups(decided) {
            errors.distances.push(DistanceErrors {
                network,
                plies,
                positions: group.len() as u64,
                error: target.over * root_mean_square(&group),
                nearer: target.over * mean(group.iter().map(|difference| difference.1)),
            });
        }
        let black_king = |difference: &Difference| difference.0.squares().in_order()[1];
        for (square, group) in
            groups(differences.iter().map(|difference| (black_king(difference), *difference)))
        {
            errors.squares.push(SquareErrors {
                network,
                square,
                positions: group.len() as u64,
                error: target.over * root_mean_square(&group),
            });
        }
        errors
    }
}

fn groups<K: Ord>(keyed: impl Iterator<Item = (K, Difference)>) -> BTreeMap<K, Vec<Difference>> {
    let mut groups = BTreeMap::<K, Vec<Difference>>::new();
    for (key, difference) in keyed {
        groups.entry(key).or_default().push(difference);
    }
    groups
}

/// Summed in their order.
pub(super) fn root_mean_square(differences: &[Difference]) -> f64 {
    mean(differences.iter().map(|difference| square(difference.1))).sqrt()
}

pub(super) fn square(number: f64) -> f64 {
    number * number
}

/// Summed in their order.
pub(super) fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len();
    numbers.fold(0.0, |sum, number| sum + number) / count as f64
}

#[cfg(test)]
mod tests {
    use super::super::squares::Squares;
    use super::*;

    /// Answers that are wrong by the same plies have one error in plies, whatever the target; the mean square of
    /// the difference from the target itself falls from 1 - n/32 to 0.9 - n/40 to (32/40)², which is 0.64.
    #[test]
    fn an_error_in_plies_is_independent_of_the_targets_unit() {
        let measure = |start: f64, over: f64| {
            let target = Target { start, over };
            let answer = |plies: u32| {
                let wrong_by = 3.0 * libm::sin(f64::from(plies));
                let target_value = target.value(Some(plies));
                let answer = target_value + (wrong_by / over) as f32;
                assert!((target.plies(answer) - f64::from(plies) + wrong_by).abs() < 1e-4);
                let example = Example::new(Squares::new(&[0, 18, 40]), plies);
                (example, f64::from(answer - target_value))
            };
            let differences: Vec<Difference> = (1..=32).map(answer).collect();
            let errors = Errors::from_differences(0, target, &differences);
            let in_plies = errors.sides.iter().map(|side| side.error).collect::<Vec<_>>();
            (in_plies, mean(differences.iter().map(|difference| square(difference.1))))
        };
        let ((plies, squares), (other_plies, other_squares)) =
            (measure(1.0, 32.0), measure(0.9, 40.0));
        assert_eq!(plies.len(), 2);
        for (error, other) in plies.iter().zip(&other_plies) {
            assert!((error - other).abs() < 1e-4 && *error > 1.5, "{error} {other}");
        }
        assert!((other_squares / squares - 0.64).abs() < 1e-4, "{squares} {other_squares}");
    }
}
