//! The universal chess interface (UCI), both sides, as pure parsers, writers and state machines over lines,
//! without I/O or clocks. Only [`serve`] has threads: it connects lines to a player. Other games use the same frame
//! with other [`Words`].

mod client;
mod command;
mod message;
mod option;
mod server;
mod serving;
mod tokens;
mod words;

pub(crate) use client::shown_moves;
pub use client::{Answer, Client, Event, SearchInfo};
pub use command::{Command, CommandError, Go, Start, whole_ms};
pub use message::{BestMove, Bound, Info, Message, Score, ScoreValue};
pub use option::{Declared, Kind};
pub use server::{Action, Refused, Server, Setting};
pub use serving::{Chosen, Player, Signals, serve};
pub use words::{MoveForm, Words, is_move};

#[cfg(test)]
mod tests;
