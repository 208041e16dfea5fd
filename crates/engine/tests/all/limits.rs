//! Limits hold in every player, and a timed game replays from its record (invariant 3).

use crate::common::{
    Counting, Irregular, READINGS_OF_CHEAP_NODES, all_rules, key, play, play_and_replay, player,
    random_position, replay, start, stops, without_times,
};
use proptest::prelude::*;
use spelrum_engine::games::Pentago;
use spelrum_engine::search::PLIES_MAX;
use spelrum_engine::{
    Analysis, EndedBy, Game, Knowledge, PlayError, Player, Random, Rules, Timeless, analyze,
    with_game,
};

/// Every search there is, without its limits.
const SEARCHES: &[&str] = &[
    r#""algorithm": "minimax""#,
    r#""algorithm": "alpha-beta""#,
    r#""algorithm": "alpha-beta", "order": true"#,
    r#""algorithm": "alpha-beta", "iterative": true"#,
    r#""algorithm": "alpha-beta", "iterative": true, "order": true, "shuffle": false"#,
    r#""algorithm": "genetic-minimax", "depth": 3"#,
    r#""algorithm": "genetic-minimax", "depth": 6, "preset": "study", "generations": "unlimited""#,
    r#""algorithm": "genetic-minimax", "depth": 12, "preset": "strong""#,
    r#""algorithm": "genetic-minimax", "depth": 5, "line_plies": 2, "order": true, "killers": 2"#,
];

/// Searches that look at several positions together, know more than their moves tell, or keep what
/// they learn: they may be done before a limit.
const REFINED: &[&str] = &[
    r#""algorithm": "alpha-beta", "preset": "full""#,
    r#""algorithm": "alpha-beta", "preset": "full", "exact_plies": 0, "table_mib": 1"#,
    r#""algorithm": "alpha-beta", "preset": "full", "exact_plies": 0, "iterative": false"#,
    r#""algorithm": "alpha-beta", "preset": "full", "exact_plies": 36, "extension": false"#,
    r#""algorithm": "alpha-beta", "last_ply": true, "order": true, "iterative": true"#,
    r#""algorithm": "exact""#,
];

fn limited(rules: &Rules, search: &str, limits: &str) -> Player {
    player(rules, &format!("{{{search}, {limits}}}"))
}

fn analysed(rules: &Rules, position: &str, player: &Player) -> Analysis {
    analyze(rules, position, player, key(7), &Timeless).unwrap()
}

/// The most plies that a game can last.
fn plies_left(rules: &Rules) -> u32 {
    with_game!(rules, G => G::start(rules).unwrap().plies_left())
}

/// Moves at the start of a game that is looked at later, since it begins slowly.
const FEW: u32 = 6;

/// A position of every game whose tree is larger than the limits below.
fn positions() -> Vec<(Rules, String)> {
    fn position<G: Game>(rules: &Rules) -> String {
        let start = G::start(rules).unwrap();
        if start.legal_move_count() > FEW {
            return start.to_string();
        }
        random_position::<G>(rules, 24, &mut Random::from_key(key(11))).to_string()
    }
    let positions = all_rules().into_iter().map(|rules| {
        let position = with_game!(&rules, G => position::<G>(&rules));
        (rules, position)
    });
    positions.collect()
}

#[test]
fn a_node_limit_is_kept_exactly() {
    for (rules, position) in positions() {
        for search in SEARCHES {
            for nodes in [1, 2, 3, 7, 63, 64, 100, 255, 256, 257, 500] {
                let limits = format!(r#""nodes": {nodes}"#);
                let player = limited(&rules, search, &limits);
                let report = analysed(&rules, &position, &player).search;
                assert_eq!(report.ended_by, EndedBy::Nodes, "{search}, {limits}: {report:?}");
                assert_eq!(report.nodes, nodes, "{search}, {limits}: {report:?}");
            }
        }
    }
}

#[test]
fn refined_searches_keep_the_limits() {
    for (rules, position) in positions() {
        for search in REFINED {
            for limit in [1, 2, 3, 7, 28, 35, 36, 100, 256, 500, 5_000] {
                let report = |limits: &str| {
                    analysed(&rules, &position, &limited(&rules, search, limits)).search
                };
                let by_nodes = report(&format!(r#""nodes": {limit}"#));
                assert!(by_nodes.nodes <= limit, "{search}, {limit}: {by_nodes:?}");
                if by_nodes.ended_by == EndedBy::Nodes {
                    assert_eq!(by_nodes.nodes, limit, "{search}, {limit}: {by_nodes:?}");
                } else if by_nodes.ended_by == EndedBy::Depth {
                    // The solver's stack is bounded, and a game may last longer.
                    assert!(plies_left(&rules) > PLIES_MAX, "{search}, {limit}: {rules:?}");
                } else {
                    assert_eq!(by_nodes.ended_by, EndedBy::Proven, "{search}, {limit}");
                }
                let limits = format!(r#""nodes": 5000, "evaluations": {limit}"#);
                let by_evaluations = report(&limits);
                assert!(by_evaluations.evaluations <= limit, "{search}: {by_evaluations:?}");
            }
        }
    }
}

#[test]
fn a_limit_on_evaluations_is_kept_exactly() {
    for (rules, position) in positions() {
        for search in SEARCHES {
            for evaluations in [1, 2, 3, 7, 50, 100] {
                // Shallow, so that the search evaluates at all.
                let limits = format!(r#""evaluations": {evaluations}, "depth": 3"#);
                let player = limited(&rules, search, &limits);
                let report = analysed(&rules, &position, &player).search;
                assert!(report.evaluations <= evaluations, "{search}, {limits}: {report:?}");
                if report.ended_by == EndedBy::Evaluations {
                    assert_eq!(report.evaluations, evaluations, "{search}, {limits}: {report:?}");
                } else {
                    assert_eq!(report.ended_by, EndedBy::Depth, "{search}, {limits}: {report:?}");
                }
            }
        }
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    for (rules, position) in positions() {
        for search in SEARCHES {
            let free = limited(&rules, search, r#""depth": 2, "nodes": 200000"#);
            let free = analysed(&rules, &position, &free);
            let (nodes, evaluations) = (free.search.nodes, free.search.evaluations.max(1));
            let limits = format!(
                r#""depth": 2, "nodes": {nodes}, "evaluations": {evaluations}, "move_time": "1s""#
            );
            let bounded = analysed(&rules, &position, &limited(&rules, search, &limits));
            assert_eq!(bounded, free, "{search}, {limits}");
        }
    }
}

#[test]
fn a_fixed_depth_that_is_cut_off_says_so() {
    let rules = Pentago::rules(true);
    for search in &SEARCHES[..2] {
        // The first root move is finished after 281 nodes: itself and the replies to it.
        let report = |limits: &str| {
            analysed(&rules, &start(&rules), &limited(&rules, search, limits)).search
        };
        let early = report(r#""depth": 2, "nodes": 280"#);
        assert_eq!((early.depth, early.score), (0, None), "{search}: {early:?}");
        let later = report(r#""depth": 2, "nodes": 1000"#);
        assert_eq!(later.depth, 0, "{search}: {later:?}");
        assert!(later.score.is_some(), "{search}: {later:?}");
        assert_eq!(later.full_tree_leaves, 0, "{search}: {later:?}");
    }
}

#[test]
fn an_iteration_that_is_cut_off_keeps_the_last_completed_one() {
    let rules = Pentago::rules(true);
    let search = r#""algorithm": "alpha-beta", "iterative": true"#;
    let position = start(&rules);
    let complete = analysed(&rules, &position, &limited(&rules, search, r#""depth": 1"#));
    for nodes in [288, 289, 300, 500] {
        let limits = format!(r#""nodes": {nodes}"#);
        let cut = analysed(&rules, &position, &limited(&rules, search, &limits));
        assert_eq!(cut.search.depth, 1, "{nodes}: {cut:?}");
        assert_eq!(cut.search.ended_by, EndedBy::Nodes);
        assert_eq!(cut.best_move, complete.best_move, "{nodes}");
        assert_eq!(cut.search.score, complete.search.score, "{nodes}");
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
        // Two readings are the record's.
        let (untimed, _) = walls(r#""nodes": 10000"#, None);
        assert_eq!(untimed, 2, "{search}");
        // One more sets the deadline.
        let (timed, report) = walls(r#""nodes": 10000, "move_time": "1s""#, None);
        assert_eq!(report.nodes, 10_000, "{search}");
        assert_eq!(timed, 3 + READINGS_OF_CHEAP_NODES.len() as u64 + (9_999 - 1_023) / 256);
        // The first reading past the deadline ends the search.
        for (reading, nodes) in (1..).zip(READINGS_OF_CHEAP_NODES) {
            let (_, report) = walls(r#""move_time": "1s""#, Some(2 + reading));
            assert_eq!(report.ended_by, EndedBy::Time, "{search}");
            assert_eq!(report.nodes, nodes, "{search}");
        }
    }
}

#[test]
fn every_search_gives_up_when_the_host_aborts() {
    for (rules, position) in positions() {
        // Refined searches are done with the small games before they have looked often.
        let refined = if rules.is_of::<Pentago>() { REFINED } else { &[] };
        for search in SEARCHES.iter().chain(refined) {
            let player = limited(&rules, search, r#""nodes": 1000000000"#);
            for abort_at_look in [1, 2, 5] {
                let host = Counting { abort_at_look: Some(abort_at_look), ..Counting::default() };
                let aborted = analyze(&rules, &position, &player, key(1), &host);
                assert_eq!(aborted, Err(PlayError::Aborted), "{search}");
            }
        }
        let random = player(&rules, r#"{"algorithm": "random"}"#);
        let host = Counting { abort_at_look: Some(1), ..Counting::default() };
        assert_eq!(analyze(&rules, &position, &random, key(1), &host), Err(PlayError::Aborted));
    }
}

#[test]
fn the_clock_stops_searches_at_many_places() {
    let rules = Pentago::rules(true);
    for search in SEARCHES.iter().chain(REFINED) {
        let timed = limited(&rules, search, r#""move_time_us": 1000"#);
        let game = play(&rules, [&timed, &timed], 3, &Irregular::new(3, 400));
        let places: std::collections::BTreeSet<u64> = stops(&game).into_iter().flatten().collect();
        assert!(places.len() >= 3, "{search}: {places:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Invariant 3: whatever the clock did, the recorded node counts give the same game again.
    #[test]
    fn a_timed_game_replays_from_its_record(
        rules in prop::sample::select(all_rules()),
        searches in prop::array::uniform2(prop::sample::select([SEARCHES, REFINED].concat())),
        move_time_us in 1_u64..3_000,
        step_us_max in 1_u32..400,
        nodes in prop::option::of(1_u64..4_000),
        evaluations in prop::option::of(1_u64..4_000),
        depth in prop::option::of(1_u32..4),
        seed in 0_u64..1_000_000,
    ) {
        let mut limits = format!(r#""move_time_us": {move_time_us}"#);
        // The exact player knows no depth.
        let depth = depth.filter(|_| !searches.iter().any(|search| search.contains("exact\"")));
        for (name, limit) in
            [("nodes", nodes), ("evaluations", evaluations), ("depth", depth.map(u64::from))]
        {
            if let Some(limit) = limit {
                limits.push_str(&format!(r#", "{name}": {limit}"#));
            }
        }
        let players = searches.map(|search| limited(&rules, search, &limits));
        let [first, second] = &players;
        let recorded = play_and_replay(&rules, [first, second], seed, step_us_max);
        // Nor does a stop that a search does not reach: so can a replay be kept from running on.
        let bounds: Vec<_> = recorded
            .moves
            .iter()
            .map(|record| record.search)
            .map(|search| Some(search.nodes + u64::from(search.ended_by != EndedBy::Time)))
            .collect();
        let bounded = replay(&rules, [first, second], seed, &bounds, &Timeless);
        prop_assert_eq!(without_times(&bounded), without_times(&recorded));
        for record in &recorded.moves {
            prop_assert!(nodes.is_none_or(|limit| record.search.nodes <= limit));
            prop_assert!(evaluations.is_none_or(|limit| record.search.evaluations <= limit));
            prop_assert!(depth.is_none_or(|limit| record.search.depth <= limit));
        }
    }
}
