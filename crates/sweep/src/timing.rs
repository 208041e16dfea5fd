//! `timing`: which timed games are disturbed, and their treatment.

use spelrum_model::disturbance::Timing;
use spelrum_model::speed::Scaling;
use spelrum_toml::{Fault, Node, Table};

use crate::key::{self, Key, Keys, Number, Whole, Word};

const EXAMPLE: &str = "timing = { disturbed_above = 0.05, disturbed = \"replay\" }";

/// Reads `timing`.
pub(super) fn read(node: &Node) -> Result<Timing, Fault> {
    let table = node.table("`timing`", EXAMPLE)?;
    key::check(table, "`timing`", TIMING)?;
    Ok(Timing {
        disturbed_above: DISTURBED_ABOVE.read(table)?,
        replays_max: replays_max(table)?,
        scaling: scaling(table)?,
    })
}

/// Scaling of time limits, if any.
fn scaling(table: &Table) -> Result<Option<Scaling>, Fault> {
    match (REFERENCE_SPEED.optional(table)?, table.get(FACTOR_MAX.name)) {
        (None, None) => Ok(None),
        (None, Some(entry)) => Err(Fault::at(
            &entry.key_place,
            "time limits are not scaled, so that no factor bounds them",
            "remove `factor_max`, or add the `reference_speed` that `spelrum speed` shows",
        )),
        (Some(reference), _) => {
            let factor_max_permille = (FACTOR_MAX.read(table)? * 1_000.0).round() as u32;
            Ok(Some(Scaling { reference, factor_max_permille }))
        }
    }
}

/// How often a disturbed game is replayed.
fn replays_max(table: &Table) -> Result<u32, Fault> {
    match table.get(REPLAYS_MAX.name) {
        _ if REPLAYS_DISTURBED.read(table)? => REPLAYS_MAX.read(table),
        None => Ok(0),
        Some(entry) => Err(Fault::at(
            &entry.key_place,
            "disturbed games count, so none is played again",
            "remove `replays_max`, or add disturbed = \"replay\"",
        )),
    }
}

const DISTURBED_ABOVE: Key<Number> = Key::new(
    "disturbed_above",
    "Disturbed above",
    "A timed game counts as [disturbed](timing.md#disturbed-games) if other processes used more than this \
     share of a player's thinking time.",
    Number::within(0.0, 1.0).or(Timing::DISTURBED_ABOVE),
)
.hint("it is a share of the players' time; with 1 no game is disturbed");

const REPLAYS_DISTURBED: Key<Word<bool>> = Key::new(
    "disturbed",
    "Disturbed games",
    "`\"count\"`: disturbed games count, with a mark. `\"replay\"`: they are \
     [replayed](timing.md#playing-again), and the last result counts.",
    Word::first_of(&[("count", false), ("replay", true)]),
);

const REPLAYS_MAX: Key<Whole<u32>> = Key::new(
    "replays_max",
    "Most replays",
    "With `disturbed = \"replay\"`: how often one game is replayed at most.",
    Whole { min: 1, max: Some(Timing::REPLAYS_MAX), default: Some(Timing::REPLAYS) },
)
.hint("or write disturbed = \"count\"");

const REFERENCE_SPEED: Key<Whole<u64>> = Key::new(
    "reference_speed",
    "Reference speed",
    "Time limits are [scaled by the speed of workers](timing.md#limits-that-are-scaled): they are as the \
     sweep says on a worker of this speed (nodes per second; `spelrum speed` shows a machine's), longer \
     on slower workers and shorter on faster ones.",
    Whole { min: 1, max: Some(Scaling::REFERENCE_MAX), default: None },
)
.by_default("not scaled").example("30_000_000").hint("nodes per second, as `spelrum speed` shows them");

const FACTOR_MAX: Key<Number> = Key::new(
    "factor_max",
    "Greatest factor",
    "Scaled time limits last at most so many times as long as the sweep says, and at least the inverse of \
     it.",
    Number::within(1.0, Scaling::FACTOR_MOST_PERMILLE as f64 / 1e3)
        .or(Scaling::FACTOR_MAX_PERMILLE as f64 / 1e3),
);

/// The keys of `timing`.
pub(super) const TIMING: Keys =
    &[&DISTURBED_ABOVE, &REPLAYS_DISTURBED, &REPLAYS_MAX, &REFERENCE_SPEED, &FACTOR_MAX];
