//! The exact solver against reference positions and a plain one.

mod limits;
mod memory;
mod othello;
mod player;
mod short_wins;
mod twin;
mod vectors;

use spelrum_engine::{Game, Random, Rules};

/// Random numbers from a small seed.
fn random(seed: u64) -> Random {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    Random::from_key(key)
}

/// A position after so many random moves from the start, the game not being over; games that end
/// sooner are played again.
fn random_position<G: Game>(rules: &Rules, plies: u32, random: &mut Random) -> G {
    loop {
        let mut position = G::start(rules).unwrap();
        for _ in 0..plies {
            if position.is_over() {
                break;
            }
            let mv = position.random_move(random);
            position.play_unchecked(mv);
        }
        if !position.is_over() {
            return position;
        }
    }
}
