//! Players that repeat themselves: their games are played once, and no test takes them for evidence. And courses
//! whose players meet external engines.

use crate::external_engines::{RANDOM, external_player, run, sandbox};
use crate::sandbox::Sandbox;

/// Five positions after the first moves of both.
const BOOK: &str = r#"openings = { kind = "listed", positions = [
    "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2",
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
] }
"#;

fn sweep(games: u32, more: &str) -> String {
    format!("name = \"match\"\ngame = \"chess\"\nseed = 5\ngames = {games}\nmax_plies = 16\n{more}")
}

/// Our program twice as an external engine, bounded by depth: the same games whenever it is asked.
fn fixed_engines() -> String {
    let bounds = |depth: u32| format!("depth = {depth}\noptions = {{ shuffle = false }}");
    external_player("two", "ours", &bounds(2)) + &external_player("one", "ours", &bounds(1))
}

fn json(sandbox: &Sandbox, command: &str) -> serde_json::Value {
    let ran = sandbox.run(&[command, "--db", "match.db", "--json"]);
    serde_json::from_str(ran.expect_exit(0).stdout()).unwrap()
}

#[test]
fn engines_that_repeat_their_games_are_stopped_after_one_round_and_their_test_is_not_judged() {
    let Some(sandbox) = sandbox(&[]) else { return };
    let stop = "stop = { sprt = { elo0 = 0, elo1 = 5 } }\n";
    let players = fixed_engines();
    sandbox.write("sweep.toml", &sweep(400, &format!("{BOOK}{stop}{players}")));
    let said = "note: 5 openings give at most 10 different games: the 390 others would be repeats and are not played.";
    let dry = sandbox.run(&["run", "sweep.toml", "--db", "match.db", "--dry-run"]);
    assert!(dry.expect_exit(0).stderr().contains(said), "{}", dry.stderr());

    let ran = run(&sandbox, &["--slots", "2"]);
    assert!(ran.expect_exit(0).stderr().contains(said), "{}", ran.stderr());
    let counted = "SELECT count(*) FROM games WHERE counted = 1";
    assert_eq!(sandbox.sql("match.db", counted), "10");
    // Those that told that they are repeats are kept.
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM games"), "26");
    assert_eq!(sandbox.sql("match.db", "SELECT stop_number FROM cells"), "10");
    assert!(ran.stdout().contains("not judged"), "{}", ran.stdout());
    let note = "1 of 1 cell ended after one round of openings: the players repeat their games.";
    assert!(ran.stdout().contains(note), "{}", ran.stdout());
    let report = json(&sandbox, "report");
    assert_eq!(report["cells"][0]["sprt"]["verdict"], "not_judged", "{report}");
    let status = json(&sandbox, "status");
    assert_eq!(status["stops"][0]["cells_one_round"], 1, "{status}");
    sandbox.run(&["check", "--db", "match.db"]).expect_exit(0);
    // Again, and nothing is left to play; also where it is begun from an export.
    assert!(run(&sandbox, &[]).expect_exit(0).stderr().contains("finished already"));
    sandbox.run(&["export", "--db", "match.db", "--output", "moved.db"]).expect_exit(0);
    sandbox.run(&["import", "moved.db", "--db", "other.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("other.db", "SELECT stop_number FROM cells"), "10");
    sandbox.run(&["check", "--db", "other.db"]).expect_exit(0);
}

#[test]
fn engines_that_are_seen_to_play_other_games_go_on() {
    let Some(sandbox) = sandbox(&[]) else { return };
    let script = "#!/bin/sh\nmv=d2d4\nwhile read -r line; do case \"$line\" in\n\
        uci) echo uciok ;;\nisready) echo readyok ;;\nquit) exit 0 ;;\n\
        ucinewgame) case $mv in d2d4) mv=e2e4 ;; e2e4) mv=c2c4 ;; *) mv=d2d4 ;; esac ;;\n\
        go*) echo \"bestmove $mv\" ;;\nesac; done\n";
    std::fs::write(sandbox.path("loud.sh"), script).unwrap();
    let players = external_player("fickle", "loud", "depth = 1")
        + &external_player("ours", "ours", "depth = 1");
    let sweep = sweep(40, &players).replace("max_plies = 16", "max_plies = 1");
    sandbox.write("sweep.toml", &sweep);
    run(&sandbox, &["--slots", "1"]).expect_exit(0);
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM games WHERE counted = 1"), "40");
    sandbox.run(&["check", "--db", "match.db"]).expect_exit(0);
}

/// What is foreseen of a course has other players than its plan.
#[test]
fn courses_meet_external_engines() {
    let openings = "openings = { kind = \"random\", plies = 3 }\n";
    let engine = external_player("ours", "ours", "depth = 1");
    let mcts = "[players.mcts]\nalgorithm = \"mcts\"\n";
    let find =
        "[find]\nplayer = \"mcts\"\nparameter = \"simulations\"\nfrom = 1\nto = 20\nsteps = 2\n";
    let tune = "simulations = 4\n[tune.parameters]\nsimulations = { from = 2, to = 20 }\n\
                [tune]\nplayer = \"mcts\"\nmethod = \"cma-es\"\npopulation = 4\nsteps = 1\nconfirm = 4\n";
    let evolve = "pairing = { gauntlet = \"evolved\" }\n";
    let evolved = "[players.evolved]\nalgorithm = \"alpha-beta\"\ndepth = 1\nties = \"random\"\n\
                   evaluation = \"expression\"\n[evolve]\nplayer = \"evolved\"\nruns = 1\npopulation = 4\n\
                   generations = 1\nelite = 1\nconstants = [10]\n";
    for (kind, more) in [
        ("find", format!("{openings}{engine}{mcts}{find}")),
        ("tune", format!("{openings}{engine}{mcts}{tune}")),
        ("evolve", format!("{openings}{evolve}{engine}{evolved}")),
    ] {
        let Some(sandbox) = sandbox(&[]) else { return };
        sandbox.write("sweep.toml", &sweep(4, &more));
        let ran = run(&sandbox, &[]);
        ran.expect_exit(0);
        let by_engines = "SELECT count(*) > 0 FROM games WHERE counted = 1";
        assert_eq!(sandbox.sql("match.db", by_engines), "1", "{kind}: {}", ran.stderr());
    }
}

/// One of our players that draws random numbers plays another game each time, whoever it meets.
#[test]
fn random_players_have_no_rounds() {
    let Some(sandbox) = sandbox(&[]) else { return };
    let engine = external_player("ours", "ours", "depth = 1");
    sandbox.write("sweep.toml", &sweep(24, &format!("{BOOK}{RANDOM}{engine}")));
    let ran = run(&sandbox, &[]);
    assert!(!ran.expect_exit(0).stderr().contains("different games"), "{}", ran.stderr());
    assert_eq!(sandbox.sql("match.db", "SELECT sum(repeats) FROM cells"), "0");
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM games WHERE counted = 1"), "24");
}
