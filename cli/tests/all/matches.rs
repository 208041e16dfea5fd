//! `spelrum match`: matches of engines from one command, in the words of several runners.

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, wait_until};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// Our own program as an engine.
fn engine(name: &str, depth: &str) -> Vec<String> {
    let arguments = "engine uci --player alpha-beta --set preset=chess --set evaluation=material";
    [
        "-engine".to_owned(),
        format!("cmd={SPELRUM}"),
        format!("name={name}"),
        format!("args={arguments}"),
        format!("depth={depth}"),
    ]
    .into()
}

fn line(more: &[&str]) -> Vec<String> {
    let mut line = vec!["match".to_owned()];
    line.extend([engine("new", "2"), engine("old", "1")].concat());
    line.extend(more.iter().map(ToString::to_string));
    line
}

fn strs(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

/// It plays, prints the block, writes the games, and a second time has nothing left to play.
#[test]
fn a_match_is_played_from_one_command() {
    let sandbox = Sandbox::new();
    let line = line(&["-rounds", "6", "-repeat", "-maxmoves", "20", "-pgnout", "file=games.pgn"]);
    let ran = sandbox.run(&strs(&line));
    ran.expect_exit(0);
    let block = ran.stdout().split_once("-----\n").unwrap().1;
    let lines: Vec<&str> = block.lines().collect();
    assert_eq!(lines[0], "Results of new vs old:");
    assert!(lines[3].starts_with("Games: 12, Wins: "), "{block}");
    assert!(lines[4].starts_with("Ptnml(0-2): ["), "{block}");
    let even = |draws: u8| -> f64 {
        let pairs = "SELECT sum(score) AS points, sum(score = 0.5) AS draws FROM game_players \
                     WHERE side = 0 GROUP BY pair";
        let count = format!("SELECT count(*) FROM ({pairs}) WHERE points = 1 AND draws = {draws}");
        sandbox.sql("new-old.db", &count).parse().unwrap()
    };
    let ratio = format!("], WL/DD Ratio: {:.2}", even(0) / even(2));
    assert!(lines[4].ends_with(&ratio), "{block}{ratio}");
    let pgn = std::fs::read_to_string(sandbox.path("games.pgn")).unwrap();
    assert_eq!(pgn.matches("[Result ").count(), 12);
    let report = sandbox.run(&["report", "--db", "new-old.db", "--format", "match"]);
    report.expect_exit(0);
    assert!(ran.stdout().ends_with(report.stdout()), "{}\n{}", ran.stdout(), report.stdout());
    let again = sandbox.run(&strs(&line));
    again.expect_exit(0);
    assert!(again.stderr().contains("new-old is finished already"), "{}", again.stderr());
    assert!(again.stderr().contains("note: repeat is not needed"), "{}", again.stderr());
    assert_eq!(sandbox.settled("new-old.db"), 12);
}

/// A killed match goes on with the same command, and comes out as one that was not.
#[test]
fn a_killed_match_goes_on() {
    let sandbox = Sandbox::new();
    let play = |db: &str| line(&["--games", "60", "--max-moves", "30", "--db", db]);
    let killed = play("killed.db");
    let mut process = sandbox.start(&strs(&killed));
    wait_until("a few games are played", || {
        sandbox.path("killed.db").exists()
            && sandbox
                .run(&["sql", "--db", "killed.db", "SELECT 1 FROM games LIMIT 1 OFFSET 3"])
                .stdout()
                .contains('1')
    });
    process.0.kill().unwrap();
    process.0.wait().unwrap();
    sandbox.run(&strs(&killed)).expect_exit(0);
    sandbox.run(&strs(&play("whole.db"))).expect_exit(0);
    assert_eq!(sandbox.all_games("killed.db"), sandbox.all_games("whole.db"));
}

/// What it would play can be written, and is then played by `run`.
#[test]
fn a_match_can_be_written_as_a_sweep() {
    let sandbox = Sandbox::new();
    let written = line(&["--games", "4", "--max-moves", "5", "--write", "mine.toml"]);
    sandbox.run(&strs(&written)).expect_exit(0);
    assert!(!sandbox.path("new-old.db").exists());
    let run = ["run", "mine.toml", "--engines", "mine.engines.toml", "--db", "run.db"];
    sandbox.run(&run).expect_exit(0);
    let played = line(&["--games", "4", "--max-moves", "5", "--db", "match.db"]);
    sandbox.run(&strs(&played)).expect_exit(0);
    assert_eq!(sandbox.all_games("run.db"), sandbox.all_games("match.db"));
    // Existing files, which the user may have edited, are not replaced.
    let refused = sandbox.run(&strs(&written));
    refused.expect_exit(3);
}

/// A coordinator's workers play it; the same command again finds it finished.
#[test]
fn a_match_is_played_by_the_workers_of_a_coordinator() {
    let sandbox = Sandbox::new();
    let engine = |name: &str, depth: &str| {
        format!(
            "[engines.{name}]\nprotocol = \"uci\"\ncommand = {SPELRUM:?}\nargs = [\"engine\", \"uci\", \
             \"--player\", \"alpha-beta\", \"--set\", \"evaluation=material\", \"--depth\", \"{depth}\"]\n\
             options.shuffle = {{ values = [true, false] }}\n"
        )
    };
    sandbox.write("engines.toml", &(engine("new", "2") + &engine("old", "1")));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let _worker = sandbox.worker(&coordinator.url, "2", &["--engines", "engines.toml"]);
    let line = [
        "match",
        "new",
        "old",
        "--depth",
        "1",
        "--option",
        "shuffle=false",
        "--games",
        "6",
        "--max-moves",
        "10",
        "--pgn",
        "games.pgn",
        "--coordinator",
        &coordinator.url,
    ];
    let ran = sandbox.run(&line);
    let text = ran.expect_exit(0).stdout();
    assert!(text.contains("submitted new-old: 6 games in 1 cell"), "{text}");
    assert!(text.contains("Results of new vs old:\n"), "{text}");
    let pgn = || std::fs::read_to_string(sandbox.path("games.pgn")).unwrap();
    assert_eq!(pgn().matches("[Result ").count(), 6);
    let first = pgn();
    let again = sandbox.run(&[&line[..], &["--on-finish", "touch ended"]].concat());
    let text = again.expect_exit(0).stdout();
    assert!(sandbox.path("ended").exists());
    assert!(text.contains("was submitted before; nothing has changed"), "{text}");
    assert!(text.contains("Results of new vs old:\n"), "{text}");
    assert_eq!(pgn(), first);

    let refused = sandbox.run(&[&line[..], &["--slots", "3"]].concat());
    assert!(
        refused.error().contains("`--slots` is for matches played here"),
        "{}",
        refused.error()
    );
    let gone = ["match", "new", "old", "--depth", "1", "--coordinator", "http://127.0.0.1:1"];
    let gone = sandbox.run(&gone);
    assert!(gone.error().contains("127.0.0.1:1"), "{}", gone.error());
}

/// Two of our players over UGI, which has any game.
#[test]
fn a_match_may_be_of_another_game() {
    let sandbox = Sandbox::new();
    let engine = |name: &str, player: &str| {
        let args = format!("args=engine ugi --game othello --player {player}");
        ["-engine".to_owned(), format!("cmd={SPELRUM}"), format!("name={name}"), args]
    };
    let mut line = vec!["match".to_owned()];
    line.extend([engine("one", "alpha-beta"), engine("other", "random")].concat());
    line.extend(["--game", "othello", "--protocol", "ugi", "--depth", "1"].map(str::to_owned));
    line.extend(["--games", "4"].map(str::to_owned));
    let ran = sandbox.run(&strs(&line));
    assert!(ran.expect_exit(0).stdout().contains("Results of one vs other:\n"), "{}", ran.stdout());
    assert_eq!(sandbox.sql("one-other.db", "SELECT count(*) FROM forfeited"), "0");
    line.extend(["--new", "--pgn", "games.pgn"].map(str::to_owned));
    let refused = sandbox.run(&strs(&line));
    assert!(refused.error().contains("PGN is for chess"), "{}", refused.error());
}

#[test]
fn what_is_wrong_is_said_before_a_game() {
    let sandbox = Sandbox::new();
    for program in ["new", "old"] {
        sandbox.write(program, "");
    }
    let mut said = String::new();
    for words in [
        &["match"][..],
        &["match", "./new", "./none", "--clock", "8+0.08"],
        &["match", "no-such-engine", "./old", "--clock", "8+0.08"],
        &["match", "./new", "./old", "--clock", "8+0.08+3"],
        &["match", "./new", "./old", "--nodes", "5", "--pgn", "no/such/folder.pgn"],
        &["match", "./new", "./old", "--nodes", "5", "--slots", "none"],
        &["match", "./new", "./old", "--nodes", "5", "--book", "none.epd"],
    ] {
        let ran = sandbox.run(words);
        said.push_str(&format!("$ {}\n{}\n", words.join(" "), ran.error()));
        assert!(ran.0.status.code().is_some_and(|code| (1..=6).contains(&code)), "{said}");
    }
    let folder = sandbox.path("").display().to_string();
    assert_snapshot!(said.replace(folder.trim_end_matches('/'), "FOLDER"));
    assert_eq!(std::fs::read_dir(sandbox.path("")).unwrap().count(), 2, "nothing is left");
}
