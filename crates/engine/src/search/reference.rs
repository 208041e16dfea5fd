//! Searches that serve as a reference for the values of moves.

use super::{Budget, Stop};
use crate::core::parameters::Parameters;
use crate::core::position::Position;
use crate::core::problem::{KeyProblem, Problem};

/// Gives every legal move of a position a value that depends on the position alone: not on random
/// numbers, on time, or on what was searched before.
pub(crate) trait Reference<P: Position>: Send {
    /// The value of every legal move of a position that is not over, for the side to move there. `values`
    /// becomes the moves in canonical order, each with its value.
    ///
    /// # Errors
    /// If a limit or the host stops it; the values are then unknown.
    fn move_values(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        values: &mut Vec<(P::Move, i32)>,
    ) -> Result<(), Stop>;
}

const REMEDY: &str = "write `algorithm = \"exact\"`, or `algorithm = \"minimax\"` with a `depth`";

/// The error for a reference of any other algorithm.
pub(super) fn not_of_this_algorithm(name: &str) -> KeyProblem {
    let problem = format!("`{name}` does not give every move of a position a value of its own");
    Problem::of_key("algorithm", problem, REMEDY.to_owned())
}

/// The error for a reference whose search has no depth.
pub(super) fn without_depth() -> KeyProblem {
    Problem::at(
        None,
        "without a `depth` the values of moves depend on where a limit ends the search",
        "give the reference a `depth`, in plies",
    )
}

/// Rejects limits under which the values would not depend on the position alone, or would not be
/// counted as the limit states. A limit on nodes only decides which positions get no values.
pub(super) fn check_limits(parameters: &Parameters) -> Result<(), KeyProblem> {
    for (stored, written, counted) in [
        ("move_time_us", "move_time", "on time"),
        ("clock", "clock", "on time"),
        ("evaluations", "evaluations", "on evaluations"),
    ] {
        if parameters.contains_key(stored) {
            return Err(Problem::of_key(
                written,
                format!("a reference has no limit {counted}: values depend on the position alone"),
                format!(
                    "leave `{written}` out; `nodes` bounds the work on a position, and ends it with an error"
                ),
            ));
        }
    }
    Ok(())
}
