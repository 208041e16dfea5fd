//! External engines as players, over UCI and GTP.
//!
//! The crate knows neither sweeps nor rules: it is given positions and moves as texts of the engines'
//! protocols, and gives texts back. It has three parts.
//!
//! *What is said.* [`uci`] and [`gtp`] are readers, writers and state machines: lines go in, and what
//! they mean comes out, without a process or a clock. They take what engines really say: white space
//! anywhere, either line end, lines of megabytes, prints in between. What the protocol does not allow
//! and can be lived with is a [`Breach`], which is told once for each kind.
//!
//! *Who says it.* An engine is a process under a [`guard`], which ends it when we end, whatever ends us.
//! It gets a clean environment, a group and a directory of its own, and no descriptor but its three
//! pipes. One thread, that of the game, talks to it: the pipes do not block, and everything that is
//! waited for has one deadline on our clock, however much the engine prints.
//!
//! *Who is meant.* Engines have names, and an [`EngineFile`] of the machine says what they mean and what
//! a sweep may set. Nothing that comes from the network names a program, a path or a text that the file
//! does not list. A [`Pool`] starts engines, keeps them for the next game, and starts them again when
//! they have ended.
//!
//! ```no_run
//! use std::path::Path;
//! use std::time::Duration;
//!
//! use spelrum_external::{
//!     Colour, Conditions, EngineFile, Guard, Limits, Options, Pool, Situation, Start,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = EngineFile::read(Path::new("engines.toml"))?;
//! // The program calls `guard::run` where it is started with these words.
//! let pool = Pool::new(file, Guard::of_this_program(&["guard"])?, 2);
//! let limits = Limits { move_time: Some(Duration::from_millis(100)), ..Limits::default() };
//! let conditions = Conditions { limits, ..Conditions::default() };
//! let mut room = pool.reserve(&["stockfish"], &|| false)?;
//! let mut engine = room.take("stockfish", &Options::new(), &conditions, &|| false)?;
//! let situation = Situation {
//!     start: Start::Usual,
//!     moves: &["e2e4".to_owned()],
//!     to_move: Colour::Black,
//!     limits,
//!     clock: None,
//! };
//! let choice = engine.choose(&situation, &|| false)?;
//! # Ok(())
//! # }
//! ```

mod breach;
mod build;
mod diagnose;
mod diagnosis;
mod engine;
mod failure;
mod file;
pub mod gtp;
pub mod guard;
mod identity;
mod log;
mod open_files;
mod place;
mod placing;
mod pool;
mod process;
mod processes;
mod program;
mod situation;
mod spec;
mod spoken;
pub mod text;
pub mod uci;
mod units;

pub use breach::{Breach, BreachKind, Breaches};
pub use build::build_of;
pub use diagnosis::Diagnosis;
pub use engine::{Engine, Parting};
pub use failure::{EngineFailure, Exit, FailureKind, Phase};
pub use file::{EngineFile, EngineFileError};
pub use guard::{Guard, LEFT_BEHIND};
pub use identity::Identity;
pub use open_files::{engines_within, files_of_engines, open_files, raise_open_files};
pub use pool::{Bounds, Lent, NoRoom, Pool, Reservation};
pub use situation::{Choice, Clock, Colour, Conditions, Limits, Remaining, Situation, Start};
pub use spec::{
    AllowedOption, EngineSpec, OptionRefused, OptionRule, OptionValue, Options, Patience, Protocol,
};
pub use spoken::Spoken;
