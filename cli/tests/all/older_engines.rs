//! Engines of Debian that speak XBoard's protocol alone play each other, and another library reads their games.

use std::collections::BTreeMap;

use spelrum_test_support::Tools;

use crate::chess_files::python_chess;
use crate::sandbox::Sandbox;

const ENGINES: [&str; 3] = ["hoichess", "phalanx", "sjaakii"];

/// Prints each game of a file as the number of its plies, its result and the errors that it was read with.
const READ: &str = "import chess.pgn
with open('games.pgn') as games:
    while game := chess.pgn.read_game(games):
        print(len(list(game.mainline())), game.headers['Result'], len(game.errors))
";

#[test]
fn a_round_robin_of_older_engines_is_read_by_python_chess() {
    let Some(_engines) = Tools::find(&ENGINES) else { return };
    let Some(tools) = python_chess() else { return };
    let sandbox = Sandbox::new();
    let tables = ENGINES.map(|name| {
        format!(
            "[engines.{name}]\nprotocol = \"xboard\"\ncommand = {name:?}\nstartup_timeout = \"1m\"\n"
        )
    });
    sandbox.write("engines.toml", &tables.concat());
    // Phalanx keeps to times alone. The margin is for a busy machine.
    let players = ENGINES.map(|name| {
        format!(
            "[players.{name}]\nalgorithm = \"xboard\"\nengine = {name:?}\nclock = \"300ms+10ms\"\nmargin = \"60s\"\n"
        )
    });
    sandbox.write(
        "robin.toml",
        &format!(
            "name = \"robin\"\ngame = \"chess\"\nseed = 5\ngames = 20\nmax_plies = 60\n\
             openings = {{ kind = \"random\", plies = 4 }}\n{}",
            players.concat()
        ),
    );
    sandbox.run(&["run", "robin.toml", "--engines", "engines.toml"]).expect_exit(0);
    assert_eq!(sandbox.settled("robin.db"), 60);
    assert_eq!(sandbox.sql("robin.db", "SELECT count(*) FROM forfeited"), "0");

    let games = sandbox.run(&["games", "--db", "robin.db", "--format", "pgn"]);
    sandbox.write("games.pgn", games.expect_exit(0).stdout());
    let read = tools
        .command("python3")
        .args(["-c", READ])
        .current_dir(sandbox.path("."))
        .output()
        .unwrap();
    let read = String::from_utf8(read.stdout).unwrap();
    let mut results = BTreeMap::new();
    let mut plies = 0;
    for line in read.lines() {
        let [count, result, errors] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(errors, "0", "{line}");
        *results.entry(result).or_insert(0) += 1;
        plies += count.parse::<u32>().unwrap();
    }
    let moves = "SELECT count(*) || ' ' || (SELECT sum(plies) FROM games) FROM moves";
    let moves = sandbox.sql("robin.db", moves);
    assert_eq!(results.values().sum::<u32>(), 60, "{results:?}");
    // Each game begins at the position after its opening.
    assert_eq!(moves, format!("{plies} {plies}"));
}
