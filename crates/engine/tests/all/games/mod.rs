//! The games against reference data, theory and slow references.

mod amazons;
mod breakthrough;
mod clobber;
mod connect_four;
mod evaluation;
mod exact_values;
mod hex;
mod mnk;
mod notation;
mod notation_fuzz;
mod openspiel;
mod othello;
mod pentago_rules;
mod perft;
mod playouts;
mod slow_connect_four;
mod slow_hex;
mod slow_mnk;
mod slow_othello;
mod slow_pentago;
mod small_games;
mod symmetry;
mod ultimate_tic_tac_toe;

use crate::common::brute_force::{after, moves_of};
use spelrum_engine::games::Pentago;
use spelrum_engine::{Position, Random, Rules};

/// Pentago under its usual rules.
fn pentago() -> Rules {
    Rules::from_name("pentago").unwrap()
}

/// Random numbers from a small seed.
fn random(seed: u64) -> Random {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    Random::from_key(key)
}

/// The positions of a random game, the start first.
fn random_game<P: Position>(start: P, seed: u64) -> Vec<P> {
    let mut random = random(seed);
    let mut positions = vec![start];
    while let Some(last) = positions.last().filter(|last| !last.is_over()) {
        let mut next = last.clone();
        next.play_unchecked(last.random_move(&mut random));
        positions.push(next);
    }
    positions
}

/// A text of any board with this many marbles in their right proportion, decided or not.
fn random_board(marbles: usize, seed: u64) -> String {
    let mut cells: Vec<char> = (0..36)
        .map(|cell| match cell {
            cell if cell >= marbles => '.',
            cell if cell % 2 == 0 => 'w',
            _ => 'b',
        })
        .collect();
    random(seed).shuffle(&mut cells);
    cells.into_iter().collect()
}

/// A Pentago position from its notation.
fn board(text: &str) -> Pentago {
    use spelrum_engine::Game as _;
    Pentago::parse(&pentago(), text).unwrap()
}
