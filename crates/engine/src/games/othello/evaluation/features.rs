//! Features of Othello for formulas, with the names used by the study of evolved evaluators, and the two that only its
//! predecessor counted: discs on edges and near corners.

use crate::core::expression::FeatureInfo;
use crate::core::position::{Position, Side};
use crate::evaluation::Features;
use crate::games::othello::{Othello, SquareClass};

/// The features of the squares' classes follow those of the whole board.
const FIRST_OF_CLASSES: u16 = 5;

/// The sums over several classes follow.
const EDGES: u16 = FIRST_OF_CLASSES + 20;
const NEAR_CORNERS: u16 = EDGES + 2;

impl Features for Othello {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_bricks", "discs"),
        FeatureInfo::symmetric("opp_bricks", "discs of the opponent"),
        FeatureInfo::symmetric("own_allowed_moves", "squares on which a disc may be put"),
        FeatureInfo::symmetric(
            "opp_allowed_moves",
            "squares on which the opponent may put a disc, if it is the opponent's turn",
        ),
        FeatureInfo::symmetric("empty", "squares without a disc"),
        FeatureInfo::symmetric("own_in_pos_a", "discs on a1 and its images, the corners"),
        FeatureInfo::symmetric("opp_in_pos_a", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_b", "discs on b1 and its images"),
        FeatureInfo::symmetric("opp_in_pos_b", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_c", "discs on c1 and its images"),
        FeatureInfo::symmetric("opp_in_pos_c", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_d", "discs on d1 and its images"),
        FeatureInfo::symmetric("opp_in_pos_d", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_e", "discs on b2 and its images"),
        FeatureInfo::symmetric("opp_in_pos_e", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_f", "discs on c2 and its images"),
        FeatureInfo::symmetric("opp_in_pos_f", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_g", "discs on d2 and its images"),
        FeatureInfo::symmetric("opp_in_pos_g", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_h", "discs on c3 and its images"),
        FeatureInfo::symmetric("opp_in_pos_h", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_i", "discs on d3 and its images"),
        FeatureInfo::symmetric("opp_in_pos_i", "discs of the opponent there"),
        FeatureInfo::symmetric("own_in_pos_j", "discs on d4 and its images, the middle"),
        FeatureInfo::symmetric("opp_in_pos_j", "discs of the opponent there"),
        FeatureInfo::sum(
            "own_edges",
            "discs on the edges, corners left out: on b1, c1, d1 and their images",
        ),
        FeatureInfo::sum("opp_edges", "discs of the opponent there"),
        FeatureInfo::sum(
            "own_near_corners",
            "discs beside corners, empty or not: on b1, b2 and their images",
        ),
        FeatureInfo::sum("opp_near_corners", "discs of the opponent there"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let is_mover = side == self.to_move();
        for (&feature, value) in wanted.iter().zip(values) {
            let is_own = |own_is_even: bool| (feature % 2 == 0) == own_is_even;
            *value = f64::from(match feature {
                0 | 1 if is_own(is_mover) => self.own_discs(),
                0 | 1 => self.other_discs(),
                2 | 3 if is_own(is_mover) => self.own_moves(),
                2 | 3 => self.other_moves(),
                4 => self.empty_squares(),
                // From here on those of the viewing side have odd numbers.
                EDGES.. => {
                    let [own, other] = match feature {
                        ..NEAR_CORNERS => self.edges(),
                        NEAR_CORNERS.. => self.near_corners(),
                    };
                    if is_own(!is_mover) { own } else { other }
                }
                _ => {
                    let class = SquareClass::ALL[usize::from((feature - FIRST_OF_CLASSES) / 2)];
                    if is_own(!is_mover) {
                        self.own_discs_on(class)
                    } else {
                        self.other_discs_on(class)
                    }
                }
            });
        }
    }
}

const _: () = assert!(Othello::FEATURES.len() == NEAR_CORNERS as usize + 2);
