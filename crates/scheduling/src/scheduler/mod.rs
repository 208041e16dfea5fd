//! Which worker plays which games, and what becomes of a game that comes back or does not.
//!
//! # The problem
//!
//! There are *experiments* of many *cells*; a cell is a number of games, 0, 1, 2, …, of which 2k
//! and 2k + 1 are a pair. There are *workers* that come, ask for games, play them on their slots,
//! report them, and go, often without a word. Every game is to be settled once: by a result, or
//! by the insight that it cannot be had. Messages are lost, repeated, delayed and reordered, and
//! so are workers; the process that decides may be killed at any moment.
//!
//! # The state
//!
//! A game is never written down by itself, so that a hundred million of them cost as much as two.
//! In each cell there is a *cursor*, the lowest number that was never leased; below it a game is
//!
//! - *returned*: it was leased, and waits to be leased again,
//! - *leased*: in exactly one live lease (invariant 6), or
//! - *settled*: whatever is in neither of the other two.
//!
//! A *lease* is a list of ranges of one experiment's games, a worker and a deadline. Its worker
//! renews it by naming it in a heartbeat, and names the games that it is playing beside. Cursor,
//! returned ranges, live leases and the attempts of unlucky games are durable; estimates of time,
//! shares between experiments and what was reported as started are not.
//!
//! # The events
//!
//! | event | what happens |
//! |---|---|
//! | `Submitted` | cells come, grow, shrink to what was leased, leave the sweep or come back, end elsewhere; an experiment that was finished runs again |
//! | `Extended` | the owner adds cells to an open experiment, or closes it |
//! | `Reopened` | settled games are returned, and their cells' stop rules read again |
//! | `Barred` | the same of its games with one engine, which it forfeits and others do not |
//! | `Excluded` | the leases of a worker end, their games return, it gets no more, and nothing of it counts, until it is `Readmitted` |
//! | `Steered` | pause: no new leases; cancel: its leases end, its games are forgotten |
//! | `LeaseWanted` | a grant, or the time to ask again |
//! | `Heartbeat` | the leases it names live on; those it names in vain are to be dropped |
//! | `GivenBack` | the lease ends, its games return, at no cost |
//! | `Reported`, played | settles its game wherever it is, if it has no result yet: a late result is as good as any, and whoever holds the game now has played for nothing |
//! | `Reported`, failed | returns its game and costs it an attempt, if the lease still holds it |
//! | any, past a deadline | the lease ends, its games return; those reported as started have lost an attempt |
//!
//! # The decisions
//!
//! - Which experiment is served: by priority, and by leased time among equals (`shares`), of which those that prefer
//!   what the worker has come somewhat sooner, and those that prefer what it has not somewhat later.
//! - Which games: lost and failed ones first, alone if need be, then cell after cell in the order
//!   in which they came, which is that of the grid, whole pairs together (`cells`, `ranges`); or, if
//!   its sweep says so, the cell that is known least first (`allocation`).
//! - Where a cell ends: where its stop rule says so, or with its last game (`cells`). From there on
//!   nothing is handed out; what is leased may finish, and is kept.
//! - When an experiment is finished: once every game of the cells that its sweep names is settled, up
//!   to where each of them ends, no other game is leased any more, and no more cells come: an *open*
//!   experiment waits for its owner, who is told of each settled cell
//!   ([`Scheduler::take_settled`]) and decides by them ([`crate::course`]).
//! - How many: a few seconds of work, less towards the end (`batches`).
//! - When a game is given up (`attempts`).
//! - Whom for: a worker gets no game that may take more memory than it offers each of its slots, and
//!   none whose demands it does not meet, such as engines (`grants`); one that is excluded gets none (`exclusions`), nor
//!   for a while one that fails much more than others (`conduct`); and none with an engine that forfeits at it and not
//!   at others (`forfeits`). Where games wait for the speed of their worker it is
//!   asked to measure it (`measuring`). What nobody can play holds nothing else up;
//!   its experiment goes on (`waiting`).
//!
//! A stop rule reads the longest gap-free prefix of settled pairs, whatever came in before
//! ([`crate::stopping`], invariant 7). It is told of each game as it is settled, in whatever order; what
//! lies beyond the prefix it keeps, and after a restart it gets from the store.
//!
//! # The owner
//!
//! The owner feeds the scheduler events, each with the time at which it came in, stores what
//! [`Scheduler::take_changes`] drains in the same transaction as the results, and only then sends
//! the replies (invariant 5). If the transaction fails, it drops the scheduler and builds it
//! again from the store ([`Scheduler::restore`]), as it does at a start. It sends
//! [`Event::Tick`] when [`Scheduler::next_deadline`] has come. Before it works through what has
//! come, it says so ([`Scheduler::begin_turn`]), and for how long it stood still: no lease runs out,
//! and no game is charged, because nobody was listening.
//!
//! No event takes time with the number of cells or games, except that submitting, cancelling and
//! finishing an experiment take time with its own cells, cancelling with the live leases, and
//! granting with the cells that are too large for the worker, with the different demands of cells, and with the
//! running experiments of one priority.
//!
//! # Bounds (invariant 9)
//!
//! [`Policy`] bounds the games and ranges of a lease. A worker holds at most two leases for
//! each slot and a few beside. Games reported as started are a part of the leased ones; games
//! with attempts are a part of the leased and returned ones. Of how workers do, the latest 10,000 are remembered,
//! and for half a minute whom of them it has asked for a speed. Ranges of one cell are at most twice
//! as many as games were lost or are in play. Results that a stop rule has not read are no more than
//! games were played while one before them was lost.

mod allocation;
mod api;
mod asking;
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
mod leases;
mod machine;
mod measuring;
mod policy;
mod ranges;
mod reports;
mod restore;
mod shares;
mod waiting;
mod with_work;
mod withholding;

pub use api::*;
pub use counts::Counts;
pub use forfeits::EVIDENCE as FORFEITS_EVIDENCE;
pub use machine::Scheduler;
pub use policy::Policy;
