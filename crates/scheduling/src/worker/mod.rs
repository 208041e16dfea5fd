//! What a worker asks for, plays, keeps, and says to its coordinator, whatever happens on the way.
//!
//! # The problem
//!
//! A worker has *slots*, threads that play one game at a time, and a coordinator, which may be
//! slow, away, started anew, refuse things, or come back with another results database. Slots
//! should never wait for games while there are some; no finished game may be forgotten before it is
//! acknowledged (invariant 4); no lease may be renewed whose games nobody plays (invariant 6); and
//! nothing may grow without a bound meanwhile (invariant 9).
//!
//! # The state
//!
//! - The *session*: who we are to which coordinator, since the last Hello. What is held belongs to
//!   the results database that it named; when another one is met, all of it is dropped.
//! - The *leases* that are held, and where each of their games is: it waits for its cell or for a
//!   slot, is being played, waits in the outbox, was acknowledged, or was given up (`leases`).
//! - The *speeds* of this machine by games, by which time limits are scaled (`speeds`).
//! - Whose *turn* it is: timed games are played on the quiet slots, and never while others are
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
//! | a lease is granted | its games are played as soon as their cells are known; once the worker is ending, they go back at once |
//! | a slot is free | it gets a batch: some milliseconds of games of one cell; a game that was lost with a worker before waits there until a heartbeat that names it was heard (`withheld`) |
//! | the coordinator wants a speed, or games come whose time limits are scaled by one that is not known | nothing is begun until all slots are idle and it is measured |
//! | games are finished | they go out with the next report |
//! | a report is acknowledged | its results are forgotten; a lease without games ends |
//! | a report is refused | it is halved until the result is found that cannot be taken, whose game is reported as failed; if that is refused too, it is given up |
//! | a cell is refused | its games are given up |
//! | a heartbeat is answered | leases that are no longer ours are dropped, their games aborted |
//! | a call fails | it is made again after a while, with a Hello before it if that is what the coordinator wants |
//! | other database | everything that is held is dropped |
//! | finish, end now | see `ending` |
//!
//! A lease with games that were given up is given back as soon as the others are acknowledged, and
//! nothing is asked for some seconds: it is not held for ever, nor granted again at once.
//!
//! # The decisions
//!
//! - More games are wanted when those that wait keep the slots busy for less than half a second,
//!   and the outbox is not full (`games`, `deciding`).
//! - While timed games and others wait, each get the same time in the long run (`turns`).
//! - At most one of Lease and Heartbeat is under way, so that no heartbeat misses a lease whose
//!   grant is still travelling; if both are wanted, they take turns (`deciding`).
//! - A heartbeat comes before its time when a game starts that may take the worker with it;
//!   games that are only long share one in a second (`beats`).
//! - A report is said again word for word until it has an answer, with more patience each time:
//!   what was given up may still be in the coordinator's queue (`lane`).
//!
//! # The owner
//!
//! The owner feeds [events](Event), each with the time and some chance, carries out the
//! [actions](Action) in order, and sends [`Event::TimePassed`] when [`Machine::next_deadline`]
//! has come. No clock, no randomness and no I/O is in here, so that the worker that plays is the
//! one that is simulated (`crates/scheduling/tests/simulation/`).

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
