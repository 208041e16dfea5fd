//! Go's evaluations, and features for formulas.

mod area;
mod features;
mod influence;

pub use area::GoArea;
pub use influence::GoInfluence;

use crate::core::parameters::ParameterInfo;
use crate::core::score::WIN_MIN;

/// The greatest size of a weight here: more of them are summed than elsewhere.
const WEIGHT_MAX: i32 = 500;

/// Points of the largest board.
const POINTS: i32 = 19 * 19;

// Points of influence or area, liberties and stones in atari, each once for each point, and komi, at most two
// half points for each.
const _: () = assert!((3 + 2) * POINTS * WEIGHT_MAX < WIN_MIN);

const fn weight(name: &'static str, default: i32, meaning: &'static str) -> ParameterInfo {
    let max = WEIGHT_MAX as i64;
    ParameterInfo::integer(name, -max..=max, default as i64, meaning)
}

fn difference([own, other]: [u32; 2]) -> i32 {
    own as i32 - other as i32
}
