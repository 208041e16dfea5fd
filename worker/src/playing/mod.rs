//! Playing in a process of its own, so that a game that never ends, or ends its process, costs only what that
//! process was playing.
//!
//! The worker (`supervisor`) holds the leases, talks to the coordinator, and has every result that was handed in. The
//! playing process (`process`) is this program again; it has the slots, and the external engines. They talk over a
//! pair of sockets (`wire`), and which game a slot is at stands in a file that both have open (`ledger`). A game that
//! is over its `game_timeout` and does not stop is failed by killing the process; one that ends its process is failed
//! with how that ended. What else was being played is given back. The system closes the socket when either ends, and
//! the other sees that.

mod ledger;
mod process;
mod supervisor;
mod wire;

pub use process::{NoWorker, PlayingProcess};
pub use supervisor::PlayingCommand;
pub(crate) use supervisor::Supervisor;
