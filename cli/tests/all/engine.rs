//! `perft`, `analyze` and `solve`, held against the reference data.

use crate::sandbox::Sandbox;
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let ran = Sandbox::new().run(arguments);
    ran.expect_exit(0);
    assert_eq!(ran.stderr(), "");
    serde_json::from_str(ran.stdout()).unwrap()
}

fn reference(name: &str) -> Value {
    let path = crate::sandbox::root().join("crates/engine/tests/vectors/pentago").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn perft_prints_what_the_reference_data_has() {
    let reference = reference("perft.json");
    for position in reference["positions"].as_array().unwrap() {
        let perft = json(&[
            "perft",
            "pentago",
            "--position",
            position["board"].as_str().unwrap(),
            "--depth",
            "2",
            "--json",
        ]);
        for key in ["board", "to_move", "stones"] {
            assert_eq!(perft[key], position[key], "{key} of {}", position["board"]);
        }
        let depths = perft["perft"].as_array().unwrap();
        let expected = &position["perft"].as_array().unwrap()[..depths.len().min(2)];
        assert_eq!(depths.as_slice(), expected, "{}", position["board"]);
    }
}

#[test]
fn perft_counts_all_games_of_tic_tac_toe() {
    let perft = json(&["perft", "tic-tac-toe", "--depth", "9", "--json"]);
    assert_eq!(perft["perft"][8]["leaves"], 255_168);
    assert_eq!(perft["perft"][8]["depth"], 9);
}

#[test]
fn perft_knows_the_other_rules() {
    let leaves = |rule: &str| {
        let board = "wwww..bbbb..........................";
        let arguments =
            ["perft", "pentago", "--position", board, "--rule", rule, "--depth", "1", "--json"];
        json(&arguments)["perft"][0].clone()
    };
    let (usual, other) = (leaves("win_before_rotation=true"), leaves("win_before_rotation=false"));
    assert_eq!(usual["win_before_rotation"], 1);
    assert_eq!(other["win_before_rotation"], 0);
    assert_eq!(other["leaves"].as_u64(), usual["leaves"].as_u64().map(|leaves| leaves + 7));
}

#[test]
fn analyze_finds_the_win_that_the_reference_data_knows() {
    let reference = reference("positions.json");
    let won = reference["sets"]["final"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|position| position["value"] == 1 && position["optimal_list"].is_array());
    let mut seen = 0;
    for position in won.take(5) {
        let analysis = json(&[
            "analyze",
            "pentago",
            "--position",
            position["board"].as_str().unwrap(),
            "--player",
            "alpha-beta",
            "--set",
            "iterative=true",
            "--depth",
            "36",
            "--json",
        ]);
        assert_eq!(analysis["value"], position["value"], "{}", position["id"]);
        let optimal = position["optimal_list"].as_array().unwrap();
        assert!(optimal.contains(&analysis["move"]), "{} in {}", analysis["move"], position["id"]);
        seen += 1;
    }
    assert_eq!(seen, 5, "the reference data has won final positions");
}

/// Draws too, and a search of fixed depth: with no option but the depth.
#[test]
fn analyze_states_the_value_of_what_it_searched_to_the_end() {
    let reference = reference("positions.json");
    let all = reference["sets"]["rules"].as_array().unwrap();
    let mut seen = std::collections::BTreeMap::new();
    for position in all.iter().filter(|position| position["stones"].as_u64() >= Some(33)) {
        // A single move is not searched.
        if position["leaf_moves"] == 1 {
            continue;
        }
        let board = position["board"].as_str().unwrap();
        let arguments = ["--player", "alpha-beta", "--depth", "3", "--json"];
        let analysis =
            json(&[&["analyze", "pentago", "--position", board], &arguments[..]].concat());
        assert_eq!(analysis["value"], position["value"], "{}", position["id"]);
        *seen.entry(position["value"].as_i64()).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 2, "there are wins and draws: {seen:?}");
}

#[test]
fn analyze_repeats_itself_for_one_seed() {
    let analysis = |seed: &str| {
        let mut json = json(&[
            "analyze",
            "pentago",
            "--player",
            "alpha-beta",
            "--depth",
            "2",
            "--seed",
            seed,
            "--json",
        ]);
        let object = json.as_object_mut().unwrap();
        assert!(object.remove("wall_us").is_some_and(|time| time.is_u64()));
        assert!(object.remove("cpu_us").is_some_and(|time| time.is_u64()));
        json
    };
    assert_eq!(analysis("1"), analysis("1"));
    let moves: std::collections::BTreeSet<_> =
        ["1", "2", "3", "4"].map(|seed| analysis(seed)["best_move"].to_string()).into();
    assert!(moves.len() > 1, "the seed shuffles equal moves: {moves:?}");
}

#[test]
fn analyze_shows_the_board_to_people() {
    let ran = Sandbox::new().run(&[
        "analyze",
        "nim",
        "--rule",
        "heaps=[1,2]",
        "--player",
        "minimax",
        "--depth",
        "9",
    ]);
    ran.expect_exit(0);
    insta::with_settings!({filters => vec![(r"time .*", "time [time]")]}, {
        insta::assert_snapshot!(ran.stdout());
    });
}

/// Every key that the reference has of a position, as it is there.
#[test]
fn solve_prints_what_the_reference_data_has() {
    let reference = reference("positions.json");
    let sets = ["rules", "final", "late", "deep"];
    for position in sets.iter().flat_map(|set| reference["sets"][set].as_array().unwrap()) {
        // The others take seconds in a build for tests.
        if position["stones"].as_u64() < Some(24) {
            continue;
        }
        let board = position["board"].as_str().unwrap();
        let solved = json(&["solve", "pentago", "--position", board, "--json"]);
        let keys = ["board", "to_move", "stones", "value", "optimal_moves", "optimal_moves_x8"];
        for key in keys {
            assert_eq!(solved[key], position[key], "{key} of {}", position["id"]);
        }
        assert_eq!(solved["legal_moves"], position["leaf_moves"], "{}", position["id"]);
        assert_eq!(solved["ended_by"], "proven");
        if let Some(list) = position["optimal_list"].as_array() {
            let sorted = |list: &[Value]| {
                let mut list: Vec<String> = list.iter().map(Value::to_string).collect();
                list.sort();
                list
            };
            let found = solved["optimal_list"].as_array().unwrap();
            assert_eq!(sorted(found), sorted(list), "{}", position["id"]);
        }
    }
}

#[test]
fn a_limit_leaves_the_value_unknown() {
    let solved = json(&["solve", "pentago", "--nodes", "100", "--json", "--quiet"]);
    assert_eq!(solved["value"], Value::Null);
    assert_eq!(solved["moves"], Value::Null);
    assert_eq!(solved["nodes"], 100);
    assert_eq!(solved["ended_by"], "nodes");
    let ran = Sandbox::new().run(&["solve", "pentago", "--time", "1ms"]);
    ran.expect_exit(0);
    let expected = "value          unknown: the time limit ended the solving";
    assert!(ran.stdout().contains(expected), "{}", ran.stdout());
}

/// A win in three plies with 18 empty cells: that there is one is known long before it could be
/// known of each move.
#[test]
fn a_win_that_is_near_is_told_with_the_moves_found() {
    let solve = ["solve", "pentago", "--position", ".b......wbw.b....b.wbwwb.w..w..bwwbb"];
    let solved = json(&[&solve[..], &["--json", "--quiet"]].concat());
    assert_eq!(solved["value"], 1);
    assert_eq!(solved["optimal_moves"], Value::Null);
    assert_eq!(solved["optimal_moves_x8"], Value::Null);
    let moves = solved["moves"].as_array().unwrap().len();
    assert!(moves > 0);
    assert_eq!(solved["optimal_list"].as_array().unwrap().len(), moves);
    let ran = Sandbox::new().run(&solve);
    ran.expect_exit(0);
    let expected = format!("optimal moves  at least {moves} of 144: ");
    assert!(ran.stdout().contains(&expected), "{}", ran.stdout());
}

#[test]
fn solve_tells_people_the_value_and_the_moves() {
    let solve = ["solve", "tic-tac-toe", "--position", "x...o...x"];
    let ran = Sandbox::new().run(&solve);
    ran.expect_exit(0);
    let text: String = ran
        .stdout()
        .lines()
        .filter(|line| !line.starts_with("time"))
        .fold(String::new(), |text, line| text + line + "\n");
    insta::assert_snapshot!(text);
}
