//! Requirements of every game: its fast implementations against the plain ones, its knowledge
//! against search, its notation against itself.
//!
//! A game that is in the catalogue is held to it under its usual rules. One that can be played by
//! others adds those to `games_under_other_rules`.

mod diagrams;
mod evaluations;
mod keys;
mod knowledge;
mod moves;
mod notation;
mod playouts;
mod solving;

use std::thread;

use crate::common::brute_force::{after, moves_of, random_game};
use crate::common::key;
use spelrum_engine::games::{Chess, Nim, Pentago};
use spelrum_engine::{Game, Position, Random, Rules, with_game};

#[test]
fn every_game_under_its_usual_rules() {
    let held = with_game!(each G => {
        (G::NAME, thread::spawn(|| conformance::<G>(&Rules::usual::<G>())))
    });
    let failed = held.into_iter().filter_map(|(name, held)| held.join().is_err().then_some(name));
    assert_eq!(failed.collect::<Vec<_>>(), [""; 0], "games that do not conform");
}

#[test]
fn games_under_other_rules() {
    conformance::<Pentago>(&Pentago::rules(false));
    let many = [30, 1, 0, 2, 30, 5, 5, 1];
    for (heaps, misere) in
        [(&[3, 4, 5][..], true), (&[7], false), (&[4, 4, 4], false), (&many, true)]
    {
        conformance::<Nim>(&Nim::rules(heaps, misere).unwrap());
    }
    // Both rooks beside the king.
    conformance::<Chess>(&Chess::chess960_rules(500).unwrap());
}

/// Holds a game to everything that the engine takes for granted of games.
fn conformance<G: Game>(rules: &Rules) {
    let sample = Sample::<G>::from_rules(rules);
    moves::check(&sample);
    notation::check(&sample);
    diagrams::check(&sample);
    keys::check(&sample);
    knowledge::check(&sample);
    playouts::check(&sample);
    evaluations::check(&sample);
    solving::check(&sample);
}

/// Games to look at.
struct Sample<'r, G: Position> {
    rules: &'r Rules,
    games: Vec<PlayedGame<G>>,
}

/// A game's positions, the start first, and the moves between them.
struct PlayedGame<G: Position> {
    positions: Vec<G>,
    moves: Vec<G::Move>,
}

impl<'r, G: Game> Sample<'r, G> {
    /// Random games from the start: of plain random moves, and, so that there are crowded boards
    /// and threats, of such that let the first wins go by.
    fn from_rules(rules: &'r Rules) -> Self {
        let games = (0..40).map(|seed| {
            let mut random = Random::from_key(key(seed));
            let start = G::start(rules).unwrap();
            if seed % 2 == 0 {
                let (positions, moves) = random_game(start, &mut random);
                return PlayedGame { positions, moves };
            }
            let mut game = PlayedGame { positions: vec![start.clone()], moves: Vec::new() };
            let mut position = start;
            while !position.is_over() {
                let moves = moves_of(&position);
                let going: Vec<G::Move> =
                    moves.iter().copied().filter(|&mv| !after(&position, mv).is_over()).collect();
                let choice = if going.is_empty() { &moves } else { &going };
                let mv = choice[random.below(choice.len() as u32) as usize];
                position.play_unchecked(mv);
                game.moves.push(mv);
                game.positions.push(position.clone());
            }
            game
        });
        Self { rules, games: games.collect() }
    }

    /// All positions of all games.
    fn positions(&self) -> impl Iterator<Item = &G> {
        self.games.iter().flat_map(|game| &game.positions)
    }

    /// At most so many of the positions, evenly from all games and all their stages.
    fn some_positions(&self, count: usize) -> impl Iterator<Item = &G> {
        let all = self.positions().count();
        // A step that shares no factor with the games' lengths would be ideal; an odd one will do.
        let step = (all / count.min(all)).max(1) | 1;
        self.positions().step_by(step)
    }

    /// Those of them in which the game goes on.
    fn some_ongoing(&self, count: usize) -> impl Iterator<Item = &G> {
        self.some_positions(count).filter(|position| !position.is_over())
    }
}
