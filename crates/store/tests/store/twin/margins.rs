//! Margins of wins, recomputed unit by unit.

use std::collections::BTreeMap;

use spelrum_answers::CellMargin;
use spelrum_model::{CellId, PlayedGame};
use spelrum_statistics::MarginSums;

use super::{Cell, State};

impl State {
    /// The mean margin of a cell's counted games, over pairs (games where sides are fixed), or over openings.
    pub(super) fn margin(
        &self,
        id: CellId,
        cell: &Cell,
        over_openings: bool,
    ) -> Option<CellMargin> {
        let mut units: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        for (_, game) in self.counted_of(id) {
            let number = game.game.number;
            let unit = match (over_openings, cell.swap_sides) {
                (true, _) => cell.opening_number(number),
                (false, true) => number / 2,
                (false, false) => number,
            };
            units.entry(unit).or_default().extend(cell.margin(game));
        }
        let mut sums = MarginSums::default();
        for margins in units.values() {
            sums.add(margins.len() as u64, margins.iter().sum());
        }
        let games = units.values().map(|margins| margins.len() as u64).sum();
        Some(CellMargin { games, mean: sums.mean()? })
    }
}

impl Cell {
    /// A game's margin from the first player's view.
    pub(super) fn margin(&self, game: &PlayedGame) -> Option<i64> {
        let margin = i64::from(game.record.margin?);
        Some(if self.first_player_moves_first(game.game.number) { margin } else { -margin })
    }
}
