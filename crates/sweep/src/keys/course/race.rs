//! The keys of `race`.

use spelrum_statistics::racing::RACE_ERROR_MAX;

use super::STEPS_MAX;
use crate::forms;
use crate::key::{Key, Keys, Number, Own, Swept, Whole};

pub(crate) const RACE_ROUNDS: Key<Swept<Whole<u64>>> = Key::new(
    "rounds",
    "Rounds",
    "The most rounds: in each, every player that may still be first plays `games` games in each of its pairings.",
    Swept(Whole { min: 1, max: Some(STEPS_MAX), default: Some(100) }),
);

pub(crate) const RACE_ERROR_RATE: Key<Swept<Number>> = Key::new(
    "error_rate",
    "Error rate",
    "The greatest probability with which a player is called first that is not.",
    Swept(Number::above_0(RACE_ERROR_MAX).or(0.05)),
);

pub(crate) const RACE_WITHIN: Key<Swept<Number>> = Key::new(
    "within",
    "Within",
    "The first may be worse than another player by so many points of a game: of players that are about equal, the \
     race need not find the better. 0 ends the race only once all others are known to be worse.",
    Swept(Number::within(0.0, 0.5).or(0.0)),
);

/// The keys of `race`.
pub(crate) const RACE: Keys = &[
    &Key::new(
        "players",
        "Players",
        "The players that are compared. All have the same opponents in the `pairing`, beside each other.",
        Own(forms::heroes),
    )
    .by_default("every player of the `pairing`"),
    &RACE_ROUNDS,
    &RACE_ERROR_RATE,
    &RACE_WITHIN,
];
