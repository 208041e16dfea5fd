//! Tables of endgames against known counts and slow references.

mod adjudication;
mod bytes;
mod conversion;
mod counts;
mod forward;
mod names;
mod player;
mod rules;
mod shared;
mod successors;
mod symmetry;

use spelrum_engine::games::Chess;
use spelrum_engine::tables::EndgameTable;
use spelrum_engine::{Game as _, Side};

fn table(name: &str) -> EndgameTable {
    EndgameTable::make(&name.parse().unwrap(), |_| {})
}

fn chess(fen: &str) -> Chess {
    Chess::parse(&Chess::rules(), fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

const SIDES: [Side; 2] = [Side::First, Side::Second];
