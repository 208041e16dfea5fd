//! The reference positions: values and all optimal moves.

use std::collections::BTreeMap;

use serde::Deserialize;
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::PentagoSolver;
use spelrum_engine::search::{Budget, Limits};
use spelrum_engine::{Game, Position, Solved, Solver, Timeless, solve};

#[derive(Deserialize)]
struct File {
    sets: BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    board: String,
    stones: u32,
    value: i32,
    leaf_moves: u32,
    optimal_moves: usize,
    optimal_moves_x8: usize,
    optimal_list: Option<Vec<[i32; 3]>>,
    value_if_no_win_before_rotation: Option<i32>,
}

fn set(name: &str) -> Vec<Entry> {
    let text = include_str!("../../vectors/pentago/positions.json");
    let mut file: serde_json::Value = serde_json::from_str(text).unwrap();
    // The opening has entries of another form.
    file["sets"].as_object_mut().unwrap().retain(|set, _| set == name);
    let file: File = serde_json::from_value(file).unwrap();
    file.sets.into_iter().next().unwrap().1
}

fn solved(board: &str, win_before_rotation: bool) -> Solved {
    let rules = Pentago::rules(win_before_rotation);
    solve(&rules, board, &Limits::default(), &Timeless).unwrap()
}

/// A move as the reference writes it: cell, quadrant, direction.
fn reference_move(position: &Pentago, text: &str) -> [i32; 3] {
    let mv = position.parse_move(text).unwrap();
    let cell = mv.cell() as i32;
    match mv.turn() {
        None => [cell, -1, -1],
        Some(turn) => [cell, turn.quadrant as i32, turn.direction as i32],
    }
}

fn check(entry: &Entry) {
    let solved = solved(&entry.board, true);
    let position = Pentago::parse(&Pentago::rules(true), &entry.board).unwrap();
    assert_eq!(position.marbles(), entry.stones);
    assert_eq!(solved.value, entry.value, "{}", entry.board);
    assert_eq!(solved.legal_moves, entry.leaf_moves, "{}", entry.board);
    let mut moves: Vec<[i32; 3]> =
        solved.optimal_moves.iter().map(|mv| reference_move(&position, mv)).collect();
    assert_eq!(moves.len(), entry.optimal_moves, "{}", entry.board);
    let times_8 = moves.iter().map(|mv| if mv[1] < 0 { 8 } else { 1 }).sum::<usize>();
    assert_eq!(times_8, entry.optimal_moves_x8, "{}", entry.board);
    if let Some(list) = &entry.optimal_list {
        let mut list = list.clone();
        list.sort_unstable();
        moves.sort_unstable();
        assert_eq!(moves, list, "{}", entry.board);
    }
    check_move_values(&position, &solved);
}

/// Of the values of all moves the greatest is the position's, and the moves that have it are the optimal ones.
fn check_move_values(position: &Pentago, solved: &Solved) {
    let mut values = Vec::new();
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    PentagoSolver::default().move_values(position, &mut budget, &mut values).unwrap();
    assert_eq!(values.len(), solved.legal_moves as usize, "{position}");
    assert_eq!(values.iter().map(|&(_, value)| value).max(), Some(solved.value), "{position}");
    let best = values.iter().filter(|&&(_, value)| value == solved.value);
    let best: Vec<String> = best.map(|(mv, _)| mv.to_string()).collect();
    assert_eq!(best, solved.optimal_moves, "{position}");
}

#[test]
fn late_boards() {
    set("late").iter().for_each(check);
}

#[test]
fn final_boards() {
    set("final").iter().for_each(check);
}

#[test]
fn deep_boards() {
    set("deep").iter().for_each(check);
}

#[test]
fn boards_on_which_one_rule_decides() {
    for entry in set("rules") {
        check(&entry);
        let without = solved(&entry.board, false).value;
        assert_eq!(Some(without), entry.value_if_no_win_before_rotation, "{}", entry.board);
    }
}

#[derive(Deserialize)]
struct Opening {
    board: String,
    value: i32,
    moves: Option<u32>,
    optimal_moves: Option<usize>,
    optimal_list: Option<Vec<[i32; 3]>>,
    child_values: Option<ChildValues>,
}

/// How many moves win, draw and lose.
#[derive(Deserialize)]
struct ChildValues {
    win: usize,
    draw: usize,
    loss: usize,
}

/// The openings are out of a solver's reach. What can be checked: where the data has a position and
/// one that a move leads to, up to symmetry, their values and the list of optimal moves agree.
#[test]
fn openings_agree_among_themselves() {
    let text = include_str!("../../vectors/pentago/positions.json");
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    let openings: Vec<Opening> = serde_json::from_value(file["sets"]["opening"].clone()).unwrap();
    let parse = |board: &str| Pentago::parse(&Pentago::rules(true), board).unwrap();
    let values: BTreeMap<u64, i32> = openings
        .iter()
        .map(|opening| (parse(&opening.board).canonical_key(), opening.value))
        .collect();
    let mut compared = 0;
    for opening in &openings {
        let position = parse(&opening.board);
        if let Some(count) = opening.moves {
            assert_eq!(position.legal_move_count(), count, "{}", opening.board);
        }
        let mut moves = Vec::new();
        position.legal_moves(&mut moves);
        let optimal = opening.optimal_list.as_ref();
        if let (Some(list), Some(count)) = (optimal, opening.optimal_moves) {
            assert_eq!(list.len(), count, "{}", opening.board);
        }
        if let Some(ChildValues { win, draw, loss }) = opening.child_values {
            assert_eq!(moves.len(), win + draw + loss, "{}", opening.board);
            let (best, count) = match (win, draw, loss) {
                (0, 0, loss) => (-1, loss),
                (0, draw, _) => (0, draw),
                (win, ..) => (1, win),
            };
            assert_eq!((best, Some(count)), (opening.value, opening.optimal_moves));
        }
        for mv in moves {
            let mut child = position;
            child.play_unchecked(mv);
            let Some(&value) = values.get(&child.canonical_key()) else { continue };
            compared += 1;
            assert!(-value <= opening.value, "{} and {mv}", opening.board);
            if let Some(list) = optimal {
                let listed = list.contains(&reference_move(&position, &mv.to_string()));
                assert_eq!(listed, -value == opening.value, "{} and {mv}", opening.board);
            }
        }
    }
    assert!(compared >= 288, "{compared} moves lead from one position to another");
}
