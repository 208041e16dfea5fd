//! The model of a tournament: cells, games, plans, and the requirements of cells.
//!
//! A sweep is planned into *cells*, each a pairing of two players under one set of conditions, and each cell into
//! numbered *games*. This crate has the types that all other crates share: definitions and their hashes, seeds,
//! openings, plans, games, the requirements that cells have for workers, and the comparison of two records of one
//! game. A game is a pure function of its cell's definition and its number; this crate keeps that promise.
//!
//! It depends on the engine, on statistics (stop rules, claims) and on optimize (settings of courses). It must stay
//! independent of how a sweep is written, which worker plays when, and how results are stored, sent or shown: no
//! keys of sweeps, no scheduler, no SQL, no messages. Like all pure crates it has no I/O, no clock and no random
//! numbers but those derived from a key.
//!
//! | module | subject |
//! |---|---|
//! | `ids` | identities |
//! | `definition`, `conditions`, [`seeds`] | a cell's definition, its hash, and the source of every random number |
//! | `openings`, `apart`, `game` | from (cell, number) to a game |
//! | `plan`, [`course`], [`claims`], [`change`] | a checked sweep, and the changes that it makes to an experiment |
//! | `played`, `game_end`, `difference`, [`repeat`] | played games, and the comparison of two records |
//! | `training`, `verification` | cells with one task: a network to train, a game to rerun |
//! | [`engines`], [`capabilities`], [`builds`] | external engines: needed, offered, and their builds |
//! | [`demands`], [`labels`], [`placement`], [`wanted`], [`withheld`] | what cells demand of workers, and why a worker gets no games |
//! | [`speed`], [`bounds`], [`disturbance`] | time: speeds of workers, plausible times, lost CPU time |
//! | `allocation`, `experiment_state` | the order of an experiment's cells, and its state |
//!
//! # A game from its definition and its number
//!
//! ```
//! use std::sync::Arc;
//!
//! use spelrum_engine::{Parameters, Rules, Value};
//! use spelrum_model::{CellDefinition, OpeningsRule, PlayableCell, Task};
//!
//! let random = Parameters::from([("algorithm".to_owned(), Value::Text("random".to_owned()))]);
//! let player = Arc::new(random);
//! let cell = PlayableCell::new(CellDefinition {
//!     format: CellDefinition::FORMAT,
//!     seed: 2014,
//!     rules: Rules::from_name("tic-tac-toe")?,
//!     openings: OpeningsRule::Random { plies: 2 },
//!     max_plies: None,
//!     adjudication: None,
//!     swap_sides: true,
//!     task: Task::Game,
//!     players: [Arc::clone(&player), player],
//! })?;
//! // The games of a pair share their opening, and the players swap sides.
//! let (even, odd) = (cell.derive(6), cell.derive(7));
//! assert_eq!(even.opening, odd.opening);
//! assert!(even.first_player_moves_first && !odd.first_player_moves_first);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocation;
pub mod bounds;
pub mod builds;
pub mod capabilities;
pub mod change;
pub mod claims;
mod conditions;
pub mod course;
mod definition;
pub mod demands;
mod difference;
pub mod disturbance;
pub mod engines;
mod experiment_state;
mod game;
mod game_end;
mod ids;
pub mod labels;
mod openings;
pub mod placement;
mod plan;
mod played;
pub mod repeat;
pub mod seeds;
mod settings;
pub mod speed;
mod split_definition;
mod training;
mod verification;
pub mod wanted;
pub mod withheld;

pub use allocation::Allocation;
pub use conditions::{Conditions, OpeningsRule, Task, ToMove};
pub use definition::{CellDefinition, DefinitionHash, DefinitionJson, HashError};
pub use difference::{Difference, DifferentField, Recorded};
pub use experiment_state::ExperimentState;
pub use game::{DefinitionError, DerivedGame, PlayableCell};
pub use game_end::GameEnd;
pub use ids::{CellId, ExperimentId, GameId, GameRange, LeaseId, WorkerId};
pub use openings::{OPENING_PLIES_MAX, Openings, OpeningsCache, OpeningsError};
pub use plan::{
    AxisValue, MergedPairing, Plan, PlannedAxis, PlannedCell, PlannedPlayer, RepeatedGames, Role,
    SkippedEntries,
};
pub use played::PlayedGame;
pub use settings::{ExperimentSettings, Record, SchedulingSettings};
pub use split_definition::{ListedPositions, SplitDefinition};
pub use training::{FinishedTraining, TrainedNetwork, TrainingDefinition};
pub use verification::{
    PlayableVerification, PlayedVerification, VerificationDefinition, draw, replayed_stops, stops,
};
