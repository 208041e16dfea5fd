//! What is kept of games that external engines played, and how it is shown.

use insta::assert_snapshot;
use serde_json::Value;

use crate::external_engines::{RANDOM, external_player, run, sandbox, sweep};
use crate::sandbox::Sandbox;

/// A snapshot without what differs from build to build and from run to run: hashes and times.
macro_rules! assert_masked {
    ($text:expr) => {
        insta::with_settings!({ filters => vec![
            (r"\b[0-9a-f]{64}\b", "HASH"),
            (r"\b[0-9a-f]{12}\b", "HASHOFTWELVE"),
            (r"\b[0-9a-f]{8}\b", "HASHOF8_"),
            (r"\d+(\.\d+)? (µs|ms|s)\b", "TIME"),
        ] }, { assert_snapshot!($text) })
    };
}

/// Two of our players' opponents: one that plays as they do, and one that crashes.
fn played() -> Option<Sandbox> {
    let sandbox = sandbox(&["crash"])?;
    let players = format!(
        "pairing = {{ gauntlet = \"random\" }}\n{RANDOM}{}{}",
        external_player("ours", "ours", "depth = 1"),
        external_player("crash", "crash", "depth = 1")
    );
    sandbox.write("sweep.toml", &sweep(2, &players));
    run(&sandbox, &[]).expect_exit(0);
    Some(sandbox)
}

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let ran = sandbox.run(&[arguments, &["--db", "match.db", "--json"]].concat());
    serde_json::from_str(ran.expect_exit(0).stdout()).unwrap()
}

/// The game of a player that the results database has under this number.
fn game_of(sandbox: &Sandbox, player: &str, number: u32) -> String {
    sandbox.sql(
        "match.db",
        &format!(
            "SELECT game_id FROM games JOIN cells USING (cell_id)
            WHERE second_player_name = '{player}' AND games.number = {number}"
        ),
    )
}

#[test]
fn reports_say_which_programs_played() {
    let Some(sandbox) = played() else { return };
    let ran = sandbox.run(&["report", "--db", "match.db", "--table", "engines"]);
    assert_masked!(ran.expect_exit(0).stdout());
    for format in ["text", "markdown", "latex", "html"] {
        let ran = sandbox.run(&["report", "--db", "match.db", "--format", format]);
        let text = ran.expect_exit(0).stdout();
        assert!(text.contains("Which programs played"), "{format}: {text}");
        assert!(text.contains("Scripted crash"), "{format}");
    }
    let report = json(&sandbox, &["report"]);
    let engines = report["engines"].as_array().unwrap();
    assert_eq!(engines.len(), 2);
    assert_eq!(engines[0]["player"], "crash");
    assert_eq!(engines[0]["engine"], "Scripted crash");
    assert_eq!(engines[0]["author"], "Nobody");
    assert_eq!(engines[0]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!((&engines[0]["games"], &engines[0]["cells"]), (&2.into(), &1.into()));
    // Reports and PGN name a build by the same digits.
    let build = engines[0]["build"].as_str().unwrap();
    let ran = sandbox.run(&["report", "--db", "match.db", "--table", "engines"]);
    let text = ran.expect_exit(0).stdout().to_owned();
    assert!(build.len() == 64 && text.contains(&format!("  {}  ", &build[..8])), "{text}");
    let ran = sandbox.run(&["games", "match", "--db", "match.db", "--format", "pgn"]);
    let pgn = ran.expect_exit(0).stdout();
    let name = format!("[White \"crash (build {})\"]", &build[..8]);
    assert!(pgn.contains(&name) && pgn.contains(&format!("[WhiteBuild \"{build}\"]")), "{pgn}");
    assert_eq!(report["mixed_cells"], Value::Array(Vec::new()));
    let csv = ["report", "--db", "match.db", "--table", "engines", "--format", "csv"];
    let ran = sandbox.run(&csv);
    assert_masked!(ran.expect_exit(0).stdout());
}

/// The program behind a name has changed between two runs of one cell.
#[test]
fn a_player_that_was_two_programs_is_warned_of() {
    let Some(sandbox) = sandbox(&["crash"]) else { return };
    let players =
        format!("any_build = true\n{RANDOM}{}", external_player("crash", "crash", "depth = 1"));
    sandbox.write("sweep.toml", &sweep(2, &players));
    run(&sandbox, &[]).expect_exit(0);
    let report = || sandbox.run(&["report", "--db", "match.db"]).expect_exit(0).stdout().to_owned();
    assert!(!report().contains("mixture"));
    let script = std::fs::read_to_string(sandbox.path("script.sh")).unwrap();
    let changed = script.replace("Scripted", "Rescripted");
    std::fs::write(sandbox.path("script.sh"), changed).unwrap();
    sandbox.write("sweep.toml", &sweep(4, &players));
    run(&sandbox, &[]).expect_exit(0);
    let ran = sandbox.run(&["report", "--db", "match.db", "--table", "engines"]);
    assert_masked!(ran.expect_exit(0).stdout());
    let answer = json(&sandbox, &["report"]);
    assert_eq!(answer["mixed_cells"][0]["programs"], 2);
    assert_eq!(answer["mixed_cells"][0]["player"], "crash");
}

/// Our player does the same against what the program has played; what the program did, the rules allow.
#[test]
fn games_of_programs_are_checked_as_far_as_can_be() {
    let Some(sandbox) = played() else { return };
    let game = game_of(&sandbox, "ours", 0);
    let ran = sandbox.run(&["replay", &game, "--db", "match.db", "--check-only"]);
    let said = format!("Game {game}: the same by our player; by the rules for its opponent\n");
    assert_eq!(ran.expect_exit(0).stdout(), said);
    let answer = json(&sandbox, &["replay", &game]);
    let answer = &answer["games"][0];
    assert_eq!((&answer["check"], &answer["compared"]), (&"same".into(), &"own_moves".into()));
    assert_eq!(answer["first_engine"], Value::Null);
    assert!(answer["second_engine"]["name"].as_str().unwrap().starts_with("Spelrum"), "{answer}");
    assert!(answer["moves"][1].as_object().unwrap().contains_key("told_us"));

    // What the program does not report is not shown as 0.
    let text =
        sandbox.run(&["replay", &game, "--db", "match.db"]).expect_exit(0).stdout().to_owned();
    let its: Vec<&str> = text.lines().skip_while(|line| !line.contains(": ours plays")).collect();
    assert!(its[1].contains(" nodes, unknown evaluations, "), "{text}");
    let text = sandbox.run(&["report", "--db", "match.db"]).expect_exit(0).stdout().to_owned();
    let mut costs = text.lines().skip_while(|line| *line != "What a move costs");
    let its = costs.find(|line| line.split_whitespace().next() == Some("ours")).unwrap();
    assert_eq!(its.split_whitespace().last(), Some("-"), "{text}");

    let game = game_of(&sandbox, "crash", 0);
    let ran = sandbox.run(&["replay", &game, "--db", "match.db"]);
    let text = ran.expect_exit(0).stdout().to_owned();
    let from = text.find("\nrandom wins").unwrap();
    let head: Vec<&str> = text.lines().take(3).collect();
    let shown = format!("{}\n…\n{}", head.join("\n"), &text[from..]);
    assert_masked!(shown.replace(&format!("Game {game} "), "Game ID "));
    let answer = json(&sandbox, &["replay", &game]);
    let forfeit = &answer["games"][0]["forfeit"];
    assert!(forfeit["output"].as_str().unwrap().contains("< info string about to"), "{forfeit}");

    // Our player's move is another, or the program's is none; and what the program did to lose is not told.
    let spoil = |statement: &str, expected: &str| {
        std::fs::copy(sandbox.path("match.db"), sandbox.path("spoilt.db")).unwrap();
        let connection = rusqlite::Connection::open(sandbox.path("spoilt.db")).unwrap();
        connection.execute_batch(statement).unwrap();
        drop(connection);
        let ran = sandbox.run(&["replay", &game, "--db", "spoilt.db", "--check-only"]);
        assert!(ran.expect_exit(8).stdout().contains(expected), "{}", ran.stdout());
    };
    let its = |what: &str| format!("UPDATE moves SET {what} WHERE game_id = {game} AND ply = 0");
    spoil(&its("depth = 3"), "different at ply 0");
    spoil(&its("legal_moves = 3"), "not a game by the rules: move 0");
    spoil("DELETE FROM forfeits", "no forfeit is reported, but it ended by crash");
    spoil("DELETE FROM game_engines", "the program of `crash` is not reported");
}

#[test]
fn games_between_programs_are_checked_by_the_rules() {
    let Some(sandbox) = sandbox(&["illegal"]) else { return };
    let players = external_player("ours", "ours", "depth = 1")
        + &external_player("illegal", "illegal", "depth = 1");
    sandbox.write("sweep.toml", &sweep(2, &players));
    run(&sandbox, &[]).expect_exit(0);
    let ran = sandbox.run(&["replay", "1", "2", "--db", "match.db", "--check-only"]);
    assert_snapshot!(ran.expect_exit(0).stdout());
    sandbox.run(&["check", "--db", "match.db"]).expect_exit(0);

    // Without its moves there is nothing to check.
    sandbox.run(&["prune", "match", "--db", "match.db", "--yes"]).expect_exit(0);
    let longest = sandbox.sql("match.db", "SELECT game_id FROM games ORDER BY plies DESC LIMIT 1");
    let failure = sandbox.run(&["replay", &longest, "--db", "match.db"]).failure();
    assert_snapshot!(failure.replace(&format!("game {longest}"), "game ID"));
    let engines = "SELECT count(*), sum(side) FROM game_engines";
    assert_eq!(sandbox.sql("match.db", engines), "4,2");
}

#[test]
fn games_say_who_played_in_every_form() {
    let Some(sandbox) = played() else { return };
    let games = |format: &str| {
        let ran = sandbox.run(&["games", "match", "--db", "match.db", "--format", format]);
        ran.expect_exit(0).stdout().to_owned()
    };
    let tags = |text: &str, tags: &[&str]| -> Vec<String> {
        let is_its = |line: &&str| tags.iter().any(|tag| line.starts_with(&format!("[{tag}")));
        text.lines().filter(is_its).map(str::to_owned).collect()
    };
    let forfeit = |number| {
        let condition = format!("WHERE game_id = {}", game_of(&sandbox, "crash", number));
        sandbox.sql("match.db", &format!("SELECT message FROM forfeits {condition}"))
    };
    let text = games("text");
    assert_masked!(tags(&text, &["FirstEngine", "SecondEngine", "Forfeit"]).join("\n"));
    let pgn = games("pgn");
    assert_masked!(tags(&pgn, &["White\"", "WhiteEngine", "BlackEngine", "Forfeit"]).join("\n"));
    for number in [0, 1] {
        assert!(text.contains(&forfeit(number)) && pgn.contains(&forfeit(number)));
    }
    let rows = games("jsonl");
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let swaps = row["number"] == 1;
        let (engine, none) = match swaps {
            true => ("first_engine", "second_engine"),
            false => ("second_engine", "first_engine"),
        };
        assert!(row[engine].is_string() && row[none].is_null(), "{row}");
        assert_eq!(row[&format!("{engine}_sha256")].as_str().unwrap().len(), 64);
        assert_eq!(row["forfeit"].is_string(), row["opponent"] == "crash", "{row}");
    }

    // And so does an import of them.
    sandbox.run(&["export", "--db", "match.db", "--output", "copy.db"]).expect_exit(0);
    sandbox.run(&["import", "copy.db", "--db", "other.db"]).expect_exit(0);
    sandbox.run(&["check", "--db", "other.db"]).expect_exit(0);
    let there = sandbox.run(&["games", "match", "--db", "other.db", "--format", "pgn"]);
    let known = |text: &str| -> Vec<String> {
        let differs = |line: &&str| line.starts_with("[Round") || line.starts_with("[GameId");
        text.lines().filter(|line| !differs(line)).map(str::to_owned).collect()
    };
    assert_eq!(known(there.expect_exit(0).stdout()), known(&pgn));
}
