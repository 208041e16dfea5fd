//! Playing in a separate process, so that a game that never ends, or ends its process, costs only the games
//! of that process.
//!
//! The worker (`supervisor`) holds the leases, talks to the coordinator, and has every result that was handed
//! in. The playing process (`process`) is this program again, with the slots and the external engines. They
//! exchange messages over a pair of sockets (`wire`); a file that both have open has the current game of each
//! slot (`ledger`). A game that exceeds its `game_timeout` and does not stop fails, and the process is
//! killed; one that ends its process fails with the way it ended. Other games in progress are given back. If
//! either ends, the system closes the socket, and the other notices.

mod ledger;
mod process;
mod supervisor;
mod wire;

pub use process::{NoWorker, PlayingProcess};
pub use supervisor::PlayingCommand;
pub(crate) use supervisor::Supervisor;
