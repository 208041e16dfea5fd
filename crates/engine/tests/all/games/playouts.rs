//! Random games and immediate wins beyond `conformance`: crowded boards, known wins, and results of random
//! games.

use proptest::prelude::*;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{Game, PlayoutRandom, Position, Random, Side};

use crate::common::brute_force::{self, first_win};

proptest! {
    /// Boards as no game makes them, full of lines of four.
    #[test]
    fn wins_are_found_on_crowded_boards(
        marbles in 8_usize..36,
        order in Just((0..36_usize).collect::<Vec<_>>()).prop_shuffle(),
        seed: u64,
    ) {
        let mut cells = ['.'; 36];
        // White's marbles first, then black's: clusters of one colour.
        let mut taken = order[..marbles].to_vec();
        taken[..marbles / 2].sort_unstable();
        for (index, cell) in taken.into_iter().enumerate() {
            cells[cell] = if index % 2 == 0 { 'w' } else { 'b' };
        }
        let text: String = cells.iter().collect();
        for win_before_rotation in [true, false] {
            let rules = Pentago::rules(win_before_rotation);
            let mut position = Pentago::parse(&rules, &text).unwrap();
            prop_assert_eq!(position.winning_move(), if position.is_over() {
                None
            } else {
                first_win(&position)
            });
            let [mut slow, mut decisive, mut decisive_slow] = [position; 3];
            let mut randoms = [(); 4].map(|()| PlayoutRandom::from_seed(seed));
            position.play_randomly(&mut randoms[0], u32::MAX);
            brute_force::play_randomly(&mut slow, &mut randoms[1], u32::MAX);
            decisive.play_decisively(&mut randoms[2], u32::MAX);
            brute_force::play_decisively(&mut decisive_slow, &mut randoms[3], u32::MAX);
            prop_assert_eq!(decisive, decisive_slow);
            prop_assert_eq!(position, slow);
        }
    }
}

/// Four in line and a gap, before and after a turn, blocked and not.
#[test]
fn wins_by_placement_and_by_turn_are_found() {
    let rules = Pentago::rules(true);
    let winning = |text: &str| {
        let position = Pentago::parse(&rules, text).unwrap();
        let found = position.winning_move();
        assert_eq!(found, first_win(&position), "{text}");
        found.map(|mv| mv.to_string())
    };
    assert_eq!(winning("wwww..bbbb.........................."), Some("e1".to_owned()));
    // Black has the fifth cell of white's row.
    assert_eq!(winning("wwwwb.bbb..........................."), None);
}

/// Outcomes of random games from the empty board by both generators: the same distribution.
#[test]
fn playouts_end_as_games_of_random_moves_do() {
    const GAMES: i32 = 20_000;
    let start = Pentago::empty(true);
    let mut counts = [[0_i32; 4]; 2];
    let mut plies = [0_i64; 2];
    let mut random = Random::from_key([9; 32]);
    let mut playout_random = PlayoutRandom::from_seed(Random::from_key([8; 32]).seed());
    for _ in 0..GAMES {
        let (mut slow, mut fast) = (start, start);
        while !slow.is_over() {
            slow.play_unchecked(slow.random_move(&mut random));
        }
        fast.play_randomly(&mut playout_random, u32::MAX);
        for (policy, end) in [slow, fast].into_iter().enumerate() {
            let ending = end.ending().unwrap();
            let outcome = match ending.winner {
                Some(Side::First) => 0,
                Some(Side::Second) => 1,
                None => 2,
            };
            counts[policy][outcome] += 1;
            let by_placement =
                ending.termination == spelrum_engine::games::pentago::FIVE_BY_PLACEMENT;
            counts[policy][3] += i32::from(by_placement);
            plies[policy] += i64::from(end.marbles());
        }
    }
    // The difference of two binomial counts of 20,000 has a standard deviation of at most 100.
    for kind in 0..4 {
        assert!((counts[0][kind] - counts[1][kind]).abs() < 600, "{counts:?}");
    }
    // That of two means of 20,000 lengths, each with a standard deviation below 7 plies: 0.07.
    assert!((plies[0] - plies[1]).abs() < i64::from(GAMES) * 2 / 5, "{plies:?}");
}

#[test]
fn small_games_know_their_winning_moves() {
    let tic_tac_toe = TicTacToe::parse(&TicTacToe::rules(), "xx.oo....").unwrap();
    assert_eq!(tic_tac_toe.winning_move().map(|mv| mv.to_string()), Some("c1".to_owned()));
    let rules = Nim::rules(&[3], false).unwrap();
    let nim = Nim::start(&rules).unwrap();
    assert_eq!(nim.winning_move().map(|mv| mv.to_string()), Some("a3".to_owned()));
}
