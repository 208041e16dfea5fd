//! Workers' speed measurements, and the scaling of time limits by them.

use spelrum_answers::{PlayedOn, Scaled};
use spelrum_model::speed::{Scaling, Speed};
use spelrum_model::{CellId, ExperimentId, WorkerId};

use super::{Cell, Settled, State};
use spelrum_store::decisions::{APART_US, is_known, measured_unix_us};
use spelrum_store::unix_now_us;

impl State {
    /// Scaling of time limits in the counted games of these cells.
    pub(super) fn scaled_of(&self, cells: &[(CellId, &Cell)], scaling: Option<Scaling>) -> Scaled {
        let mut scaled = Scaled { scaling, cells: Vec::new() };
        let mut cells: Vec<CellId> = cells.iter().map(|(cell, _)| *cell).collect();
        cells.sort();
        for cell in cells {
            for (_, game) in self.counted_of(cell) {
                if let Some(scaled_time) = game.scaled {
                    scaled.add(cell, scaled_time.factor_permille, 1);
                }
            }
        }
        scaled
    }

    /// An experiment's counted timed games by the kind of slot that played them.
    pub(super) fn played_on(&self, id: ExperimentId) -> PlayedOn {
        let mut played = PlayedOn::default();
        let timed = self.cells.iter().filter(|(_, cell)| cell.experiment == id && cell.timed);
        for (_, game) in timed.flat_map(|(&cell, _)| self.counted_of(cell)) {
            let Some(Settled::Played { worker, .. }) = self.games.get(&game.game) else { continue };
            let known = self.workers.values().find(|worker_row| worker_row.id == *worker);
            let games =
                match known.and_then(|worker_row| worker_row.introduction.machine.quiet_slots) {
                    None => &mut played.unknown,
                    Some(0) => &mut played.others,
                    Some(_) => &mut played.quiet,
                };
            *games += 1;
        }
        played
    }

    /// Keeps a worker's measurements, unless they repeat its last ones.
    pub(super) fn store_speeds(&mut self, worker: WorkerId, speeds: &[Speed]) {
        for speed in speeds.iter().filter(|speed| is_known(&speed.game)) {
            let measured = measured_unix_us(speed, unix_now_us());
            let ageless = Speed { age_ms: 0, ..speed.clone() };
            let its = self.speeds.entry((worker, speed.game.clone())).or_default();
            let is_told_again =
                |(at, last): &(i64, Speed)| *at > measured - APART_US || *last == ageless;
            if !its.last().is_some_and(is_told_again) {
                its.push((measured, ageless));
            }
        }
    }
}
