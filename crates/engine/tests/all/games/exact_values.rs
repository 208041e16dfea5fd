//! Exact values of positions, by a plain full-width solver over the engine's moves.

use spelrum_engine::Game;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use spelrum_engine::Position;
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::PentagoMove;

use super::{after, board, moves_of};

/// Answers whether the side to move gets at least a win (1) or a draw (0), remembering answers
/// by canonical key, and gives up after a number of positions.
pub(crate) struct Solver {
    known: BTreeMap<(u64, i32), bool>,
    positions_left: u32,
}

impl Solver {
    pub(crate) fn new(positions: u32) -> Self {
        Self { known: BTreeMap::new(), positions_left: positions }
    }

    /// The value for the side to move: 1, 0 or -1.
    pub(crate) fn value<P: Position>(&mut self, position: &P) -> Option<i32> {
        if self.at_least(position, 1)? {
            Some(1)
        } else {
            Some(if self.at_least(position, 0)? { 0 } else { -1 })
        }
    }

    fn at_least<P: Position>(&mut self, position: &P, bound: i32) -> Option<bool> {
        if let Some(ending) = position.ending() {
            let value = match ending.winner {
                None => 0,
                Some(winner) if winner == position.to_move() => 1,
                Some(_) => -1,
            };
            return Some(value >= bound);
        }
        let key = (position.canonical_key(), bound);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        self.positions_left = self.positions_left.checked_sub(1)?;
        // Finished games first, the rest later: at least `bound` for the mover is no more than
        // -bound for the opponent, that is, not at least 1 - bound.
        let (over, going): (Vec<P>, Vec<P>) =
            moves_of(position).into_iter().map(|mv| after(position, mv)).partition(P::is_over);
        let mut answer = false;
        for child in over.iter().chain(&going) {
            if !self.at_least(child, 1 - bound)? {
                answer = true;
                break;
            }
        }
        self.known.insert(key, answer);
        Some(answer)
    }
}

#[derive(Deserialize)]
struct File {
    sets: BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    board: String,
    stones: u32,
    value: Option<i32>,
    /// Counted with repeats, as the engine counts; `opening` calls it `moves`.
    #[serde(alias = "moves")]
    leaf_moves: Option<u32>,
    optimal_moves: Option<usize>,
    optimal_list: Option<BTreeSet<(u32, i32, i32)>>,
    value_if_no_win_before_rotation: Option<i32>,
    #[serde(default)]
    history: Vec<(u32, i32, i32)>,
}

fn set(name: &str) -> Vec<Entry> {
    let file: File =
        serde_json::from_str(include_str!("../../vectors/pentago/positions.json")).unwrap();
    file.sets.into_iter().find(|(set, _)| set == name).unwrap().1
}

/// A move as the reference writes it: cell, quadrant, direction.
fn reference_move(mv: PentagoMove) -> (u32, i32, i32) {
    match mv.turn() {
        None => (mv.cell(), -1, -1),
        Some(turn) => (mv.cell(), turn.quadrant as i32, turn.direction as i32),
    }
}

/// Whether the solver gets through the position with so many positions; then its value and its
/// optimal moves must be right.
fn check_value_and_optimal_moves(entry: &Entry, positions: u32) -> bool {
    let position = board(&entry.board);
    let moves = moves_of(&position);
    let mut solver = Solver::new(positions);
    let values: Option<Vec<i32>> =
        moves.iter().map(|&mv| solver.value(&after(&position, mv)).map(|value| -value)).collect();
    let Some(values) = values else { return false };
    let best = values.iter().copied().max();
    assert_eq!(best, entry.value, "{}", entry.board);
    let optimal: BTreeSet<_> = moves
        .iter()
        .zip(values)
        .filter(|(_, value)| Some(*value) == best)
        .map(|(&mv, _)| reference_move(mv))
        .collect();
    assert_eq!(Some(optimal.len()), entry.optimal_moves, "{}", entry.board);
    if let Some(list) = &entry.optimal_list {
        assert_eq!(optimal, *list, "{}", entry.board);
    }
    true
}

#[test]
fn boards_on_which_one_rule_decides() {
    for entry in set("rules") {
        assert!(check_value_and_optimal_moves(&entry, 1_000_000));
        let without = Pentago::rules(false);
        let position = Pentago::parse(&without, &entry.board).unwrap();
        let value = Solver::new(1_000_000).value(&position);
        assert_eq!(value, entry.value_if_no_win_before_rotation, "{}", entry.board);
    }
}

#[test]
fn late_and_final_boards() {
    for entry in set("late").iter().chain(&set("final")) {
        assert!(check_value_and_optimal_moves(entry, 1_000_000));
    }
}

/// As far as a plain solver gets in a second or so; the others are for real searches.
#[test]
fn deep_boards_within_a_plain_solvers_reach() {
    let reached =
        set("deep").iter().filter(|entry| check_value_and_optimal_moves(entry, 100_000)).count();
    assert_eq!(reached, 7);
}

/// Every position of the data: its moves are counted as there, and its history leads to it.
#[test]
fn moves_and_histories_of_every_position() {
    for name in ["opening", "deep", "late", "final", "rules"] {
        for entry in set(name) {
            let position = board(&entry.board);
            assert_eq!(position.marbles(), entry.stones);
            if let Some(moves) = entry.leaf_moves {
                assert_eq!(position.legal_move_count(), moves, "{}", entry.board);
            }
            if entry.history.is_empty() {
                continue;
            }
            let mut played = Pentago::empty(true);
            for step in entry.history {
                let mv = moves_of(&played).into_iter().find(|&mv| reference_move(mv) == step);
                played.play_unchecked(mv.unwrap());
            }
            assert_eq!(played, position);
        }
    }
}
