//! Go in GTP: points in capitals or not.
//!
//! There is no command that all programs have to set up a position: it is reached by moves.

use super::notation::before_ko;
use super::{Go, GoMove};
use crate::core::position::Side;
use crate::core::problem::Problem;

/// Parses a GTP move.
pub(super) fn read(position: &Go, text: &str) -> Result<GoMove, Problem> {
    super::moves::parse(&text.to_ascii_lowercase(), position.size())
}

/// Moves that lead from the empty board to the stones, ko and turn of a position: both sides put their stones
/// in turn, and the side with fewer stones first passes.
///
/// Nothing is captured on the way, since every part of a group with a free point beside it has one.
pub(super) fn moves_to(position: &Go) -> Vec<GoMove> {
    if let Some((before, capture)) = before_ko(position) {
        let mut moves = moves_to(&before);
        moves.push(capture);
        return moves;
    }
    let mut stones = position.stones.map(|stones| stones.iter());
    let [black, white] = position.stones.map(|stones| stones.count() as usize);
    // Black has as many turns as White, or one more.
    let [blacks, whites] = match position.to_move {
        Side::First => [black.max(white); 2],
        Side::Second => {
            let blacks = black.max(white + 1);
            [blacks, blacks - 1]
        }
    };
    let passes = [blacks - black, whites - white];
    let turns = (0..blacks + whites).map(|ply| {
        let side = ply % 2;
        let placed = if ply / 2 < passes[side] { None } else { stones[side].next() };
        placed.map_or(GoMove::PASS, GoMove::at)
    });
    turns.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::position::Position;
    use crate::core::rng::PlayoutRandom;

    #[test]
    fn moves_are_read_in_capitals_too() {
        let board = Go::empty(9, 15, false);
        for (text, mv) in [("D3", "d3"), ("j9", "j9"), ("PASS", "pass"), ("pass", "pass")] {
            assert_eq!(read(&board, text).map(|mv| mv.to_string()), Ok(mv.to_owned()));
        }
        for text in ["", "i1", "k1", "a10", "a0", "resign", "d+3", "ö1"] {
            assert!(read(&board, text).is_err(), "{text}");
        }
    }

    #[test]
    fn moves_lead_to_every_position() {
        let mut kos = 0;
        for seed in 0..600 {
            let mut random = PlayoutRandom::from_seed(seed);
            let mut position = Go::empty(5 + seed as u32 % 5, 15, false);
            position.play_randomly(&mut random, 4 + seed as u32 % 90);
            let mut reached = Go::empty(position.size(), 15, false);
            for mv in moves_to(&position) {
                assert!(reached.is_legal(mv), "{mv} on the way to {position}");
                reached.play_unchecked(mv);
            }
            kos += u32::from(position.ko.is_some());
            (reached.plies, reached.passes) = (position.plies, position.passes);
            assert_eq!(reached, position);
        }
        assert!(kos > 5, "{kos}");
    }
}
