//! Pentago's bitboards against the slow reference, and the rules on boards chosen to break them.

use proptest::prelude::*;
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::{BOTH_FIVE, FIVE_BY_PLACEMENT, FIVE_BY_ROTATION};
use spelrum_engine::games::pentago::{Direction, PentagoMove, Quadrant, Turn};
use spelrum_engine::{Ending, Game, Position, Rules, Side, Termination};

use super::slow_pentago::{SlowBoard, SlowEnd, SlowMove};
use super::{board, moves_of, random, random_board};

fn rules(win_before_rotation: bool) -> Rules {
    Pentago::rules(win_before_rotation)
}

fn slow_move(mv: PentagoMove) -> SlowMove {
    let turn = mv
        .turn()
        .map(|turn| (turn.quadrant as usize, matches!(turn.direction, Direction::Clockwise)));
    (mv.cell() as usize, turn)
}

fn ending(end: SlowEnd) -> Ending {
    let colour = |side| if side == 0 { Side::First } else { Side::Second };
    match end {
        SlowEnd::FiveByPlacement(side) => {
            Ending { winner: Some(colour(side)), termination: FIVE_BY_PLACEMENT }
        }
        SlowEnd::FiveByRotation(side) => {
            Ending { winner: Some(colour(side)), termination: FIVE_BY_ROTATION }
        }
        SlowEnd::BothFive => Ending { winner: None, termination: BOTH_FIVE },
        SlowEnd::FullBoard => Ending { winner: None, termination: Termination::FULL_BOARD },
    }
}

/// Everything a position says of its moves, against the twin's.
fn check_moves(position: &Pentago, slow: &SlowBoard) {
    let moves = moves_of(position);
    assert!(moves.is_sorted() && moves.windows(2).all(|pair| pair[0] != pair[1]));
    let mut ours: Vec<SlowMove> = moves.iter().copied().map(slow_move).collect();
    let mut theirs = slow.legal_moves(position.win_before_rotation());
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours, theirs, "{position}");
    assert_eq!(position.legal_move_count() as usize, moves.len());
    for (index, mv) in (0..).zip(&moves) {
        assert_eq!(position.nth_legal_move(index), *mv);
    }
    for mv in every_move() {
        assert_eq!(position.is_legal(mv), moves.contains(&mv), "{mv} in {position}");
    }
}

/// The notation without the mark of a game that a placement ended.
fn cells_of(position: &Pentago) -> String {
    position.to_string().replace('+', "")
}

/// All 36 × 9 moves that can be written.
fn every_move() -> impl Iterator<Item = PentagoMove> {
    let turns = Quadrant::ALL
        .into_iter()
        .flat_map(|quadrant| Direction::ALL.map(|direction| Some(Turn { quadrant, direction })));
    turns.chain([None]).flat_map(|turn| (0..36).map(move |cell| PentagoMove::new(cell, turn)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whole games: moves, play and endings are the twin's at every ply.
    #[test]
    fn random_games_are_the_twins(seed: u64, win_before_rotation: bool) {
        let mut random = random(seed);
        let mut position = Pentago::start(&rules(win_before_rotation)).unwrap();
        let mut slow = SlowBoard::from_text(&position.to_string());
        loop {
            check_moves(&position, &slow);
            let mv = position.random_move(&mut random);
            position.play_unchecked(mv);
            let end = slow.play(slow_move(mv));
            prop_assert_eq!(cells_of(&position), slow.text());
            prop_assert_eq!(position.ending(), end.map(ending));
            prop_assert_eq!(position.is_over(), end.is_some());
            if end.is_some() {
                break;
            }
            prop_assert_eq!(position.to_move().index(), slow.mover());
        }
        prop_assert_eq!(position.legal_move_count(), 0);
        prop_assert!(moves_of(&position).is_empty());
        prop_assert!(every_move().all(|mv| !position.is_legal(mv)));
    }

    /// Boards that no game need reach, with fives of either colour on many.
    #[test]
    fn any_board_is_the_twins(marbles in 8_usize..=36, seed: u64, win_before_rotation: bool) {
        let text = random_board(marbles, seed);
        let slow = SlowBoard::from_text(&text);
        let position = Pentago::parse(&rules(win_before_rotation), &text).unwrap();
        prop_assert_eq!(position.ending(), slow.end_after_turn().map(ending));
        if !position.is_over() {
            check_moves(&position, &slow);
            for mv in moves_of(&position) {
                let (mut child, mut slow) = (position, slow.clone());
                child.play_unchecked(mv);
                prop_assert_eq!(child.ending(), slow.play(slow_move(mv)).map(ending));
                prop_assert_eq!(cells_of(&child), slow.text());
            }
        }
    }

    /// A random move is the one that counting and indexing give.
    #[test]
    fn random_moves_are_indexed_moves(marbles in 0_usize..36, seed: u64) {
        let position = board(&random_board(marbles, seed));
        if !position.is_over() {
            let index = random(seed).below(position.legal_move_count());
            let drawn = position.random_move(&mut random(seed));
            prop_assert_eq!(drawn, position.nth_legal_move(index));
        }
    }
}

fn play(text: &str, mv: &str, win_before_rotation: bool) -> Pentago {
    let mut position = Pentago::parse(&rules(win_before_rotation), text).unwrap();
    let mv = position.parse_move(mv).unwrap();
    assert!(position.is_legal(mv), "{mv}\n{}", position.board());
    position.play_unchecked(mv);
    position
}

const FOUR_IN_THE_TOP_ROW: &str = "wwww..bbb.........b.................";

#[test]
fn a_placement_that_makes_five_is_one_move_and_wins() {
    let over = play(FOUR_IN_THE_TOP_ROW, "e1", true);
    let ending = over.ending().unwrap();
    assert_eq!(ending.termination, FIVE_BY_PLACEMENT);
    assert_eq!(ending.winner, Some(Side::First));
    let before = board(FOUR_IN_THE_TOP_ROW);
    assert!(!before.is_legal(before.parse_move("e1-3r").unwrap()), "it needs no turn");
    assert!(!before.is_legal(before.parse_move("f1").unwrap()), "that makes no five");
    assert_eq!(before.legal_move_count(), 27 * 8 + 1);
    assert_eq!(before.nth_legal_move(0).to_string(), "e1", "wins come first");
}

#[test]
fn without_the_rule_five_counts_only_after_the_turn() {
    let position = Pentago::parse(&rules(false), FOUR_IN_THE_TOP_ROW).unwrap();
    assert_eq!(position.legal_move_count(), 28 * 8);
    assert!(!position.is_legal(position.parse_move("e1").unwrap()));
    assert_eq!(play(FOUR_IN_THE_TOP_ROW, "e1-1r", false).ending(), None, "turned apart");
    let kept = play(FOUR_IN_THE_TOP_ROW, "e1-4r", false).ending().unwrap();
    assert_eq!(kept.termination, FIVE_BY_ROTATION);
    assert_eq!(kept.winner, Some(Side::First));
}

#[test]
fn a_turn_can_give_the_game_away_or_draw_it() {
    // Turned to the left, c1 to c3 become a1 to c1 and meet d1 and e1.
    let given = play("..bbb...b.....b.........ww.w.ww.....", "f6-1l", true).ending().unwrap();
    assert_eq!(given.termination, FIVE_BY_ROTATION);
    assert_eq!(given.winner, Some(Side::Second), "white turned black's five together");

    // The same turn makes a1 to a3 the row a3 to c3, which meets d3 and e3.
    let drawn = play("w.bbb.w.b...w.bww...................", "f6-1l", true).ending().unwrap();
    assert_eq!(drawn.termination, BOTH_FIVE);
    assert_eq!(drawn.winner, None);
}

#[test]
fn all_eight_turns_of_an_empty_board_are_legal_and_give_one_position() {
    let start = Pentago::empty(true);
    assert_eq!(start.legal_move_count(), 288);
    let centre: Vec<Pentago> = moves_of(&start)
        .into_iter()
        .filter(|mv| mv.cell() == 7)
        .map(|mv| super::after(&start, mv))
        .collect();
    assert_eq!(centre.len(), 8);
    assert!(centre.iter().all(|child| *child == centre[0]), "a turn moves no centre");
}

#[test]
fn six_in_a_row_wins_too() {
    let over = play("www.wwbbb.b........................b", "d1", true);
    assert_eq!(over.ending().unwrap().termination, FIVE_BY_PLACEMENT);
}
