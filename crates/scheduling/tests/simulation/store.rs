//! What a coordinator has on disk, as a model: the other side of the scheduler's contract.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use spelrum_model::demands::Demands;
use spelrum_model::placement::Placement;
use spelrum_model::{
    CellId, ExperimentId, ExperimentState, GameId, GameRange, LeaseId, Plan, SchedulingSettings,
    WorkerId,
};
use spelrum_scheduling::course::{CellOutcome, NewCell, StoredCell};
use spelrum_scheduling::scheduler::{
    Attempts, CellState, Changes, Event, ExperimentSnapshot, LeaseEnd, LeaseState, Snapshot, Tasks,
};
use spelrum_scheduling::stopping::{Points, Reading, Round, Settled as SettledGame};
use spelrum_statistics::{GameCounts, StopRule, Tally};

use crate::machines::timed_games;
use crate::reference::{moves_hash, round_of};
use crate::worker::is_timed;

/// The cells of [`Store::verify`] have ids from here on.
const VERIFICATIONS: i64 = 1_000_000;

/// The tables. Whatever breaks a constraint of the real ones panics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) experiments: BTreeMap<ExperimentId, (SchedulingSettings, ExperimentState)>,
    pub(crate) cells: BTreeMap<CellId, (ExperimentId, CellState)>,
    /// Every lease there ever was.
    pub(crate) leases: BTreeMap<LeaseId, (Rc<LeaseState>, Option<LeaseEnd>)>,
    pub(crate) attempts: BTreeMap<GameId, Attempts>,
    pub(crate) games: BTreeMap<GameId, Settled>,
    /// The stop rules of the cells that have one.
    pub(crate) rules: BTreeMap<CellId, StopRule>,
    /// The cells of experiments that have a course, in order, and what it asked for and was told.
    pub(crate) courses: BTreeMap<ExperimentId, Vec<StoredCell>>,
    /// Experiments whose course goes on.
    pub(crate) open: BTreeSet<ExperimentId>,
    /// The memory that a game of these cells takes; none of all others.
    pub(crate) needs: BTreeMap<CellId, u64>,
    /// What games of these cells ask of their worker.
    pub(crate) demands: BTreeMap<CellId, Arc<Demands>>,
    /// What the sweeps ask of workers.
    pub(crate) placements: BTreeMap<ExperimentId, Placement>,
    /// Cells that must be settled before games of these are handed out.
    pub(crate) after: BTreeMap<CellId, Arc<[CellId]>>,
    /// Cells that are trainings.
    pub(crate) trainings: BTreeSet<CellId>,
    /// Cells that are verifications of what these workers have played.
    pub(crate) verified: BTreeMap<CellId, WorkerId>,
    /// How many verifications were ever ordered by [`Store::verify`].
    pub(crate) ordered: i64,
    /// Who played the games that were.
    pub(crate) players: BTreeMap<GameId, WorkerId>,
    /// Who is excluded, from an experiment or from all.
    pub(crate) excluded: BTreeSet<(WorkerId, Option<ExperimentId>)>,
    /// Results that were disturbed, and whose games are played again: under which leases they came, as it is looked up,
    /// and how many there were.
    pub(crate) disturbed: BTreeMap<GameId, (BTreeSet<LeaseId>, usize)>,
    /// Each of them that there ever was.
    pub(crate) disturbed_ever: BTreeSet<(GameId, LeaseId, u64)>,
    /// Requests of clients that were carried out, so that a repeated one is a no-op.
    pub(crate) requests: Vec<usize>,
    /// Results that were there until their experiment was deleted.
    pub(crate) deleted: Vec<(GameId, Settled)>,
    /// How often somebody deleted one.
    pub(crate) deletions: usize,
}

/// How often a game is played again at most.
pub(crate) const REPLAYS_MAX: usize = 2;

/// The settled result of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// By this playing of it; what the player got who moved first.
    Played(u64, Points),
    /// Finally failed.
    Failed(String),
}

impl Store {
    /// Stores an experiment, or what its sweep says now: which cells it names, and how many games
    /// they get. What the scheduler knew must be stored before.
    pub(crate) fn submit(
        &mut self,
        id: ExperimentId,
        settings: SchedulingSettings,
        cells: &[(CellId, u64)],
        rule: Option<StopRule>,
    ) -> Event {
        let before: BTreeMap<CellId, CellState> = self.cells_of(id).collect();
        let named: BTreeMap<CellId, u64> = cells.iter().copied().collect();
        let mut reread = Vec::new();
        for (&cell, &games) in &named {
            let memory_bytes = self.needs.get(&cell).copied().unwrap_or(0);
            let demands = self.demands_of(id, cell);
            let after = self.after.get(&cell).cloned();
            let not_by = self.verified.get(&cell).copied();
            let tasks = match not_by {
                Some(_) => Tasks::Verifications { not_by },
                None if self.trainings.contains(&cell) => Tasks::Trainings,
                None => Tasks::Games,
            };
            let swap_sides = tasks == Tasks::Games;
            let none = CellState {
                memory_bytes,
                demands,
                after,
                tasks,
                swap_sides,
                timed: is_timed(cell),
                ..CellState::new(cell, games)
            };
            let state = &mut self.cells.entry(cell).or_insert((id, none)).1;
            state.in_sweep = true;
            let begun = state.next_number.next_multiple_of(if swap_sides { 2 } else { 1 });
            state.games = games.max(begun);
            if self.rules.get(&cell) != rule.as_ref() {
                // Read again from the first pair. Where it ended counts until it ends elsewhere.
                state.decided_number = 0;
                reread.push(cell);
                self.rules.remove(&cell);
                self.rules.extend(rule.map(|rule| (cell, rule)));
            }
        }
        for (experiment, state) in self.cells.values_mut() {
            let is_task = self.verified.contains_key(&state.cell);
            if *experiment == id && !named.contains_key(&state.cell) && !is_task {
                state.in_sweep = false;
            }
        }
        let demanded: Vec<CellId> = self.cells_of(id).map(|(cell, _)| cell).collect();
        for cell in demanded {
            let demands = self.demands_of(id, cell);
            self.cells.get_mut(&cell).expect("it is there").1.demands = demands;
        }
        let unsettled = |(cell, state): (CellId, CellState)| {
            let end = state.stop_number.unwrap_or(state.games);
            state.in_sweep
                && (0..end).any(|number| !self.games.contains_key(&GameId { cell, number }))
        };
        let more = !reread.is_empty() || self.cells_of(id).any(unsettled);
        let entry = self.experiments.entry(id).or_insert((settings, ExperimentState::Running));
        let is_other = entry.0.allocation != settings.allocation;
        let was_finished = entry.1 == ExperimentState::Finished;
        if was_finished && !more {
            // The twin does not learn of its settings.
            return Event::Tick;
        }
        entry.0 = settings;
        if was_finished {
            entry.1 = ExperimentState::Running;
        }
        // Of those that the scheduler knows, only those that changed.
        let is_sent = |cell: &CellId, state: &CellState| {
            was_finished || is_other || reread.contains(cell) || before.get(cell) != Some(state)
        };
        let cells: Vec<_> = self
            .cells_of(id)
            .filter(|(cell, state)| is_sent(cell, state))
            .map(|(_, state)| self.with_played(self.with_reading(state)))
            .collect();
        let attempts = if was_finished { self.unsettled_attempts(id) } else { Vec::new() };
        let open = self.open.contains(&id);
        Event::Submitted { experiment: id, settings, open, cells, attempts }
    }

    /// Lets one in so many of an experiment's games be verified that have a result, but a few at most. One that was
    /// finished runs again until they are.
    pub(crate) fn verify(&mut self, id: ExperimentId, one_in: u64) -> Event {
        const GAMES_MAX: usize = 4;
        let stored =
            self.experiments.get(&id).filter(|stored| stored.1 != ExperimentState::Cancelled);
        let Some(&(settings, state)) = stored else { return Event::Tick };
        let is_selected = |(game, result): &(&GameId, &Settled)| {
            let is_game = !self.trainings.contains(&game.cell) && !self.is_verification(game.cell);
            let is_its = self.cells[&game.cell].0 == id;
            let is_drawn = game.number % one_in == 0;
            is_game && is_its && is_drawn && matches!(result, Settled::Played(..))
        };
        let games: Vec<GameId> =
            self.games.iter().filter(is_selected).map(|(&game, _)| game).take(GAMES_MAX).collect();
        if games.is_empty() {
            return Event::Tick;
        }
        let mut ordered = Vec::new();
        for game in games {
            let cell = CellId(VERIFICATIONS + self.ordered);
            self.ordered += 1;
            let player = self.players[&game];
            self.verified.insert(cell, player);
            let tasks = Tasks::Verifications { not_by: Some(player) };
            let demands = self.demands_of(id, cell);
            let state = CellState { tasks, swap_sides: false, demands, ..CellState::new(cell, 1) };
            self.cells.insert(cell, (id, state.clone()));
            ordered.push(state);
        }
        let open = self.open.contains(&id);
        let (mut cells, mut attempts) = (ordered, Vec::new());
        if state == ExperimentState::Finished {
            self.experiments.insert(id, (settings, ExperimentState::Running));
            let all = self.cells_of(id);
            cells = all.map(|(_, state)| self.with_played(self.with_reading(state))).collect();
            attempts = self.unsettled_attempts(id);
        }
        Event::Submitted { experiment: id, settings, open, cells, attempts }
    }

    /// The attempts at games of an experiment that have no result.
    fn unsettled_attempts(&self, id: ExperimentId) -> Vec<Attempts> {
        let is_its = |attempts: &&Attempts| self.cells[&attempts.game.cell].0 == id;
        let is_unsettled = |attempts: &&Attempts| !self.games.contains_key(&attempts.game);
        self.attempts.values().filter(is_unsettled).filter(is_its).copied().collect()
    }

    /// What a cell of the experiment asks of its worker.
    fn demands_of(&self, id: ExperimentId, cell: CellId) -> Option<Arc<Demands>> {
        let engines =
            self.demands.get(&cell).map(|demands| demands.engines.clone()).unwrap_or_default();
        let nothing = Placement::default();
        let placement = self.placements.get(&id).unwrap_or(&nothing);
        placement.demands(engines, timed_games(cell)).shared(&mut BTreeSet::new())
    }

    /// Whether a cell is a verification.
    pub(crate) fn is_verification(&self, cell: CellId) -> bool {
        self.verified.contains_key(&cell)
    }

    /// An experiment that is submitted has a course.
    pub(crate) fn begin_course(&mut self, id: ExperimentId, cells: &[(CellId, u64)]) {
        let stored = |&(cell, _): &(CellId, u64)| StoredCell { cell, added: None, outcome: None };
        self.courses.insert(id, cells.iter().map(stored).collect());
        self.open.insert(id);
    }

    /// Notes that a course is told of a cell.
    pub(crate) fn report_cell(&mut self, id: ExperimentId, cell: CellId) -> CellOutcome {
        let games = self.games.keys().filter(|game| game.cell == cell).copied();
        let settled: Vec<_> = games.filter_map(|game| self.settled_game(game)).collect();
        let count = |is_counted: &dyn Fn(&SettledGame) -> bool| {
            settled.iter().filter(|settled| is_counted(settled)).count() as u64
        };
        let [wins, draws, losses] = [Points::One, Points::Half, Points::Zero].map(|points| {
            count(&|settled| matches!(settled, SettledGame::Played(got, _) if *got == points))
        });
        let cells = self.courses.get_mut(&id).expect("a course");
        let number = cells.iter().filter(|cell| cell.outcome.is_some()).count();
        let outcome = CellOutcome {
            number: number as u64,
            games: wins + draws + losses,
            games_failed: count(&|settled| *settled == SettledGame::Failed),
            wins,
            draws,
            losses,
            ..CellOutcome::default()
        };
        assert_eq!(cells[number].cell, cell, "told out of order");
        cells[number].outcome = Some(outcome.clone());
        outcome
    }

    /// Stores cells that a course asked for.
    pub(crate) fn extend(&mut self, id: ExperimentId, plan: &Plan) -> Vec<CellState> {
        let cells = &self.courses[&id];
        let outcome_count = cells.iter().filter(|cell| cell.outcome.is_some()).count() as u64;
        let mut states = Vec::new();
        for new in &plan.cells {
            let cell = CellId(id.0 * 100 + i64::try_from(self.courses[&id].len()).unwrap());
            let added = Some((outcome_count, NewCell::from_planned(plan, new)));
            let cells = self.courses.get_mut(&id).expect("a course");
            cells.push(StoredCell { cell, added, outcome: None });
            let demands = self.demands_of(id, cell);
            let timed = is_timed(cell);
            states.push(CellState { demands, timed, ..CellState::new(cell, new.games) });
        }
        self.cells.extend(states.iter().map(|state| (state.cell, (id, state.clone()))));
        states
    }

    fn cells_of(&self, id: ExperimentId) -> impl Iterator<Item = (CellId, CellState)> + '_ {
        let its = self.cells.values().filter(move |(experiment, _)| *experiment == id);
        its.map(|(_, state)| (state.cell, state.clone()))
    }

    /// Stores that somebody steered an experiment, if it is not over.
    pub(crate) fn steer(&mut self, experiment: ExperimentId, state: ExperimentState) -> Event {
        let entry = self.experiments.get_mut(&experiment).expect("steers what is there");
        if matches!(entry.1, ExperimentState::Running | ExperimentState::Paused) {
            entry.1 = state;
        }
        Event::Steered { experiment, state }
    }

    /// Stores another priority of an experiment, if it is not over.
    pub(crate) fn prioritize(&mut self, experiment: ExperimentId, priority: i32) -> Event {
        let entry = self.experiments.get_mut(&experiment).expect("prioritizes what is there");
        if matches!(entry.1, ExperimentState::Running | ExperimentState::Paused) {
            entry.0.priority = priority;
        }
        Event::Prioritized { experiment, priority }
    }

    /// Takes the results of games away, so that they are played again.
    pub(crate) fn reopen(
        &mut self,
        experiment: ExperimentId,
        is_selected: impl Fn(GameId, &Settled) -> bool,
    ) -> Event {
        // A verdict stays.
        let its = |game: &GameId| {
            self.cells[&game.cell].0 == experiment && !self.is_verification(game.cell)
        };
        let selected =
            self.games.iter().filter(|(game, result)| its(game) && is_selected(**game, result));
        let games: Vec<GameId> = selected.map(|(&game, _)| game).collect();
        for game in &games {
            let result = self.games.remove(game).unwrap();
            self.deleted.push((*game, result));
            self.attempts.remove(game);
        }
        let mut cells: Vec<CellId> = games.iter().map(|game| game.cell).collect();
        cells.dedup();
        let readings = cells.into_iter().filter_map(|cell| {
            self.cells.get_mut(&cell).unwrap().1.decided_number = 0;
            let reading = self.with_reading(self.cells[&cell].1.clone()).reading?;
            Some((cell, *reading))
        });
        let readings = readings.collect();
        let reopened: BTreeSet<CellId> = games.iter().map(|game| game.cell).collect();
        let played = reopened.into_iter().map(|cell| (cell, self.played(cell))).collect();
        Event::Reopened { experiment, games, readings, played }
    }

    /// As the store finds what a cell's stop rule reads: its units below the decided number, and
    /// what is settled from there on.
    fn with_reading(&self, state: CellState) -> CellState {
        let CellState { cell, decided_number, .. } = state;
        let Some(&rule) = self.rules.get(&cell) else { return state };
        let mut tally = Tally::new(true);
        for first in (0..decided_number).step_by(2) {
            let half_points = |number| match self.settled_game(GameId { cell, number }) {
                Some(SettledGame::Played(points, _)) => Some(points.half_points()),
                Some(SettledGame::Failed) => None,
                None => panic!("invariant 7: {cell}:{number} is decided and not settled"),
            };
            if let (Some(first), Some(second)) = (half_points(first), half_points(first + 1)) {
                tally.add(first + second);
            }
        }
        let beyond = (decided_number..state.next_number)
            .filter_map(|number| Some((number, self.settled_game(GameId { cell, number })?)))
            .collect();
        let mut round = round_of(cell).and_then(Round::new);
        for number in 0..decided_number {
            if let (Some(round), Some(SettledGame::Played(_, hash))) =
                (&mut round, self.settled_game(GameId { cell, number }))
            {
                round.note(number, 2, hash);
            }
        }
        let rule = Some(rule);
        let reading = Reading { rule, decided_number, tally, openings: None, round, beyond };
        CellState { reading: Some(Box::new(reading)), ..state }
    }

    /// As the store finds what is known of a cell's score.
    fn with_played(&self, state: CellState) -> CellState {
        CellState { played: self.played(state.cell), ..state }
    }

    fn played(&self, cell: CellId) -> GameCounts {
        let mut played = GameCounts::default();
        for game in self.games.keys().filter(|game| game.cell == cell) {
            if let Some(SettledGame::Played(points, _)) = self.settled_game(*game) {
                played.0[points.half_points()] += 1;
            }
        }
        played
    }

    /// What came of a game for the cell's first player, if it is settled.
    pub(crate) fn settled_game(&self, game: GameId) -> Option<SettledGame> {
        let hash = moves_hash(game.cell, game.number);
        Some(match self.games.get(&game)? {
            Settled::Played(..)
                if self.trainings.contains(&game.cell)
                    || self.verified.contains_key(&game.cell) =>
            {
                SettledGame::Failed
            }
            Settled::Played(_, points) if game.number.is_multiple_of(2) => {
                SettledGame::Played(*points, hash)
            }
            Settled::Played(_, points) => SettledGame::Played(points.swapped(), hash),
            Settled::Failed(_) => SettledGame::Failed,
        })
    }

    /// Stores that a worker is excluded.
    pub(crate) fn exclude(&mut self, worker: WorkerId, experiment: Option<ExperimentId>) -> Event {
        self.excluded.insert((worker, experiment));
        Event::Excluded { worker, experiment }
    }

    /// Stores that it no longer is.
    pub(crate) fn readmit(&mut self, worker: WorkerId) -> Event {
        self.excluded.retain(|(excluded, _)| *excluded != worker);
        Event::Readmitted { worker, engine: None }
    }

    /// Notes who has played a game.
    pub(crate) fn played_by(&mut self, game: GameId, worker: WorkerId) {
        let experiment = self.cells[&game.cell].0;
        let excluded = [None, Some(experiment)].map(|from| self.excluded.contains(&(worker, from)));
        assert_eq!(excluded, [false; 2], "{game:?} counts, and {worker} is excluded");
        self.players.insert(game, worker);
    }

    /// Deletes everything of an experiment. Leases stay, without its games: ids only grow.
    pub(crate) fn delete(&mut self, experiment: ExperimentId) -> Event {
        self.experiments.remove(&experiment);
        self.courses.remove(&experiment);
        self.open.remove(&experiment);
        self.deletions += 1;
        self.excluded.retain(|(_, from)| *from != Some(experiment));
        let cells = &mut self.cells;
        for (lease, _) in self.leases.values_mut() {
            let its = |range: &GameRange| cells.get(&range.cell).is_some_and(|c| c.0 == experiment);
            if lease.granted.iter().any(its) {
                Rc::make_mut(lease).granted.clear();
            }
        }
        cells.retain(|_, (owner, _)| *owner != experiment);
        self.rules.retain(|cell, _| cells.contains_key(cell));
        self.attempts.retain(|game, _| cells.contains_key(&game.cell));
        self.verified.retain(|cell, _| cells.contains_key(cell) || cell.0 < VERIFICATIONS);
        self.disturbed.retain(|game, _| cells.contains_key(&game.cell));
        let deleted = &mut self.deleted;
        deleted.extend(self.games.extract_if(.., |game, _| !cells.contains_key(&game.cell)));
        Event::Removed { experiment }
    }

    /// Whether a game is settled, and whether it was leased to the worker under the lease.
    pub(crate) fn facts(&self, worker: WorkerId, lease: LeaseId, game: GameId) -> (bool, bool) {
        let its = |(lease, _): &(Rc<LeaseState>, Option<LeaseEnd>)| {
            lease.worker == worker && lease.granted.iter().any(|range| range.contains(game))
        };
        (self.games.contains_key(&game), self.leases.get(&lease).is_some_and(its))
    }

    /// Whether the result of a lease does not count, and its game is played again.
    pub(crate) fn plays_again(&self, lease: LeaseId, game: GameId, disturbed: bool) -> bool {
        let kept = self.disturbed.get(&game).map(|(leases, _)| leases);
        let is_kept = kept.is_some_and(|leases| leases.contains(&lease));
        is_kept || (disturbed && kept.map_or(0, BTreeSet::len) < REPLAYS_MAX)
    }

    /// Keeps a disturbed result, once for each lease.
    pub(crate) fn keep_disturbed(&mut self, game: GameId, lease: LeaseId, playing: u64) {
        let (leases, count) = self.disturbed.entry(game).or_default();
        if leases.insert(lease) {
            *count += 1;
            assert!(*count <= REPLAYS_MAX, "{game:?} is played again {count} times");
            self.disturbed_ever.insert((game, lease, playing));
        }
    }

    /// As if nobody could look up what was disturbed.
    pub(crate) fn forget_disturbed(&mut self) {
        self.disturbed.values_mut().for_each(|(leases, _)| leases.clear());
    }

    /// Invariant 4: unique by (cell, number).
    pub(crate) fn settle(&mut self, game: GameId, result: Settled) {
        if let Settled::Played(playing, _) = result {
            let is_same =
                |disturbed: &&(GameId, LeaseId, u64)| disturbed.0 == game && disturbed.2 == playing;
            assert!(
                !self.disturbed_ever.iter().any(|disturbed| is_same(&disturbed)),
                "{game:?} is played again, and counts"
            );
        }
        let before = self.games.insert(game, result);
        assert_eq!(before, None, "invariant 4: {game:?} is settled twice");
    }

    /// Whether this playing of a game is its result, or was until somebody deleted it.
    pub(crate) fn has_kept(&self, game: GameId, playing: u64) -> bool {
        let is_kept =
            |result: &Settled| matches!(result, Settled::Played(kept, _) if *kept == playing);
        self.games.get(&game).is_some_and(is_kept)
            || self
                .deleted
                .iter()
                .any(|(deleted_game, result)| *deleted_game == game && is_kept(result))
    }

    /// Whether a game has a result, or had one until somebody deleted it.
    pub(crate) fn has_kept_any(&self, game: GameId) -> bool {
        self.games.contains_key(&game) || self.deleted.iter().any(|(deleted, _)| *deleted == game)
    }

    /// Stores what the scheduler wants to find again.
    pub(crate) fn apply(&mut self, changes: &Changes) {
        for cell in &changes.cells {
            let entry = self.cells.get_mut(&cell.cell).expect("a stored cell");
            entry.1.next_number = cell.next_number;
            entry.1.returned.clone_from(&cell.returned);
            entry.1.decided_number = cell.decided_number;
            entry.1.stop_number = cell.stop_number;
        }
        for lease in &changes.granted {
            assert!(lease.lease > self.last_lease(), "invariant 6: lease ids only grow");
            let mut lease = lease.clone();
            // Those of an experiment that was deleted in the same transaction.
            lease.granted.retain(|range| self.cells.contains_key(&range.cell));
            self.leases.insert(lease.lease, (Rc::new(lease), None));
        }
        for &(lease, why) in &changes.ended {
            let entry = self.leases.get_mut(&lease).expect("a stored lease");
            assert_eq!(entry.1.replace(why), None, "{lease} ended twice");
        }
        for attempts in &changes.attempts {
            self.attempts.insert(attempts.game, *attempts);
        }
    }

    /// What a scheduler starts from.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let live = |&(_, (_, state)): &(&ExperimentId, &(SchedulingSettings, ExperimentState))| {
            matches!(state, ExperimentState::Running | ExperimentState::Paused)
        };
        let cells_of = |id| {
            let with_all = |(_, state)| self.with_played(self.with_reading(state));
            self.cells_of(id).map(with_all).collect::<Vec<_>>()
        };
        Snapshot {
            experiments: self
                .experiments
                .iter()
                .filter(live)
                .map(|(&experiment, &(settings, state))| ExperimentSnapshot {
                    experiment,
                    settings,
                    state,
                    open: self.open.contains(&experiment),
                    cells: cells_of(experiment),
                })
                .collect(),
            leases: self
                .leases
                .values()
                .filter(|(_, end)| end.is_none())
                .map(|(lease, _)| self.with_outstanding(lease))
                .collect(),
            attempts: self
                .attempts
                .values()
                .filter(|attempts| !self.games.contains_key(&attempts.game))
                .copied()
                .collect(),
            last_lease: self.last_lease().0,
            excluded: self.excluded.iter().copied().collect(),
            barred: Vec::new(),
        }
    }

    /// The greatest lease id.
    pub(crate) fn last_lease(&self) -> LeaseId {
        self.leases.last_key_value().map_or(LeaseId(0), |(&id, _)| id)
    }

    /// What a store finds outstanding: what was granted and has no settled result.
    fn with_outstanding(&self, lease: &LeaseState) -> LeaseState {
        let mut outstanding: Vec<GameRange> = Vec::new();
        for game in lease.granted.iter().flat_map(games) {
            if self.games.contains_key(&game) {
                continue;
            }
            match outstanding.last_mut() {
                Some(last) if last.cell == game.cell && last.end() == game.number => {
                    last.count += 1;
                }
                _ => {
                    outstanding.push(GameRange { cell: game.cell, first: game.number, count: 1 });
                }
            }
        }
        LeaseState { outstanding, ..lease.clone() }
    }
}

/// The games of a range.
pub(crate) fn games(range: &GameRange) -> impl Iterator<Item = GameId> + use<> {
    let cell = range.cell;
    (range.first..range.end()).map(move |number| GameId { cell, number })
}
