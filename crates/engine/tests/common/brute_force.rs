//! Games by making every move: the reference for faster implementations. Nothing here assumes that
//! the sides alternate.

use std::collections::BTreeMap;

use spelrum_engine::search::{Evaluate, WIN};
use spelrum_engine::{PlayoutRandom, Position, Random};

/// The legal moves, listed.
pub fn moves_of<P: Position>(position: &P) -> Vec<P::Move> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}

/// The position after a move.
pub fn after<P: Position>(position: &P, mv: P::Move) -> P {
    let mut child = position.clone();
    child.play_unchecked(mv);
    child
}

/// Whether a move wins at once for who makes it.
pub fn wins<P: Position>(position: &P, mv: P::Move) -> bool {
    let ending = after(position, mv).ending();
    ending.is_some_and(|ending| ending.winner == Some(position.to_move()))
}

/// The first move that wins at once.
pub fn first_win<P: Position>(position: &P) -> Option<P::Move> {
    moves_of(position).into_iter().find(|&mv| wins(position, mv))
}

/// A value of `child` for its side to move, as one for the side to move in `position`.
pub fn for_mover<P: Position>(position: &P, child: &P, value: i32) -> i32 {
    if child.to_move() == position.to_move() { value } else { -value }
}

/// The positions and moves of a random game to its end.
pub fn random_game<P: Position>(start: P, random: &mut Random) -> (Vec<P>, Vec<P::Move>) {
    let (mut positions, mut moves) = (vec![start.clone()], Vec::new());
    let mut position = start;
    while !position.is_over() {
        let legal = moves_of(&position);
        let mv = legal[random.below(legal.len() as u32) as usize];
        position = after(&position, mv);
        positions.push(position.clone());
        moves.push(mv);
    }
    (positions, moves)
}

/// A random game, as specified by `Position::play_randomly`.
pub fn play_randomly<P: Position>(
    position: &mut P,
    random: &mut PlayoutRandom,
    plies_max: u32,
) -> u32 {
    let mut plies = 0;
    while plies < plies_max && !position.is_over() {
        let moves = moves_of(position);
        position.play_unchecked(moves[random.below(moves.len() as u32) as usize]);
        plies += 1;
    }
    plies
}

/// A random game in which each side makes a winning move if it has one.
pub fn play_decisively<P: Position>(
    position: &mut P,
    random: &mut PlayoutRandom,
    plies_max: u32,
) -> u32 {
    let mut plies = 0;
    while plies < plies_max && !position.is_over() {
        match first_win(position) {
            Some(mv) => position.play_unchecked(mv),
            None => _ = play_randomly(position, random, 1),
        }
        plies += 1;
    }
    plies
}

/// The score of a position that is over, this many plies after the root, for its side to move.
pub fn score_of_end<P: Position>(position: &P, ply: i32) -> Option<i32> {
    position.ending().map(|ending| match ending.winner {
        None => 0,
        Some(winner) if winner == position.to_move() => WIN - ply,
        Some(_) => ply - WIN,
    })
}

/// Textbook minimax, without limits, shared buffers or pruning. The value for the side to move,
/// `ply` plies after the root.
pub fn minimax<P: Position>(
    position: &P,
    depth: u32,
    ply: i32,
    evaluation: &dyn Evaluate<P>,
) -> i32 {
    if let Some(score) = score_of_end(position, ply) {
        return score;
    }
    if depth == 0 {
        return evaluation.evaluate(position);
    }
    let values = moves_of(position).into_iter().map(|mv| {
        let child = after(position, mv);
        for_mover(position, &child, minimax(&child, depth - 1, ply + 1, evaluation))
    });
    values.max().unwrap()
}

/// The value of a move for the mover, searched to `depth` plies including this one.
pub fn minimax_of_move<P: Position>(
    position: &P,
    mv: P::Move,
    depth: u32,
    evaluation: &dyn Evaluate<P>,
) -> i32 {
    let child = after(position, mv);
    for_mover(position, &child, minimax(&child, depth - 1, 1, evaluation))
}

/// Exact scores by plain recursion to the end of the game, cached by the positions' notation.
#[derive(Default)]
pub struct ExactScores {
    known: BTreeMap<String, i32>,
}

impl ExactScores {
    /// The score for the side to move: a win in n plies is `WIN - n`. `None` if more than this many
    /// positions would be cached.
    pub fn score<P: Position>(&mut self, position: &P, positions_max: usize) -> Option<i32> {
        if let Some(score) = score_of_end(position, 0) {
            return Some(score);
        }
        let name = position.to_string();
        if let Some(&score) = self.known.get(&name) {
            return Some(score);
        }
        let mut best = -WIN;
        for mv in moves_of(position) {
            let child = after(position, mv);
            let score = self.score(&child, positions_max)?;
            // A win or loss is one ply further away from here.
            let score = score - score.signum();
            best = best.max(for_mover(position, &child, score));
        }
        if self.known.len() >= positions_max {
            return None;
        }
        self.known.insert(name, best);
        Some(best)
    }

    /// The positions that are not over and their scores.
    pub fn known(&self) -> impl Iterator<Item = (&str, i32)> {
        self.known.iter().map(|(name, &score)| (name.as_str(), score))
    }
}
