//! The events and actions of a worker.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use spelrum_model::speed::{ScaledTime, Scaling, Speed};
use spelrum_model::{DefinitionHash, GameId, GameRange, LeaseId, WorkerId};

/// A worker's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Playing threads. They are numbered from 0, and idle at first.
    pub slots: NonZeroU32,
    /// How many of these, from 0, are quiet (exclusive): timed games are played only there, with no other
    /// game running. With none they are played like all games. At most `slots`.
    pub quiet_slots: u32,
    /// Whether to end when the coordinator has no work left, instead of waiting for more.
    pub exit_when_done: bool,
    /// How long the worker waits for games before it ends, in milliseconds; `None` to wait without end.
    pub idle_max_ms: Option<u64>,
    /// Call timeout in milliseconds. A transaction takes milliseconds: beyond this the coordinator, or the
    /// way there, is gone or overloaded.
    pub patience_ms: u64,
    /// A speed that was just measured, if any.
    pub speed: Option<Speed>,
}

/// A finished game as reported: the parts the machine needs.
pub trait Outcome: Clone {
    /// The lease that the game was played under.
    fn lease(&self) -> LeaseId;

    /// Size in a report in bytes, and about the same in memory.
    fn bytes(&self) -> usize;

    /// Whether the game could not be played.
    fn is_failure(&self) -> bool;

    /// The failure to report instead when the coordinator cannot take this result; `None` for a failure,
    /// which has no substitute.
    fn refused(&self, problem: &str) -> Option<Self>;
}

/// Randomness, from the machine's owner: how much longer than necessary a wait is, from not at all (0) to
/// half as much again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter(pub u32);

/// A call to the coordinator, unique within a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// The calling worker, and the run of the coordinator it believes to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The worker.
    pub worker: WorkerId,
    /// The coordinator's epoch.
    pub epoch: i64,
}

/// The result of Hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Identification for later calls.
    pub caller: Caller,
    /// Names the results database. Held games belong to one: the ids of another mean other games.
    pub database: String,
    /// Heartbeat interval that the coordinator wants, in milliseconds; at least 1.
    pub heartbeat_interval_ms: u64,
    /// Most results in a report; at least 1.
    pub report_results_max: usize,
}

/// Successive games of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasedGames {
    /// The games.
    pub range: GameRange,
    /// The definition of their cell.
    pub definition: DefinitionHash,
    /// How long one may take before it fails; `None` for no limit.
    pub game_timeout: Option<Duration>,
    /// Whether one of them was lost with a worker: each is named in a heartbeat before it is played.
    pub name_before_play: bool,
    /// Whether their players have a time limit, or times are measured.
    pub timed: bool,
    /// How their players' time limits are scaled, if at all.
    pub scaling: Option<Scaling>,
}

/// Successive games of one lease for one slot, few enough to end soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<C> {
    /// The lease.
    pub lease: LeaseId,
    /// The cell, ready to be played.
    pub cell: C,
    /// The games, to be played in order.
    pub range: GameRange,
    /// How long one may take before it fails; `None` for no limit.
    pub game_timeout: Option<Duration>,
    /// Whether to play them on an exclusive slot.
    pub in_quiet: bool,
    /// How their players' time limits are scaled, if at all.
    pub scaled: Option<ScaledTime>,
}

/// An event for a worker. `R` is a finished game, `C` a cell that is ready to be played.
#[derive(Clone, Debug)]
pub enum Event<R, C> {
    /// Time has passed. Also the first event of all.
    TimePassed,
    /// A call has ended. A second answer to the same call changes nothing.
    Answered {
        /// The call.
        call: CallId,
        /// Its answer, or why it failed.
        answer: Result<Answer<C>, Failure>,
    },
    /// A slot has begun a game of its batch. Optional for the first game, and allowed to come late, but not
    /// after the next `TimePassed` or `Answered`: no other event sends a heartbeat.
    Started {
        /// The slot.
        slot: usize,
        /// The game's number.
        number: u64,
    },
    /// Games of a slot's batch are finished.
    Finished {
        /// The slot.
        slot: usize,
        /// Their results.
        results: Vec<R>,
    },
    /// A slot has finished or stopped its batch.
    Free {
        /// The slot.
        slot: usize,
        /// Games of the batch that it played.
        played: u64,
        /// Their total time.
        took: Duration,
    },
    /// A measurement has ended.
    Calibrated {
        /// The game.
        game: String,
        /// The speed, its age aside; `None` if it could not be measured, for instance for an unknown game.
        speed: Option<Speed>,
    },
    /// The worker's offer has changed: it sends Hello before any other call.
    Changed,
    /// Request to finish the games in progress, report them, hand the rest back and end.
    Finish,
    /// Request to end now: abandon the games in progress, and report finished ones if that works at once.
    EndNow,
}

/// Answer to a call.
#[derive(Clone, Debug)]
pub enum Answer<C> {
    /// To Hello.
    Hello(Session),
    /// To Lease: games.
    Granted {
        /// The new lease.
        lease: LeaseId,
        /// Its games.
        games: Vec<LeasedGames>,
    },
    /// To Lease: no games now.
    Idle {
        /// When to call again, in milliseconds.
        retry_after_ms: u64,
        /// Whether no running experiment has an unsettled game.
        all_done: bool,
        /// The game whose speed the coordinator needs first, if any.
        calibrate: Option<String>,
        /// Whether games wait for engines that this worker is obtaining.
        is_obtaining: bool,
    },
    /// To Heartbeat.
    Drop {
        /// Leases that this worker no longer holds.
        leases: Vec<LeaseId>,
        /// Whether people follow one of its games: the next heartbeat comes sooner.
        is_followed: bool,
    },
    /// To Report: this many results, from the first, need not be repeated.
    Acknowledged {
        /// Number of results.
        results: usize,
    },
    /// To GiveBack.
    GivenBack,
    /// To GetCell.
    Cell {
        /// The cell.
        cell: C,
        /// Whether the cell never changes; otherwise the next lease fetches it again.
        keep: bool,
        /// Its game, if its players have a time limit that may be scaled by this machine's speed.
        game: Option<&'static str>,
    },
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The coordinator does not know the caller: it was restarted.
    SayHello,
    /// The coordinator refused the call, and would again.
    Refused {
        /// Why.
        problem: String,
    },
    /// The coordinator rejects this worker.
    Unwanted,
    /// The coordinator did not answer at this address, and has another one that was not tried since its last answer.
    Elsewhere,
    /// The coordinator is unreachable, or unable to answer now.
    Away {
        /// Minimum delay before the next call, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// No answer within the call's patience.
    TimedOut,
}

/// An action for the owner to take, in order.
#[derive(Clone, Debug)]
pub enum Action<R, C> {
    /// Call the coordinator, and always report the outcome, at the latest when the patience is over.
    Call {
        /// The call.
        call: CallId,
        /// How long to wait for an answer, in milliseconds.
        patience_ms: u64,
        /// The message.
        request: Call<R>,
    },
    /// Play games on an idle slot.
    Play {
        /// The slot.
        slot: usize,
        /// The games.
        batch: Batch<C>,
    },
    /// Measure how fast this machine searches a game, on all slots that play timed games at once. No slot
    /// plays, and none will until the result is reported.
    Calibrate {
        /// The game.
        game: String,
    },
    /// Stop a playing slot. It still becomes `Free`.
    Stop {
        /// The slot.
        slot: usize,
        /// Whether to abort the game in progress, whose result is unwanted, instead of letting it end.
        now: bool,
    },
    /// The worker has ended: later events change nothing.
    End,
}

/// A worker's message.
#[derive(Clone, Debug)]
pub enum Call<R> {
    /// Identifies the worker.
    Hello,
    /// Requests games.
    Lease {
        /// Who calls.
        caller: Caller,
        /// Its measured speeds.
        speeds: Vec<Speed>,
    },
    /// Signals that the worker is alive.
    Heartbeat {
        /// Who calls.
        caller: Caller,
        /// All leases that the worker holds.
        leases: Vec<LeaseId>,
        /// The games being played now, and those played next if this arrives.
        playing: Vec<GameId>,
    },
    /// Results of games. A repetition is word for word identical.
    Report {
        /// Who calls.
        caller: Caller,
        /// The results; never empty.
        results: Arc<Vec<R>>,
    },
    /// Returns leases that the worker will not play.
    GiveBack {
        /// Who calls.
        caller: Caller,
        /// The leases; never empty.
        leases: Vec<LeaseId>,
    },
    /// Requests a definition.
    GetCell(DefinitionHash),
}

/// A worker's totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Acknowledged results, failures among them.
    pub acknowledged: u64,
    /// Failures among these.
    pub failed: u64,
    /// Failures that the coordinator refused for good. Their games will be replayed.
    pub refused: u64,
}
