//! `timing`: which timed games are disturbed.

use super::fault::Fault;
use super::keys::{self, timing::TIMING};
use super::stop::number;
use super::tree::Node;
use crate::disturbance::Timing;

const EXAMPLE: &str = "timing = { disturbed_above = 0.05 }";

/// Reads `timing`.
pub(super) fn read(node: &Node) -> Result<Timing, Fault> {
    let table = node.table("`timing`", EXAMPLE)?;
    keys::check(table, "`timing`", &TIMING)?;
    let usual = Timing::default();
    let disturbed_above = match table.get("disturbed_above") {
        None => usual.disturbed_above,
        Some(entry) => share(&entry.value)?,
    };
    Ok(Timing { disturbed_above })
}

fn share(node: &Node) -> Result<f64, Fault> {
    let share = number(node, "`disturbed_above`", EXAMPLE)?;
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(Fault::at(
        &node.place,
        format!("`disturbed_above` is {share}"),
        "it is a share of the players' time from 0 to 1, such as 0.05; with 1 no game is disturbed",
    ))
}
