//! A small model, explored in every order: two workers, a cell of two games, and each of the faults once.
//!
//! Unlike a seed's story, nothing here is left to chance. From every state that is reached, everything is tried that
//! can happen next; the judge looks at each step as it does in the simulation, and from every state
//! the games must come to their end without further faults.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use spelrum_model::{
    CellId, ExperimentId, ExperimentState, GameId, LeaseId, SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::{Effect, Event, Policy, Report, Verdict};
use spelrum_scheduling::stopping::Points;

use crate::desk::{Desk, Result};
use crate::engines::everything;
use crate::mutants::Mutant;
use crate::number_from_environment;
use crate::store::{Settled, games};

const EXPERIMENT: ExperimentId = ExperimentId(1);
const CELL: CellId = CellId(100);
const GAMES: u64 = 2;
/// Steps from the beginning on; `SPELRUM_SIMULATION_DEPTH` says another number.
const DEPTH_MAX: u64 = 6;
/// A lease's duration.
const LEASE_MS: u64 = 30_000;
/// Fewer states than this are not what the model is meant to be.
const STATES_MIN: usize = 10_000;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is committed, and the answer is heard.
    Heard,
    /// It is committed, and the answer is lost.
    Unheard,
    /// The coordinator is killed before it commits, and starts again.
    Uncommitted,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Wants {
        index: usize,
        fate: Fate,
    },
    Beats {
        index: usize,
    },
    /// Of the first game that it holds.
    Reports {
        index: usize,
        fails: bool,
        fate: Fate,
    },
    GivesBack {
        index: usize,
        fate: Fate,
    },
    /// It is killed, and knows nothing any more.
    Killed {
        index: usize,
    },
    /// The coordinator is, between two transactions.
    Restart,
    /// For as long as a lease lives.
    TimePasses,
}

/// What may still go wrong.
#[derive(Clone, Debug)]
struct Budget {
    kills: u32,
    restarts: u32,
    waits: u32,
    unheard: u32,
    failures: u32,
}

/// What a worker knows.
#[derive(Clone, Debug, Default)]
struct Hand {
    lease: Option<LeaseId>,
    games: Vec<GameId>,
}

#[derive(Clone, Debug)]
struct Model {
    desk: Desk,
    now: u64,
    hands: [Hand; 2],
    budget: Budget,
    acknowledged: Vec<(GameId, u64)>,
}

impl Model {
    fn new(mutant: Option<Mutant>) -> Self {
        let mut desk = Desk::open(Policy::default(), <_>::default(), mutant);
        let cells = [(CELL, GAMES)];
        let event =
            desk.staged_mut().submit(EXPERIMENT, SchedulingSettings::default(), &cells, None);
        desk.submitted(event, EXPERIMENT, 0);
        desk.commit();
        let budget = Budget { kills: 1, restarts: 1, waits: 2, unheard: 1, failures: 1 };
        Self { desk, now: 0, hands: <_>::default(), budget, acknowledged: Vec::new() }
    }

    /// Everything that can happen next.
    fn moves(&self) -> Vec<Move> {
        let Budget { kills, restarts, waits, unheard, failures } = self.budget;
        let fates =
            [(Fate::Heard, true), (Fate::Unheard, unheard > 0), (Fate::Uncommitted, restarts > 0)];
        let fates: Vec<Fate> = fates.iter().filter(|fate| fate.1).map(|fate| fate.0).collect();
        let mut moves = Vec::new();
        for (index, hand) in self.hands.iter().enumerate() {
            match hand.lease {
                None => moves.extend(fates.iter().map(|&fate| Move::Wants { index, fate })),
                Some(_) => {
                    moves.push(Move::Beats { index });
                    for &fate in &fates {
                        moves.push(Move::Reports { index, fails: false, fate });
                        moves.extend((failures > 0).then_some(Move::Reports {
                            index,
                            fails: true,
                            fate,
                        }));
                        moves.push(Move::GivesBack { index, fate });
                    }
                    moves.extend((kills > 0).then_some(Move::Killed { index }));
                }
            }
        }
        moves.extend((restarts > 0).then_some(Move::Restart));
        moves.extend((waits > 0).then_some(Move::TimePasses));
        moves
    }

    fn make(&mut self, step: Move) {
        match step {
            Move::Wants { index, fate } => {
                let effects = self.transact(wants(worker(index)), fate);
                if let (Fate::Heard, Some(Effect::Grant { lease, ranges, .. })) =
                    (fate, effects.last())
                {
                    let games = ranges.iter().flat_map(games).collect();
                    self.hands[index] = Hand { lease: Some(*lease), games };
                }
            }
            Move::Beats { index } => {
                let Some(lease) = self.hands[index].lease else { return };
                let playing = self.hands[index].games.first().copied().into_iter().collect();
                let beat = Event::Heartbeat { worker: worker(index), leases: vec![lease], playing };
                let effects = self.transact(beat, Fate::Heard);
                if matches!(effects.last(), Some(Effect::Drop { leases, .. }) if leases.contains(&lease))
                {
                    self.hands[index] = Hand::default();
                }
            }
            Move::Reports { index, fails, fate } => self.report(index, fails, fate),
            Move::GivesBack { index, fate } => {
                let Some(lease) = self.hands[index].lease else { return };
                self.transact(Event::GivenBack { worker: worker(index), lease }, fate);
                // Whoever hands back has forgotten it, whatever becomes of its call.
                self.hands[index] = Hand::default();
            }
            Move::Killed { index } => {
                self.budget.kills -= 1;
                self.hands[index] = Hand::default();
            }
            Move::Restart => {
                self.budget.restarts -= 1;
                self.desk.restart(self.now);
            }
            Move::TimePasses => {
                self.budget.waits -= 1;
                self.now += LEASE_MS;
                self.transact(Event::Tick, Fate::Heard);
            }
        }
        for (game, playing) in &self.acknowledged {
            assert!(self.desk.disk().has_kept(*game, *playing), "invariant 5: {game:?}");
        }
    }

    fn report(&mut self, index: usize, fails: bool, fate: Fate) {
        let hand = &self.hands[index];
        let (Some(lease), Some(&game)) = (hand.lease, hand.games.first()) else { return };
        // A game that is reported again is the same playing of it.
        let playing = lease.0.cast_unsigned() * 100 + game.number;
        let report = if fails {
            self.budget.failures -= 1;
            Report::Failed { message: "it broke".into() }
        } else {
            Report::Played { wall_us: 1_000, points: Points::One, moves_hash: 0, forfeit: None }
        };
        let result = Result { lease, game, playing, report, disturbed: false };
        self.desk.begin_turn(self.now, 0);
        let effects = self.desk.report(worker(index), &result, true, self.now);
        self.close(fate);
        if fate != Fate::Heard {
            return;
        }
        let hand = &mut self.hands[index];
        hand.games.remove(0);
        if hand.games.is_empty() {
            *hand = Hand::default();
        }
        if effects.contains(&Effect::Verdict { game, verdict: Verdict::Counts }) {
            self.acknowledged.push((game, playing));
        }
    }

    fn transact(&mut self, event: Event, fate: Fate) -> Vec<Effect> {
        self.desk.begin_turn(self.now, 0);
        let effects = self.desk.handle(event, self.now);
        self.close(fate);
        effects
    }

    fn close(&mut self, fate: Fate) {
        match fate {
            Fate::Heard => self.desk.commit(),
            Fate::Unheard => {
                self.budget.unheard -= 1;
                self.desk.commit();
            }
            Fate::Uncommitted => {
                self.budget.restarts -= 1;
                self.desk.restart(self.now);
            }
        }
    }

    /// Without faults, a third worker plays what is left, and the experiment ends.
    fn assert_ends(mut self) {
        for _ in 0..20 {
            if self.desk.disk().experiments[&EXPERIMENT].1 == ExperimentState::Finished {
                let games = &self.desk.disk().games;
                assert_eq!(games.len() as u64, GAMES, "exactly the planned games");
                assert!(
                    games.values().all(|result| matches!(result, Settled::Played(..))),
                    "{games:?}"
                );
                return;
            }
            let worker_id = WorkerId(3);
            let effects = self.transact(wants(worker_id), Fate::Heard);
            if let Some(Effect::Grant { lease, ranges, .. }) = effects.last() {
                for game in ranges.iter().flat_map(games) {
                    let report = Report::Played {
                        wall_us: 1_000,
                        points: Points::One,
                        moves_hash: 0,
                        forfeit: None,
                    };
                    let playing = lease.0.cast_unsigned() * 100 + game.number;
                    let result = Result { lease: *lease, game, playing, report, disturbed: false };
                    self.desk.report(worker_id, &result, true, self.now);
                }
                self.desk.commit();
            } else {
                self.now += LEASE_MS;
            }
        }
        panic!("liveness: {self:?}");
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{self:?}").hash(&mut hasher);
        hasher.finish()
    }
}

fn worker(index: usize) -> WorkerId {
    WorkerId(i64::try_from(index + 1).unwrap())
}

fn wants(worker: WorkerId) -> Event {
    let offer = everything();
    Event::LeaseWanted {
        worker,
        slots: 1,
        quiet_slots: 0,
        memory_bytes: None,
        offer,
        trains: true,
        verifies: true,
    }
}

/// How many states there are within so many steps, and how many steps lead to them.
fn explore(mutant: Option<Mutant>, depth_max: u64) -> (usize, usize) {
    let first = Model::new(mutant);
    let mut seen = BTreeSet::from([first.hash()]);
    let mut frontier = vec![first];
    let mut steps = 0;
    for _ in 0..depth_max {
        let mut next = Vec::new();
        for model in &frontier {
            for step in model.moves() {
                let mut after = model.clone();
                after.make(step);
                steps += 1;
                if seen.insert(after.hash()) {
                    after.clone().assert_ends();
                    next.push(after);
                }
            }
        }
        frontier = next;
    }
    (seen.len(), steps)
}

#[test]
fn every_order_of_two_workers_and_every_fault_keeps_the_invariants() {
    let depth_max = number_from_environment("SPELRUM_SIMULATION_DEPTH").unwrap_or(DEPTH_MAX);
    let (states, steps) = explore(None, depth_max);
    println!("{states} states, {steps} steps, to a depth of {depth_max}");
    assert!(states >= STATES_MIN, "only {states} states");
}

/// The model sees mistakes, too.
#[test]
fn mistakes_are_noticed_in_some_order() {
    for mutant in [
        Mutant::ForgetsGrants,
        Mutant::RestartsWithoutLeases,
        Mutant::RepeatsLeaseIds,
        Mutant::CountsAgain,
        Mutant::RefusesLateResults,
        Mutant::ExpiresEarly,
    ] {
        let explored = std::panic::catch_unwind(|| explore(Some(mutant), 5));
        assert!(explored.is_err(), "{mutant:?} is not noticed");
    }
}
