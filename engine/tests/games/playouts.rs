//! Random games and immediate wins: the fast ways against the obvious ones.

use proptest::prelude::*;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{Colour, Game, PlayoutRandom, Position, Random, Rules};

use super::{after, moves_of};

/// A random game as `Position::play_randomly` describes it.
fn play_slowly<P: Position>(position: &mut P, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
    let mut plies = 0;
    while plies < plies_max && !position.is_over() {
        let moves = moves_of(position);
        position.play_unchecked(moves[random.below(moves.len() as u32) as usize]);
        plies += 1;
    }
    plies
}

/// The first move that wins, by making every one.
fn find_win_slowly<P: Position>(position: &P) -> Option<P::Move> {
    let mover = Some(position.to_move());
    let wins =
        |&mv: &P::Move| after(position, mv).ending().is_some_and(|ending| ending.winner == mover);
    moves_of(position).into_iter().find(wins)
}

/// A game in which whoever can win does, else at random.
fn play_decisively_slowly<P: Position>(position: &mut P, random: &mut PlayoutRandom) -> u32 {
    let mut plies = 0;
    while !position.is_over() {
        match find_win_slowly(position) {
            Some(mv) => position.play_unchecked(mv),
            None => _ = play_slowly(position, random, 1),
        }
        plies += 1;
    }
    plies
}

fn all_rules() -> Vec<Rules> {
    vec![
        Pentago::rules(true),
        Pentago::rules(false),
        TicTacToe::rules(),
        Nim::rules(&[3, 4, 5], false).unwrap(),
        Nim::rules(&[2, 3, 4], true).unwrap(),
    ]
}

/// Whole games from the start by the fast and the slow way, and the same in pieces.
fn check_games<G: Game>(rules: &Rules, seed: u64, piece: u32) {
    let start = G::start(rules).unwrap();
    let (mut fast, mut slow, mut pieces) = (start.clone(), start.clone(), start.clone());
    let mut randoms = [(); 3].map(|()| PlayoutRandom::from_seed(seed));
    let [random, slow_random, pieces_random] = &mut randoms;
    let plies = fast.play_randomly(random, u32::MAX);
    assert_eq!(plies, play_slowly(&mut slow, slow_random, u32::MAX));
    assert!(fast.is_over());
    assert_eq!(fast, slow);
    let mut made = 0;
    while !pieces.is_over() {
        let before = made;
        made += pieces.play_randomly(pieces_random, piece);
        assert!(made == before + piece || pieces.is_over());
        // What is found on the way is what the obvious way finds.
        assert_eq!(pieces.winning_move(), find_win_slowly(&pieces), "{pieces:?}");
    }
    assert_eq!((made, &pieces), (plies, &fast));
    assert_eq!(fast.play_randomly(random, 5), 0, "the game is over");
    assert_eq!(fast.play_decisively(random, 5), 0, "the game is over");
    assert_eq!(fast.winning_move(), None);
    // The same numbers were drawn.
    assert!(randoms.iter().all(|random| *random == randoms[0]));

    let (mut fast, mut slow, mut pieces) = (start.clone(), start.clone(), start);
    let mut randoms = [(); 3].map(|()| PlayoutRandom::from_seed(seed));
    let [random, slow_random, pieces_random] = &mut randoms;
    let plies = fast.play_decisively(random, u32::MAX);
    assert_eq!(plies, play_decisively_slowly(&mut slow, slow_random));
    assert_eq!(fast, slow);
    let mut made = 0;
    while !pieces.is_over() {
        made += pieces.play_decisively(pieces_random, piece);
    }
    assert_eq!((made, &pieces), (plies, &fast));
    assert!(randoms.iter().all(|random| *random == randoms[0]));
}

proptest! {
    #[test]
    fn fast_games_are_the_slow_ones(seed: u64, piece in 1_u32..9) {
        for rules in all_rules() {
            spelrum_engine::with_game!(&rules, G => check_games::<G>(&rules, seed, piece));
        }
    }

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
                find_win_slowly(&position)
            });
            let [mut slow, mut decisive, mut decisive_slow] = [position; 3];
            let mut randoms = [(); 4].map(|()| PlayoutRandom::from_seed(seed));
            position.play_randomly(&mut randoms[0], u32::MAX);
            play_slowly(&mut slow, &mut randoms[1], u32::MAX);
            decisive.play_decisively(&mut randoms[2], u32::MAX);
            play_decisively_slowly(&mut decisive_slow, &mut randoms[3]);
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
        assert_eq!(found, find_win_slowly(&position), "{text}");
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
        for (which, end) in [slow, fast].into_iter().enumerate() {
            let ending = end.ending().unwrap();
            let outcome = match ending.winner {
                Some(Colour::White) => 0,
                Some(Colour::Black) => 1,
                None => 2,
            };
            counts[which][outcome] += 1;
            let by_placement =
                ending.termination == spelrum_engine::games::pentago::FIVE_BY_PLACEMENT;
            counts[which][3] += i32::from(by_placement);
            plies[which] += i64::from(end.marbles());
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
