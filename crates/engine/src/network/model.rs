//! A trained network and its answers.

use super::dense::{COLUMNS_MAX, Dense};
use super::inputs::{Active, Inputs};
use super::lanes::{Lane, ZERO};
use super::recipe::{Architecture, Networks};
use super::squares::{Orientation, Squares};
use crate::core::position::Side;
use crate::tables::Endgame;

/// Lanes of the units' values in most networks; others need [`COLUMNS_MAX`].
const COLUMNS_FEW: usize = 16;

/// Weights, and the data needed to evaluate positions with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    pub(super) architecture: Architecture,
    /// For each region one, or one for white to move and one for black.
    pub(super) parts: Vec<Dense>,
    orientation: Orientation,
    inputs: Inputs,
}

impl Network {
    pub(super) fn new(architecture: Architecture, parts: Vec<Dense>) -> Self {
        let orientation = Orientation::new(&architecture.endgame, architecture.rotations);
        let inputs = architecture.inputs();
        Self { architecture, parts, orientation, inputs }
    }

    /// Networks of this shape with all weights 0.
    pub(super) fn zeros(architecture: &Architecture) -> Vec<Dense> {
        let Architecture { hidden, activation, .. } = architecture;
        let inputs = architecture.inputs().count();
        vec![Dense::zeros(inputs, hidden, *activation); architecture.parts()]
    }

    /// The ending of its positions.
    #[must_use]
    pub const fn endgame(&self) -> &Endgame {
        &self.architecture.endgame
    }

    /// Whether its answer is the same for all positions that are mirror images of each other.
    #[must_use]
    pub const fn is_symmetric(&self) -> bool {
        self.orientation.is_symmetric()
    }

    /// The number of its weights and biases.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.architecture.weights()
    }

    /// The positions that one of its networks values, in a few words: the side to move, the region, or both.
    /// Empty if it values all.
    #[must_use]
    pub fn part_name(&self, part: usize) -> String {
        let Architecture { networks, regions, .. } = self.architecture;
        let side = match networks {
            Networks::One | Networks::Black => "",
            Networks::Each => ["white", "black"][part % 2],
        };
        let region = part / networks.count() + 1;
        match (side, regions) {
            (side, 1) => side.to_owned(),
            ("", _) => format!("region {region}"),
            (side, _) => format!("{side}, region {region}"),
        }
    }

    /// Its answer for the position with the pieces on these squares (a1 is 0, b1 is 1, h8 is 63), in the
    /// order of [`Endgame::letters`], from 0 to 1: greater if nearer to white's mate. Legality is not
    /// checked.
    ///
    /// # Panics
    /// If there are more or fewer squares than pieces.
    #[must_use]
    // On the stack of each ply, this would need more stack for a search.
    #[inline(never)]
    pub fn output(&self, to_move: Side, squares: &[u8]) -> f32 {
        assert_eq!(squares.len(), self.inputs.men, "a square for each piece");
        let seen = self.orientation.seen(Squares::new(squares));
        let part = &self.parts[self.architecture.part(to_move, seen)];
        if part.columns() <= COLUMNS_FEW {
            self.output_of(part, seen, to_move, &mut [ZERO; COLUMNS_FEW])
        } else {
            self.output_of_many(part, seen, to_move)
        }
    }

    #[inline(never)]
    fn output_of_many(&self, part: &Dense, seen: Squares, to_move: Side) -> f32 {
        self.output_of(part, seen, to_move, &mut [ZERO; COLUMNS_MAX])
    }

    /// The same as plies to mate, which may be negative.
    ///
    /// # Panics
    /// If there are more or fewer squares than pieces.
    #[must_use]
    pub fn plies(&self, to_move: Side, squares: &[u8]) -> f64 {
        self.architecture.target.plies(self.output(to_move, squares))
    }

    #[inline]
    fn output_of(&self, part: &Dense, seen: Squares, to_move: Side, values: &mut [Lane]) -> f32 {
        let mut active = Active::NONE;
        self.inputs.read(seen, to_move == Side::First, &mut active);
        part.forward(&active, values)
    }
}
