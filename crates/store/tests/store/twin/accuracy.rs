//! How well players choose, recomputed from every choice.

use std::collections::BTreeMap;

use spelrum_answers::{CellAccuracy, Stratum, reference_text, says_who_wins};
use spelrum_engine::MoveValue;
use spelrum_model::{CellId, DefinitionJson, PlayedGame, Task};
use spelrum_statistics::choice::{AccuracySums, Choice};

use super::{Cell, Settled, State};

impl State {
    /// Accuracy of cells, in grid order.
    pub(super) fn accuracy(&self, cells: &[(CellId, &Cell)]) -> Vec<CellAccuracy> {
        let mut strata = Vec::new();
        for &(id, cell) in cells {
            let Some(definition) = DefinitionJson::conditions_of(&cell.definition_prefix) else {
                continue;
            };
            if definition.task == Task::Game {
                continue;
            }
            let says_who_wins = says_who_wins(&cell.players[1]);
            let mut sums: BTreeMap<Option<u32>, AccuracySums> = BTreeMap::new();
            for (_, game) in self.counted_of(id) {
                let values = self.values(cell, game);
                let mv = game.record.moves.first().map(|mv| &mv.mv);
                let chosen = values.iter().position(|value| Some(&value.mv) == mv);
                let list: Vec<i64> = values.iter().map(|value| value.value).collect();
                if let Some(choice) = chosen.and_then(|chosen| Choice::new(&list, chosen)) {
                    let plies = definition.openings.plies_of(game.game.number);
                    sums.entry(plies).or_default().add(&choice, says_who_wins);
                }
            }
            let reference = reference_text(&cell.players[1]);
            strata.extend(sums.into_iter().map(|(plies, sums)| Stratum {
                cell: id,
                reference: reference.clone(),
                plies,
                sums,
            }));
        }
        CellAccuracy::from_strata(&strata)
    }

    /// The values of the moves in a choice's position: as first reported, in any cell.
    fn values(&self, chooser: &Cell, game: &PlayedGame) -> Vec<MoveValue> {
        let chosen_values = |settled: &Settled| {
            let Settled::Played { id, game: other, .. } = settled else { return None };
            let cell = self.cells.get(&other.game.cell)?;
            let is_same = cell.definition_prefix == chooser.definition_prefix
                && cell.players[1] == chooser.players[1]
                && other.opening == game.opening
                && other.engine_revision == game.engine_revision
                && !other.values.is_empty();
            is_same.then(|| (*id, other.values.clone()))
        };
        let first = self.games.values().filter_map(chosen_values).min_by_key(|(id, _)| *id);
        first.map(|(_, values)| values).unwrap_or_default()
    }
}
