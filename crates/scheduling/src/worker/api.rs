//! The events and actions of a worker.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use spelrum_model::speed::{ScaledTime, Scaling, Speed};
use spelrum_model::{DefinitionHash, GameId, GameRange, LeaseId, WorkerId};

/// What a worker knows of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Playing threads. They are numbered from 0, and idle at first.
    pub slots: NonZeroU32,
    /// How many of these, from 0, are quiet: timed games are played there alone, and beside no
    /// others. With none they are played like all games. Never more than there are slots.
    pub quiet_slots: u32,
    /// Whether to end when the coordinator has nothing left to do, instead of waiting for more.
    pub exit_when_done: bool,
    /// How long a call may take before it is given up, in milliseconds. A transaction takes
    /// milliseconds: beyond this the coordinator, or the way there, is gone or overloaded.
    pub patience_ms: u64,
    /// A speed that was measured just now, if one was.
    pub speed: Option<Speed>,
}

/// A finished game, as it is reported: what the machine must know of it.
pub trait Outcome: Clone {
    /// The lease that it was played under.
    fn lease(&self) -> LeaseId;

    /// How many bytes it takes in a report, and about as many in memory.
    fn bytes(&self) -> usize;

    /// Whether the game could not be played.
    fn is_failure(&self) -> bool;

    /// The failure that is reported in its place when the coordinator cannot take it; `None` of a
    /// failure, in whose place nothing else can be said.
    fn refused(&self, problem: &str) -> Option<Self>;
}

/// Chance, from whoever owns the machine: how much longer than necessary a wait is, from not at
/// all (0) to half as much again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter(pub u32);

/// A call to the coordinator; no two calls of one machine have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// Who calls, and which run of the coordinator it believes to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The worker.
    pub worker: WorkerId,
    /// The coordinator's epoch.
    pub epoch: i64,
}

/// What a Hello brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What later calls state.
    pub caller: Caller,
    /// Names the results database. What is held belongs to one: the ids of another mean other
    /// games.
    pub database: String,
    /// How often the coordinator wants a heartbeat, in milliseconds; at least 1.
    pub heartbeat_interval_ms: u64,
    /// Most results in a report; at least 1.
    pub report_results_max: usize,
}

/// Successive games of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasedGames {
    /// Which games.
    pub range: GameRange,
    /// The definition of their cell.
    pub definition: DefinitionHash,
    /// How long one may take before it fails; `None` if as long as it takes.
    pub game_timeout: Option<Duration>,
    /// Whether one of them was lost with a worker: each is named in a heartbeat before it is played.
    pub name_before_play: bool,
    /// Whether their players have a time limit, or times are what is measured.
    pub timed: bool,
    /// How time limits of their players are scaled, if they are.
    pub scaling: Option<Scaling>,
}

/// Some successive games of one lease for one slot, so few that they are soon over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<C> {
    /// The lease.
    pub lease: LeaseId,
    /// The cell, ready to be played.
    pub cell: C,
    /// Which games, to be played in their order.
    pub range: GameRange,
    /// How long one may take before it fails; `None` if as long as it takes.
    pub game_timeout: Option<Duration>,
    /// Whether they are to be played in quiet.
    pub in_quiet: bool,
    /// How their players' time limits are scaled, if they are.
    pub scaled: Option<ScaledTime>,
}

/// What happens to a worker. `R` is a finished game, `C` a cell that is ready to be played.
#[derive(Clone, Debug)]
pub enum Event<R, C> {
    /// Time has passed. Also the first event of all.
    TimePassed,
    /// A call has come to something. What comes of one for the second time changes nothing.
    Answered {
        /// The call.
        call: CallId,
        /// Its answer, or why there is none.
        answer: Result<Answer<C>, Failure>,
    },
    /// A slot has begun a game of its batch. May be left out of the first one, and be told late,
    /// but not later than the next `TimePassed` or `Answered`: no other event says Heartbeat.
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
    /// A slot is done with its batch: it is over, or was stopped.
    Free {
        /// The slot.
        slot: usize,
        /// Games of the batch that it played.
        played: u64,
        /// How long they took together.
        took: Duration,
    },
    /// A measurement has come to something.
    Calibrated {
        /// The game.
        game: String,
        /// The speed, its age aside; `None` if it could not be measured, as that of a game that is not known.
        speed: Option<Speed>,
    },
    /// What the worker offers has changed: it says Hello before it says anything else.
    Changed,
    /// Somebody wants the worker to finish the games in progress, report them, hand the rest back
    /// and end.
    Finish,
    /// Somebody wants it to end now: to abandon the games in progress, and to report what is
    /// finished if that works at once.
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
        /// When to ask again, in milliseconds.
        retry_after_ms: u64,
        /// Whether no running experiment has an unsettled game.
        all_done: bool,
        /// The game whose speed the coordinator wants to know first, if it does.
        calibrate: Option<String>,
    },
    /// To Heartbeat: leases that are no longer this worker's.
    Drop(Vec<LeaseId>),
    /// To Report: the first so many of its results need not be repeated.
    Acknowledged {
        /// How many.
        results: usize,
    },
    /// To GiveBack.
    GivenBack,
    /// To GetCell.
    Cell {
        /// The cell.
        cell: C,
        /// Whether it is the same whenever it is asked for; else the next lease asks again.
        keep: bool,
        /// Its game, where its players have a time limit, which may be scaled by this machine's speed.
        game: Option<&'static str>,
    },
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The coordinator does not know the caller: it was started anew.
    SayHello,
    /// It refused the call, and would again.
    Refused {
        /// Why.
        problem: String,
    },
    /// It does not want this worker.
    Unwanted,
    /// It cannot be reached, or cannot do it now.
    Away {
        /// Not to be asked again sooner, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// There was none for as long as the call's patience.
    TimedOut,
}

/// What the owner does on behalf of the machine, in order.
#[derive(Clone, Debug)]
pub enum Action<R, C> {
    /// Call the coordinator, and tell what it comes to: always, and at the latest when the
    /// patience is over.
    Call {
        /// The call.
        call: CallId,
        /// How long to wait for an answer, in milliseconds.
        patience_ms: u64,
        /// What to say.
        what: Call<R>,
    },
    /// Play games on a slot, which is idle.
    Play {
        /// The slot.
        slot: usize,
        /// The games.
        batch: Batch<C>,
    },
    /// Measure how fast this machine searches a game, on all slots that play timed games at once. No slot plays, and
    /// none will until the result is told.
    Calibrate {
        /// The game.
        game: String,
    },
    /// Stop a slot that plays. It still becomes `Free`.
    Stop {
        /// The slot.
        slot: usize,
        /// Whether to abort the game in progress, whose result nobody wants, instead of letting it
        /// end.
        now: bool,
    },
    /// The worker has ended: nothing that happens changes anything any more.
    End,
}

/// What a worker says.
#[derive(Clone, Debug)]
pub enum Call<R> {
    /// Who it is.
    Hello,
    /// That it wants games.
    Lease {
        /// Who calls.
        caller: Caller,
        /// What it has measured of its machine.
        speeds: Vec<Speed>,
    },
    /// That it lives.
    Heartbeat {
        /// Who calls.
        caller: Caller,
        /// All leases that it holds.
        leases: Vec<LeaseId>,
        /// The games that it plays at this moment, and those that it plays next if this is heard.
        playing: Vec<GameId>,
    },
    /// What came of games. Said again, it is the same word for word.
    Report {
        /// Who calls.
        caller: Caller,
        /// The results; never none.
        results: Arc<Vec<R>>,
    },
    /// What it will not play.
    GiveBack {
        /// Who calls.
        caller: Caller,
        /// The leases; never none.
        leases: Vec<LeaseId>,
    },
    /// That it wants a definition.
    GetCell(DefinitionHash),
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Results that were acknowledged, failures among them.
    pub acknowledged: u64,
    /// Failures among these.
    pub failed: u64,
    /// Failures that the coordinator refused for good. Their games will be played again.
    pub refused: u64,
}
