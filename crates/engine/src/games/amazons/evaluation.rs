//! Amazons' evaluations `territory` and `mobility`, and features for formulas.

use super::{Amazons, rays};
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, ParameterInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::core::score::WIN_MIN;
use crate::evaluation::{Contents, Evaluate, Features, GameEvaluation, weights};

/// The greatest size of a weight here: more of them are summed than elsewhere.
const WEIGHT_MAX: i32 = 5_000;

// At most 92 cells are empty, and each adds two weights; four amazons reach 35 cells each, eight of them beside
// them.
const _: () = assert!(2 * 92 * WEIGHT_MAX < WIN_MIN && 4 * (35 + 8) * WEIGHT_MAX < WIN_MIN);

/// `territory`: the lead in empty cells that one side's amazons reach in fewer moves than the other's, as queens
/// and as kings (the terms t1 and t2 of Lieberum 2005, "An evaluation function for the game of Amazons", without
/// the value of the turn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmazonsTerritory {
    /// Of cells nearer by a queen's moves and by a king's.
    weights: [i32; 2],
}

impl Default for AmazonsTerritory {
    fn default() -> Self {
        Self { weights: [4, 2] }
    }
}

impl GameEvaluation<Amazons> for AmazonsTerritory {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "territory",
        meaning: "Empty cells that one side reaches in fewer moves than the other.",
        parameters: &[
            weight("weight_queen", 4, "value of a cell that is fewer moves of a queen away"),
            weight("weight_king", 2, "value of a cell that is fewer moves of a king away"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Amazons> for AmazonsTerritory {
    #[inline]
    fn evaluate(&self, position: &Amazons) -> i32 {
        let amazons = [position.own, position.other];
        let lead = |[own, other]: [u32; 2]| own as i32 - other as i32;
        let [queen, king] = self.weights;
        queen * lead(nearer(amazons, position.empty, rays::reach_of_all))
            + king * lead(nearer(amazons, position.empty, beside))
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// `mobility`: the lead in cells that amazons reach with one move, and in empty cells beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmazonsMobility {
    /// Of moves without arrows, and of empty cells beside an amazon.
    weights: [i32; 2],
}

impl Default for AmazonsMobility {
    fn default() -> Self {
        Self { weights: [1, 1] }
    }
}

impl GameEvaluation<Amazons> for AmazonsMobility {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "mobility",
        meaning: "Moves of amazons, and empty cells beside them.",
        parameters: &[
            weight("weight_move", 1, "value of each move of an amazon, whatever its arrows"),
            weight("weight_liberty", 1, "value of each empty cell beside an amazon"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Amazons> for AmazonsMobility {
    #[inline]
    fn evaluate(&self, position: &Amazons) -> i32 {
        let terms = |amazons| [moves(amazons, position.empty), liberties(amazons, position.empty)];
        let leads = terms(position.own).into_iter().zip(terms(position.other));
        leads
            .zip(self.weights)
            .map(|((own, other), weight)| weight * (own as i32 - other as i32))
            .sum()
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

const fn weight(name: &'static str, default: i32, meaning: &'static str) -> ParameterInfo {
    let max = WEIGHT_MAX as i64;
    ParameterInfo::integer(name, -max..=max, default as i64, meaning)
}

/// The empty cells beside these.
#[inline]
const fn beside(cells: u128, empty: u128) -> u128 {
    rays::beside(cells) & empty
}

/// The numbers of empty cells that either of two sides reaches in fewer moves than the other, by moves that
/// lead from a set of cells to all that are one move away.
#[inline]
fn nearer(amazons: [u128; 2], empty: u128, moves: impl Fn(u128, u128) -> u128) -> [u32; 2] {
    let (mut reached, mut last, mut nearer) = ([0; 2], amazons, [0; 2]);
    while last != [0; 2] {
        let next = [0, 1].map(|side| match last[side] {
            0 => 0,
            cells => moves(cells, empty) & !reached[side],
        });
        for side in [0, 1] {
            let other = 1 - side;
            nearer[side] += (next[side] & !next[other] & !reached[other]).count_ones();
        }
        reached = [0, 1].map(|side| reached[side] | next[side]);
        last = next;
    }
    nearer
}

/// The sum over amazons of the cells that they reach with one move.
#[inline]
fn moves(mut amazons: u128, empty: u128) -> u32 {
    let mut moves = 0;
    while amazons != 0 {
        moves += rays::reach(amazons.trailing_zeros(), empty).count_ones();
        amazons &= amazons - 1;
    }
    moves
}

/// The sum over amazons of the empty cells beside them.
#[inline]
fn liberties(mut amazons: u128, empty: u128) -> u32 {
    let mut liberties = 0;
    while amazons != 0 {
        liberties += beside(amazons & amazons.wrapping_neg(), empty).count_ones();
        amazons &= amazons - 1;
    }
    liberties
}

impl Features for Amazons {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_queen_cells", "empty cells fewer moves of a queen away"),
        FeatureInfo::symmetric("opp_queen_cells", "empty cells that are so for the opponent"),
        FeatureInfo::symmetric("own_king_cells", "empty cells fewer moves of a king away"),
        FeatureInfo::symmetric("opp_king_cells", "empty cells that are so for the opponent"),
        FeatureInfo::symmetric("own_moves", "moves of amazons, whatever their arrows"),
        FeatureInfo::symmetric("opp_moves", "moves of the opponent's amazons"),
        FeatureInfo::symmetric("own_liberties", "empty cells beside amazons, once for each"),
        FeatureInfo::symmetric("opp_liberties", "empty cells beside the opponent's"),
        FeatureInfo::symmetric("empty", "empty cells"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let empty = self.empty;
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last come in pairs: own, and the opponent's.
            let owner = if feature % 2 == 0 { side } else { side.other() };
            let amazons = match owner == self.to_move() {
                true => [self.own, self.other],
                false => [self.other, self.own],
            };
            *value = f64::from(match feature {
                0 | 1 => nearer(amazons, empty, rays::reach_of_all)[0],
                2 | 3 => nearer(amazons, empty, beside)[0],
                4 | 5 => moves(amazons[0], empty),
                6 | 7 => liberties(amazons[0], empty),
                _ => empty.count_ones(),
            });
        }
    }
}
