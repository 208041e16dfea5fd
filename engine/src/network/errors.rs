//! How well a trained network knows the positions that it was validated by: by side, by distance to mate,
//! and by where black's king is.

use std::collections::BTreeMap;

use super::examples::Example;
use super::recipe::Target;
use crate::core::position::Side;

/// How well one side's positions among those to validate by were learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideErrors {
    /// Which network values them, from 0.
    pub network: u32,
    /// Whose move it is: white is the first side.
    pub to_move: Side,
    /// How many there are.
    pub positions: u64,
    /// The mean of their plies to mate.
    pub mean_plies: f64,
    /// The standard deviation of their plies to mate: the error of who always says the mean.
    pub spread: f64,
    /// The error of the trained network, as in [`Epoch`](super::Epoch).
    pub error: f64,
}

/// How well the positions at one distance from mate were learnt, of those to validate by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceErrors {
    /// Which network values them, from 0.
    pub network: u32,
    /// Plies to mate, which are odd where white is to move.
    pub plies: u32,
    /// How many there are.
    pub positions: u64,
    /// The error of the trained network, as in [`Epoch`](super::Epoch).
    pub error: f64,
    /// By how many plies the network takes mate for nearer than it is, on average; less than 0 where it takes
    /// it for farther.
    pub nearer: f64,
}

/// How well the positions with black's king on one square were learnt, of those to validate by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SquareErrors {
    /// Which network values them, from 0.
    pub network: u32,
    /// Where black's king is, as the network sees the board: a1 is 0, b1 is 1, h8 is 63.
    pub square: u8,
    /// How many there are.
    pub positions: u64,
    /// The error of the trained network, as in [`Epoch`](super::Epoch).
    pub error: f64,
}

/// What a network says of a position less what it should say.
pub(super) type Difference = (Example, f64);

/// The errors of one network, each kind in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Errors {
    pub(super) sides: Vec<SideErrors>,
    pub(super) distances: Vec<DistanceErrors>,
    pub(super) squares: Vec<SquareErrors>,
}

impl Errors {
    /// Of a network with such targets, by the positions to validate by.
    pub(super) fn of(network: u32, target: Target, differences: &[Difference]) -> Self {
        let mut errors = Self::default();
        for to_move in [Side::First, Side::Second] {
            let of_side = |it: &&Difference| it.0.white_moves() == (to_move == Side::First);
            let of_side: Vec<Difference> = differences.iter().filter(of_side).copied().collect();
            if of_side.is_empty() {
                continue;
            }
            // What a draw counts as is where targets end.
            let plies =
                |it: &Difference| it.0.plies().map_or(target.start * target.over, f64::from);
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
        let decided = differences.iter().filter_map(|it| Some((it.0.plies()?, *it)));
        for (plies, group) in groups(decided) {
            errors.distances.push(DistanceErrors {
                network,
                plies,
                positions: group.len() as u64,
                error: target.over * root_mean_square(&group),
                nearer: target.over * mean(group.iter().map(|it| it.1)),
            });
        }
        let black_king = |it: &Difference| it.0.squares().in_order()[1];
        for (square, group) in groups(differences.iter().map(|it| (black_king(it), *it))) {
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

fn groups<K: Ord>(of: impl Iterator<Item = (K, Difference)>) -> BTreeMap<K, Vec<Difference>> {
    let mut groups = BTreeMap::<K, Vec<Difference>>::new();
    for (key, difference) in of {
        groups.entry(key).or_default().push(difference);
    }
    groups
}

/// Added up in their order.
pub(super) fn root_mean_square(differences: &[Difference]) -> f64 {
    mean(differences.iter().map(|it| square(it.1))).sqrt()
}

pub(super) fn square(number: f64) -> f64 {
    number * number
}

/// Added up in their order.
pub(super) fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len();
    numbers.fold(0.0, |sum, number| sum + number) / count as f64
}
