//! Results by colour of any kind.

use proptest::option;
use proptest::prelude::*;
use spelrum_tournament::ScoreInterval;
use spelrum_tournament::results::ColourResult;

use crate::figure;

pub(crate) fn colour_score() -> impl Strategy<Value = Option<ScoreInterval>> {
    let interval = |[score, low, high]: [f64; 3]| ScoreInterval { score, low, high };
    option::of([figure(), figure(), figure()]).prop_map(move |it| it.map(interval))
}

/// Both colours' results: of all games, at most so many moving first.
pub(crate) fn colours_of(
    all: [u64; 3],
    first: [u64; 3],
    [of_first, of_second]: [Option<ScoreInterval>; 2],
) -> [ColourResult; 2] {
    let first: [u64; 3] = std::array::from_fn(|at| first[at].min(all[at]));
    let colour =
        |[wins, draws, losses]: [u64; 3], score| ColourResult { wins, draws, losses, score };
    [colour(first, of_first), colour(std::array::from_fn(|at| all[at] - first[at]), of_second)]
}
