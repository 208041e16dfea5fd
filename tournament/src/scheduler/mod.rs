//! Which worker plays which games, and what becomes of a game that comes back or does not.
//!
//! A synchronous state machine with time as a parameter. It holds, for each cell, a cursor over
//! game numbers, the ranges that were returned, and the live leases: memory grows with cells and
//! leases, never with games.
//!
//! The owner feeds it events, stores what [`Scheduler::take_changes`] drains in the same
//! transaction as the results, and only then sends the replies. If the transaction fails, it
//! drops the scheduler and builds it again from the store ([`Scheduler::restore`]).

mod api;
mod machine;
mod settings;

pub use api::*;
pub use machine::Scheduler;
pub use settings::Settings;
