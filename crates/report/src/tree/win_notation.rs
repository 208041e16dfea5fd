//! Names of values and bounds in pictures, for MAX.

use spelrum_engine::search::{WIN, WIN_MIN};
use spelrum_engine::tree::{Cutoff, GameTree, NodeKind, Value, ValueBound, WinScore};
use spelrum_engine::{Position, Side};

/// How wins are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WinNotation {
    /// 1 for a win, -1 for a loss: all other games are draws.
    Outcome,
    /// `win` and `loss`, above and below every evaluation.
    Word,
    /// The same, with the plies from the root.
    Plies,
}

impl WinNotation {
    /// Returns the notation that this tree needs.
    pub fn for_tree<P: Position>(tree: &GameTree<P>, wins: WinScore) -> Self {
        let is_even = |score: i32| score == 0;
        let horizon = tree.nodes().iter().filter(|node| node.kind == NodeKind::Horizon);
        match wins {
            WinScore::SoonerIsBetter => Self::Plies,
            WinScore::Equal if horizon.into_iter().all(|node| is_even(node.value.score)) => {
                Self::Outcome
            }
            WinScore::Equal => Self::Word,
        }
    }

    /// Formats a score.
    pub(crate) fn score(self, score: i32) -> String {
        let word = match score {
            WIN_MIN.. => "win",
            score if score <= -WIN_MIN => "loss",
            score => return score.to_string(),
        };
        match self {
            Self::Outcome => score.signum().to_string(),
            Self::Word => word.to_owned(),
            Self::Plies => format!("{word} in {}", WIN - score.abs()),
        }
    }

    /// Formats a value, which may be a bound.
    pub(crate) fn value(self, value: Value) -> String {
        let score = self.score(value.score);
        match value.bound {
            ValueBound::Exact => score,
            ValueBound::AtLeast => format!("≥ {score}"),
            ValueBound::AtMost => format!("≤ {score}"),
        }
    }

    /// Formats the bound of a cutoff.
    pub(crate) fn cutoff(self, cutoff: Cutoff) -> String {
        match cutoff {
            Cutoff::Alpha(alpha) => format!("α = {}", self.score(alpha)),
            Cutoff::Beta(beta) => format!("β = {}", self.score(beta)),
            Cutoff::Misprint => "β = -∞".to_owned(),
        }
    }
}

/// Returns the name of a side of the search.
pub(crate) fn role(is_max: bool) -> &'static str {
    if is_max { "MAX" } else { "MIN" }
}

/// Longer names of sides leave too little room.
const SHORT: usize = 8;

/// Describes the end of a game in a word or two.
pub(crate) fn end<P: Position>(winner: Option<Side>, max: Side) -> String {
    match winner.map(|side| (side, P::side_name(side))) {
        None => "draw".to_owned(),
        Some((_, name)) if name.len() <= SHORT => format!("{name} wins"),
        Some((side, _)) => format!("{} wins", role(side == max)),
    }
}

/// Returns the choosing side: MAX or MIN, with the side's name if it is short.
pub(crate) fn chooser<P: Position>(side: Side, is_max: bool) -> String {
    match P::side_name(side) {
        name if name.len() <= SHORT => format!("{} ({name})", role(is_max)),
        _ => role(is_max).to_owned(),
    }
}
