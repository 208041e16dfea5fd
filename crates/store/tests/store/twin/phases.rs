//! Time per move by game phase, move by move.

use spelrum_answers::{CellPhases, PhaseCounter, PhaseSums, PhaseUnit, Phases};
use spelrum_engine::EndedBy;
use spelrum_model::{ExperimentId, Record};

use super::{Settled, State};

impl State {
    pub(super) fn phases(&self, id: ExperimentId) -> Phases {
        let experiment = &self.experiments[&id];
        let unit = PhaseUnit::from_game_name(&experiment.game);
        let moves_recorded = experiment.settings.record == Record::Moves;
        let places = self.places(id);
        let mut cells = Vec::new();
        for (cell, its) in self.cells_of(id) {
            let Some(phases_of) = PhaseCounter::from_prefix(&its.definition_prefix) else {
                continue;
            };
            let mut sums = PhaseSums::default();
            for (_, game) in self.counted_of(cell) {
                let settled = &self.games[&game.game];
                if !moves_recorded || !matches!(settled, Settled::Played { has_moves: true, .. }) {
                    continue;
                }
                let moves_first = its.first_player_moves_first(game.game.number);
                for (ply, mv) in (0..).zip(&game.record.moves) {
                    if mv.search.ended_by == EndedBy::OnlyMove {
                        continue;
                    }
                    let mover = usize::from((mv.mover == 0) != moves_first);
                    // A player that meets itself is one player.
                    let player = if its.players[0] == its.players[1] { 0 } else { mover };
                    let phase = phases_of.phase(Some(&game.opening), ply);
                    sums.add(phase, player, 1, mv.wall_us as f64);
                }
            }
            let phases = sums.times(unit);
            if !phases.is_empty() {
                let [player, opponent] = its.player_names.clone();
                cells.push(CellPhases {
                    cell,
                    axes: places.values(cell),
                    player,
                    opponent,
                    phases,
                });
            }
        }
        let (experiment, axes) = (self.summary(id, experiment), places.into_axes());
        Phases { experiment, axes, unit, moves_recorded, cells }
    }
}
