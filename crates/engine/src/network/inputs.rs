//! A network's inputs for a position: numbers from 0 to 1.

use super::squares::Squares;
use spelrum_names::Names;

/// The sets of inputs. If one network serves both sides, each has one more: 1 if white is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "kebab-case")]
pub(super) enum InputSet {
    /// File and rank of each piece, in sevenths.
    Coordinates,
    /// Black's king to a8, and every other piece to black's king: moves of a king, in sevenths.
    Distances,
    /// Both of these.
    CoordinatesDistances,
    /// These and the distances between the other pieces.
    AllDistances,
    /// For each piece an input for each square: 1 where it stands.
    OneHot,
    /// The same, and for each piece beside black's king an input for each pair of squares of the two.
    KingPairs,
}

/// The most nonzero inputs: for four pieces eight coordinates, seven distances and the side to move.
pub(super) const ACTIVE_MAX: usize = 16;

/// The nonzero inputs, by number and value, in ascending order of their numbers.
pub(super) struct Active {
    inputs: [(u32, f32); ACTIVE_MAX],
    count: usize,
}

impl Active {
    pub(super) const NONE: Self = Self { inputs: [(0, 0.0); ACTIVE_MAX], count: 0 };

    #[inline]
    fn push(&mut self, input: usize, value: f32) {
        self.inputs[self.count] = (input as u32, value);
        self.count += 1;
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f32)> + Clone {
        self.inputs[..self.count].iter().map(|(input, value)| (*input as usize, *value))
    }
}

/// The inputs of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inputs {
    pub(super) set: InputSet,
    /// The number of pieces, kings included.
    pub(super) men: usize,
    /// Whether the side to move is an input.
    pub(super) has_turn: bool,
}

const CORNER: u8 = 56;
const SQUARES: usize = 64;
const PAIRS: usize = SQUARES * SQUARES;

impl InputSet {
    const fn has_coordinates(self) -> bool {
        matches!(self, Self::Coordinates | Self::CoordinatesDistances | Self::AllDistances)
    }

    const fn has_distances(self) -> bool {
        matches!(self, Self::Distances | Self::CoordinatesDistances | Self::AllDistances)
    }
}

impl Inputs {
    /// The number of inputs.
    pub(super) const fn count(&self) -> usize {
        let (men, others) = (self.men, self.men - 1);
        let between = others * (others - 1) / 2;
        let of_set = match self.set {
            InputSet::Coordinates => 2 * men,
            InputSet::Distances => 1 + others,
            InputSet::CoordinatesDistances => 2 * men + 1 + others,
            InputSet::AllDistances => 2 * men + 1 + others + between,
            InputSet::OneHot => SQUARES * men,
            InputSet::KingPairs => SQUARES * men + PAIRS * others,
        };
        of_set + self.has_turn as usize
    }

    /// The most nonzero inputs.
    pub(super) const fn active(&self) -> usize {
        let (men, others) = (self.men, self.men - 1);
        let of_set = match self.set {
            InputSet::OneHot => men,
            InputSet::KingPairs => men + others,
            InputSet::Coordinates
            | InputSet::Distances
            | InputSet::CoordinatesDistances
            | InputSet::AllDistances => return self.count(),
        };
        of_set + self.has_turn as usize
    }

    /// The inputs for a position as the network sees it.
    #[inline]
    pub(super) fn read(&self, squares: Squares, white_moves: bool, active: &mut Active) {
        let squares = squares.in_order();
        let squares = &squares[..self.men];
        active.count = 0;
        match self.set {
            InputSet::OneHot | InputSet::KingPairs => self.read_squares(squares, active),
            InputSet::Coordinates
            | InputSet::Distances
            | InputSet::CoordinatesDistances
            | InputSet::AllDistances => self.read_numbers(squares, active),
        }
        if self.has_turn && white_moves {
            active.push(self.count() - 1, 1.0);
        }
    }

    #[inline]
    fn read_numbers(&self, squares: &[u8], active: &mut Active) {
        let mut next = 0;
        let mut push = |sevenths: u8| {
            active.push(next, SEVENTHS[usize::from(sevenths & 7)]);
            next += 1;
        };
        if self.set.has_coordinates() {
            for square in squares {
                push(square % 8);
                push(square / 8);
            }
        }
        if self.set.has_distances() {
            let king = squares[1];
            push(distance(king, CORNER));
            others(squares).for_each(|other| push(distance(king, other)));
        }
        if self.set == InputSet::AllDistances {
            for (at, first) in others(squares).enumerate() {
                others(squares).skip(at + 1).for_each(|second| push(distance(first, second)));
            }
        }
    }

    #[inline]
    fn read_squares(&self, squares: &[u8], active: &mut Active) {
        let mut begin = 0;
        for square in squares {
            active.push(begin + usize::from(*square), 1.0);
            begin += SQUARES;
        }
        if self.set == InputSet::KingPairs {
            for other in others(squares) {
                let pair = SQUARES * usize::from(squares[1]) + usize::from(other);
                active.push(begin + pair, 1.0);
                begin += PAIRS;
            }
        }
    }
}

/// All squares but black's king's, in their order.
#[inline]
fn others(squares: &[u8]) -> impl Iterator<Item = u8> + '_ {
    [squares[0]].into_iter().chain(squares[2..].iter().copied())
}

/// A number from 0 to 7 as an input.
const SEVENTHS: [f32; 8] = {
    let mut sevenths = [0.0; 8];
    let mut number = 0;
    while number < 8 {
        sevenths[number] = number as f32 / 7.0;
        number += 1;
    }
    sevenths
};

/// The distance from one square to the other in king's moves.
#[inline]
fn distance(from: u8, to: u8) -> u8 {
    (from % 8).abs_diff(to % 8).max((from / 8).abs_diff(to / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(set: InputSet, men: usize, has_turn: bool) -> Inputs {
        Inputs { set, men, has_turn }
    }

    fn dense(inputs: Inputs, squares: &[u8], white_moves: bool) -> Vec<f32> {
        let mut active = Active::NONE;
        inputs.read(Squares::new(squares), white_moves, &mut active);
        let mut dense = vec![0.0; inputs.count()];
        let mut before = None;
        for (input, value) in active.iter() {
            assert!(before < Some(input), "in ascending order");
            dense[input] = value;
            before = Some(input);
        }
        assert!(active.count <= inputs.active());
        dense
    }

    /// With a bias, the study has 8 inputs for KRK (and the side to move), and 9, 5, 13 and 16 for KBNK.
    #[test]
    fn there_are_as_many_as_in_the_study() {
        use InputSet::{AllDistances, Coordinates, CoordinatesDistances, Distances};
        assert_eq!(inputs(Coordinates, 3, true).count(), 8 - 1);
        for (set, count) in
            [(Coordinates, 9), (Distances, 5), (CoordinatesDistances, 13), (AllDistances, 16)]
        {
            assert_eq!(inputs(set, 4, false).count(), count - 1);
        }
        for set in InputSet::ALL {
            for (men, has_turn) in [(3, false), (3, true), (4, false), (4, true)] {
                let inputs = inputs(set, men, has_turn);
                assert!(inputs.active() <= ACTIVE_MAX.min(inputs.count()), "{inputs:?}");
            }
        }
    }

    /// White's king on c3, black's on b8, a bishop on f7, a knight on g1.
    #[test]
    fn a_position_in_numbers() {
        let squares = [18, 57, 53, 6];
        let seventh = |numbers: &[u8]| -> Vec<f32> {
            numbers.iter().map(|number| f32::from(*number) / 7.0).collect()
        };
        let coordinates = [2, 2, 1, 7, 5, 6, 6, 0];
        let distances = [1, 5, 4, 7];
        let between = [4, 4, 6];
        let dense_inputs = |set| dense(inputs(set, 4, false), &squares, true);
        assert_eq!(dense_inputs(InputSet::Coordinates), seventh(&coordinates));
        assert_eq!(dense_inputs(InputSet::Distances), seventh(&distances));
        let both = [&coordinates[..], &distances].concat();
        assert_eq!(dense_inputs(InputSet::CoordinatesDistances), seventh(&both));
        assert_eq!(dense_inputs(InputSet::AllDistances), seventh(&[&both[..], &between].concat()));
        let ones = |set| -> Vec<usize> {
            let dense = dense_inputs(set);
            (0..dense.len()).filter(|input| dense[*input] == 1.0).collect()
        };
        let one_hot = [18, 64 + 57, 128 + 53, 192 + 6];
        assert_eq!(ones(InputSet::OneHot), one_hot);
        let pair =
            |number: usize, first: usize, second: usize| 256 + 4_096 * number + 64 * first + second;
        let with_king = [pair(0, 57, 18), pair(1, 57, 53), pair(2, 57, 6)];
        assert_eq!(ones(InputSet::KingPairs), [&one_hot[..], &with_king].concat());
    }

    #[test]
    fn one_network_for_both_sides_has_the_side_to_move_as_an_input() {
        for set in InputSet::ALL {
            let [without, with] = [false, true].map(|turn| inputs(set, 3, turn));
            let squares = [18, 57, 53];
            let position = dense(without, &squares, true);
            assert_eq!(dense(without, &squares, false), position);
            assert_eq!(dense(with, &squares, true), [&position[..], &[1.0]].concat());
            assert_eq!(dense(with, &squares, false), [&position[..], &[0.0]].concat());
        }
    }
}
