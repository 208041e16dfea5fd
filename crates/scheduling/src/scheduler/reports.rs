//! Handling leased games: renewal, settlement, return and loss.

use std::collections::BTreeMap;

use spelrum_model::{ExperimentId, GameId, GameRange, LeaseId, WorkerId};

use super::api::{Effect, LeaseEnd, Report, Verdict};
use super::attempts::Next;
use super::cells::{Cell, Place};
use super::forfeits::EngineGame;
use super::leases::Lease;
use super::machine::{Facts, Scheduler};
use crate::stopping::Settled;

/// The message of a failed game is cut to this length.
const MESSAGE_BYTES_MAX: usize = 4_096;

impl Scheduler {
    /// Renews the leases that the heartbeat names, and no other (invariant 6).
    pub(super) fn heartbeat(
        &mut self,
        worker: WorkerId,
        leases: &[LeaseId],
        playing: &[GameId],
    ) -> Effect {
        self.conduct.record_contact(worker, self.now);
        let deadline = self.deadline();
        let ended = leases.iter().filter(|&&id| !self.leases.renew(id, worker, deadline));
        let effect = Effect::Drop { worker, leases: ended.copied().collect() };
        for &game in playing {
            let Some(cell) = self.cells.get(&game.cell) else { continue };
            let Place::Leased(holder) = cell.place(game.number) else { continue };
            // Skips games that another worker holds by now.
            if let Some(lease) = self.leases.get_mut(holder).filter(|l| l.worker == worker) {
                lease.started.insert(game);
            }
        }
        effect
    }

    /// The first of the games that are asked for and that their workers have reported as started, by cell and number,
    /// with the experiment and the worker of each; and the number of all such games.
    #[must_use]
    pub fn under_way(
        &self,
        is_asked: impl Fn(ExperimentId, GameId) -> bool,
        games_max: usize,
    ) -> (Vec<(ExperimentId, GameId, WorkerId)>, u64) {
        let (mut first, mut total) = (BTreeMap::new(), 0);
        for (_, lease) in self.leases.iter() {
            let Lease { experiment, worker, .. } = *lease;
            for &game in lease.started.iter().filter(|&&game| is_asked(experiment, game)) {
                total += 1;
                first.insert(game, (experiment, worker));
                if first.len() > games_max {
                    first.pop_last();
                }
            }
        }
        let first =
            first.into_iter().map(|(game, (experiment, worker))| (experiment, game, worker));
        (first.collect(), total)
    }

    /// Takes games back at no cost to them.
    pub(super) fn given_back(&mut self, worker: WorkerId, id: LeaseId, effects: &mut Vec<Effect>) {
        if self.leases.get(id).is_some_and(|lease| lease.worker == worker)
            && let Some(lease) = self.end_lease(id, LeaseEnd::GivenBack)
        {
            self.return_games(id, &lease.granted);
            self.finish_if_settled(lease.experiment, effects);
        }
    }

    /// Ends the leases of a worker that gets no more games, of one experiment or of all, at no cost to the games.
    pub(super) fn take_leases(
        &mut self,
        worker: WorkerId,
        experiment: Option<ExperimentId>,
        effects: &mut Vec<Effect>,
    ) {
        let is_selected =
            |lease: &Lease| experiment.is_none_or(|experiment| experiment == lease.experiment);
        let leases = self.leases.ids_held_by(worker, is_selected);
        self.end_leases(leases, effects);
    }

    /// Ends leases, at no cost to their games.
    pub(super) fn end_leases(&mut self, leases: Vec<LeaseId>, effects: &mut Vec<Effect>) {
        for id in leases {
            if let Some(lease) = self.end_lease(id, LeaseEnd::Cancelled) {
                self.return_games(id, &lease.granted);
                self.finish_if_settled(lease.experiment, effects);
            }
        }
    }

    /// Ends every lease whose deadline has come.
    pub(super) fn expire(&mut self, effects: &mut Vec<Effect>) {
        while let Some(id) = self.leases.due(self.now) {
            let Some(lease) = self.end_lease(id, LeaseEnd::Expired) else { break };
            let alone = lease.alone();
            for &game in &lease.started {
                self.attempts.lost(game, alone);
            }
            for range in self.return_games(id, &lease.granted) {
                self.attempts.lost_with_lease(range);
            }
            for &game in &lease.started {
                if self.attempts.next(game, &self.policy) == Next::GiveUp {
                    let times = self.attempts.lost_alone(game);
                    let message =
                        format!("lost {times} times with the worker that played it alone");
                    self.settle_failed(game, message, effects);
                }
            }
            self.finish_if_settled(lease.experiment, effects);
        }
    }

    /// Decides where a result goes (invariants 4 and 6).
    pub(super) fn reported(
        &mut self,
        worker: WorkerId,
        lease: LeaseId,
        game: GameId,
        report: Report,
        facts: Facts,
        effects: &mut Vec<Effect>,
    ) {
        let verdict = self.verdict(worker, game, &report, facts);
        effects.push(Effect::Verdict { game, verdict });
        match (verdict, report) {
            (Verdict::Counts, Report::Trained) => self.settle(game, Settled::Failed, effects),
            (Verdict::Counts, Report::Verified) => {
                self.played_well(game, worker, effects);
                self.settle(game, Settled::Failed, effects);
            }
            (Verdict::Counts, Report::Played { wall_us, points, moves_hash, forfeit }) => {
                // Otherwise a worker that fails at once would get ever more games.
                if forfeit.is_none() {
                    self.measure(game, wall_us);
                }
                let of_first_player = |cell: &Cell| cell.first_players(game.number, points);
                let points = self.cells.get(&game.cell).map_or(points, of_first_player);
                self.played_well(game, worker, effects);
                self.settle(game, Settled::Played(points, moves_hash), effects);
                let forfeit = forfeit.as_ref().map(|(engine, plies)| (engine.as_str(), *plies));
                let game = EngineGame { worker, cell: game.cell, forfeit };
                self.played_with_engines(&game, effects);
            }
            (Verdict::Noted, Report::Failed { message }) => {
                self.failed(worker, lease, game, message, effects);
            }
            (Verdict::Refused, Report::Irregular) | (Verdict::Disturbed, Report::Disturbed) => {
                self.take_back(worker, lease, game);
                self.finish_if_idle(game, effects);
            }
            (
                _,
                Report::Played { .. }
                | Report::Disturbed
                | Report::Trained
                | Report::Verified
                | Report::Failed { .. }
                | Report::Irregular,
            ) => {}
        }
    }

    /// Records a game's measured time.
    fn measure(&mut self, game: GameId, wall_us: u64) {
        self.change_cell(game.cell, |cell| cell.measure(wall_us));
        let owner = self.cells.get(&game.cell).map(|cell| cell.experiment());
        if let Some(experiment) = owner.and_then(|id| self.experiments.get_mut(&id)) {
            experiment.measure(wall_us);
        }
    }

    fn verdict(&self, worker: WorkerId, game: GameId, report: &Report, facts: Facts) -> Verdict {
        if !facts.leased {
            return Verdict::Rejected;
        }
        if *report == Report::Irregular {
            return Verdict::Refused;
        }
        if self.is_excluded(worker, game) {
            return Verdict::Excluded;
        }
        if facts.settled {
            return Verdict::Again;
        }
        // Experiments that are over are forgotten. A finished one has only settled games, except in cells
        // that its sweep no longer names: their late results are not waited for.
        let Some(cell) = self.cells.get(&game.cell) else { return Verdict::AfterCancel };
        match (cell.place(game.number), report) {
            (Place::NeverLeased, _) => Verdict::Rejected,
            (Place::Settled, _) => Verdict::Again,
            _ if self.is_over(cell.experiment()) => Verdict::AfterCancel,
            (_, Report::Played { .. } | Report::Trained | Report::Verified) => Verdict::Counts,
            (_, Report::Disturbed) => Verdict::Disturbed,
            (_, Report::Failed { .. } | Report::Irregular) => Verdict::Noted,
        }
    }

    /// A failure costs an attempt if its lease still held the game: a failure repeated after a lost reply, or
    /// one that arrives after the loss was recorded, costs nothing.
    fn failed(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        game: GameId,
        mut message: String,
        effects: &mut Vec<Effect>,
    ) {
        if !self.holds(worker, id, game) {
            return;
        }
        // Before the return: the number of failures decides where it goes.
        self.attempts.failed(game);
        self.conduct.failed(game, worker, self.now, &self.policy);
        self.take_back(worker, id, game);
        if self.attempts.next(game, &self.policy) == Next::GiveUp {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
            self.settle_failed(game, message, effects);
        }
        self.finish_if_idle(game, effects);
    }

    /// Whether a lease of this worker holds the game now.
    fn holds(&self, worker: WorkerId, id: LeaseId, game: GameId) -> bool {
        let held = self.cells.get(&game.cell).map(|cell| cell.place(game.number));
        let its = self.leases.get(id).is_some_and(|lease| lease.worker == worker);
        its && held == Some(Place::Leased(id))
    }

    /// Takes one game back from this lease, if it holds the game, for replay.
    fn take_back(&mut self, worker: WorkerId, id: LeaseId, game: GameId) {
        if self.holds(worker, id, game) {
            self.return_games(id, &[GameRange { cell: game.cell, first: game.number, count: 1 }]);
            self.leave_lease(id, game);
        }
    }

    /// It may have been the last leased game of a cell out of the sweep.
    fn finish_if_idle(&mut self, game: GameId, effects: &mut Vec<Effect>) {
        if let Some(owner) = self.cells.get(&game.cell).map(Cell::experiment) {
            self.finish_if_settled(owner, effects);
        }
    }

    fn settle_failed(&mut self, game: GameId, message: String, effects: &mut Vec<Effect>) {
        effects.push(Effect::SettleFailed { game, message });
        self.settle(game, Settled::Failed, effects);
    }

    /// Gives a game its final result, wherever it is.
    fn settle(&mut self, game: GameId, settled: Settled, effects: &mut Vec<Effect>) {
        let Some(owner) = self.cells.get(&game.cell).map(|cell| cell.experiment()) else { return };
        if let Some(experiment) = self.experiments.get_mut(&owner) {
            experiment.take_apart(game);
        }
        let ended = |cell: &mut Cell| {
            let end = cell.end();
            let place = cell.settle(game.number, settled);
            (place, cell.end() != end)
        };
        let (place, ends_elsewhere) =
            self.change_cell(game.cell, ended).map_or((None, false), |(p, e)| (Some(p), e));
        if ends_elsewhere {
            self.place_apart(game.cell);
        }
        debug_assert!(
            !matches!(place, None | Some(Place::Settled | Place::NeverLeased)),
            "invariant 4: {game:?} is settled twice or was never leased"
        );
        self.attempts.settled(game);
        self.conduct.settled(game);
        if let Some(Place::Leased(lease)) = place {
            self.leave_lease(lease, game);
        }
        self.finish_if_settled(owner, effects);
    }

    /// Removes a game from a lease after its cell has done so.
    fn leave_lease(&mut self, id: LeaseId, game: GameId) {
        let Some(lease) = self.leases.get_mut(id) else { return };
        lease.started.remove(&game);
        lease.outstanding -= 1;
        if lease.outstanding == 0 {
            self.end_lease(id, LeaseEnd::Finished);
        }
    }

    /// Puts the outstanding games among these of a lease back, each where it belongs, and returns them.
    pub(super) fn return_games(&mut self, id: LeaseId, ranges: &[GameRange]) -> Vec<GameRange> {
        let mut returned = Vec::new();
        for range in ranges {
            let Some(cell) = self.cells.get(&range.cell) else { continue };
            for part in cell.outstanding(range, id) {
                let first = part.start;
                let count = part.end - first;
                self.change_cell(range.cell, |cell| cell.give_back(part));
                let part = GameRange { cell: range.cell, first, count };
                for game in self.attempts.set_apart(part, &self.policy) {
                    self.set_apart(game);
                }
                returned.push(part);
            }
        }
        returned
    }
}
