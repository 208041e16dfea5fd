//! Features of Go for formulas.

use crate::core::expression::FeatureInfo;
use crate::core::position::{Position, Side};
use crate::evaluation::Features;
use crate::games::go::Go;

impl Features for Go {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_stones", "stones"),
        FeatureInfo::symmetric("opp_stones", "stones of the opponent"),
        FeatureInfo::symmetric("own_liberties", "free points beside stones"),
        FeatureInfo::symmetric("opp_liberties", "free points beside stones of the opponent"),
        FeatureInfo::symmetric("own_area", "the area if the game were scored now, without komi"),
        FeatureInfo::symmetric("opp_area", "the opponent's area"),
        FeatureInfo::symmetric(
            "own_influence",
            "stones, and free points nearer to them than to the opponent's",
        ),
        FeatureInfo::symmetric("opp_influence", "the opponent's stones and nearer points"),
        FeatureInfo::symmetric("own_atari", "stones in groups with a single liberty"),
        FeatureInfo::symmetric("opp_atari", "stones of the opponent in such groups"),
    ];

    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let is_mover = side == self.to_move();
        let mut known: Option<(u16, [u32; 2])> = None;
        for (&feature, value) in wanted.iter().zip(values) {
            let kind = feature / 2;
            let counts = match known {
                Some((counted, counts)) if counted == kind => counts,
                Some(_) | None => match kind {
                    0 => self.stones_of_both(),
                    1 => self.liberties_of_both(),
                    2 => self.areas_of_both(),
                    3 => self.influence_of_both(),
                    _ => self.in_atari_of_both(),
                },
            };
            known = Some((kind, counts));
            let [own, other] = counts;
            *value = f64::from(if (feature % 2 == 0) == is_mover { own } else { other });
        }
    }
}
