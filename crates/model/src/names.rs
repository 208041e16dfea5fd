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
pub const fn of_ended_by(ended_by: EndedBy) -> &'static str {
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
    ENDS.into_iter().find(|&it| of_ended_by(it) == name)
}

/// The name of an outcome.
#[must_use]
pub const fn of_outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "win",
        Outcome::Draw => "draw",
        Outcome::Loss => "loss",
    }
}

/// The outcome with this name.
#[must_use]
pub fn outcome(name: &str) -> Option<Outcome> {
    [Outcome::Win, Outcome::Draw, Outcome::Loss].into_iter().find(|&it| of_outcome(it) == name)
}

/// The name of a side of a game.
#[must_use]
pub const fn of_side(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// The side with this name.
#[must_use]
pub fn side(name: &str) -> Option<Side> {
    [Side::First, Side::Second].into_iter().find(|&it| of_side(it) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the engine's own serde names: a differing name here, or a variant missing in the tables above,
    /// fails.
    #[test]
    fn names_are_the_engines_and_read_back() {
        for it in ENDS {
            assert_eq!(serde_json::to_value(it).unwrap(), of_ended_by(it));
            assert_eq!(ended_by(of_ended_by(it)), Some(it));
        }
        for it in [Outcome::Win, Outcome::Draw, Outcome::Loss] {
            assert_eq!(serde_json::to_value(it).unwrap(), of_outcome(it));
            assert_eq!(outcome(of_outcome(it)), Some(it));
        }
        for it in [Side::First, Side::Second] {
            assert_eq!(side(of_side(it)), Some(it));
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
