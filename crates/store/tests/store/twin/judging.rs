//! Results over all cells or all games of an experiment.

use std::collections::BTreeMap;

use spelrum_answers::{
    CellsToCompare, Clusters, ColourResult, Comparisons, GamesToRate, MoverCounts, Ratings,
};
use spelrum_model::{CellId, ExperimentId, PlayedGame};
use spelrum_statistics::OpeningCounts;

use super::{Cell, State};
use spelrum_store::StoreError;

impl Cell {
    /// Counts of these games for the first player, moving first and moving second.
    pub(super) fn colours(
        &self,
        games: &[(i64, &PlayedGame)],
        by_mover: &MoverCounts,
    ) -> [ColourResult; 2] {
        [true, false].map(|moving_first| {
            let games_with = |half_points: usize| {
                let games = games.iter().filter(|(_, game)| {
                    self.first_player_moves_first(game.game.number) == moving_first
                        && self.half_points(game) == half_points
                });
                games.count() as u64
            };
            let by_opening = &by_mover.of_player[usize::from(!moving_first)];
            ColourResult::new([games_with(2), games_with(1), games_with(0)], by_opening)
        })
    }
}

impl State {
    /// Results of the first mover in these cells' games, by opening: cells with equal conditions share openings.
    pub(super) fn first_mover_of_all(&self, cells: &[(CellId, &Cell)]) -> OpeningCounts {
        let mut by_opening: BTreeMap<(&str, u64), [u64; 2]> = BTreeMap::new();
        for &(id, cell) in cells {
            for sums in self.openings(id, cell) {
                let key = (&*cell.definition_prefix, sums.opening_number);
                let [games, half_points] = by_opening.entry(key).or_default();
                *games += sums.games;
                *half_points += sums.first_mover_half_points;
            }
        }
        let mut all = OpeningCounts::default();
        for [games, half_points] in by_opening.into_values() {
            all.insert(games, half_points);
        }
        all
    }

    pub(super) fn comparisons(&self, id: ExperimentId) -> Comparisons {
        let experiment = &self.experiments[&id];
        let places = self.places(id);
        let mut cells = CellsToCompare::on(&experiment.axes);
        for (cell, its) in self.cells_of(id) {
            let result = self.result(cell, its, &places);
            cells.cell(&result, &its.definition_prefix, &self.openings(cell, its));
        }
        cells.compare(self.summary(id, experiment))
    }

    pub(super) fn ratings(&self, id: ExperimentId) -> Result<Ratings, StoreError> {
        let experiment = &self.experiments[&id];
        let games_by = |clusters| {
            let mut games = GamesToRate::on(&experiment.axes, clusters);
            // Openings are numbered in order of first appearance.
            let mut openings = Vec::new();
            let places = self.places(id);
            for (cell, its) in self.cells_of(id) {
                let [player, mut opponent] = its.player_names.clone();
                if its.players[0] == its.players[1] {
                    opponent.clone_from(&player);
                }
                games.cell(&places.values(cell), player, opponent);
                let mut counted = self.counted_of(cell);
                counted.sort_by_key(|(_, game)| game.game.number);
                for (_, game) in counted {
                    let number = game.game.number;
                    let cluster = match clusters {
                        Clusters::Openings => {
                            let opening = &game.opening;
                            let known = openings.iter().position(|known| known == opening);
                            known.unwrap_or_else(|| {
                                openings.push(opening.clone());
                                openings.len() - 1
                            }) as i64
                        }
                        Clusters::Pairs => (number / (1 + u64::from(its.swap_sides))) as i64,
                    };
                    let player_first = its.first_player_moves_first(number);
                    games.game(cluster, player_first, game.record.outcome);
                }
            }
            games
        };
        let mut games = games_by(Clusters::Openings);
        if games.has_one_opening() {
            games = games_by(Clusters::Pairs);
        }
        let anchors = experiment.anchors.iter().cloned().collect();
        let rated = games.rate(self.summary(id, experiment), &anchors);
        rated.map_err(|limit| StoreError::ManyToRate { limit })
    }
}
