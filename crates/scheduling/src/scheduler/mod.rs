//! Assigns games to workers and handles games that come back or do not.
//!
//! # The problem
//!
//! There are *experiments* of many *cells*; a cell is a number of games, 0, 1, 2, …, of which 2k and 2k + 1
//! are a pair. There are *workers* that come, ask for games, play them on their slots, report them, and go,
//! often without a word. Every game must be settled once: by a result, or by the finding that it has none.
//! Messages and workers are lost, repeated, delayed and reordered; the scheduler's process may be killed at
//! any moment.
//!
//! # The state
//!
//! No game is recorded individually, so that a hundred million of them cost as much as two. Each cell has a
//! *cursor*, the lowest number that was never leased; below it a game is
//!
//! - *returned*: it was leased, and waits to be leased again,
//! - *leased*: in exactly one live lease (invariant 6), or
//! - *settled*: in neither of the other two.
//!
//! A *lease* is a list of ranges of one experiment's games, a worker and a deadline. Its worker renews it by
//! naming it in a heartbeat, together with the games being played. Cursor, returned ranges, live leases and
//! the attempts of unlucky games are durable; estimates of time, shares between experiments and started games
//! are not.
//!
//! # The events
//!
//! | event | what happens |
//! |---|---|
//! | `Submitted` | cells come, grow, shrink to what was leased, leave the sweep or come back, end elsewhere; an experiment that was finished runs again |
//! | `Extended` | the owner adds cells to an open experiment, or closes it |
//! | `Reopened` | settled games are returned, and their cells' stop rules read again |
//! | `Barred` | the same for its games with one engine, which forfeits there and not elsewhere |
//! | `Excluded` | the leases of a worker end, their games return, it gets no more, and nothing it reports counts, until it is `Readmitted` |
//! | `Steered` | pause: no new leases; cancel: its leases end, its games are forgotten |
//! | `LeaseWanted` | a grant, or the time to ask again |
//! | `Heartbeat` | the leases it names live on; those it names in vain are to be dropped |
//! | `GivenBack` | the lease ends, its games return, at no cost |
//! | `Reported`, played | settles its game wherever it is, if it has no result yet: a late result is as good as any, and a worker that holds the game now plays in vain |
//! | `Reported`, failed | returns its game and costs it an attempt, if the lease still holds it |
//! | any, past a deadline | the lease ends, its games return; those reported as started have lost an attempt |
//!
//! # The decisions
//!
//! - Which experiment is served: by priority, and by leased time among equals (`shares`). Experiments that
//!   prefer what the worker has come somewhat sooner, those that prefer what it lacks somewhat later.
//! - Which games: lost and failed ones first, alone if necessary, then cell after cell in the order of the
//!   grid, whole pairs together (`cells`, `ranges`); or, if the sweep sets this, the least known cell first
//!   (`allocation`).
//! - Where a cell ends: at its stop rule's decision, or with its last game (`cells`). From there on nothing
//!   is handed out; leased games may finish, and are kept.
//! - When an experiment is finished: once every game of the cells that its sweep names is settled, up to the
//!   cells' ends, no other game is leased, and no more cells come: an *open* experiment waits for its owner,
//!   which learns of each settled cell ([`Scheduler::take_settled`]) and decides by them ([`crate::course`]).
//! - How many: a few seconds of work, less towards the end (`batches`), and no more of an experiment at once than
//!   its sweep says.
//! - When a game is given up (`attempts`).
//! - For which worker: a worker gets no game that may take more memory than it offers each of its slots, and
//!   none whose demands, such as engines, it does not meet (`grants`); an excluded worker gets none
//!   (`exclusions`), nor for a while one that fails much more than others (`conduct`), nor any with an engine
//!   that forfeits there and not elsewhere (`forfeits`). Where games wait for a worker's speed, the worker is
//!   asked to measure it (`measuring`). Games that no worker can play hold nothing else up; their experiment
//!   goes on (`waiting`).
//!
//! A stop rule reads the longest gap-free prefix of settled pairs, whatever the order of arrival
//! ([`crate::stopping`], invariant 7). It receives each game as it is settled, in any order; it keeps results
//! beyond the prefix, and gets them from the store after a restart.
//!
//! # The owner
//!
//! The owner passes events to the scheduler, each with its time of arrival, stores the result of
//! [`Scheduler::take_changes`] in the same transaction as the results, and only then sends the replies
//! (invariant 5). If the transaction fails, it drops the scheduler and rebuilds it from the store
//! ([`Scheduler::restore`]), as at a start. It sends [`Event::Tick`] at [`Scheduler::next_deadline`]. Before
//! it works through arrived events, it calls [`Scheduler::begin_turn`] with the length of its standstill: no
//! lease runs out, and no game is charged, because the owner was not listening.
//!
//! No event takes time with the number of cells or games, except that submitting, cancelling and finishing an
//! experiment take time with its own cells, cancelling with the live leases, and granting with the cells that
//! are too large for the worker, the different demands of cells, and the running experiments of one priority.
//!
//! # Bounds (invariant 9)
//!
//! [`Policy`] bounds the games and ranges of a lease. A worker holds at most two leases for each slot and a
//! few beside. Games reported as started are a part of the leased ones; games with attempts are a part of the
//! leased and returned ones. Conduct is remembered for the latest 10,000 workers, and requests for speeds for
//! half a minute. Ranges of one cell are at most twice as many as games were lost or are in play. Results
//! that a stop rule has not read are at most as many as games were played while one before them was lost.

mod allocation;
mod api;
mod attempts;
mod batches;
mod cells;
mod check;
mod conduct;
mod counts;
mod exclusions;
mod experiments;
mod forfeits;
mod grants;
mod lease_request;
mod leases;
mod machine;
mod measuring;
mod needs;
mod policy;
mod ranges;
mod reports;
mod restore;
mod shares;
mod waiting;
mod with_work;
mod withholding;

pub use api::*;
pub use counts::{Counts, Queued};
pub use forfeits::EVIDENCE as FORFEITS_EVIDENCE;
pub use machine::Scheduler;
pub use needs::{Need, NeededMemory, NeededWorker};
pub use policy::Policy;
