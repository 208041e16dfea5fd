//! Hex's evaluations `distance` and `two-distance`, and features for formulas.

use super::Hex;
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::evaluation::{
    Contents, Evaluate, Features, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights,
};

/// Distances count at most as much; a greater one is rare and as bad.
const DISTANCE_MAX: u32 = 64;
/// Cells of the least potential count at most as many.
const CELLS_MAX: u32 = 32;

const _: () = assert!((DISTANCE_MAX + CELLS_MAX) as i32 <= WEIGHTS_SUMMED_MAX);

/// `distance`: how many stones fewer than the other side a side needs to join its edges, if the other did not move:
/// shortest paths, on which own stones cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexDistance {
    /// The weight of one stone.
    stone: i32,
}

impl Default for HexDistance {
    fn default() -> Self {
        Self { stone: 100 }
    }
}

impl GameEvaluation<Hex> for HexDistance {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "distance",
        meaning: "Stones that the sides still need to join their edges on shortest paths.",
        parameters: &[weight(
            "weight_stone",
            100,
            "value of a stone fewer than the opponent needs",
        )],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        let [stone] = weights(settings, &Self::INFO);
        Ok(Self { stone })
    }
}

impl Evaluate<Hex> for HexDistance {
    #[inline]
    fn evaluate(&self, position: &Hex) -> i32 {
        let mover = position.to_move().index();
        let [own, other] =
            [mover, 1 - mover].map(|side| position.distance(side).min(DISTANCE_MAX) as i32);
        self.stone * (other - own)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// `two-distance`: the least sum of two-distances to both edges of each side, and the number of cells that have it
/// (van Rijswijck 2002, "Search and evaluation in Hex", of the program Queenbee: potentials and mobility).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexTwoDistance {
    /// The weight of one more in the opponent's potential, and of one more cell.
    weights: [i32; 2],
}

impl Default for HexTwoDistance {
    fn default() -> Self {
        Self { weights: [100, 1] }
    }
}

impl GameEvaluation<Hex> for HexTwoDistance {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "two-distance",
        meaning: "Distances between edges by the second-best neighbour, since the opponent takes the best.",
        parameters: &[
            weight(
                "weight_potential",
                100,
                "value of a potential lower by one than the opponent's",
            ),
            weight("weight_mobility", 1, "value of another cell that has the lowest potential"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

/// A side's potential and its number of cells, within their bounds.
#[inline]
fn potential(position: &Hex, side: usize) -> [i32; 2] {
    let (potential, cells) = position.potential(side).unwrap_or((DISTANCE_MAX, 0));
    [potential.min(DISTANCE_MAX) as i32, cells.min(CELLS_MAX) as i32]
}

impl Evaluate<Hex> for HexTwoDistance {
    #[inline]
    fn evaluate(&self, position: &Hex) -> i32 {
        let mover = position.to_move().index();
        let [own, other] = [mover, 1 - mover].map(|side| potential(position, side));
        self.weights[0] * (other[0] - own[0]) + self.weights[1] * (own[1] - other[1])
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

impl Features for Hex {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_stones", "stones"),
        FeatureInfo::symmetric("opp_stones", "stones of the opponent"),
        FeatureInfo::symmetric("own_distance", "fewest stones that join the own edges"),
        FeatureInfo::symmetric("opp_distance", "fewest stones that join the opponent's edges"),
        FeatureInfo::symmetric("own_bridges", "pairs of stones with two free cells between them"),
        FeatureInfo::symmetric(
            "opp_bridges",
            "pairs of stones of the opponent with two free cells between them",
        ),
        FeatureInfo::symmetric(
            "own_potential",
            "least two-distance between the own edges, at most 64",
        ),
        FeatureInfo::symmetric(
            "opp_potential",
            "least two-distance between the opponent's edges, at most 64",
        ),
        FeatureInfo::symmetric("own_mobility", "cells that have the own potential, at most 32"),
        FeatureInfo::symmetric(
            "opp_mobility",
            "cells that have the opponent's potential, at most 32",
        ),
        FeatureInfo::symmetric("empty", "free cells"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let sides = [side.index(), side.other().index()];
        let mut potentials = [None; 2];
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last come in pairs: own, and the opponent's.
            let (kind, owner) = (feature / 2, usize::from(feature % 2));
            let side = sides[owner];
            let mut potential =
                |part: usize| potentials[owner].get_or_insert_with(|| potential(self, side))[part];
            *value = match kind {
                0 => f64::from(self.stones[side].len()),
                1 => f64::from(self.distance(side)),
                2 => f64::from(self.bridges(side)),
                3 => f64::from(potential(0)),
                4 => f64::from(potential(1)),
                _ => f64::from(self.empty_cells()),
            };
        }
    }
}
