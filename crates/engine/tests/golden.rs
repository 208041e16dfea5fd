//! Golden games: the play of this engine revision, move by move (invariant 2).
//!
//! `golden/games.txt` holds every game with the moves, nodes and scores of both sides, for people
//! as well. A difference means that this code could not reproduce a stored result of this revision.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[expect(dead_code, reason = "it needs some of it")]
mod common;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use common::{key, player, start};
use spelrum_engine::{
    ENGINE_REVISION, Game, GameSetup, Knowledge, Rules, Timeless, play_game, with_game,
};
use spelrum_test_support::{Tools, skip};

/// Set to write the file anew, after raising `ENGINE_REVISION`.
const WRITE: &str = "SPELRUM_WRITE_GOLDEN";

/// Where they are, in the crate.
const GOLDEN: &str = "tests/golden/games.txt";
/// Where that is in the repository, and where it was before: its history goes on over the move.
const PATHS: [&str; 2] = ["crates/engine/tests/golden/games.txt", "engine/tests/golden/games.txt"];

/// Plies that a game may last for its golden games to be played to their ends, and after which others are drawn.
const LONG: [u32; 2] = [130, 40];

/// The games of the file in its order, then each game that it lacks: under its usual rules, and under the first of its
/// other rules that tests look at.
fn games(file: &str) -> Vec<String> {
    let mut games: Vec<String> = Vec::new();
    for json in file.lines().filter_map(|line| line.strip_prefix("game ")) {
        if !games.iter().any(|game| game == json) {
            games.push(json.to_owned());
        }
    }
    let rules = |json: &str| serde_json::from_str::<Rules>(json).unwrap();
    let present: Vec<&str> = games.iter().map(|json| rules(json).name()).collect();
    let lacking = with_game!(each G => {
        let others = G::SAMPLE_RULES.first().map(|json| format!(r#"{{"name": "{}", {}"#, G::NAME, &json[1..]));
        let all = std::iter::once(format!(r#"{{"name": "{}"}}"#, G::NAME)).chain(others);
        all.filter(|_| !present.contains(&G::NAME)).collect::<Vec<String>>()
    });
    games.extend(lacking.into_iter().flatten());
    games
}

/// Who plays whom, in every game.
const PAIRS: &[[&str; 2]] = &[
    [r#"{"algorithm": "random"}"#, r#"{"algorithm": "minimax", "depth": 1}"#],
    [
        r#"{"algorithm": "minimax", "depth": 2, "nodes": 40000, "shuffle": false}"#,
        r#"{"algorithm": "alpha-beta", "depth": 2}"#,
    ],
    [
        r#"{"algorithm": "alpha-beta", "iterative": true, "nodes": 3000}"#,
        r#"{"algorithm": "alpha-beta", "depth": 2, "order": true, "evaluations": 2000}"#,
    ],
    [
        r#"{"algorithm": "alpha-beta", "iterative": true, "order": true, "nodes": 5000}"#,
        r#"{"algorithm": "alpha-beta", "iterative": true, "depth": 2, "evaluation": "none"}"#,
    ],
    [
        r#"{"algorithm": "genetic-minimax", "preset": "simple", "depth": 3, "generations": 20}"#,
        // Every parameter is named: a preset may change, what it is made of may not.
        r#"{"algorithm": "genetic-minimax", "depth": 4, "generations": 40, "nodes": 9000, "population": 30, "selection": "tournament", "tournament_size": 3, "elites": 2, "crossover_rate": 0.5, "mutation_rate": 0.9, "refute": 0.6, "seed_root": true, "min_visits": 8, "reject_duplicates": true, "max_tree_nodes": 6000}"#,
    ],
    // New pairs come last: a game's seed is its place.
    [
        r#"{"algorithm": "alpha-beta", "iterative": true, "nodes": 20000, "evaluation": "none", "pvs": true, "aspiration": 3, "table": true, "table_mib": 1, "table_symmetry": true, "killers": true, "history": true, "combined": true, "distinct": true, "threats": true, "distance": true, "last_ply": true, "extension": true, "exact_plies": 9}"#,
        r#"{"algorithm": "alpha-beta", "depth": 3, "pvs": true, "table": true, "table_mib": 1, "killers": true, "threats": true, "last_ply": true}"#,
    ],
    [
        r#"{"algorithm": "mcts", "simulations": 400, "bound": "ucb1", "exploration": 0.5, "first_play_urgency": 1, "expand_visits": 1, "playout": "decisive", "playouts": 1, "playout_plies": 1000, "evaluation_scale": 10, "solver": true, "choice": "robust", "reuse": true, "max_tree_nodes": 4000}"#,
        r#"{"algorithm": "mcts", "nodes": 5000, "bound": "ucb1-tuned", "exploration": 1, "first_play_urgency": 1.2, "expand_visits": 2, "playout": "uniform", "playouts": 2, "playout_plies": 8, "evaluation_scale": 7.5, "solver": true, "choice": "max", "reuse": false, "max_tree_nodes": 4000}"#,
    ],
    [
        r#"{"algorithm": "genetic-minimax", "depth": 8, "generations": "unlimited", "nodes": 12000, "population": 30, "selection": "tournament", "tournament_size": 3, "elites": 2, "crossover_rate": 0.5, "mutation_rate": 1.0, "refute": 1.0, "seed_root": true, "min_visits": 8, "reject_duplicates": true, "max_tree_nodes": 6000, "line_plies": 2, "deepen": true, "in_turn": true, "order": true, "killers": 3}"#,
        r#"{"algorithm": "genetic-minimax", "depth": 3, "generations": 40, "nodes": 9000, "population": 30, "selection": "tournament", "tournament_size": 3, "elites": 2, "crossover_rate": 0.5, "mutation_rate": 0.9, "refute": 0.6, "seed_root": true, "min_visits": 8, "reject_duplicates": true, "max_tree_nodes": 6000, "line_plies": 2, "order": true, "killers": 2}"#,
    ],
    [
        r#"{"algorithm": "alpha-beta", "iterative": true, "nodes": 20000, "pvs": true, "aspiration": 50, "table": true, "table_mib": 1, "table_deeper": true, "killers": true, "history": true, "captures": true, "quiescence": true, "quiescence_plies": 32, "exchange": true, "check_extension": true, "null_move": true, "null_reduction": 2, "reductions": true, "repetition": true}"#,
        r#"{"algorithm": "alpha-beta", "depth": 2, "order": true, "quiescence": true, "quiescence_plies": 8, "null_move": true, "null_reduction": 3, "repetition": true}"#,
    ],
    [
        r#"{"algorithm": "exact", "nodes": 3000}"#,
        r#"{"algorithm": "alpha-beta", "depth": 2, "nodes": 3000, "exact_plies": 20}"#,
    ],
    [
        r#"{"algorithm": "genetic-minimax", "depth": 4, "generations": 20, "population": 40, "selection": "stochastic-tournament", "tournament_chance": 0.75, "elites": 2, "crossover_rate": 0.8, "crossover": "two-point", "mutation": "each-gene", "mutation_rate": 0.1, "encoding": "branches", "refute": 0.0, "seed_root": false, "min_visits": 0, "reject_duplicates": false, "max_tree_nodes": 9000}"#,
        r#"{"algorithm": "genetic-minimax", "depth": 5, "generations": 20, "population": 40, "selection": "stochastic-tournament", "tournament_chance": 0.6, "elites": 1, "crossover_rate": 0.9, "crossover": "multi-point", "crossover_points": 3, "mutation": "each-gene", "mutation_rate": 0.3, "encoding": "branches", "refute": 0.4, "seed_root": true, "min_visits": 2, "reject_duplicates": true, "max_tree_nodes": 9000}"#,
    ],
];

/// A preset that got another name, and what it is called now: its games stay.
const RENAMED: [&str; 2] = [
    r#"{"algorithm": "genetic-minimax", "preset": "study", "depth": 3, "generations": 20}"#,
    r#"{"algorithm": "genetic-minimax", "preset": "simple", "depth": 3, "generations": 20}"#,
];

#[test]
fn golden_games_are_played_again() {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let games = games(&golden);
    let played = golden_games(&games);
    if std::env::var_os(WRITE).is_some() {
        // What was committed counts, and not what lies there: a file can be deleted.
        let tools = Tools::find(&["git"]).expect("writing golden games takes git");
        let committed =
            at_commit(tools, "HEAD").expect("writing golden games takes a git checkout");
        if let Some(changed) = rewritten_under_one_revision(&committed, &played) {
            panic!("raise ENGINE_REVISION in src/lib.rs first: it would play otherwise\n{changed}");
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &played).unwrap();
        return;
    }
    let lines = || golden.lines().zip(played.lines()).zip(1..);
    let difference = lines().find(|((golden, played), _)| golden != played);
    if let Some(((golden, played), line)) = difference {
        panic!(
            "line {line} of tests/golden/games.txt\n  was {golden}\n  is  {played}\n\
             If the engine is meant to play otherwise now, raise ENGINE_REVISION in src/lib.rs, \
             so that no result of the old one is taken for one of the new, and write the file \
             anew: {WRITE}=1 cargo test -p spelrum-engine --test golden"
        );
    }
    let is_missing = |json: &&String| !golden.contains(&format!("\ngame {json}\n"));
    let missing: Vec<&String> = games.iter().filter(is_missing).collect();
    assert!(
        golden.lines().count() == played.lines().count(),
        "games are missing {missing:?}: {WRITE}=1 cargo test -p spelrum-engine --test golden"
    );
}

/// Whoever rewrote a game that was committed, by whatever means: from the revision named here on, the
/// file's whole history keeps every game under its revision.
#[test]
fn no_commit_rewrites_a_game_under_its_revision() {
    const KEPT_FROM: u32 = 2;
    let Some(tools) = Tools::find(&["git"]) else { return };
    let [now, before] = PATHS.map(|path| format!(":(top){path}"));
    let Some(commits) = git(tools, &["log", "--format=%H", "--", &now, &before]) else {
        return skip("it needs a git checkout: without one there is no history of golden games");
    };
    let read = |path| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let now = read(GOLDEN).unwrap();
    let versions =
        [now].into_iter().chain(commits.lines().filter_map(|commit| at_commit(tools, commit)));
    // The newest first.
    let versions: Vec<String> = versions.collect();
    for pair in versions.windows(2) {
        let [after, before] = pair else { continue };
        if revision_of(before) >= KEPT_FROM {
            let changed = rewritten_under_one_revision(before, after);
            assert_eq!(changed, None, "a game was rewritten: raise ENGINE_REVISION instead");
            assert!(revision_of(after) >= revision_of(before), "revisions only grow");
        }
    }
}

fn revision_of(file: &str) -> u32 {
    let first = file.lines().next().unwrap_or_default();
    first.rsplit(' ').next().and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

/// The golden games as they are in a commit.
fn at_commit(tools: Tools, commit: &str) -> Option<String> {
    PATHS.iter().find_map(|path| git(tools, &["show", &format!("{commit}:{path}")]))
}

/// What git says; `None` where there is no checkout or no such thing.
fn git(tools: Tools, arguments: &[&str]) -> Option<String> {
    let mut git = tools.command("git");
    let output = git.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// The file names the revision it was written for. Under the same revision it may gain games, but
/// none that it has may change or go.
#[test]
fn the_file_is_not_written_anew_under_its_own_revision() {
    let file = |revision: u32, games: &[&str]| {
        let games: String = games.iter().map(|game| format!("\n{game}\n")).collect();
        format!("engine revision {revision}\n{games}")
    };
    let before = file(1, &["game a\n1 x", "game b\n1 y"]);
    let rewritten = |after: &str| rewritten_under_one_revision(&before, after).is_some();
    assert!(!rewritten(&before));
    assert!(!rewritten(&file(1, &["game a\n1 x", "game c\n1 w", "game b\n1 y"])));
    assert!(!rewritten(&file(2, &["game a\n1 z"])));
    assert!(rewritten(&file(1, &["game a\n1 z", "game b\n1 y"])));
    assert!(rewritten(&file(1, &["game a\n1 x"])));
    assert_eq!(rewritten_under_one_revision("", &before), None);
}

/// The first game that `before` has and `after` has not, if both are of one revision.
fn rewritten_under_one_revision(before: &str, after: &str) -> Option<String> {
    let [before, after] = [before, after].map(|file| file.replace(RENAMED[0], RENAMED[1]));
    let mut there = before.trim_end().split("\n\n").filter(|block| !block.is_empty());
    let is_same_revision =
        there.next().is_some_and(|revision| after.lines().next() == Some(revision));
    let kept: Vec<&str> = after.trim_end().split("\n\n").collect();
    there.find(|game| is_same_revision && !kept.contains(game)).map(str::to_owned)
}

fn golden_games(games: &[String]) -> String {
    let mut text = format!("engine revision {ENGINE_REVISION}\n");
    for game in games {
        let rules: Rules = serde_json::from_str(game).unwrap();
        let plies_left = with_game!(&rules, G => G::start(&rules).unwrap().plies_left());
        let max_plies = (plies_left > LONG[0]).then_some(LONG[1]);
        for (seed, pair) in (0..).zip(PAIRS) {
            write!(text, "\ngame {game}\nfirst {}\nsecond {}\n", pair[0], pair[1]).unwrap();
            write_game(&mut text, &rules, max_plies, pair, seed);
        }
    }
    text
}

fn write_game(
    text: &mut String,
    rules: &Rules,
    max_plies: Option<u32>,
    pair: &[&str; 2],
    seed: u64,
) {
    let [first, second] = pair.map(|json| player(rules, json));
    let setup = GameSetup {
        rules,
        opening: &start(rules),
        players: [&first, &second],
        keys: [key(2 * seed), key(2 * seed + 1)],
        max_plies,
        adjudication: None,
        stops: None,
    };
    let record = play_game(&setup, &Timeless).unwrap();
    for (ply, record) in record.moves.iter().enumerate() {
        let search = record.search;
        let score = search.score.map_or("none".to_owned(), |score| score.to_string());
        writeln!(
            text,
            "{:>3} {:<6} depth {} nodes {} evaluations {} score {score} ended by {}",
            ply + 1,
            record.mv,
            search.depth,
            search.nodes,
            search.evaluations,
            name(&search.ended_by),
        )
        .unwrap();
    }
    let (outcome, termination) = (name(&record.outcome), name(&record.termination));
    writeln!(text, "{outcome} by {termination}, moves hash {}", record.moves_hash()).unwrap();
}

/// The name under which the results database has it.
fn name(stored: &impl serde::Serialize) -> String {
    serde_json::to_value(stored).unwrap().as_str().unwrap().to_owned()
}
