//! Requirements of every game: its fast implementations against the plain ones, its knowledge
//! against search, its notation against itself.
//!
//! A game that is in the catalogue is held to it under its usual rules and under `Game::SAMPLE_RULES`. The work for
//! each is bounded: a game that lasts long or has many moves is looked at in fewer games and positions.

mod diagrams;
mod evaluations;
mod exchange;
mod keys;
mod knowledge;
mod moves;
mod notation;
mod playouts;
mod solving;

use std::thread;

use crate::common::brute_force::{after, moves_of, random_game};
use crate::common::{key, sample_rules};
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
    let held = with_game!(each G => {
        let held = |rules| (serde_json::to_string(&rules), thread::spawn(move || conformance::<G>(&rules)));
        sample_rules::<G>().map(held).collect::<Vec<_>>()
    });
    let held = held.into_iter().flatten();
    let failed = held.filter_map(|(rules, held)| held.join().is_err().then(|| rules.unwrap()));
    assert_eq!(failed.collect::<Vec<_>>(), [""; 0], "games that do not conform");
}

/// Holds a game to everything that the engine takes for granted of games.
pub(crate) fn conformance<G: Game>(rules: &Rules) {
    let sample = Sample::<G>::from_rules(rules);
    moves::check(&sample);
    notation::check(&sample);
    diagrams::check(&sample);
    keys::check(&sample);
    exchange::check(&sample);
    knowledge::check(&sample);
    playouts::check(&sample);
    evaluations::check(&sample);
    solving::check(&sample);
}

/// Games of a sample at most, and at least.
const GAMES: [usize; 2] = [40, 8];
/// Legal moves in all positions of a sample, above which it gets no further game.
const SAMPLE_MOVES_MAX: u64 = 150_000;
/// Moves that a check makes at most where every position costs it many.
const WORK_MAX: u64 = 2_000_000;

/// Games to look at.
struct Sample<'r, G: Position> {
    rules: &'r Rules,
    games: Vec<PlayedGame<G>>,
    /// Legal moves in all positions of an average game: the work of trying every move throughout it.
    moves_of_a_game: u64,
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
        let mut games: Vec<PlayedGame<G>> = Vec::new();
        let mut moves_of_all = 0;
        for seed in 0..GAMES[0] as u64 {
            if games.len() >= GAMES[1] && moves_of_all > SAMPLE_MOVES_MAX {
                break;
            }
            let game = Self::game_from_seed(rules, seed);
            let counts = game.positions.iter().map(|position| position.legal_move_count());
            moves_of_all += counts.map(u64::from).sum::<u64>();
            games.push(game);
        }
        let moves_of_a_game = moves_of_all / games.len() as u64;
        Self { rules, games, moves_of_a_game }
    }

    fn game_from_seed(rules: &Rules, seed: u64) -> PlayedGame<G> {
        let mut random = Random::from_key(key(seed));
        let start = G::start(rules).unwrap();
        if seed.is_multiple_of(2) {
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

    /// As many of those as cost at most [`WORK_MAX`] together, but for the last of them.
    fn some_affordable(&self, count: usize, cost: impl Fn(&G) -> u64) -> impl Iterator<Item = &G> {
        let total: u64 = self.some_ongoing(count).map(cost).sum();
        self.some_ongoing(count).step_by(total.div_ceil(WORK_MAX).max(1) as usize)
    }
}
