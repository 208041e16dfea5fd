//! Playing games and examining them: players and the seats that they take, the arbiter, records and their
//! verification, analysis, exact solutions, counts and trees.

pub(crate) mod adjudication;
pub(crate) mod analyze;
pub(crate) mod arbiter;
pub(crate) mod clock;
pub(crate) mod common;
pub(crate) mod move_values;
pub(crate) mod notation;
pub(crate) mod perft;
pub(crate) mod player;
pub(crate) mod records;
pub(crate) mod referee;
pub(crate) mod replay;
pub(crate) mod seat;
pub(crate) mod solve;
pub(crate) mod speed;
pub(crate) mod text_game;
pub mod tree;
