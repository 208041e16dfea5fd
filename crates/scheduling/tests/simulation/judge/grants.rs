//! Whether a grant, or that there is none, is right.

use std::collections::BTreeSet;
use std::rc::Rc;

use spelrum_model::demands::{Demands, Unmet};
use spelrum_model::withheld::Withheld;
use spelrum_model::{
    Allocation, CellId, ExperimentId, ExperimentState, GameId, GameRange, LeaseId, WorkerId,
};
use spelrum_scheduling::scheduler::{LeaseState, Tasks};

use super::cell::{Cell, Place};
use super::{Judge, Lease, Manner, leases_max};
use crate::engines::has_all;
use crate::labels::lacking;
use crate::machines::{GAME, hoped, lack};
use crate::store::games;
use crate::worker::is_timed;

/// Who was asked for its speed is not asked again sooner.
const ASKED_APART_MS: u64 = 30_000;

impl Judge {
    /// A worker is to measure its speed: it would get games then, of an experiment whose turn is before any of which
    /// it can have games as it is.
    pub(super) fn judge_calibration(&mut self, worker: WorkerId, slots: u32, game: &str) {
        assert_eq!(game, GAME);
        assert!(
            self.leases_held_by(worker).count() < leases_max(slots),
            "invariant 9: leases of a worker"
        );
        let ids: Vec<_> = self.experiments.keys().copied().collect();
        let waits = |id: &&ExperimentId| self.waits_for_speed(**id, worker);
        let waiting: Vec<_> = ids.iter().filter(waits).copied().collect();
        let priority = |id: &ExperimentId| self.experiments[id].0.priority;
        let first = waiting.iter().map(priority).max();
        let first = first.expect("somebody waits for a speed that is not known");
        for id in ids.iter().filter(|id| self.has_games_for(**id, worker)) {
            assert!(priority(id) <= first, "{id} has games, and comes first");
        }
        self.asked.insert(worker, self.now);
    }

    /// Whether the worker would get games of an experiment if it were asked for its speed, and is not to be left alone.
    fn waits_for_speed(&self, experiment: ExperimentId, worker: WorkerId) -> bool {
        let asked = self.asked.get(&worker);
        let may_ask = asked.is_none_or(|&at| self.now >= at + ASKED_APART_MS);
        let hoping = || Self { offer: hoped(&self.offer), ..self.clone() };
        may_ask
            && !self.has_games_for(experiment, worker)
            && hoping().has_games_for(experiment, worker)
    }

    pub(super) fn judge_idle(
        &self,
        worker: WorkerId,
        slots: u32,
        all_done: bool,
        withheld: Option<&Withheld>,
    ) {
        let running = |state: ExperimentState| state == ExperimentState::Running;
        let any_running = self.experiments.values().any(|&(_, state)| running(state));
        assert_eq!(all_done, !any_running, "all_done");
        if let Some(quarantined) = self.quarantined(worker)
            && !self.excluded.contains(&(worker, None))
        {
            assert_eq!(withheld, Some(&quarantined), "{worker} is quarantined");
            return;
        }
        let is_excluded = self.excluded.iter().any(|(excluded, _)| *excluded == worker);
        let says_excluded = withheld == Some(&Withheld::Excluded);
        assert!(!says_excluded || is_excluded, "{worker} is not excluded");
        let everywhere = self.excluded.contains(&(worker, None));
        assert!(says_excluded || !everywhere, "{worker} is not told that it is excluded");
        if self.leases_held_by(worker).count() < leases_max(slots) {
            for &id in self.experiments.keys() {
                assert!(!self.has_games_for(id, worker), "{worker} waits though {id} has games");
                let waits = self.waits_for_speed(id, worker);
                assert!(!waits, "{worker} is not asked for the speed that {id} waits for");
            }
            if !says_excluded {
                let mut lacking = self.lacking(worker);
                let is_period = |unmet: &Unmet| matches!(unmet, Unmet::QuotaPeriod { .. });
                let strictest = lacking.iter().find(|unmet| is_period(unmet)).cloned();
                lacking.retain(|unmet| !is_period(unmet) || strictest.as_ref() == Some(unmet));
                let lacking: Vec<Unmet> = lacking.into_iter().take(8).collect();
                let reported = match withheld {
                    Some(Withheld::Unmet(reported)) => reported.as_slice(),
                    _ => &[],
                };
                assert_eq!(reported, lacking, "what {worker} is told that it lacks");
            }
        }
    }

    /// What the worker that asks lacks of all that could be handed out.
    fn lacking(&self, worker: WorkerId) -> BTreeSet<Unmet> {
        let is_unsettled = |id: &CellId| self.cells.get(id).is_some_and(|cell| !cell.is_done());
        let waits = |cell: &&Rc<Cell>| {
            let is_free = |(number, place): (u64, &Place)| {
                matches!(place, Place::Never | Place::Returned) && cell.hands_out(number)
            };
            self.state(cell.experiment) == Some(ExperimentState::Running)
                && !self.is_excluded(worker, cell.experiment)
                && (0..).zip(&cell.places).any(is_free)
                && !cell.after.iter().any(is_unsettled)
        };
        let demands = self.cells.values().filter(waits).filter_map(|cell| cell.demands.as_ref());
        let lacks = demands.filter_map(|demands| {
            let engines = Demands { engines: demands.engines.clone(), ..Demands::default() };
            let label = lacking(&demands.require, &self.offer.labels).into_iter().next();
            let first = label.map(Unmet::Label).or_else(|| lack(demands, &self.offer));
            let is_told = |first: &Unmet| {
                !matches!(first, Unmet::Measured(_)) && has_all(&engines, &self.offer)
            };
            first.filter(is_told)
        });
        lacks.collect()
    }

    pub(super) fn judge_grant(
        &mut self,
        worker: WorkerId,
        slots: u32,
        id: LeaseId,
        ranges: &[GameRange],
    ) {
        assert!(id > self.last_lease, "invariant 6: lease ids only grow");
        assert!(
            self.leases_held_by(worker).count() < leases_max(slots),
            "invariant 9: leases of a worker"
        );
        assert!(!ranges.is_empty() && ranges.len() <= self.policy.ranges_per_lease_max);
        let granted: BTreeSet<_> = ranges.iter().flat_map(games).collect();
        let count: u64 = ranges.iter().map(|range| range.count).sum();
        assert_eq!(count, granted.len() as u64, "a game twice in one lease");
        assert!((1..=self.policy.games_per_lease_max).contains(&count), "invariant 9: {count}");

        let experiment = self.cells[&ranges[0].cell].experiment;
        let (settings, state) = self.experiments[&experiment];
        assert_eq!(state, ExperimentState::Running);
        assert_eq!(self.quarantined(worker), None, "{worker} is quarantined");
        assert!(!self.is_excluded(worker, experiment), "{worker} is excluded from {experiment}");
        for (&waiting, (other, _)) in &self.experiments {
            let is_larger = other.priority > settings.priority;
            let waits = is_larger && self.has_games_for(waiting, worker);
            assert!(!waits, "{waiting} has a larger priority than {experiment}");
            let waits = is_larger && self.waits_for_speed(waiting, worker);
            assert!(!waits, "{waiting} waits for a speed, and has a larger priority");
        }
        assert!(
            count <= self.room(experiment),
            "{experiment} has more games out than its sweep says"
        );
        let suspect = self.judge_choice(experiment, worker, &granted);
        if settings.allocation == Allocation::Informative
            && self.manner(*granted.first().unwrap()) == Manner::Shared
        {
            self.judge_turn(experiment, ranges[0].cell);
        }

        for &game in &granted {
            self.put(game, Place::Leased(id));
        }
        let lease = Lease {
            worker,
            experiment,
            granted,
            left: BTreeSet::new(),
            started: BTreeSet::new(),
            suspect,
            deadline: self.deadline(),
        };
        self.live.insert(id, Rc::new(lease));
        self.last_lease = id;
        let (granted, outstanding) = (ranges.to_vec(), ranges.to_vec());
        self.granted.push(LeaseState { lease: id, worker, granted, outstanding });
    }

    /// A game that may have killed its worker is named before it is played again; and none other.
    pub(super) fn judge_lost(&self, ranges: &[GameRange], lost: &[GameRange]) {
        for range in ranges {
            let any =
                |lost_games: &BTreeSet<GameId>| games(range).any(|game| lost_games.contains(&game));
            let attempted = games(range)
                .any(|game| self.attempts.get(&game).is_some_and(|attempts| attempts.lost > 0));
            let is_named = lost.contains(range);
            assert!(is_named || !(attempted || any(&self.lost)), "{range:?} was lost");
            assert!(!is_named || any(&self.ever_lost), "{range:?} was never lost");
        }
        assert!(lost.iter().all(|range| ranges.contains(range)));
    }

    /// Whether these games of the experiment may be leased together, and are first in turn.
    /// Returns whether it is a suspect.
    fn judge_choice(
        &self,
        experiment: ExperimentId,
        worker: WorkerId,
        granted: &BTreeSet<GameId>,
    ) -> bool {
        for &game in granted {
            let place = self.place(game);
            assert!(
                matches!(place, Some(Place::Never | Place::Returned)),
                "invariant 6: {game:?} is leased while it is {place:?}"
            );
            assert_eq!(self.cells[&game.cell].experiment, experiment, "two experiments");
            assert!(self.cells[&game.cell].in_sweep, "the sweep does not name {game:?}");
            assert!(self.cells[&game.cell].hands_out(game.number), "invariant 7: {game:?}");
            assert!(self.can_play(&self.cells[&game.cell]), "{worker} cannot play {game:?}");
            assert!(!self.is_left_to_others(game, worker), "{game:?} has failed at {worker}");
        }
        let first = *granted.first().unwrap();
        match self.manner(first) {
            Manner::Shared => {
                let waits = self.waits_for_others(worker, experiment);
                assert!(!waits, "games that failed at {worker} wait for others");
            }
            Manner::Alone => {
                assert_eq!(granted.len(), 1, "{first:?} was lost twice and is not alone");
                return false;
            }
            Manner::Suspect => {
                assert_eq!(granted.len(), 1, "{first:?} was lost twice and is not alone");
                assert!(
                    self.leases_held_by(worker).all(|lease| !lease.suspect),
                    "two suspects at a worker"
                );
                return true;
            }
        }
        let last_cell = granted.last().unwrap().cell;
        for cell in granted.iter().map(|game| game.cell).collect::<BTreeSet<_>>() {
            let count = granted.iter().filter(|game| game.cell == cell).count() as u64;
            let most = self.timed_share(cell);
            assert!(most.is_none_or(|most| count <= most), "{count} games of {cell} in a lease");
        }
        for (game, manner) in self.free(experiment) {
            match manner {
                Manner::Alone => panic!("{game:?} was lost before, and comes first"),
                Manner::Suspect => {
                    assert!(
                        self.leases_held_by(worker).any(|lease| lease.suspect),
                        "{game:?} comes first"
                    );
                    assert!(!granted.contains(&game), "{game:?} is not alone");
                }
                Manner::Shared => {
                    let partner = GameId { number: game.number ^ 1, ..game };
                    let split = granted.contains(&partner) && !granted.contains(&game);
                    assert!(!split, "the pair of {game:?} is split");
                    let in_grid = self.experiments[&experiment].0.allocation == Allocation::Grid;
                    let of_cell = granted.iter().filter(|leased| leased.cell == game.cell);
                    let leased_count = of_cell.count() as u64;
                    // With a game whose partner is settled there may be no room for one more pair.
                    let most = self.timed_share(game.cell);
                    let is_its_share = most.is_some_and(|most| leased_count + 2 > most);
                    let passed_over = in_grid
                        && game.cell < last_cell
                        && !granted.contains(&game)
                        && !is_its_share;
                    assert!(!passed_over, "{game:?} is passed over");
                    let never = |game| self.place(game) == Some(Place::Never);
                    let overtaken = never(game) && !granted.contains(&game);
                    let later = GameId { number: game.number + 1, ..game };
                    assert!(!(overtaken && granted.contains(&later)), "{game:?} is overtaken");
                }
            }
        }
        false
    }

    /// How many games of a timed cell a lease holds at most, if others are there: half of a worker's part.
    fn timed_share(&self, id: CellId) -> Option<u64> {
        let cell = &self.cells[&id];
        let (workers, all) = (self.recent_worker_count(), cell.places.len() as u64);
        let end = cell.ends.handed_out(cell.decision).unwrap_or(all).min(all);
        let is_limited = is_timed(id) && cell.tasks == Tasks::Games && workers > 1;
        let pairs = (end as f64 / 2.0).ceil() / (2 * workers) as f64;
        is_limited.then(|| 2 * (pairs.ceil() as u64).max(1))
    }

    /// No cell that waits has a score with a greater error.
    fn judge_turn(&self, experiment: ExperimentId, first: CellId) {
        let shared = self.free(experiment).filter(|(_, manner)| *manner == Manner::Shared);
        let waiting: BTreeSet<CellId> = shared.map(|(game, _)| game.cell).collect();
        let error = |cell: &CellId| self.cells[cell].squared_error();
        let passed_over = waiting.iter().find(|cell| error(cell) > error(&first) + 1e-12);
        assert_eq!(passed_over, None, "{first} is known better");
    }

    fn has_games_for(&self, experiment: ExperimentId, worker: WorkerId) -> bool {
        self.state(experiment) == Some(ExperimentState::Running)
            && !self.is_excluded(worker, experiment)
            && self.quarantined(worker).is_none()
            && self.free(experiment).any(|(_, manner)| match manner {
                Manner::Shared => self.room(experiment) >= 2,
                Manner::Alone => self.room(experiment) > 0,
                Manner::Suspect => {
                    self.room(experiment) > 0
                        && self.leases_held_by(worker).all(|lease| !lease.suspect)
                }
            })
    }

    /// How many of its games may be handed out beside those that are.
    fn room(&self, experiment: ExperimentId) -> u64 {
        let Some(games_max) = self.experiments[&experiment].0.games_at_once else {
            return u64::MAX;
        };
        let its = self.cells.values().filter(|cell| cell.experiment == experiment);
        let places = its.flat_map(|cell| &cell.places);
        let leased = places.filter(|place| matches!(place, Place::Leased(_))).count() as u64;
        u64::from(games_max).saturating_sub(leased)
    }

    /// Whether the worker that asks has the memory for it and all that it demands.
    fn can_play(&self, cell: &Cell) -> bool {
        let has_all = cell.demands.as_ref().is_none_or(|all| has_all(all, &self.offer));
        let is_unsettled = |id: &CellId| self.cells.get(id).is_some_and(|cell| !cell.is_done());
        has_all
            && self.slot_bytes.is_none_or(|bytes| cell.memory_bytes <= bytes)
            && match cell.tasks {
                Tasks::Games => true,
                Tasks::Trainings => self.may_train,
                Tasks::Verifications { not_by } => self.may_verify && not_by != Some(self.asking),
            }
            && !cell.after.iter().any(is_unsettled)
    }

    /// The games that wait to be leased by the worker that asks.
    fn free(&self, experiment: ExperimentId) -> impl Iterator<Item = (GameId, Manner)> + '_ {
        let its = self
            .cells
            .iter()
            .filter(move |(_, cell)| cell.experiment == experiment && cell.in_sweep)
            .filter(|(_, cell)| self.can_play(cell));
        let waits = self.waits_for_others(self.asking, experiment);
        its.flat_map(|(&id, cell)| {
            let free = (0..)
                .zip(&cell.places)
                .filter(|(_, p)| matches!(p, Place::Never | Place::Returned))
                .filter(|(number, _)| cell.hands_out(*number));
            free.map(move |(number, _)| GameId { cell: id, number })
        })
        .filter(|game| {
            let tasks = self.cells[&game.cell].tasks;
            matches!(tasks, Tasks::Verifications { .. })
                || !self.is_left_to_others(*game, self.asking)
        })
        .map(|game| (game, self.manner(game)))
        .filter(move |(_, manner)| *manner != Manner::Shared || !waits)
    }

    fn manner(&self, game: GameId) -> Manner {
        match self.attempts.get(&game) {
            Some(attempts) if attempts.lost_alone >= 2 => Manner::Suspect,
            Some(attempts) if attempts.lost >= 2 || attempts.failed > 0 => Manner::Alone,
            _ if self.cells[&game.cell].tasks != Tasks::Games => Manner::Alone,
            _ => Manner::Shared,
        }
    }
}
