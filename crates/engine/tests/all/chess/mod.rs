//! Chess against known counts, known positions and slow references.

mod endings;
mod evaluation;
mod exchange;
mod fen;
mod knowledge;
mod perft;
mod san;
mod slow_chess;
mod slow_evaluation;
mod twin;

use crate::common::brute_force::random_game;
use crate::common::key;
use spelrum_engine::games::{Chess, ChessMove};
use spelrum_engine::{Game, Position, Random, Rules, parse_legal_move};

/// A position from its FEN.
fn chess(fen: &str) -> Chess {
    Chess::parse(&Chess::rules(), fen).unwrap_or_else(|error| panic!("{error}"))
}

/// A position of Chess960 from its FEN.
fn chess960(fen: &str) -> Chess {
    let rules = Chess::chess960_rules(0).unwrap();
    Chess::parse(&rules, fen).unwrap_or_else(|error| panic!("{error}"))
}

fn legal(position: &Chess, text: &str) -> ChessMove {
    parse_legal_move(position, text).unwrap_or_else(|error| panic!("{error}"))
}

/// The position after these moves.
fn after(position: &Chess, moves: &str) -> Chess {
    let mut position = position.clone();
    for text in moves.split_whitespace() {
        position.play_unchecked(legal(&position, text));
    }
    position
}

/// The rules of chess, and of Chess960 from a few start positions.
fn all_rules() -> Vec<Rules> {
    let chess960 = [0, 118, 518, 692, 959].map(|start| Chess::chess960_rules(start).unwrap());
    [Chess::rules()].into_iter().chain(chess960).collect()
}

/// Positions of random games, the start of each first.
fn positions_of_games(rules: &Rules, games: u64) -> impl Iterator<Item = Chess> + use<> {
    let start = Chess::start(rules).unwrap();
    (0..games).flat_map(move |seed| random_game(start.clone(), &mut Random::from_key(key(seed))).0)
}
