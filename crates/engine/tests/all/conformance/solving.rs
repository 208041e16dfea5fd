//! The game's solver against plain minimax to the end of the game.

use spelrum_engine::search::{Budget, Limits};
use spelrum_engine::{Game, Rules, Solver, Timeless, solve};

use super::Sample;
use crate::common::brute_force::{ExactScores, after, for_mover, moves_of};

/// Positions at most that the plain way may remember for one root.
const PLAIN_MAX: usize = 3_000;
/// Positions that are solved at most, and at least where so many games are one move from their end.
const SOLVED: [usize; 2] = [60, 8];
/// Positions that are looked at at most: where games last long, few of them are near enough to the end.
const TRIED_MAX: usize = 400;

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    let mut solver = G::Solver::default();
    let mut solved = 0;
    let mut last_moves = 0;
    // The last positions of every game first, then those before them.
    let longest = sample.games.iter().map(|game| game.moves.len()).max().unwrap();
    let late = (1..=longest).flat_map(|back| {
        let nth_last = move |moves: usize| moves.checked_sub(back);
        sample
            .games
            .iter()
            .filter_map(move |game| Some(&game.positions[nth_last(game.moves.len())?]))
    });
    for position in late.take(TRIED_MAX) {
        if solved == SOLVED[0] {
            break;
        }
        last_moves +=
            usize::from(moves_of(position).into_iter().all(|mv| after(position, mv).is_over()));
        let mut scores = ExactScores::default();
        let Some(score) = scores.score(position, PLAIN_MAX) else { continue };
        let value_of = |mv| {
            let child = after(position, mv);
            scores.score(&child, PLAIN_MAX).map(|score| for_mover(position, &child, score.signum()))
        };
        let moves = moves_of(position);
        let values: Option<Vec<i32>> = moves.iter().copied().map(value_of).collect();
        let values = values.unwrap();
        assert_eq!(values.iter().max(), Some(&score.signum()));

        solved += 1;
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        assert_eq!(solver.value(position, &mut budget), Ok(score.signum()), "{position:?}");
        let mut optimal = Vec::new();
        let value = solver.optimal_moves(position, &mut budget, &mut optimal);
        assert_eq!(value, Ok(score.signum()), "{position:?}");
        let best = |&(_, value): &(&G::Move, &i32)| *value == score.signum();
        let expected: Vec<G::Move> =
            moves.iter().zip(&values).filter(best).map(|(&mv, _)| mv).collect();
        assert_eq!(optimal, expected, "{position:?}");

        if !Rules::games().iter().any(|game| game.name == G::NAME) {
            // A game of the tests.
            continue;
        }
        let by_name = solve(sample.rules, &position.to_string(), &Limits::default(), &Timeless);
        let by_name = by_name.unwrap();
        assert_eq!(by_name.value, score.signum(), "{position:?}");
        assert_eq!(by_name.optimal_moves.len(), optimal.len(), "{position:?}");
    }
    assert!(solved >= SOLVED[1].min(last_moves), "{solved} positions solved");
}
