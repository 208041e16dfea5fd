//! The engine's enumerations on the wire.

use spelrum_engine::{Outcome, Side};

use crate::v1;

/// An outcome on the wire.
#[must_use]
pub const fn outcome_to_wire(outcome: Outcome) -> v1::Outcome {
    match outcome {
        Outcome::Win => v1::Outcome::Win,
        Outcome::Draw => v1::Outcome::Draw,
        Outcome::Loss => v1::Outcome::Loss,
    }
}

/// An outcome from the wire; `None` for an unspecified one.
#[must_use]
pub const fn outcome_from_wire(outcome: v1::Outcome) -> Option<Outcome> {
    match outcome {
        v1::Outcome::Unspecified => None,
        v1::Outcome::Win => Some(Outcome::Win),
        v1::Outcome::Draw => Some(Outcome::Draw),
        v1::Outcome::Loss => Some(Outcome::Loss),
    }
}

/// A side of a game on the wire.
#[must_use]
pub const fn side_to_wire(side: Side) -> v1::Side {
    match side {
        Side::First => v1::Side::First,
        Side::Second => v1::Side::Second,
    }
}

/// A side of a game from the wire; `None` for an unspecified one.
#[must_use]
pub const fn side_from_wire(side: v1::Side) -> Option<Side> {
    match side {
        v1::Side::Unspecified => None,
        v1::Side::First => Some(Side::First),
        v1::Side::Second => Some(Side::Second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerations_read_back() {
        for outcome in [Outcome::Win, Outcome::Draw, Outcome::Loss] {
            assert_eq!(outcome_from_wire(outcome_to_wire(outcome)), Some(outcome));
        }
        for side in [Side::First, Side::Second] {
            assert_eq!(side_from_wire(side_to_wire(side)), Some(side));
        }
        assert_eq!(side_from_wire(v1::Side::Unspecified), None);
        assert_eq!(outcome_from_wire(v1::Outcome::Unspecified), None);
    }
}
