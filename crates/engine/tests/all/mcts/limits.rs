//! Limits hold exactly, and a timed game replays from its record (invariant 3).

use std::cell::Cell;

use proptest::prelude::*;
use spelrum_engine::games::Pentago;
use spelrum_engine::search::mcts::{Mcts, MctsParameters};
use spelrum_engine::search::{Budget, Evaluate, Limits, NoMove, Search};
use spelrum_engine::{
    Analysis, EndedBy, Game, Line, PlayError, Player, Random, Rules, Timeless, analyze,
};

use crate::common::{
    Counting, READINGS_OF_CHEAP_NODES, all_rules, key, play, play_and_replay, player, start,
};

/// Searches of every kind, none of which can prove a start position in a few hundred nodes.
const SEARCHES: &[&str] = &[
    r#""algorithm": "mcts""#,
    r#""algorithm": "mcts", "playout": "uniform", "solver": false, "reuse": false"#,
    r#""algorithm": "mcts", "bound": "ucb1-tuned", "playouts": 3, "expand_visits": 2"#,
    r#""algorithm": "mcts", "playout_plies": 2, "choice": "max", "max_tree_nodes": 64"#,
];

fn limited(rules: &Rules, search: &str, limits: &str) -> Player {
    player(rules, &format!("{{{search}, {limits}}}"))
}

fn analysed(rules: &Rules, player: &Player) -> Analysis {
    analyze(rules, &start(rules), player, key(7), &Timeless).unwrap()
}

#[test]
fn a_node_limit_is_kept_exactly() {
    for rules in all_rules() {
        for search in SEARCHES {
            for nodes in [1, 2, 3, 7, 63, 64, 65, 100, 128] {
                let player = limited(&rules, search, &format!(r#""nodes": {nodes}"#));
                let report = analysed(&rules, &player).search;
                assert_eq!(report.ended_by, EndedBy::Nodes, "{search}, {nodes}: {report:?}");
                assert_eq!(report.nodes, nodes, "{search}, {nodes}: {report:?}");
            }
        }
    }
}

#[test]
fn limits_on_simulations_and_evaluations_are_kept_exactly() {
    let rules = Pentago::rules(true);
    for search in SEARCHES {
        for simulations in [1, 2, 3, 100] {
            let player = limited(&rules, search, &format!(r#""simulations": {simulations}"#));
            let report = analysed(&rules, &player).search;
            assert_eq!(report.ended_by, EndedBy::Simulations, "{search}: {report:?}");
            // Each simulation makes a position or more.
            assert!(report.nodes >= simulations, "{search}: {report:?}");
        }
    }
    for evaluations in [1, 2, 7, 100] {
        let limits = format!(r#""evaluations": {evaluations}"#);
        let report = analysed(&rules, &limited(&rules, SEARCHES[3], &limits)).search;
        assert_eq!(report.ended_by, EndedBy::Evaluations, "{report:?}");
        assert_eq!(report.evaluations, evaluations, "{report:?}");
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    for rules in all_rules() {
        for search in SEARCHES {
            let free = analysed(&rules, &limited(&rules, search, r#""simulations": 50"#));
            let (nodes, evaluations) = (free.search.nodes, free.search.evaluations.max(1));
            let limits = format!(
                r#""simulations": 50, "nodes": {nodes}, "evaluations": {evaluations}, "move_time": "1s""#
            );
            let bounded = analysed(&rules, &limited(&rules, search, &limits));
            assert_eq!(bounded, free, "{search}, {limits}");
        }
    }
}

#[test]
fn the_clock_is_read_only_for_a_time_limit_and_seldom_while_nodes_are_cheap() {
    let rules = Pentago::rules(true);
    for search in SEARCHES {
        let walls = |limits: &str, past_deadline_at_wall| {
            let host = Counting { past_deadline_at_wall, ..Counting::default() };
            let player = limited(&rules, search, limits);
            let report = analyze(&rules, &start(&rules), &player, key(1), &host).unwrap().search;
            (host.walls.get(), report)
        };
        // Two readings are the record's, one more sets the deadline.
        assert_eq!(walls(r#""nodes": 10000"#, None).0, 2, "{search}");
        let (timed, report) = walls(r#""nodes": 10000, "move_time": "1s""#, None);
        let readings = 3 + READINGS_OF_CHEAP_NODES.len() as u64 + (9_999 - 1_023) / 256;
        assert_eq!((timed, report.nodes), (readings, 10_000), "{search}");
        // The first reading past the deadline ends the search.
        for (reading, nodes) in (1..).zip(READINGS_OF_CHEAP_NODES) {
            let (_, report) = walls(r#""move_time": "1s""#, Some(2 + reading));
            assert_eq!(report.ended_by, EndedBy::Time, "{search}");
            assert_eq!(report.nodes, nodes, "{search}");
        }
    }
}

#[test]
fn it_gives_up_when_the_host_aborts() {
    for rules in all_rules() {
        for search in SEARCHES {
            let player = limited(&rules, search, r#""nodes": 1000000000"#);
            for abort_at_look in [1, 2] {
                let host = Counting { abort_at_look: Some(abort_at_look), ..Counting::default() };
                let aborted = analyze(&rules, &start(&rules), &player, key(1), &host);
                assert_eq!(aborted, Err(PlayError::Aborted), "{search}");
            }
        }
    }
}

/// An evaluation that is not asked more often than any search here has reason to.
struct Sparing {
    left: Cell<u32>,
}

impl Evaluate<Pentago> for Sparing {
    fn is_symmetric(&self) -> bool {
        true
    }

    fn evaluate(&self, _position: &Pentago) -> i32 {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.expect("the search goes on for ever"));
        0
    }
}

/// Black has two fours: whatever White does, Black wins with the next ply.
const LOST: &str = "bbbb........ww..ww......ww..wwbbbb..";

/// When every child is proven and the tree has no room for another, nothing is left to be learnt:
/// the search must not go on without ever looking at its budget.
#[test]
fn a_full_tree_of_lost_moves_ends_the_search() {
    let rules = Pentago::rules(true);
    let root = Pentago::parse(&rules, LOST).unwrap();
    let parameters =
        MctsParameters { playout_plies: 0, max_tree_nodes: 64, ..MctsParameters::DEFAULT };
    let limits = Limits { move_time_us: Some(1_000), ..Limits::default() };
    let timed = Counting { past_deadline_at_wall: Some(20), ..Counting::default() };
    let aborting = Counting { abort_at_look: Some(20), ..Counting::default() };
    let [found, aborted] = [&timed, &aborting].map(|host| {
        let mut search = Mcts::new(parameters, Sparing { left: Cell::new(10_000) });
        let mut budget = Budget::new(&limits, host);
        let found =
            search.search(Line::from_start(&root), &mut budget, &mut Random::from_key(key(3)));
        found.map(|found| (found, budget.nodes()))
    });
    let (found, nodes) = found.unwrap();
    // A move of which nothing is known is better than one that loses.
    assert_eq!((found.ended_by, found.depth, found.score), (EndedBy::Nodes, 0, None));
    assert!(nodes >= 32, "{nodes}");
    assert!(matches!(aborted, Ok((same, _)) if same == found) || aborted == Err(NoMove::Aborted));
}

/// A tree that is kept for the next move has room for the root's first child, however small it is.
#[test]
fn a_small_tree_that_is_kept_has_room_to_grow() {
    for rules in all_rules() {
        for limits in [r#""simulations": 300"#, r#""simulations": 70, "expand_visits": 2"#] {
            for seed in 0..4 {
                let search = r#""algorithm": "mcts", "max_tree_nodes": 64"#;
                let player = limited(&rules, search, limits);
                for record in play(&rules, [&player, &player], seed, &Timeless).moves {
                    let search = record.search;
                    let is_known = matches!(search.ended_by, EndedBy::OnlyMove | EndedBy::Proven);
                    assert!(is_known || search.nodes > 0, "{rules:?}: {search:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the clock did, the recorded node counts give the same game again.
    #[test]
    fn a_timed_game_replays_from_its_record(
        rules in prop::sample::select(all_rules()),
        searches in prop::array::uniform2(prop::sample::select(SEARCHES)),
        move_time_us in 1_u64..3_000,
        step_us_max in 1_u32..400,
        nodes in prop::option::of(1_u64..4_000),
        simulations in prop::option::of(1_u64..500),
        seed in 0_u64..1_000_000,
    ) {
        let mut limits = format!(r#""move_time_us": {move_time_us}"#);
        for (name, limit) in [("nodes", nodes), ("simulations", simulations)] {
            if let Some(limit) = limit {
                limits.push_str(&format!(r#", "{name}": {limit}"#));
            }
        }
        let [first, second] = &searches.map(|search| limited(&rules, search, &limits));
        let recorded = play_and_replay(&rules, [first, second], seed, step_us_max);
        for record in &recorded.moves {
            prop_assert!(nodes.is_none_or(|limit| record.search.nodes <= limit));
        }
    }
}
