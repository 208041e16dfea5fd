//! The games, a folder each: rules and notation, knowledge for searches, the solver, evaluations,
//! and the game's description for the catalogue. `game.rs` has the trait of all games.

pub mod amazons;
pub mod breakthrough;
pub mod chess;
pub mod clobber;
pub mod connect_four;
pub(crate) mod game;
mod grid;
pub mod hex;
pub mod mnk;
pub mod nim;
pub mod othello;
pub mod pentago;
mod rectangle;
pub mod tic_tac_toe;
pub mod ultimate_tic_tac_toe;

pub use amazons::{Amazons, AmazonsMove};
pub use breakthrough::{Breakthrough, BreakthroughMove};
pub use chess::{Chess, ChessMove};
pub use clobber::{Clobber, ClobberMove};
pub use connect_four::{ConnectFour, ConnectFourMove};
pub use hex::{Hex, HexMove};
pub use mnk::{Mnk, MnkMove};
pub use nim::{Nim, NimMove};
pub use othello::{Othello, OthelloMove};
pub use pentago::{Pentago, PentagoMove};
pub use tic_tac_toe::{TicTacToe, TicTacToeMove};
pub use ultimate_tic_tac_toe::{UltimateTicTacToe, UltimateTicTacToeMove};
