//! Differences between cells that differ in one respect: the value on one axis, or a player.

use std::collections::BTreeMap;

use super::along::{lines, without};
use super::{ComparedCell, Values, by_pairing};
use crate::{Clustered, Interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most differences returned: a round robin of 100 players has 9,800.
pub const DIFFERENCES_MAX: usize = 10_000;

/// The gain of a player's score in one cell over another that differs in one respect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference<Cell> {
    /// The cell, and the cell it is compared with.
    pub cells: [Cell; 2],
    /// The difference between the cells.
    pub changed: Changed,
    /// The values on the axes shared by both.
    pub place: Vec<Option<String>>,
    /// The scored player. If players are compared, the name of the first cell's.
    pub player: String,
    /// The opponent's name.
    pub opponent: String,
    /// The number of openings from which both have pairs (games if sides are fixed).
    pub openings_shared: u64,
    /// The difference in points per game.
    pub score: f64,
    /// Its 95% interval, within -1..=1; `None` with too few openings.
    pub interval: Option<Interval>,
}

/// The respect in which two cells differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Changed {
    /// The value on an axis.
    Axis {
        /// The axis's index.
        axis: usize,
        /// The value of the other cell.
        from: String,
        /// The value of the cell.
        to: String,
    },
    /// The player that meets the opponent.
    Player {
        /// The other cell's player.
        from: String,
    },
}

/// The differences between neighbours on each axis (from the next lower value if values are numbers, else from the
/// first value), then those between players that meet the same opponent (from the first of them). Cells come in the
/// grid's order, and axes by index. Returns at most [`DIFFERENCES_MAX`], and whether there were more.
#[must_use]
pub fn differences<Cell: Copy>(
    axes: &[usize],
    cells: &[ComparedCell<Cell>],
) -> (Vec<Difference<Cell>>, bool) {
    let mut all: Vec<Difference<Cell>> = Vec::new();
    for pairing in by_pairing(cells) {
        for &axis in axes {
            along(axis, &pairing, &mut all);
            if all.len() > DIFFERENCES_MAX {
                all.truncate(DIFFERENCES_MAX);
                return (all, true);
            }
        }
    }
    between_players(cells, &mut all);
    let is_truncated = all.len() > DIFFERENCES_MAX;
    all.truncate(DIFFERENCES_MAX);
    (all, is_truncated)
}

fn along<Cell: Copy>(
    axis: usize,
    pairing: &[&ComparedCell<Cell>],
    all: &mut Vec<Difference<Cell>>,
) {
    let values = Values::on(axis, pairing);
    if values.len() < 2 {
        return;
    }
    for line in lines(axis, pairing, &values) {
        for (index, &(place, cell)) in line.iter().enumerate().skip(1) {
            let before = if values.are_numbers { index - 1 } else { 0 };
            let (from, other) = line[before];
            all.push(Difference::new(
                [cell, other],
                Changed::Axis { axis, from: values.at(from), to: values.at(place) },
                (cell.player.clone(), cell.opponent.clone()),
                without(axis, &cell.place),
                [cell.score.clone(), other.score.clone()],
            ));
        }
    }
}

fn between_players<Cell: Copy>(cells: &[ComparedCell<Cell>], all: &mut Vec<Difference<Cell>>) {
    // Players that met an opponent at one place, each once, in the order of cells.
    type Met<'a, Cell> = Vec<(&'a str, &'a ComparedCell<Cell>, bool)>;
    let mut places: BTreeMap<(&str, &[Option<String>]), usize> = BTreeMap::new();
    let mut meetings: Vec<(&str, Met<'_, Cell>)> = Vec::new();
    for cell in cells {
        for (player, opponent, is_first) in
            [(&cell.player, &cell.opponent, true), (&cell.opponent, &cell.player, false)]
        {
            let next = meetings.len();
            let place = *places.entry((opponent, &cell.place)).or_insert(next);
            if place == next {
                meetings.push((opponent, Vec::new()));
            }
            let met = &mut meetings[place].1;
            if met.iter().all(|(known, ..)| *known != player.as_str()) {
                met.push((player, cell, is_first));
            }
        }
    }
    for (opponent, met) in meetings {
        let seen = |cell: &ComparedCell<Cell>, is_first: bool| match is_first {
            true => cell.score.clone(),
            false => cell.score.seen_by_opponent(),
        };
        let Some(&(from, other, other_first)) = met.first() else { continue };
        for &(player, cell, is_first) in &met[1..] {
            all.push(Difference::new(
                [cell, other],
                Changed::Player { from: from.to_owned() },
                (player.to_owned(), opponent.to_owned()),
                cell.place.clone(),
                [seen(cell, is_first), seen(other, other_first)],
            ));
            if all.len() > DIFFERENCES_MAX {
                return;
            }
        }
    }
}

impl<Cell: Copy> Difference<Cell> {
    fn new(
        cells: [&ComparedCell<Cell>; 2],
        changed: Changed,
        (player, opponent): (String, String),
        place: Vec<Option<String>>,
        [score, other]: [Clustered; 2],
    ) -> Self {
        let difference = score.minus(&other);
        Self {
            cells: cells.map(|cell| cell.cell),
            changed,
            place,
            player,
            opponent,
            openings_shared: score.openings_shared(&other),
            score: difference.value(),
            interval: difference.interval().map(|interval| interval.clamped(-1.0, 1.0)),
        }
    }
}
