//! The events, replies and durable changes of the scheduler.

use std::sync::Arc;

use spelrum_model::demands::{Demands, Offer};
use spelrum_model::withheld::{Barred, Withheld};
use spelrum_model::{
    Allocation, CellId, ExperimentId, ExperimentState, GameId, GameRange, LeaseId, WorkerId,
};
use spelrum_statistics::GameCounts;

use crate::stopping::{Points, Reading};

/// Milliseconds on the coordinator's monotonic clock, from any fixed moment.
///
/// With an event comes the moment at which it arrived, not the one at which its turn came: a
/// heartbeat that waited behind a slow commit arrived in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(pub u64);

/// What the scheduler needs to know of a cell: what its sweep says, and its durable state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellState {
    /// The cell.
    pub cell: CellId,
    /// Whether its experiment's sweep names it. The games of one that it no longer names are not
    /// handed out; those that are leased may finish.
    pub in_sweep: bool,
    /// Whether games 2k and 2k + 1 are a pair, so that one that was begun is played to its end.
    pub swap_sides: bool,
    /// How many games it gets, if its stop rule does not end it before.
    pub games: u64,
    /// The lowest number that was never leased.
    pub next_number: u64,
    /// Numbers below it that are neither settled nor in a live lease: ascending, disjoint.
    pub returned: Vec<GameRange>,
    /// Up to where its stop rule has read, and where it ends by it, as they are stored.
    pub decided_number: u64,
    /// Where it ends by its stop rule, as it is stored.
    pub stop_number: Option<u64>,
    /// What its stop rule reads, if it has one. One that has changed reads from the first unit. In a
    /// box, since there may be 100,000 cells without one.
    pub reading: Option<Box<Reading>>,
    /// Bytes of memory that one game of it may take. Its definition says so: it never changes.
    pub memory_bytes: u64,
    /// What each game of it asks of its worker beside memory, if anything. Cells that ask for the same share it: there
    /// may be 100,000 of them. One that is known already takes the new ones.
    pub demands: Option<Arc<Demands>>,
    /// Cells of its experiment that must be settled before a game of it is handed out, such as the trainings of its
    /// players' networks. Cells that wait for the same share it.
    pub after: Option<Arc<[CellId]>>,
    /// What its tasks are.
    pub tasks: Tasks,
    /// Whether its games are timed: on a worker with quiet slots they are played there, while all other slots
    /// stand idle.
    pub timed: bool,
    /// What its first player got in the games that count. Nobody asks unless its experiment's allocation is
    /// [`Allocation::Informative`].
    pub played: GameCounts,
}

impl CellState {
    /// A cell that gets so many games, in pairs, of which nothing was leased yet. Without a stop rule.
    #[must_use]
    pub const fn new(cell: CellId, games: u64) -> Self {
        Self {
            cell,
            in_sweep: true,
            swap_sides: true,
            games,
            next_number: 0,
            returned: Vec::new(),
            decided_number: 0,
            stop_number: None,
            reading: None,
            memory_bytes: 0,
            demands: None,
            after: None,
            tasks: Tasks::Games,
            timed: false,
            played: GameCounts([0; 3]),
        }
    }
}

/// What the tasks of a cell are. Those that are not games are each a lease of their own, go before the games of
/// their experiment, and are no measure of how long these take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tasks {
    /// Games.
    #[default]
    Games,
    /// Trainings of networks: for a worker that trains, with a slot to spare.
    Trainings,
    /// Games that are settled, to be played once more for the sake of comparison: for a worker that verifies.
    Verifications {
        /// Who played them, and gets none of them.
        not_by: Option<WorkerId>,
    },
}

/// What changes of a cell as it is played: durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellProgress {
    /// The cell.
    pub cell: CellId,
    /// The lowest number that was never leased.
    pub next_number: u64,
    /// Numbers below it that are neither settled nor in a live lease: ascending, disjoint.
    pub returned: Vec<GameRange>,
    /// Up to where its stop rule has read (invariant 7). 0 without one.
    pub decided_number: u64,
    /// Where it ends by its stop rule: settled games from here on are not counted.
    pub stop_number: Option<u64>,
}

/// How often a game was lost or failed. Only games with any have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// The game.
    pub game: GameId,
    /// Leases lost while it was reported as started.
    pub lost: u32,
    /// Of these, leases that held only this game.
    pub lost_alone: u32,
    /// Failures that workers reported.
    pub failed: u32,
}

/// A live lease. Durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseState {
    /// The lease.
    pub lease: LeaseId,
    /// Who holds it.
    pub worker: WorkerId,
    /// The games it was granted with.
    pub granted: Vec<GameRange>,
    /// Those of them that have no result yet. A store may read this as "granted, not settled":
    /// games that left the lease unsettled, because they failed, are found by
    /// [`Scheduler::restore`](super::Scheduler::restore) among the returned ones or in a later
    /// lease.
    pub outstanding: Vec<GameRange>,
}

/// What happens to the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An experiment was stored, or its sweep has changed. Cells the scheduler knows keep their
    /// progress and take the new `games` and `in_sweep`; those that did not change may be left
    /// out. A cell with another stop rule, or with none any more, takes the new reading and is read
    /// again: where it ends may move either way. Every other cell comes with its durable state, which is
    /// not all zeros if the experiment was finished before.
    Submitted {
        /// The experiment.
        experiment: ExperimentId,
        /// Larger goes first.
        priority: i32,
        /// Whether its owner may add cells to it yet ([`Event::Extended`]): it is not finished when its
        /// games are.
        open: bool,
        /// Which of its cells go first. With another one than before come all of its cells.
        allocation: Allocation,
        /// Its cells.
        cells: Vec<CellState>,
        /// Attempts of games without a result in cells that the scheduler does not know.
        attempts: Vec<Attempts>,
    },
    /// The owner itself adds cells to an open experiment, or says that it will add no more. Changes
    /// nothing if the experiment is over.
    Extended {
        /// The experiment.
        experiment: ExperimentId,
        /// The new cells, after those that it has.
        cells: Vec<CellState>,
        /// Whether more may come.
        open: bool,
    },
    /// Somebody paused, resumed or cancelled it. Changes nothing if it is finished or cancelled.
    Steered {
        /// The experiment.
        experiment: ExperimentId,
        /// `Running`, `Paused` or `Cancelled`.
        state: ExperimentState,
    },
    /// Somebody gave it another priority: from the next lease on. Changes nothing if it is over.
    Prioritized {
        /// The experiment.
        experiment: ExperimentId,
        /// Larger goes first.
        priority: i32,
    },
    /// It is being deleted, with everything of it: to be forgotten at once. From here on, also in
    /// the same transaction, the owner looks its games up as never leased. It lets nobody delete
    /// an experiment whose games [are leased](super::Scheduler::holds_leases).
    Removed {
        /// The experiment.
        experiment: ExperimentId,
    },
    /// Settled games are to be played again: failed ones, or those of a worker that is not believed any
    /// more. Their results and attempts are gone from the store, and events before this one in the same
    /// transaction were stored before. Of an experiment that is over, which the scheduler has forgotten,
    /// its owner says `Submitted` instead.
    Reopened {
        /// The experiment.
        experiment: ExperimentId,
        /// The games.
        games: Vec<GameId>,
        /// Of each of their cells that has a stop rule what it reads now, from the first unit.
        readings: Vec<(CellId, Reading)>,
        /// Of each of their cells what counts now: [`CellState::played`].
        played: Vec<(CellId, GameCounts)>,
    },
    /// A worker is not believed any more, in one experiment or in all. Its leases end, their games return at no
    /// cost, and it gets no more; what it reports all the same does not count. Games of it that are settled
    /// come as [`Reopened`](Self::Reopened).
    Excluded {
        /// The worker.
        worker: WorkerId,
        /// The experiment; `None`: all.
        experiment: Option<ExperimentId>,
    },
    /// A worker is barred from an engine, as an earlier start of it was: as [`Effect::Barred`].
    Barred {
        /// The worker.
        worker: WorkerId,
        /// From which engine, and why.
        barred: Barred,
    },
    /// A worker is believed again, in all experiments, whyever it was not: from the next lease on.
    Readmitted {
        /// The worker.
        worker: WorkerId,
        /// Only with this engine, from which it was barred; `None`: whatever it plays.
        engine: Option<String>,
    },
    /// A worker asks for games.
    LeaseWanted {
        /// The worker.
        worker: WorkerId,
        /// Its playing threads.
        slots: u32,
        /// How many of these are quiet: timed games are played there alone. 0: they are played on all.
        quiet_slots: u32,
        /// Bytes of memory that it offers them together; `None` if it does not say.
        memory_bytes: Option<u64>,
        /// What else it has.
        offer: Offer,
        /// Whether it trains networks.
        trains: bool,
        /// Whether it verifies games of others.
        verifies: bool,
    },
    /// A worker is alive and names the leases it holds; one it does not name is not renewed.
    Heartbeat {
        /// The worker.
        worker: WorkerId,
        /// The leases it holds.
        leases: Vec<LeaseId>,
        /// The games it is playing at this moment.
        playing: Vec<GameId>,
    },
    /// A worker hands back what it has not finished of a lease; costs no attempts.
    GivenBack {
        /// The worker.
        worker: WorkerId,
        /// The lease.
        lease: LeaseId,
    },
    /// A worker reports a game. The owner has looked the facts up in the same transaction.
    Reported {
        /// The worker.
        worker: WorkerId,
        /// The lease it names.
        lease: LeaseId,
        /// The game.
        game: GameId,
        /// What the worker says of it.
        what: Report,
        /// Whether the game already has a settled result on disk. Events before this one in the
        /// same transaction need not be considered: those the scheduler remembers, but for
        /// `Removed` and for what came before [`take_changes`](super::Scheduler::take_changes).
        settled: bool,
        /// Whether it was ever leased to this worker under the lease it names.
        leased: bool,
    },
    /// Time has passed.
    Tick,
}

/// What a worker reports of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It was played to its end.
    Played {
        /// Wall time, for the sizes of later batches.
        wall_us: u64,
        /// What the player got who moved first in it.
        points: Points,
        /// The hash of its moves: games of equal moves are told apart from others by it.
        moves_hash: u64,
        /// The engine that forfeited it, by its name in sweeps, and after how many plies.
        forfeit: Option<(String, u64)>,
    },
    /// It was played to its end, but its players were disturbed, and its sweep has it played again. So is a result that
    /// was reported before and is kept so already.
    Disturbed,
    /// It was a training, and came to something.
    Trained,
    /// It was a verification, and was played to its end.
    Verified,
    /// It could not be played.
    Failed {
        /// Why.
        message: String,
    },
    /// What was reported is not a record of this game: the rules do not allow it. That says something
    /// of the worker, and nothing of the game.
    Irregular,
}

/// What the owner does on behalf of the scheduler, in order.
///
/// Every `LeaseWanted`, `Heartbeat` and `Reported` is answered exactly once. `SettleFailed` and
/// `Finished` come with any event, since every event also expires what is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Answer to `LeaseWanted`.
    Grant {
        /// The worker.
        worker: WorkerId,
        /// The new lease.
        lease: LeaseId,
        /// Its games, whole pairs unless they come back one by one.
        ranges: Vec<GameRange>,
        /// Those of them with games that were lost with a worker, whatever it was doing at that
        /// moment: one of them may have killed it. Each of their games is to be named in a heartbeat
        /// before it is played.
        lost: Vec<GameRange>,
        /// How long it lives without a heartbeat.
        duration_ms: u64,
    },
    /// Answer to `LeaseWanted`: nothing to do now.
    Idle {
        /// The worker.
        worker: WorkerId,
        /// When to ask again.
        retry_after_ms: u64,
        /// Whether every experiment is finished, paused or cancelled: no running one has an
        /// unsettled game.
        all_done: bool,
        /// Why this worker gets none of what waits.
        withheld: Option<Withheld>,
        /// The game whose speed it is to measure and to tell: it may get games of it then.
        calibrate: Option<String>,
    },
    /// Answer to `Heartbeat`: leases the worker must drop, because they ended or were never its.
    /// Often none.
    Drop {
        /// The worker.
        worker: WorkerId,
        /// The leases.
        leases: Vec<LeaseId>,
    },
    /// Answer to `Reported`: where the result goes.
    Verdict {
        /// The game.
        game: GameId,
        /// Counted, or why not.
        verdict: Verdict,
    },
    /// A game is settled as failed, after too many failures or losses.
    SettleFailed {
        /// The game.
        game: GameId,
        /// The message to store.
        message: String,
    },
    /// A worker gets no games for a while, since it fails much more than others.
    Quarantined {
        /// The worker.
        worker: WorkerId,
        /// How many of its last games failed and were then played by others.
        faults: u64,
        /// Of so many.
        games: u64,
    },
    /// A worker gets no more games of an engine, since the engine forfeits them there and not elsewhere. The owner
    /// keeps that, and takes out what the worker has played with it, whose games come as [`Event::Reopened`].
    Barred {
        /// The worker.
        worker: WorkerId,
        /// From which engine, and why.
        barred: Barred,
    },
    /// Every game of the experiment is settled, and no more cells come.
    Finished {
        /// The experiment.
        experiment: ExperimentId,
    },
}

/// Where a result goes (invariant 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Into `games`: counted, unless it is beyond its cell's stop.
    Counts,
    /// A failure: noted as an attempt; the game will be leased again or settled as failed.
    Noted,
    /// Into `uncounted_games`: the game has a result. The store tells repeat from conflict. A
    /// failure with this verdict is stored nowhere.
    Again,
    /// Into `uncounted_games`: the experiment was cancelled, or has finished without the game, because
    /// its sweep no longer names the cell, or the cell ends before it. A failure with this verdict is stored nowhere.
    AfterCancel,
    /// Into `uncounted_games`: its worker is excluded. A failure with this verdict is stored nowhere, and a
    /// training or a verification neither.
    Excluded,
    /// Into `uncounted_games`: its players were disturbed. The game is played again, at no cost to it; if another lease
    /// has it by now, under that.
    Disturbed,
    /// Beside all statistics, as what its worker is charged with: it is not a record of the game, which
    /// is played again at no cost to it.
    Refused,
    /// Nowhere: it was never leased to this worker.
    Rejected,
}

/// What must be on disk before any reply to the events since the last drain. To be applied in
/// the order of the fields: a lease may be granted and ended in one drain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Cells whose progress changed: as it is now.
    pub cells: Vec<CellProgress>,
    /// Leases granted: insert.
    pub granted: Vec<LeaseState>,
    /// Leases that ended, and why.
    pub ended: Vec<(LeaseId, LeaseEnd)>,
    /// Attempts that changed: their new state, also of games that were settled since.
    pub attempts: Vec<Attempts>,
}

/// Why a lease ended. The names are stored in the results database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseEnd {
    /// Every game of it has a result.
    Finished,
    /// Its worker was silent for too long.
    Expired,
    /// Its worker handed it back.
    GivenBack,
    /// Its experiment was cancelled or deleted, or its worker excluded.
    Cancelled,
}

/// The durable state of an experiment that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentSnapshot {
    /// The experiment.
    pub experiment: ExperimentId,
    /// Larger goes first.
    pub priority: i32,
    /// `Running` or `Paused`.
    pub state: ExperimentState,
    /// Whether its owner may add cells to it yet.
    pub open: bool,
    /// Which of its cells go first.
    pub allocation: Allocation,
    /// Its cells, in the grid's order.
    pub cells: Vec<CellState>,
}

/// The durable state of everything the scheduler knows, as the store reads it at a start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Experiments that are not finished or cancelled.
    pub experiments: Vec<ExperimentSnapshot>,
    /// Live leases.
    pub leases: Vec<LeaseState>,
    /// Attempts of games that are not settled.
    pub attempts: Vec<Attempts>,
    /// The greatest lease id ever given.
    pub last_lease: i64,
    /// Who is excluded, from an experiment or from all.
    pub excluded: Vec<(WorkerId, Option<ExperimentId>)>,
    /// Who is barred from engines.
    pub barred: Vec<(WorkerId, Barred)>,
}
