//! The stable names of the engine's enumerations: on the wire, and in the results database. Those of
//! terminations are the games' own ([`spelrum_engine::termination_named`]).

use spelrum_engine::{EndedBy, Outcome, Side};

use crate::v1;

/// Everything that ends a search, for reading names back.
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

/// The name of what ended a search.
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

/// What ended a search, by its name.
#[must_use]
pub fn ended_by(name: &str) -> Option<EndedBy> {
    ENDS.into_iter().find(|&it| of_ended_by(it) == name)
}

/// An outcome on the wire.
#[must_use]
pub const fn of_outcome(outcome: Outcome) -> v1::Outcome {
    match outcome {
        Outcome::Win => v1::Outcome::Win,
        Outcome::Draw => v1::Outcome::Draw,
        Outcome::Loss => v1::Outcome::Loss,
    }
}

/// An outcome from the wire; `None` for an unspecified one.
#[must_use]
pub const fn outcome(outcome: v1::Outcome) -> Option<Outcome> {
    match outcome {
        v1::Outcome::Unspecified => None,
        v1::Outcome::Win => Some(Outcome::Win),
        v1::Outcome::Draw => Some(Outcome::Draw),
        v1::Outcome::Loss => Some(Outcome::Loss),
    }
}

/// A side of a game on the wire.
#[must_use]
pub const fn of_side(side: Side) -> v1::Side {
    match side {
        Side::First => v1::Side::First,
        Side::Second => v1::Side::Second,
    }
}

/// A side of a game from the wire; `None` for an unspecified one.
#[must_use]
pub const fn side(side: v1::Side) -> Option<Side> {
    match side {
        v1::Side::Unspecified => None,
        v1::Side::First => Some(Side::First),
        v1::Side::Second => Some(Side::Second),
    }
}

/// The name of a side in the results database.
#[must_use]
pub const fn side_name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// The side with this name in the results database.
#[must_use]
pub fn side_of_name(name: &str) -> Option<Side> {
    [Side::First, Side::Second].into_iter().find(|&it| side_name(it) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The engine's own serde names are the twin: a name here that differs, or a variant that is
    /// missing in the tables above, fails.
    #[test]
    fn names_are_the_engines_and_read_back() {
        for it in ENDS {
            assert_eq!(serde_json::to_value(it).unwrap(), of_ended_by(it));
            assert_eq!(ended_by(of_ended_by(it)), Some(it));
        }
        for it in [Outcome::Win, Outcome::Draw, Outcome::Loss] {
            assert_eq!(outcome(of_outcome(it)), Some(it));
        }
        for (it, name) in [(Side::First, "first"), (Side::Second, "second")] {
            assert_eq!(side(of_side(it)), Some(it));
            assert_eq!(side_name(it), name);
            assert_eq!(side_of_name(name), Some(it));
        }
        assert_eq!((side(v1::Side::Unspecified), side_of_name("white")), (None, None));
        assert_eq!(ended_by(""), None);
        assert_eq!(outcome(v1::Outcome::Unspecified), None);
    }

    /// serde's message for an unknown variant lists all of them: no table forgets one.
    #[test]
    fn tables_are_complete() {
        let all = serde_json::from_str::<EndedBy>("\"none\"").unwrap_err().to_string();
        assert_eq!(all.matches('`').count() / 2 - 1, ENDS.len(), "{all}");
    }
}
