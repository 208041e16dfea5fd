//! `timing`: which timed games are disturbed, and their treatment.

use spelrum_model::disturbance::Timing;
use spelrum_model::speed::Scaling;
use spelrum_toml::{Fault, Node, Table, did_you_mean};

use crate::keys::{self, timing::TIMING};

const EXAMPLE: &str = "timing = { disturbed_above = 0.05, disturbed = \"replay\" }";

/// Reads `timing`.
pub(super) fn read(node: &Node) -> Result<Timing, Fault> {
    let table = node.table("`timing`", EXAMPLE)?;
    keys::check(table, "`timing`", TIMING)?;
    let usual = Timing::default();
    let disturbed_above = match table.get("disturbed_above") {
        None => usual.disturbed_above,
        Some(entry) => share(&entry.value)?,
    };
    Ok(Timing { disturbed_above, replays_max: replays_max(table)?, scaling: scaling(table)? })
}

fn share(node: &Node) -> Result<f64, Fault> {
    let share = node.number("`disturbed_above`", EXAMPLE)?;
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(Fault::at(
        &node.place,
        format!("`disturbed_above` is {share}"),
        "it is a share of the players' time from 0 to 1, such as 0.05; with 1 no game is disturbed",
    ))
}

/// Scaling of time limits, if any.
fn scaling(table: &Table) -> Result<Option<Scaling>, Fault> {
    const EXAMPLE: &str = "timing = { reference_speed = 30_000_000, factor_max = 4 }";
    let factor_max = table.get("factor_max");
    let Some(entry) = table.get("reference_speed") else {
        return match factor_max {
            None => Ok(None),
            Some(entry) => Err(Fault::at(
                &entry.key_place,
                "time limits are not scaled, so that no factor bounds them",
                "remove `factor_max`, or add the `reference_speed` that `spelrum speed` shows",
            )),
        };
    };
    let nodes = entry.value.integer("`reference_speed`", EXAMPLE)?;
    let reference =
        u64::try_from(nodes).ok().filter(|speed| (1..=Scaling::REFERENCE_MAX).contains(speed));
    let Some(reference) = reference else {
        return Err(Fault::at(
            &entry.value.place,
            format!("`reference_speed` is {nodes}"),
            "it is in nodes per second, such as 30_000_000: `spelrum speed` shows a machine's",
        ));
    };
    let factor_max_permille = match factor_max {
        None => Scaling::FACTOR_MAX_PERMILLE,
        Some(entry) => {
            let factor = entry.value.number("`factor_max`", EXAMPLE)?;
            let permille = (factor * 1_000.0).round();
            if !(1_000.0..=f64::from(Scaling::FACTOR_MOST_PERMILLE)).contains(&permille) {
                return Err(Fault::at(
                    &entry.value.place,
                    format!("`factor_max` is {factor}"),
                    "limits may be scaled by 1 to 100 at most, such as 4",
                ));
            }
            permille as u32
        }
    };
    Ok(Some(Scaling { reference, factor_max_permille }))
}

/// How often a disturbed game is replayed.
fn replays_max(table: &Table) -> Result<u32, Fault> {
    let replays = match table.get("disturbed") {
        None => false,
        Some(entry) => match entry.value.text("`disturbed`", EXAMPLE)? {
            "count" => false,
            "replay" => true,
            other => {
                return Err(Fault::at(
                    &entry.value.place,
                    format!("`disturbed` cannot be \"{other}\""),
                    did_you_mean(other, "choices", ["count", "replay"]),
                ));
            }
        },
    };
    let Some(entry) = table.get("replays_max") else {
        return Ok(if replays { Timing::REPLAYS } else { 0 });
    };
    if !replays {
        return Err(Fault::at(
            &entry.key_place,
            "disturbed games count, so none is played again",
            "remove `replays_max`, or add disturbed = \"replay\"",
        ));
    }
    let times = entry.value.integer("`replays_max`", "replays_max = 2")?;
    match u32::try_from(times) {
        Ok(times) if (1..=Timing::REPLAYS_MAX).contains(&times) => Ok(times),
        Ok(_) | Err(_) => Err(Fault::at(
            &entry.value.place,
            format!("a disturbed game cannot be played again {times} times"),
            format!("choose 1 to {}; or disturbed = \"count\"", Timing::REPLAYS_MAX),
        )),
    }
}
