//! Games, search algorithms, players, and playing one game.
//!
//! This crate is pure: no async, no I/O, no clock of its own, and no random numbers except those
//! derived from a given key. The same input gives the same moves, nodes and scores on every machine
//! and build.
//!
//! # A game between two players
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
//!     adjudication: None,
//!     stops: None,
//! };
//! assert_eq!(play_game(&setup, &Timeless)?.outcome, Outcome::Draw);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Games
//!
//! A game is a type that implements [`Position`]: [`games::Pentago`], [`games::TicTacToe`],
//! [`games::Nim`]. Positions are small and played by copying. Moves, positions and whole games have
//! a compact notation that round-trips.
//!
//! ```
//! use spelrum_engine::games::Pentago;
//! use spelrum_engine::{Side, Position};
//!
//! let mut position = Pentago::empty(true);
//! assert_eq!(position.legal_move_count(), 288);
//!
//! // A marble on c3, then the top left quadrant a quarter turn to the right (clockwise).
//! let mv = position.parse_move("c3-1r")?;
//! assert!(position.is_legal(mv));
//! position.play_unchecked(mv);
//! assert_eq!(position.to_string(), "............w.......................");
//! assert_eq!(position.to_move(), Side::Second);
//! # Ok::<(), spelrum_engine::Problem>(())
//! ```
//!
//! [`Position::ending`] returns the result of a finished game: the winner and the reason. In
//! Pentago a placement that makes five wins at once and is a move without a turn:
//!
//! ```
//! use spelrum_engine::games::pentago::{FIVE_BY_PLACEMENT, Pentago};
//! use spelrum_engine::{Side, Played, Position, Rules};
//!
//! let rules = Rules::from_name("pentago")?;
//! let game = Played::<Pentago>::parse(
//!     &rules,
//!     "a1-4r a6-4r b1-4r b6-4r c1-4r c6-4r d1-4r f4-4r e1",
//! )?;
//! let over = game.last();
//! println!("{}", over.board());
//! let ending = over.ending().expect("white has five");
//! assert_eq!(ending.winner, Some(Side::First));
//! assert_eq!(ending.termination, FIVE_BY_PLACEMENT);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From data to types
//!
//! [`Rules`] are a game as data, as sweeps and results databases name it. [`with_game!`] goes from
//! there to the type, so that all code below is compiled for each game, with no dispatch inside a
//! search:
//!
//! ```
//! use spelrum_engine::games::Nim;
//! use spelrum_engine::{Game, Rules, perft, with_game};
//!
//! fn leaves<P: Game>(rules: &Rules, position: &str, depth: u32) -> Option<u64> {
//!     let position = P::parse(rules, position).ok()?;
//!     Some(perft(&position, depth).leaves)
//! }
//!
//! let rules = Nim::rules(&[3, 4, 5], true)?;
//! assert_eq!(with_game!(&rules, P => leaves::<P>(&rules, "3,4,5/w", 2)), Some(113));
//! # assert_eq!(with_game!(&rules, P => leaves::<P>(&rules, "3,4,6/w", 2)), None);
//! # Ok::<(), spelrum_engine::KeyProblem>(())
//! ```
//!
//! # Evaluations
//!
//! A game names its evaluations; each is a type made from a player's parameters
//! ([`evaluation::GameEvaluation`]), and a search is compiled for it.
//!
//! ```
//! use spelrum_engine::games::pentago::evaluation::PentagoRuns;
//! use spelrum_engine::search::Evaluate;
//! use spelrum_engine::{Game, Rules, games::Pentago};
//!
//! // White, to move, has a run of three; black has two centres.
//! let rules = Rules::from_name("pentago")?;
//! let position = Pentago::parse(&rules, "www......w...............b..b.b....b")?;
//! assert_eq!(PentagoRuns::default().evaluate(&position), 3 - 2 * 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalogue;
mod core;
pub mod evaluation;
pub mod games;
pub mod network;
mod play;
pub mod search;
pub mod tables;

pub use crate::core::expression;
pub use play::tree;

pub use crate::core::book::{BookFormat, BookPosition, decode_text_file};
pub use crate::core::external::{
    AWAITED_BUILD, EXTERNAL_ALGORITHMS, EngineSource, ExternalRules, GtpBoard, HASH_OPTION,
    Protocol, SourcedEngine, hash_bytes,
};
pub use crate::core::host::{Host, Timeless};
pub use crate::core::knowledge::{Knowledge, Losing, Sifted};
pub use crate::core::limits::EndedBy;
pub use crate::core::parameters::{
    ClockRule, EvaluationInfo, ParameterDefault, ParameterInfo, ParameterKind, Parameters, Promise,
    RecipeInfo, RunningClock, Settings, TimeLeft, Value, format_duration_us, nearest,
    parse_duration_us,
};
pub use crate::core::position::{Before, Ending, Line, MARGIN_MAX, Position, Side, SideName};
pub use crate::core::problem::{KeyProblem, Problem, RangeProblem};
pub use crate::core::rng::{PlayoutRandom, Random};
pub use crate::core::rules::{GameInfo, Rules};
pub use crate::core::sketch::{Diagram, Mark, Marked, Piece, RowNames, Sketch};
pub use crate::core::solver::{Optimal, PlainSolver, Solvable, Solver};
pub use crate::core::termination::{Termination, TerminationInfo};
pub use crate::core::time_management::time_for_move_us;
pub use catalogue::{termination_named, terminations, with_evaluation};
pub use games::game::{Game, SideExchange};
pub use play::adjudication::{Adjudication, DrawRule, ResignRule, SyzygyResults, SyzygyRule};
pub use play::analyze::{Analysis, analyze, analyze_after};
pub use play::arbiter::{
    Board, GameSetup, Participant, PlayError, Watch, arbitrate, play_between, play_game,
    play_watched,
};
pub use play::move_values::{MoveValue, MoveValues, MoveValuesError, check_reference, move_values};
pub use play::notation::{
    Played, book_entries, book_positions, engine_moves, legal_moves, parse_engine_move,
    parse_legal_move, written_moves,
};
pub use play::perft::{DistinctPositions, Perft, distinct_positions, perft};
pub use play::player::Player;
pub use play::records::{GameRecord, MoveRecord, Outcome, Remarks, SearchDetails, SearchReport};
pub use play::referee::{Irregularity, referee, referee_margin};
pub use play::replay::{ReplayedPosition, replay_moves};
pub use play::seat::{Answer, ExternalPlayer, Fault, Seat, TextTurn, Turn, seat_of};
pub use play::solve::{SolveError, Solved, solve};
pub use play::speed::{Spell, spells};
pub use play::text_game::TextGame;
pub use search::registry::{
    ALGORITHMS, has_full_tree, meaning_of, memory_bytes_of, parameters_of, presets_of,
    values_decide_winner,
};

/// Identifies the engine's play: it changes whenever the same setup could give other moves, nodes
/// or scores. Golden games fail until it is raised with them.
pub const ENGINE_REVISION: u32 = 5;
