//! Games, search algorithms, players and playing one game.
//!
//! This crate is pure: no async, no I/O, no clock of its own and no random numbers but those
//! derived from a key it is given. The same input gives the same moves, nodes and scores on every
//! machine and build.
//!
//! ```
//! use spelrum_engine::{GameSetup, Outcome, Player, Rules, Timeless, Value, play_game};
//!
//! let rules = Rules::from_name("tic-tac-toe")?;
//! let player = Player::from_parameters(
//!     &rules,
//!     &[("algorithm", Value::Text("alpha-beta".into())), ("depth", Value::Integer(9))]
//!         .map(|(key, value)| (key.to_owned(), value))
//!         .into(),
//! )?;
//! let setup = GameSetup {
//!     rules: &rules,
//!     opening: ".........",
//!     players: [&player, &player],
//!     keys: [[1; 32], [2; 32]],
//!     max_plies: None,
//!     stops: None,
//! };
//! assert_eq!(play_game(&setup, &Timeless)?.outcome, Outcome::Draw);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analyze;
pub mod evaluation;
pub mod games;
mod host;
mod notation;
mod parameters;
mod perft;
mod play;
mod player;
mod position;
mod replay;
mod rng;
mod rules;
pub mod search;

pub use analyze::{Analysis, analyze};
pub use host::{Host, Timeless};
pub use notation::{Played, parse_legal_move};
pub use parameters::{
    EvaluationInfo, ParameterDefault, ParameterError, ParameterInfo, ParameterKind, Parameters,
    Value, nearest, parse_duration_us,
};
pub use perft::{DistinctPositions, Perft, distinct_positions, perft};
pub use play::{
    EndedBy, GameRecord, GameSetup, MoveRecord, Outcome, PlayError, SearchReport, play_game,
};
pub use player::{ALGORITHMS, Player, parameters_of};
pub use position::{Colour, Ending, Game, NotationError, Position, Termination};
pub use replay::{ReplayedPosition, replay_moves};
pub use rng::Random;
pub use rules::{Rules, RulesError};

/// Names what the engine plays: it changes whenever the same setup could give other moves, nodes
/// or scores. Golden games fail until it is raised with them.
pub const ENGINE_REVISION: u32 = 1;
