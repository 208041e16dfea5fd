//! Alpha-beta to the end of the game against the exact values of the reference positions.

use std::collections::BTreeMap;

use crate::common::{key, player};
use serde::Deserialize;
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::{Direction, Quadrant};
use spelrum_engine::search::WIN_MIN;
use spelrum_engine::{EndedBy, Game, Player, Position, Rules, Timeless, analyze};

#[derive(Deserialize)]
struct File {
    sets: BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    board: String,
    value: i32,
    optimal_list: Option<Vec<[i32; 3]>>,
    value_if_no_win_before_rotation: Option<i32>,
}

fn set(name: &str) -> Vec<Entry> {
    let file: File =
        serde_json::from_str(include_str!("../vectors/pentago/positions.json")).unwrap();
    file.sets.into_iter().find(|(set, _)| set == name).unwrap().1
}

/// The move as the reference data has it.
fn encoded(position: &Pentago, text: &str) -> [i32; 3] {
    let mv = position.parse_move(text).unwrap();
    let cell = i32::try_from(mv.cell()).unwrap();
    let Some(turn) = mv.turn() else { return [cell, -1, -1] };
    let quadrant = Quadrant::ALL.iter().position(|&quadrant| quadrant == turn.quadrant).unwrap();
    let direction =
        Direction::ALL.iter().position(|&direction| direction == turn.direction).unwrap();
    [cell, i32::try_from(quadrant).unwrap(), i32::try_from(direction).unwrap()]
}

fn solver(rules: &Rules, order: bool, nodes: u64) -> Player {
    let json = format!(
        r#"{{"algorithm": "alpha-beta", "iterative": true, "order": {order}, "nodes": {nodes},
            "evaluation": "lines"}}"#
    );
    player(rules, &json)
}

/// The value (1, 0, -1 for the side to move) that alpha-beta proves within so many nodes, and its
/// move.
fn proven(rules: &Rules, board: &str, order: bool, nodes: u64) -> Option<(i32, [i32; 3])> {
    let player = solver(rules, order, nodes);
    let analysis = analyze(rules, board, &player, key(1), &Timeless).unwrap();
    if !matches!(analysis.search.ended_by, EndedBy::Proven | EndedBy::OnlyMove) {
        assert_eq!(analysis.search.ended_by, EndedBy::Nodes);
        return None;
    }
    let position = Pentago::parse(rules, board).unwrap();
    let value = match analysis.search.score {
        Some(score) if score >= WIN_MIN => 1,
        Some(score) if score <= -WIN_MIN => -1,
        Some(score) => {
            assert_eq!(score, 0, "a proven value of {board} is a win, a loss or a draw");
            0
        }
        None => return None,
    };
    Some((value, encoded(&position, &analysis.best_move)))
}

/// Checks a set and returns how many of its positions were proven.
fn check(name: &str, order: bool, nodes: u64) -> usize {
    let rules = Pentago::rules(true);
    let mut count = 0;
    for entry in set(name) {
        let Some((value, mv)) = proven(&rules, &entry.board, order, nodes) else { continue };
        assert_eq!(value, entry.value, "{} {}", entry.id, entry.board);
        let optimal = entry.optimal_list.unwrap();
        assert!(optimal.contains(&mv), "{} {}: {mv:?}", entry.id, entry.board);
        count += 1;
    }
    count
}

#[test]
fn late_values_and_moves_agree_with_the_reference() {
    let count = check("late", true, 100_000_000);
    assert_eq!(count, 30);
}

#[test]
fn final_values_and_moves_agree_with_the_reference() {
    let count = check("final", false, 100_000_000);
    assert_eq!(count, 30);
}

#[test]
fn values_that_hang_on_one_rule_agree_with_the_reference() {
    let count = check("rules", true, 2_000_000);
    assert_eq!(count, 19);
    let rules = Pentago::rules(false);
    for entry in set("rules") {
        let (value, _) = proven(&rules, &entry.board, true, 2_000_000).unwrap();
        assert_eq!(Some(value), entry.value_if_no_win_before_rotation, "{}", entry.id);
    }
}
