//! The universal chess interface, from both ends: as pure readers, writers and state machines. Lines go
//! in, and what they mean comes out; who carries them and what time it is they do not know. [`serve`]
//! alone has threads: it carries lines to a player of ours.

mod client;
mod command;
mod message;
mod option;
mod server;
mod serving;
mod words;

pub use client::{Answer, Client, Event, Found};
pub use command::{Command, CommandError, Go, Start, whole_ms};
pub use message::{BestMove, Bound, Info, Message, Score, ScoreValue, is_move};
pub use option::{Declared, Kind};
pub use server::{Action, Refused, Server, Setting};
pub use serving::{Chosen, Player, Signals, serve};

#[cfg(test)]
mod tests;
