//! Players made from a sweep's parameters.

use std::sync::LazyLock;

use insta::assert_snapshot;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{
    ALGORITHMS, KeyProblem, ParameterKind, Player, Rules, memory_bytes_of, parameters_of,
};

static PENTAGO: LazyLock<Rules> = LazyLock::new(|| Pentago::rules(true));

fn read(rules: &Rules, json: &str) -> Result<Player, KeyProblem> {
    Player::from_parameters(rules, &serde_json::from_str(json).unwrap())
}

fn canonical(rules: &Rules, json: &str) -> String {
    serde_json::to_string(read(rules, json).unwrap().parameters()).unwrap()
}

fn error(rules: &Rules, json: &str) -> String {
    read(rules, json).unwrap_err().to_string()
}

/// These maps are hashed: a change here makes every stored player another one.
#[test]
fn canonical_parameters_stay() {
    assert_snapshot!(canonical(&PENTAGO, r#"{"algorithm": "random"}"#), @r#"{"algorithm":"random"}"#);
    assert_snapshot!(
        canonical(&PENTAGO, r#"{"algorithm": "minimax", "depth": 3}"#),
        @r#"{"algorithm":"minimax","depth":3,"evaluation":"runs","shuffle":true,"weight_centre":1,"weight_run3":3,"weight_run4":9}"#
    );
    assert_snapshot!(
        canonical(&PENTAGO, r#"{"algorithm": "alpha-beta", "move_time": "10ms", "iterative": true}"#),
        @r#"{"algorithm":"alpha-beta","evaluation":"runs","iterative":true,"move_time_us":10000,"order":false,"shuffle":true,"weight_centre":1,"weight_run3":3,"weight_run4":9}"#
    );
    assert_snapshot!(
        canonical(&PENTAGO, r#"{"algorithm": "alpha-beta", "evaluation": "lines", "nodes": 1000, "depth": 4}"#),
        @r#"{"algorithm":"alpha-beta","depth":4,"evaluation":"lines","iterative":false,"nodes":1000,"order":false,"shuffle":true,"weight_line1":1,"weight_line2":3,"weight_line3":9,"weight_line4":27}"#
    );
    assert_snapshot!(
        canonical(&TicTacToe::rules(), r#"{"algorithm": "alpha-beta", "evaluations": 5, "depth": "unlimited"}"#),
        @r#"{"algorithm":"alpha-beta","evaluation":"lines","evaluations":5,"iterative":false,"order":false,"shuffle":true,"weight_line1":1,"weight_line2":4}"#
    );
    assert_snapshot!(canonical(&PENTAGO, r#"{"algorithm": "mcts", "simulations": 1000, "exploration": 1}"#), @r#"{"algorithm":"mcts","bound":"ucb1","choice":"robust","evaluation":"runs","evaluation_scale":10.0,"expand_visits":1,"exploration":1.0,"first_play_urgency":1.0,"max_tree_nodes":4194304,"playout":"decisive","playout_plies":1000,"playouts":1,"reuse":true,"simulations":1000,"solver":true,"weight_centre":1,"weight_run3":3,"weight_run4":9}"#);
    let nim = Nim::rules(&[1, 2], false).unwrap();
    assert_snapshot!(canonical(&nim, r#"{"algorithm": "minimax", "depth": 3}"#), @r#"{"algorithm":"minimax","depth":3,"evaluation":"none","shuffle":true}"#);
}

#[test]
fn canonical_parameters_read_back_to_an_equal_player() {
    for rules in crate::common::all_rules() {
        for json in [
            r#"{"algorithm": "random"}"#,
            r#"{"algorithm": "minimax", "depth": 3, "shuffle": false}"#,
            r#"{"algorithm": "minimax", "move_time": "1.5s"}"#,
            r#"{"algorithm": "alpha-beta", "depth": 4, "order": true}"#,
            r#"{"algorithm": "alpha-beta", "nodes": 10, "evaluations": 10, "iterative": true}"#,
            r#"{"algorithm": "alpha-beta", "depth": 2, "evaluation": "none"}"#,
            r#"{"algorithm": "mcts", "simulations": 10, "bound": "ucb1-tuned", "reuse": false}"#,
        ] {
            let player = read(&rules, json).unwrap();
            let again = Player::from_parameters(&rules, player.parameters()).unwrap();
            assert_eq!(again, player);
            let stored = serde_json::to_string(player.parameters()).unwrap();
            assert_eq!(read(&rules, &stored).unwrap(), player);
        }
    }
}

#[test]
fn what_a_player_depends_on() {
    let player = |json| read(&PENTAGO, json).unwrap();
    assert!(player(r#"{"algorithm": "random"}"#).draws_random_numbers());
    let fixed = player(r#"{"algorithm": "minimax", "depth": 1, "shuffle": false}"#);
    assert!(!fixed.draws_random_numbers() && !fixed.is_timed());
    let timed = player(r#"{"algorithm": "alpha-beta", "move_time": "10ms"}"#);
    assert!(timed.draws_random_numbers() && timed.is_timed());
    assert_eq!(timed.limits().move_time_us, Some(10_000));
    // Over the protocol of lines each game has its seeds.
    let drawing = player(r#"{"algorithm": "lines", "engine": "mine", "reproducible": true}"#);
    assert!(drawing.draws_random_numbers() && drawing.is_deterministic());
    let fixed = r#"{"algorithm": "gtp", "engine": "mine", "depth": 1, "reproducible": true}"#;
    assert!(!player(fixed).draws_random_numbers());
}

#[test]
fn errors_name_the_key_and_the_remedy() {
    assert_snapshot!(error(&PENTAGO, r#"{"depth": 3}"#), @r#"`algorithm` is missing; write "random", "minimax", "alpha-beta", "genetic-minimax", "mcts", "exact", "table", "ajedrecista", "uci", "gtp", "lines", "xboard" or "ugi""#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "alphabeta", "depth": 3}"#), @r#"there is no algorithm "alphabeta"; did you mean "alpha-beta"?"#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "stockfish"}"#), @r#"there is no algorithm "stockfish"; write "random", "minimax", "alpha-beta", "genetic-minimax", "mcts", "exact", "table", "ajedrecista", "uci", "gtp", "lines", "xboard" or "ugi""#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": 3}"#), @r#"there is no algorithm 3; write "random", "minimax", "alpha-beta", "genetic-minimax", "mcts", "exact", "table", "ajedrecista", "uci", "gtp", "lines", "xboard" or "ugi""#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "random", "depth": 3}"#), @"`random` has no parameter `depth`; it takes none");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "alpha-beta", "dept": 3}"#), @"`alpha-beta` has no parameter `dept`; did you mean `depth`?");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "alpha-beta"}"#), @"nothing bounds the search of `alpha-beta`; limit at least one of `depth`, `nodes`, `evaluations`, `move_time`, `clock`");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "alpha-beta", "iterative": true}"#), @"nothing bounds the search of `alpha-beta`; limit at least one of `depth`, `nodes`, `evaluations`, `move_time`, `clock`");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "minimax", "depth": "unlimited"}"#), @"nothing bounds the search of `minimax`; limit at least one of `depth`, `nodes`, `evaluations`, `move_time`, `clock`");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "minimax", "depth": -1}"#), @r#"`depth` cannot be -1; write an integer from 1 to 1000, or "unlimited""#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "minimax", "depth": 3, "iterative": true}"#), @"`minimax` has no parameter `iterative`; its parameters are `evaluation`, `depth`, `nodes`, `evaluations`, `move_time`, `clock`, `margin`, `shuffle`, `weight_run3`, `weight_run4`, `weight_centre`");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "alpha-beta", "depth": 3, "order": 1}"#), @"`order` cannot be 1; write true or false");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "alpha-beta", "move_time": "10"}"#), @r#"`move_time` cannot be "10"; write a duration such as "200us", "10ms" or "1.5s", or "unlimited""#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "alpha-beta", "depth": 3, "weight_run3": 1.5}"#), @"`weight_run3` cannot be 1.5; write an integer from -10000 to 10000");
    assert_snapshot!(
        error(&PENTAGO, r#"{"algorithm": "alpha-beta", "depth": 3, "weight_line2": 5}"#),
        @r#"`weight_line2` is not a parameter of the evaluation "runs"; leave it out, or choose the evaluation "lines""#
    );
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "mcts"}"#), @"nothing bounds the search of `mcts`; limit at least one of `simulations`, `nodes`, `evaluations`, `move_time`, `clock`");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "mcts", "simulations": 0}"#), @r#"`simulations` cannot be 0; write an integer from 1 to 9007199254740991, or "unlimited""#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "mcts", "nodes": 9, "exploration": -0.5}"#), @"`exploration` cannot be -0.5; write a number from 0 to 10");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "mcts", "nodes": 9, "playout": "heavy"}"#), @r#"`playout` cannot be "heavy"; write "uniform" or "decisive""#);
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "mcts", "nodes": 9, "max_tree_nodes": 63}"#), @"`max_tree_nodes` cannot be 63; write an integer from 64 to 268435456");
    assert_snapshot!(error(&PENTAGO, r#"{"algorithm": "mcts", "nodes": 9, "depth": 3}"#), @"`mcts` has no parameter `depth`; its parameters are `evaluation`, `simulations`, `nodes`, `evaluations`, `move_time`, `clock`, `margin`, `bound`, `exploration`, `first_play_urgency`, `expand_visits`, `playout`, `playouts`, `playout_plies`, `evaluation_scale`, `solver`, `choice`, `reuse`, `max_tree_nodes`, `weight_run3`, `weight_run4`, `weight_centre`");
    assert_snapshot!(
        error(&TicTacToe::rules(), r#"{"algorithm": "alpha-beta", "depth": 3, "evaluation": "runs"}"#),
        @r#"tic-tac-toe has no evaluation "runs"; write "lines", "open-lines", "expression" or "none""#
    );
}

#[test]
fn every_algorithm_has_a_reference_for_people() {
    for algorithm in ALGORITHMS {
        for info in parameters_of(algorithm) {
            assert!(info.meaning.ends_with('.'), "{algorithm}: {}", info.name);
            assert!(!info.kind.to_string().is_empty());
        }
    }
    assert!(parameters_of("chess").is_empty());
    for rules in crate::common::all_rules() {
        for evaluation in rules.evaluations() {
            for weight in evaluation.parameters {
                let is_weight = matches!(weight.kind, ParameterKind::Integer { .. });
                let has_others = ["expression", "network"].contains(&evaluation.name);
                assert!(is_weight || has_others, "{}", weight.name);
            }
        }
    }
}

/// How much memory a player may need, from its parameters alone.
#[test]
fn players_say_how_much_memory_they_may_need() {
    let mebibytes = |json: &str| read(&PENTAGO, json).unwrap().memory_bytes() >> 20;
    assert_eq!(mebibytes(r#"{"algorithm": "random"}"#), 1);
    assert_eq!(mebibytes(r#"{"algorithm": "minimax", "depth": 3}"#), 1);
    assert_eq!(mebibytes(r#"{"algorithm": "alpha-beta", "depth": 3}"#), 1);
    assert_eq!(mebibytes(r#"{"algorithm": "exact", "nodes": 3}"#), 257);
    let tables = |parameters: &str| {
        mebibytes(&format!(
            r#"{{"algorithm": "alpha-beta", "depth": 3, "table": true{parameters}}}"#
        ))
    };
    assert_eq!(tables(""), 17);
    assert_eq!(tables(r#", "table_mib": 65536"#), 65_537);
    assert_eq!(tables(r#", "exact_plies": 12"#), 25);
    let nodes = |algorithm: &str, nodes: u64| {
        mebibytes(&format!(
            r#"{{"algorithm": "{algorithm}", "depth": 3, "nodes": 9, "max_tree_nodes": {nodes}}}"#
        ))
    };
    assert_eq!(nodes("genetic-minimax", 1 << 20), 65);
    let mcts = mebibytes(r#"{"algorithm": "mcts", "nodes": 9, "max_tree_nodes": 1048576}"#);
    assert_eq!(mcts, 61);
    // External engines: the hash table that the player sets, by any spelling of the option.
    let engine = |algorithm: &str, options: &str| {
        let json = format!(
            r#"{{"algorithm": "{algorithm}", "engine": "fish", "depth": 3, "options": {options}}}"#
        );
        memory_bytes_of(&serde_json::from_str(&json).unwrap()) >> 20
    };
    assert_eq!(engine("uci", "{}"), 1);
    assert_eq!(engine("uci", r#"{"Threads": 4, "Hash": 256}"#), 257);
    assert_eq!(engine("uci", r#"{"hash": "64"}"#), 65);
    assert_eq!(engine("uci", r#"{"Hash": -1}"#), 1);
    assert_eq!(engine("uci", r#"{"Hash": 9223372036854775807}"#), (1 << 30) + 1);
    assert_eq!(engine("gtp", r#"{"Hash": 256}"#), 1, "GTP has no unit for it");
}
