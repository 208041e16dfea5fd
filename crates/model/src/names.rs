//! The stable names of the engine's enumerations: on the wire, in the results database, in output. Those
//! of terminations are the games' own ([`spelrum_engine::termination_named`]).

use spelrum_engine::{EndedBy, Outcome, Side};

/// Everything that ends a search, for parsing names.
const ENDS: [EndedBy; 8] = [
    EndedBy::Depth,
    EndedBy::Nodes,
    EndedBy::Evaluations,
    EndedBy::Generations,
    EndedBy::Simulations,
    EndedBy::Time,
    EndedBy::Proven,
    EndedBy::OnlyMove,
];

/// The name of a search's end.
#[must_use]
pub const fn ended_by_name(ended_by: EndedBy) -> &'static str {
    match ended_by {
        EndedBy::Depth => "depth",
        EndedBy::Nodes => "nodes",
        EndedBy::Evaluations => "evaluations",
        EndedBy::Generations => "generations",
        EndedBy::Simulations => "simulations",
        EndedBy::Time => "time",
        EndedBy::Proven => "proven",
        EndedBy::OnlyMove => "only_move",
    }
}

/// The search's end with this name.
#[must_use]
pub fn ended_by(name: &str) -> Option<EndedBy> {
    ENDS.into_iter().find(|&end| ended_by_name(end) == name)
}

/// The name of an outcome.
#[must_use]
pub const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "win",
        Outcome::Draw => "draw",
        Outcome::Loss => "loss",
    }
}

/// The outcome with this name.
#[must_use]
pub fn outcome(name: &str) -> Option<Outcome> {
    [Outcome::Win, Outcome::Draw, Outcome::Loss]
        .into_iter()
        .find(|&outcome| outcome_name(outcome) == name)
}

/// The name of a side of a game.
#[must_use]
pub const fn side_name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// The side with this name.
#[must_use]
pub fn side(name: &str) -> Option<Side> {
    [Side::First, Side::Second].into_iter().find(|&side| side_name(side) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the engine's own serde names: a differing name here, or a variant missing in the tables above,
    /// fails.
    #[test]
    fn names_are_the_engines_and_read_back() {
        for end in ENDS {
            assert_eq!(serde_json::to_value(end).unwrap(), ended_by_name(end));
            assert_eq!(ended_by(ended_by_name(end)), Some(end));
        }
        for game_outcome in [Outcome::Win, Outcome::Draw, Outcome::Loss] {
            assert_eq!(serde_json::to_value(game_outcome).unwrap(), outcome_name(game_outcome));
            assert_eq!(outcome(outcome_name(game_outcome)), Some(game_outcome));
        }
        for game_side in [Side::First, Side::Second] {
            assert_eq!(side(side_name(game_side)), Some(game_side));
        }
        assert_eq!((side("white"), ended_by(""), outcome("Win")), (None, None, None));
    }

    /// serde's message for an unknown variant lists all of them, so that no table can omit one.
    #[test]
    fn tables_are_complete() {
        let all = serde_json::from_str::<EndedBy>("\"none\"").unwrap_err().to_string();
        assert_eq!(all.matches('`').count() / 2 - 1, ENDS.len(), "{all}");
    }
}
