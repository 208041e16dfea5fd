//! Whatever is wrong, a person gets one message with the place and the remedy and an exit code of
//! its class, and everything is left as it was.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::sandbox::{Sandbox, tic_tac_toe};

/// Masks what differs between two runs: ports, process ids, temporary directories.
macro_rules! assert_failure {
    ($sandbox:expr, $ran:expr, $exit:expr) => {{
        let ran = $ran;
        ran.expect_exit($exit);
        let directory = $sandbox.path("").display().to_string();
        let filters = vec![
            (directory.as_str(), "[DIRECTORY]/"),
            // Ports that the system chose, not those of examples.
            (r"127\.0\.0\.1:\d{5}", "127.0.0.1:[PORT]"),
            (r"process \d+", "process [PID]"),
        ];
        insta::with_settings!({ filters => filters }, {
            insta::assert_snapshot!(ran.failure());
        });
    }};
}

/// Runs a sweep that is wrong, and checks that nothing came of it.
macro_rules! assert_bad_sweep {
    ($text:expr) => {{
        let sandbox = Sandbox::new();
        sandbox.write("bad.toml", &$text);
        assert_failure!(&sandbox, sandbox.run(&["run", "bad.toml"]), 3);
        let left: Vec<_> = std::fs::read_dir(sandbox.path("")).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing but the sweep is there: {left:?}");
    }};
}

fn sweep_with(from: &str, to: &str) -> String {
    let good = tic_tac_toe("bad", 10);
    assert!(good.contains(from));
    good.replace(from, to)
}

#[test]
fn an_unknown_key() {
    assert_bad_sweep!(sweep_with("games =", "gmaes ="));
}

#[test]
fn a_wrong_type() {
    assert_bad_sweep!(sweep_with("games = 10", "games = \"ten\""));
}

#[test]
fn a_text_that_is_no_toml() {
    assert_bad_sweep!(sweep_with("[axes]", "[axes"));
}

#[test]
fn a_misspelt_algorithm() {
    assert_bad_sweep!(sweep_with("\"alpha-beta\"", "\"alfa-beta\""));
}

#[test]
fn an_unknown_parameter() {
    assert_bad_sweep!(sweep_with("depth = \"$depth\"", "depht = \"$depth\""));
}

#[test]
fn an_axis_that_nobody_uses() {
    assert_bad_sweep!(sweep_with("depth = \"$depth\"", "depth = 2"));
}

#[test]
fn an_axis_that_is_not_defined() {
    assert_bad_sweep!(sweep_with("\"$depth\"", "\"$deep\""));
}

#[test]
fn an_empty_grid() {
    assert_bad_sweep!(sweep_with("depth = [1, 2]", "depth = []"));
}

#[test]
fn no_games() {
    assert_bad_sweep!(sweep_with("games = 10", "games = 0"));
}

#[test]
fn an_odd_number_of_games() {
    assert_bad_sweep!(sweep_with("games = 10", "games = 7"));
}

#[test]
fn a_search_that_nothing_bounds() {
    assert_bad_sweep!(sweep_with("depth = [1, 2]", "depth = [1, \"unlimited\"]"));
}

#[test]
fn more_pairs_than_openings() {
    let text = sweep_with("games = 10", "games = 10\nopenings = { kind = \"all\", plies = 1 }")
        .replace("\"random\"", "\"alpha-beta\"\nshuffle = false\ndepth = 1")
        .replace("depth = \"$depth\"", "shuffle = false\ndepth = \"$depth\"");
    assert_bad_sweep!(text);
}

#[test]
fn what_is_not_a_setting() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 10));
    let run = |setting: &str| sandbox.run(&["run", "sweep.toml", "--set", setting]);
    assert_failure!(&sandbox, run("depth"), 2);
    assert_failure!(&sandbox, run("dept=1..3"), 3);
    // Wrong only in the sweep: shown where it stands in the changed text.
    assert_failure!(&sandbox, run("depth=1,unlimited"), 3);
}

/// A sweep in a directory of its own, with openings in another file.
fn sweep_of_openings(sandbox: &Sandbox, file: &str) {
    std::fs::create_dir(sandbox.path("sweeps")).unwrap();
    let openings = format!("games = 10\nopenings = {{ kind = \"listed\", file = \"{file}\" }}");
    sandbox.write("sweeps/bad.toml", &sweep_with("games = 10", &openings));
}

#[test]
fn openings_in_a_file_that_is_not_there() {
    let sandbox = Sandbox::new();
    sweep_of_openings(&sandbox, "openings.txt");
    // In the directory that the program runs in, not the one of the sweep.
    sandbox.write("openings.txt", ".........");
    assert_failure!(&sandbox, sandbox.run(&["run", "sweeps/bad.toml"]), 3);
}

#[test]
fn openings_in_a_file_that_is_no_text() {
    let sandbox = Sandbox::new();
    sweep_of_openings(&sandbox, "openings.txt");
    std::fs::write(sandbox.path("sweeps/openings.txt"), b".........\nx...\xff").unwrap();
    assert_failure!(&sandbox, sandbox.run(&["run", "sweeps/bad.toml"]), 3);
}

#[test]
fn openings_in_a_file_that_is_too_large() {
    let sandbox = Sandbox::new();
    sweep_of_openings(&sandbox, "openings.txt");
    sandbox.write("sweeps/openings.txt", &"# nothing\n".repeat(200_000));
    assert_failure!(&sandbox, sandbox.run(&["run", "sweeps/bad.toml"]), 3);
}

#[test]
fn openings_in_a_file_that_are_wrong() {
    let sandbox = Sandbox::new();
    sweep_of_openings(&sandbox, "../openings.txt");
    sandbox.write("openings.txt", "# Corners\nx........\n..x......\n");
    assert_failure!(&sandbox, sandbox.run(&["run", "sweeps/bad.toml"]), 3);
}

/// A place in a book is shown as one in the sweep is.
#[test]
fn a_book_that_is_wrong() {
    let sandbox = Sandbox::new();
    let openings = "games = 10\nopenings = { kind = \"book\", file = \"book.pgn\" }";
    let of_chess = sweep_with("games = 10", openings).replace("tic-tac-toe", "chess");
    sandbox.write("chess.toml", &of_chess);
    sandbox.write(
        "book.pgn",
        "[Event \"one\"]\n\n1. e4 e5 *\n\n[Event \"two\"]\n\n1. e4 e5 2. Ke3 *\n",
    );
    assert_failure!(&sandbox, sandbox.run(&["run", "chess.toml"]), 3);
}

#[test]
fn a_book_of_a_game_without_books() {
    let sandbox = Sandbox::new();
    let openings = "games = 10\nopenings = { kind = \"book\", file = \"book.pgn\" }";
    sandbox.write("bad.toml", &sweep_with("games = 10", openings));
    sandbox.write("book.pgn", "1. e4 e5 *");
    assert_failure!(&sandbox, sandbox.run(&["run", "bad.toml"]), 3);
}

#[test]
fn a_sweep_that_is_not_there() {
    let sandbox = Sandbox::new();
    assert_failure!(&sandbox, sandbox.run(&["run", "none.toml"]), 3);
}

#[test]
fn a_sweep_that_is_no_text() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("bad.toml"), [0xff, 0xfe, 0x00]).unwrap();
    assert_failure!(&sandbox, sandbox.run(&["run", "bad.toml"]), 3);
}

#[test]
fn a_sweep_that_is_too_large() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", &"# so long\n".repeat(500_000));
    assert_failure!(&sandbox, sandbox.run(&["run", "bad.toml"]), 3);
}

#[test]
fn a_database_that_is_not_there() {
    let sandbox = Sandbox::new();
    assert_failure!(&sandbox, sandbox.run(&["report", "--db", "none.db"]), 4);
    assert!(!sandbox.path("none.db").exists());
}

#[test]
fn a_database_in_a_directory_that_is_not_there() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "none/results.db"]);
    assert_failure!(&sandbox, ran, 4);
}

#[test]
fn what_is_not_a_database() {
    let sandbox = Sandbox::new();
    let text = "dear diary\n".repeat(100);
    sandbox.write("diary.db", &text);
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4));
    assert_failure!(&sandbox, sandbox.run(&["run", "sweep.toml", "--db", "diary.db"]), 4);
    assert_failure!(&sandbox, sandbox.run(&["report", "--db", "diary.db"]), 4);
    assert_eq!(std::fs::read_to_string(sandbox.path("diary.db")).unwrap(), text);
    assert_eq!(std::fs::read_dir(sandbox.path("")).unwrap().count(), 2, "nothing was left");
}

#[test]
fn a_database_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let path = sandbox.path("sweep.db");
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    assert_failure!(&sandbox, sandbox.run(&["run", "sweep.toml"]), 4);
    // To read it is no trouble.
    sandbox.run(&["report", "--db", "sweep.db"]).expect_exit(0);
}

#[test]
fn a_database_that_another_coordinator_holds() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4));
    let _holder = sandbox.coordinator("held.db", "127.0.0.1:0");
    assert_failure!(&sandbox, sandbox.run(&["run", "sweep.toml", "--db", "held.db"]), 6);
    let second = sandbox.run(&["coordinator", "--db", "held.db", "--listen", "127.0.0.1:0"]);
    second.expect_exit(6);
    // Reading goes on beside the one who writes.
    sandbox.run(&["list", "--db", "held.db"]).expect_exit(0);
}

#[test]
fn a_port_in_use() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let ran = sandbox.run(&["coordinator", "--db", "x.db", "--listen", &address]);
    assert_failure!(&sandbox, ran, 6);
    assert!(!sandbox.path("x.db").exists(), "the database is not touched");
}

#[test]
fn what_is_not_an_address() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["coordinator", "--db", "x.db", "--listen", "7878"]);
    assert_failure!(&sandbox, ran, 2);
}

#[test]
fn a_coordinator_that_is_not_there() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["status", "--coordinator", "http://127.0.0.1:1"]);
    assert_failure!(&sandbox, ran, 5);
}

#[test]
fn something_else_than_a_coordinator() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 24];
            let _client_may_be_gone = stream.read_exact(&mut request);
            let _client_may_be_gone = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            // Unread bytes would make the close a reset, which may overtake the answer.
            let _client_may_be_gone = stream.shutdown(std::net::Shutdown::Write);
            let _client_may_be_gone = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    assert_failure!(&sandbox, sandbox.run(&["list", "--coordinator", &url]), 5);
}

#[test]
fn an_experiment_that_is_not_there() {
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("x.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    assert_failure!(&sandbox, sandbox.run(&["report", "nope", "--coordinator", url]), 3);
    assert_failure!(&sandbox, sandbox.run(&["pause", "nope", "--coordinator", url]), 3);
    assert_failure!(&sandbox, sandbox.run(&["report", "--db", "x.db"]), 3);
}

#[test]
fn statements_that_are_no_question() {
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("x.db", "127.0.0.1:0");
    let ask = |statement| sandbox.run(&["sql", "--db", "x.db", statement]);
    assert_failure!(&sandbox, ask("DELETE FROM games"), 3);
    assert_failure!(&sandbox, ask("SELECT * FROM gmaes"), 3);
    for (statement, meant) in [
        ("SELECT outcme FROM games", "outcome"),
        ("SELECT g.numbr FROM games AS g", "number"),
        ("SELECT medain(ply) FROM moves", "median"),
        ("SELEC 1", "SELECT"),
    ] {
        let failure = ask(statement).failure();
        let help = format!("help: did you mean `{meant}`? docs/sql.md lists");
        assert!(failure.contains(&help), "{statement}: {failure}");
    }
    let ask = |statement| sandbox.run(&["sql", "--coordinator", &coordinator.url, statement]);
    assert_failure!(&sandbox, ask("DROP TABLE games"), 3);
    let failure = ask("SELECT * FROM gmaes").failure();
    assert!(failure.contains("did you mean `games`?"), "{failure}");
}

#[test]
fn the_nearest_command_is_suggested_first() {
    let sandbox = Sandbox::new();
    for (word, command) in [("rport", "report"), ("statsu", "status"), ("sumbit", "submit")] {
        let failure = sandbox.run(&[word]).failure();
        let tip = failure.lines().find(|line| line.contains("similar subcommand")).unwrap();
        let first = tip.split('\'').nth(1).unwrap();
        assert_eq!(first, command, "{failure}");
    }
}

/// TOML takes a key below a header for one of that table.
#[test]
fn keys_of_the_sweep_below_a_header() {
    let sandbox = Sandbox::new();
    let [before, after] =
        ["name = \"k\"\ngame = \"tic-tac-toe\"\n", "[players.a]\nalgorithm = \"random\"\n"];
    let b = "[players.b]\nalgorithm = \"minimax\"\ndepth = 2\n";
    for (sweep, key, header) in [
        (format!("{before}{after}{b}games = 10\n"), "games", "players.b"),
        (format!("{before}games = 10\n{after}{b}record = \"games\"\n"), "record", "players.b"),
        (
            format!("{before}games = 10\n[timing]\nrecord = \"games\"\n{after}{b}"),
            "record",
            "timing",
        ),
        (format!("{before}games = 10\n[axes]\nseed = 3\n{after}{b}"), "seed", "axes"),
    ] {
        sandbox.write("sweep.toml", &sweep);
        let ran = sandbox.run(&["run", "sweep.toml", "--dry-run"]);
        let failure = ran.expect_exit(3).stderr().split_whitespace().collect::<Vec<_>>().join(" ");
        let help = format!(
            "help: `{key}` is a key of the sweep, and below [{header}] it belongs to that table: move"
        );
        assert!(failure.contains(&help), "{failure}");
    }
}

#[test]
fn no_source_of_results() {
    let sandbox = Sandbox::new();
    assert_failure!(&sandbox, sandbox.run(&["report"]), 2);
}

#[test]
fn what_is_not_a_position() {
    let sandbox = Sandbox::new();
    let perft =
        |game, position| sandbox.run(&["perft", game, "--position", position, "--depth", "1"]);
    assert_failure!(&sandbox, perft("pentago", "wb."), 3);
    assert_failure!(&sandbox, perft("pentago", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"), 3);
    assert_failure!(&sandbox, perft("tic-tac-toe", "q"), 3);
    assert_failure!(&sandbox, perft("chess", "startpos"), 3);
    assert_failure!(&sandbox, perft("draughts", "startpos"), 3);
}

#[test]
fn positions_that_cannot_be_solved() {
    let sandbox = Sandbox::new();
    let over = "wwwwwbbbb.b.........................";
    assert_failure!(&sandbox, sandbox.run(&["solve", "pentago", "--position", over]), 3);
    assert_failure!(&sandbox, sandbox.run(&["solve", "pentago", "--position", "wb."]), 3);
    assert_failure!(&sandbox, sandbox.run(&["solve", "pentago", "--time", "soon"]), 2);
    assert_failure!(&sandbox, sandbox.run(&["solve", "pentago", "--nodes", "0"]), 2);
}

#[test]
fn a_position_where_the_game_is_over() {
    let sandbox = Sandbox::new();
    let board = "wwwwwbbbb.b.........................";
    let ran = sandbox.run(&[
        "analyze",
        "pentago",
        "--position",
        board,
        "--player",
        "random",
        "--rule",
        "win_before_rotation=false",
    ]);
    assert_failure!(&sandbox, ran, 3);
}

#[test]
fn what_is_not_a_player() {
    let sandbox = Sandbox::new();
    let analyze =
        |more: &[&str]| sandbox.run(&[&["analyze", "pentago", "--player"], more].concat());
    assert_failure!(&sandbox, analyze(&["alfa-beta"]), 3);
    assert_failure!(&sandbox, analyze(&["alpha-beta"]), 3);
    assert_failure!(&sandbox, analyze(&["alpha-beta", "--set", "depht=3"]), 3);
    assert_failure!(&sandbox, analyze(&["alpha-beta", "--set", "depth"]), 3);
    assert_failure!(&sandbox, analyze(&["alpha-beta", "--set", "depth=deep"]), 3);
}

#[test]
fn what_is_not_a_coordinator_url() {
    let sandbox = Sandbox::new();
    let list = |url| sandbox.run(&["list", "--coordinator", url]);
    assert_failure!(&sandbox, list("ftp://example.com:21"), 2);
    assert_failure!(&sandbox, list("https://example.com"), 2);
    assert_failure!(&sandbox, list("http://localhost"), 2);
    let from_environment =
        sandbox.spelrum(&["list"]).env("SPELRUM_COORDINATOR", "nowhere").output().unwrap();
    assert_failure!(&sandbox, crate::sandbox::Ran(from_environment), 2);
}
