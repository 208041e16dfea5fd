//! External engines as players, over UCI, UGI, GTP, XBoard and the protocol of lines.
//!
//! The crate is independent of sweeps and rules: positions and moves are texts of the engines' protocols. It
//! has three parts.
//!
//! *Protocols.* [`uci`], [`gtp`], [`xboard`] and [`lines`] are parsers, writers and state machines over lines, without a process or
//! a clock. They accept what real engines print: white space anywhere, either line end, lines of megabytes,
//! debug output in between. Tolerable deviations from the protocol are each a [`Breach`], which is reported
//! once for each kind.
//!
//! *Processes.* An engine is a process under a [`guard`], which ends it when this program ends, for whatever
//! reason. It gets a clean environment, its own group and directory, and no descriptor but its three pipes.
//! One thread, that of the game, talks to it: the pipes are non-blocking, and each wait has one deadline on
//! this program's clock, however much the engine prints.
//!
//! *Engines.* Engines have names, and an [`EngineFile`] on the machine defines them and the options open to
//! sweeps. Nothing from the network names a program, a path or a text that the file does not list. A [`Pool`]
//! starts engines, keeps them for the next game, and restarts them when they have ended.
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
//! let pool = Pool::new(file, Guard::from_running_program(&["guard"])?, 2);
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

mod accepted;
mod breach;
mod build;
mod connection;
mod cpu_time;
mod detected_protocol;
mod diagnose;
mod diagnosis;
mod engine;
mod failure;
mod file;
pub mod gtp;
pub mod guard;
mod identity;
pub mod lines;
mod log;
mod open_files;
mod place;
mod placing;
mod pool;
mod process;
mod processes;
mod program;
mod protocol;
mod search_path;
mod shared;
mod situation;
mod source;
mod spec;
pub mod text;
pub mod uci;
mod units;
pub mod xboard;

pub use accepted::AcceptedPrograms;
pub use breach::{Breach, BreachKind, Breaches};
pub use build::hash_build;
pub use detected_protocol::diagnose_protocol;
pub use diagnosis::Diagnosis;
pub use engine::{CloseReport, Engine};
pub use failure::{EngineFailure, Exit, FailureKind, Phase};
pub use file::{EngineFile, EngineFileError};
pub use guard::{Guard, LEFT_BEHIND};
pub use identity::Identity;
pub use open_files::{engines_for_files, files_for_engines, open_files, raise_open_files};
pub use pool::{Bounds, LeasedEngine, NoRoom, Pool, Reservation};
pub use protocol::Protocol;
pub use situation::{
    AnyPosition, Choice, Clock, Colour, Conditions, Limits, Remaining, RuleBook, Situation, Start,
};
pub use source::{BuildError, CommitToBuild, Source};
pub use spec::{
    AllowedOption, EngineSpec, OptionRefused, OptionRule, OptionValue, Options, Patience,
};
