//! The events, replies and durable changes of the scheduler.

use std::sync::Arc;

use spelrum_model::demands::{Demands, Offer};
use spelrum_model::withheld::{Barred, Withheld};
use spelrum_model::{
    CellId, ExperimentId, ExperimentState, GameId, GameRange, LeaseId, SchedulingSettings, WorkerId,
};
use spelrum_statistics::GameCounts;

use crate::stopping::{Points, Reading};

/// Milliseconds on the coordinator's monotonic clock, since an arbitrary moment.
///
/// An event carries the moment of its arrival, not of its processing: a heartbeat that waited behind a slow
/// commit arrived in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(pub u64);

/// A cell as the scheduler sees it: the settings from its sweep, and its durable state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellState {
    /// The cell.
    pub cell: CellId,
    /// Whether its experiment's sweep names it. Games of a cell outside the sweep are not handed out; leased
    /// ones may finish.
    pub in_sweep: bool,
    /// Whether games 2k and 2k + 1 are a pair, so that a started pair is completed.
    pub swap_sides: bool,
    /// Number of games, unless its stop rule ends it earlier.
    pub games: u64,
    /// The lowest number that was never leased.
    pub next_number: u64,
    /// Numbers below it that are neither settled nor in a live lease: ascending, disjoint.
    pub returned: Vec<GameRange>,
    /// Up to where its stop rule has read, as stored.
    pub decided_number: u64,
    /// Where its stop rule ends it, as stored.
    pub stop_number: Option<u64>,
    /// Input of its stop rule, if it has one. A changed rule reads from the first unit. Boxed, since 100,000
    /// cells may have none.
    pub reading: Option<Box<Reading>>,
    /// Bytes of memory that one of its games may take. Part of its definition, so constant.
    pub memory_bytes: u64,
    /// Demands of each game on its worker beside memory, if any. Cells with the same demands share them:
    /// there may be 100,000 cells. A known cell takes the new ones.
    pub demands: Option<Arc<Demands>>,
    /// Cells of its experiment that must be settled before its games are handed out, such as the trainings of
    /// its players' networks. Shared by cells that wait for the same ones.
    pub after: Option<Arc<[CellId]>>,
    /// Kind of its tasks.
    pub tasks: Tasks,
    /// Whether its games are timed: a worker with quiet (exclusive) slots plays them there, while all its
    /// other slots stand idle.
    pub timed: bool,
    /// Its first player's results in the games that count. Only used if its experiment's allocation is
    /// [`Allocation::Informative`](spelrum_model::Allocation::Informative).
    pub played: GameCounts,
}

impl CellState {
    /// A cell without a stop rule that gets this many games, in pairs, and has leased none yet.
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

/// Kinds of tasks. Those other than games each get their own lease, go before their experiment's games, and
/// do not count as measurements of game times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tasks {
    /// Games.
    #[default]
    Games,
    /// Trainings of networks, for a worker that trains and has a spare slot.
    Trainings,
    /// Settled games, replayed for comparison by a worker that verifies.
    Verifications {
        /// The worker that played them, and gets none of them.
        not_by: Option<WorkerId>,
    },
}

/// A cell's progress: durable.
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
    /// Where its stop rule ends it: settled games from here on are not counted.
    pub stop_number: Option<u64>,
}

/// How often a game was lost or failed. Exists only for games with losses or failures.
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
    /// The worker that holds it.
    pub worker: WorkerId,
    /// The games granted.
    pub granted: Vec<GameRange>,
    /// Granted games without a result. A store may read this as "granted, not settled":
    /// [`Scheduler::restore`](super::Scheduler::restore) finds games that left the lease unsettled, because
    /// they failed, among the returned ones or in a later lease.
    pub outstanding: Vec<GameRange>,
}

/// An event for the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An experiment was stored, or its sweep has changed. Known cells keep their progress and take the new
    /// `games` and `in_sweep`; unchanged ones may be left out. A cell whose stop rule changed or was removed
    /// takes the new reading and is read again: its end may move either way. Every other cell comes with its
    /// durable state, which is not all zeros if the experiment was finished before.
    Submitted {
        /// The experiment.
        experiment: ExperimentId,
        /// Its sweep's settings. A changed allocation comes with all of its cells.
        settings: SchedulingSettings,
        /// Whether its owner may still add cells ([`Event::Extended`]): then it is not finished when its
        /// games are.
        open: bool,
        /// Its cells.
        cells: Vec<CellState>,
        /// Attempts of games without a result in cells unknown to the scheduler.
        attempts: Vec<Attempts>,
    },
    /// The owner adds cells to an open experiment, or ends its growth. Changes nothing if the experiment is
    /// over.
    Extended {
        /// The experiment.
        experiment: ExperimentId,
        /// The new cells, after the existing ones.
        cells: Vec<CellState>,
        /// Whether more may come.
        open: bool,
    },
    /// The experiment was paused, resumed or cancelled by a user. Changes nothing if it is finished or
    /// cancelled.
    Steered {
        /// The experiment.
        experiment: ExperimentId,
        /// `Running`, `Paused` or `Cancelled`.
        state: ExperimentState,
    },
    /// A user changed its priority: from the next lease on. Changes nothing if it is over.
    Prioritized {
        /// The experiment.
        experiment: ExperimentId,
        /// Larger goes first.
        priority: i32,
    },
    /// The experiment is being permanently deleted, and is forgotten at once. From here on, also in the same
    /// transaction, the owner looks its games up as never leased. The owner refuses to delete an experiment
    /// whose games [are leased](super::Scheduler::holds_leases).
    Removed {
        /// The experiment.
        experiment: ExperimentId,
    },
    /// Settled games to replay: failed ones, or those of a worker that is no longer trusted. Their results
    /// and attempts are gone from the store, and events before this one in the same transaction were stored
    /// before. For an experiment that is over, which the scheduler has forgotten, the owner sends `Submitted`
    /// instead.
    Reopened {
        /// The experiment.
        experiment: ExperimentId,
        /// The games.
        games: Vec<GameId>,
        /// For each of their cells with a stop rule, its new input, from the first unit.
        readings: Vec<(CellId, Reading)>,
        /// For each of their cells, the games that count now: [`CellState::played`].
        played: Vec<(CellId, GameCounts)>,
    },
    /// A worker is no longer trusted, in one experiment or in all. Its leases end, their games return at no
    /// cost, and it gets no more; its later reports do not count. Its settled games come as
    /// [`Reopened`](Self::Reopened).
    Excluded {
        /// The worker.
        worker: WorkerId,
        /// The experiment; `None` for all.
        experiment: Option<ExperimentId>,
    },
    /// A worker is barred from an engine, as an earlier start of it was; see [`Effect::Barred`].
    Barred {
        /// The worker.
        worker: WorkerId,
        /// The engine and the reason.
        barred: Barred,
    },
    /// A worker is trusted again, in all experiments, whatever the cause was: from the next lease on.
    Readmitted {
        /// The worker.
        worker: WorkerId,
        /// Only with this engine, from which it was barred; `None` for all games.
        engine: Option<String>,
    },
    /// A worker asks for games.
    LeaseWanted {
        /// The worker.
        worker: WorkerId,
        /// Its playing threads.
        slots: u32,
        /// Number of quiet (exclusive) slots: timed games are played only there. 0: they are played on all.
        quiet_slots: u32,
        /// Bytes of memory that it offers them together; `None` if unstated.
        memory_bytes: Option<u64>,
        /// Its other capabilities.
        offer: Offer,
        /// Whether it trains networks.
        trains: bool,
        /// Whether it verifies other workers' games.
        verifies: bool,
    },
    /// A worker is alive and names the leases it holds; unnamed ones are not renewed.
    Heartbeat {
        /// The worker.
        worker: WorkerId,
        /// The leases it holds.
        leases: Vec<LeaseId>,
        /// The games it is playing at this moment.
        playing: Vec<GameId>,
    },
    /// A worker hands back the unfinished part of a lease; costs no attempts.
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
        /// The report.
        report: Report,
        /// Whether the game already has a settled result on disk. Events before this one in the same
        /// transaction need not be considered: the scheduler remembers them, except `Removed` and events
        /// before [`take_changes`](super::Scheduler::take_changes).
        settled: bool,
        /// Whether it was ever leased to this worker under the named lease.
        leased: bool,
    },
    /// Time has passed.
    Tick,
}

/// A worker's report of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Played to its end.
    Played {
        /// Wall time, for the sizes of later batches.
        wall_us: u64,
        /// Points of the player who moved first in it.
        points: Points,
        /// Hash of its moves, by which games with equal moves are recognised.
        moves_hash: u64,
        /// The engine that forfeited it, by its name in sweeps, and after how many plies.
        forfeit: Option<(String, u64)>,
    },
    /// Played to its end, but its players were disturbed, and its sweep replays such games. So is a result
    /// that was reported before and is already kept as disturbed.
    Disturbed,
    /// A training that ended with a result.
    Trained,
    /// A verification, played to its end.
    Verified,
    /// The game could not be played.
    Failed {
        /// The reason.
        message: String,
    },
    /// The report is not a record of this game: the rules do not allow it. This reflects on the worker, not
    /// on the game.
    Irregular,
}

/// An action for the owner to take, in order.
///
/// Every `LeaseWanted`, `Heartbeat` and `Reported` is answered exactly once. `SettleFailed` and `Finished`
/// come with any event, since every event also handles expired leases.
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
        /// The ranges with games that were lost with a worker, whatever it was doing at that moment: one of
        /// them may have killed it. A heartbeat must name each of their games before it is played.
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
        /// Why this worker gets none of the waiting games.
        withheld: Option<Withheld>,
        /// The game whose speed the worker must measure and report before it may get games of it.
        calibrate: Option<String>,
    },
    /// Answer to `Heartbeat`: leases the worker must drop, because they ended or were never its. Often empty.
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
        /// Whether it counts, and if not, why.
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
        /// Out of this many.
        games: u64,
    },
    /// A worker gets no more games of an engine that forfeits there and not elsewhere. The owner stores the
    /// ban and discards what the worker played with the engine; those games come as [`Event::Reopened`].
    Barred {
        /// The worker.
        worker: WorkerId,
        /// The engine and the reason.
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
    /// Into `uncounted_games`: the game has a result. The store distinguishes repeats from conflicts. A
    /// failure with this verdict is not stored.
    Again,
    /// Into `uncounted_games`: the experiment was cancelled, or has finished without the game, because its
    /// sweep no longer names the cell, or the cell ends before it. A failure with this verdict is not stored.
    AfterCancel,
    /// Into `uncounted_games`: its worker is excluded. A failure, training or verification with this verdict
    /// is not stored.
    Excluded,
    /// Into `uncounted_games`: its players were disturbed. The game is replayed at no cost to it, possibly
    /// under another lease that already holds it.
    Disturbed,
    /// Outside all statistics, as evidence against its worker: not a record of the game, which is replayed at
    /// no cost to it.
    Refused,
    /// Discarded: the game was never leased to this worker.
    Rejected,
}

/// What must be on disk before any reply to the events since the last drain. Apply it in the order of the
/// fields: a lease may be granted and ended in one drain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Current progress of the cells that changed.
    pub cells: Vec<CellProgress>,
    /// Granted leases: insert.
    pub granted: Vec<LeaseState>,
    /// Leases that ended, and why.
    pub ended: Vec<(LeaseId, LeaseEnd)>,
    /// New state of changed attempts, also for games settled since.
    pub attempts: Vec<Attempts>,
}

/// Why a lease ended. The names are stored in the results database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseEnd {
    /// Every game in it has a result.
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
    /// Its sweep's settings, with its current priority.
    pub settings: SchedulingSettings,
    /// `Running` or `Paused`.
    pub state: ExperimentState,
    /// Whether its owner may still add cells.
    pub open: bool,
    /// Its cells, in the grid's order.
    pub cells: Vec<CellState>,
}

/// The scheduler's durable state, as the store reads it at a start.
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
    /// Workers excluded, from an experiment or from all.
    pub excluded: Vec<(WorkerId, Option<ExperimentId>)>,
    /// Workers barred from engines.
    pub barred: Vec<(WorkerId, Barred)>,
}
