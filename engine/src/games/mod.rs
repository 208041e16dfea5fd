//! The games, a folder each: rules and notation, what a search may know of positions, the solver,
//! evaluations, and what the catalogue wants to know.

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
