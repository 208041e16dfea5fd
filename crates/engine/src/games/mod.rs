//! The games, a folder each: rules and notation, knowledge for searches, the solver, evaluations,
//! and the game's description for the catalogue. `game.rs` has the trait of all games.

pub mod chess;
pub mod connect_four;
pub(crate) mod game;
pub mod nim;
pub mod othello;
pub mod pentago;
pub mod tic_tac_toe;

pub use chess::{Chess, ChessMove};
pub use connect_four::{ConnectFour, ConnectFourMove};
pub use nim::{Nim, NimMove};
pub use othello::{Othello, OthelloMove};
pub use pentago::{Pentago, PentagoMove};
pub use tic_tac_toe::{TicTacToe, TicTacToeMove};
