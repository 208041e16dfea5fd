//! The worker's side of scheduling: requesting, playing, keeping and reporting games, whatever happens on the
//! way.
//!
//! # The problem
//!
//! A worker has *slots*, threads that play one game at a time, and a coordinator, which may be slow, away,
//! restarted, refuse calls, or come back with another results database. Slots should never wait for games
//! while there are some; no finished game may be forgotten before it is acknowledged (invariant 4); no lease
//! may be renewed whose games are not played (invariant 6); and nothing may grow without a bound meanwhile
//! (invariant 9).
//!
//! # The state
//!
//! - The *session*: the worker's identity at a coordinator, since the last Hello. Everything held belongs to
//!   the results database that it named, and is dropped when another one is met.
//! - The *leases* that are held, and the place of each of their games: waiting for its cell or for a slot,
//!   being played, waiting in the outbox, acknowledged, or given up (`leases`).
//! - The *speeds* of this machine by games, by which time limits are scaled (`speeds`).
//! - The *turn*: timed games are played on the quiet (exclusive) slots, and never while untimed ones are
//!   played (`turns`).
//! - The *games* that no slot has begun (`games`), and the cells that are known (`cells`).
//! - The *outbox*: results until they are acknowledged, bounded in results and in bytes (`outbox`).
//! - A *lane* for each kind of call: one call at a time, when it may be made again, and how long it
//!   may take (`lane`, `backoff`).
//!
//! # The events
//!
//! | event | what happens |
//! |---|---|
//! | a lease is granted | its games are played as soon as their cells are known; if the worker is ending, they go back at once |
//! | a slot is free | it gets a batch: some milliseconds of games of one cell; a game that was lost with a worker before waits there until a heartbeat that names it has arrived (`withheld`) |
//! | the coordinator wants a speed, or games come whose time limits depend on an unmeasured one | no game begins until all slots are idle and it is measured |
//! | games are finished | they go out with the next report |
//! | a report is acknowledged | its results are forgotten; a lease without games ends |
//! | a report is refused | it is halved until the unacceptable result is found, whose game is reported as failed; if that is refused too, it is given up |
//! | a cell is refused | its games are given up |
//! | a heartbeat is answered | leases that are no longer this worker's are dropped, their games aborted |
//! | a call fails | it is repeated after a while, with a Hello before it if the coordinator wants one |
//! | other database | everything held is dropped |
//! | finish, end now | see `ending` |
//!
//! A lease with games that were given up is given back as soon as the others are acknowledged, and no games
//! are requested for some seconds: it is neither held for ever nor granted again at once.
//!
//! # The decisions
//!
//! - More games are wanted when the waiting ones keep the slots busy for less than half a second, and the
//!   outbox is not full (`games`, `deciding`).
//! - While both timed and untimed games wait, each kind gets the same time in the long run (`turns`).
//! - At most one of Lease and Heartbeat is under way, so that no heartbeat misses a lease whose
//!   grant is still travelling; if both are wanted, they take turns (`deciding`).
//! - A heartbeat is sent early when a game starts that may kill the worker; games that are only long share
//!   one in a second (`beats`).
//! - A report is repeated word for word until it has an answer, with more patience each time: an abandoned
//!   call may still be in the coordinator's queue (`lane`).
//!
//! # The owner
//!
//! The owner passes [events](Event), each with the time and a random number, carries out the
//! [actions](Action) in order, and sends [`Event::TimePassed`] at [`Machine::next_deadline`]. There is no
//! clock, no randomness and no I/O in here, so that the simulation (`crates/scheduling/tests/simulation/`)
//! runs the same worker that plays.

mod api;
mod backoff;
mod beats;
mod cells;
mod check;
mod deciding;
mod ending;
mod games;
mod lane;
mod leases;
mod machine;
mod outbox;
mod phase;
mod speeds;
mod turns;
mod withheld;

pub use api::*;
pub use machine::Machine;
