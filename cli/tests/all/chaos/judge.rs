//! What must hold when all is over, whatever happened meanwhile.

use std::panic::AssertUnwindSafe;

use rusqlite::{Connection, OpenFlags};

use crate::sandbox::{Sandbox, tic_tac_toe};

/// Cells with another number of counted games than was planned, or with other numbers of games than the
/// first so many. A training is not a game.
const CELLS_WITH_OTHER_GAMES: &str = "
    SELECT count(*) FROM cells WHERE trains_network_id IS NULL AND (games_planned <>
    (SELECT count(*) FROM games WHERE games.cell_id = cells.cell_id AND counted = 1)
    OR games_planned - 1 <> (SELECT max(number) FROM games WHERE games.cell_id = cells.cell_id))";

/// Exactly the games that `sweep.toml` plans are in the database, each once, and they are those that an
/// undisturbed run plays; the file is whole, and what is summed up is what is there.
#[track_caller]
pub(crate) fn assert_complete(sandbox: &Sandbox, db: &str) {
    assert_eq!(sandbox.sql(db, CELLS_WITH_OTHER_GAMES), "0");
    let conflicts = "SELECT count(*) FROM uncounted_games WHERE reason <> 'repeat'";
    assert_eq!(sandbox.sql(db, conflicts), "0");
    assert_whole(sandbox, db);
    sandbox.run(&["run", "sweep.toml", "--db", "undisturbed.db"]).expect_exit(0);
    assert_eq!(sandbox.all_games(db), sandbox.all_games("undisturbed.db"));
}

/// The file is whole, by SQLite's own word, and its sums are those of its games.
#[track_caller]
pub(crate) fn assert_whole(sandbox: &Sandbox, db: &str) {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = Connection::open_with_flags(sandbox.path(db), flags).unwrap();
    let whole = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    assert_eq!(database.query_row("PRAGMA integrity_check", (), whole).unwrap(), "ok");
    drop(database);
    sandbox.run(&["check", "--db", db]).expect_exit(0);
}

/// A judge that never says no proves nothing.
#[test]
fn what_is_wrong_with_a_database_is_noticed() {
    let wrongs = [
        "DELETE FROM moves WHERE game_id = 3; DELETE FROM game_sides WHERE game_id = 3;
         DELETE FROM game_depths WHERE game_id = 3; DELETE FROM games WHERE game_id = 3",
        "UPDATE games SET number = 20 WHERE number = 3",
        "UPDATE cells SET games_planned = games_planned + 2",
        "UPDATE games SET plies = plies + 1 WHERE number = 3",
        "UPDATE moves SET nodes = nodes + 1 WHERE ply = 2",
        "UPDATE cell_results SET wins = wins + 1",
        "UPDATE cell_results SET score = 0.5",
    ];
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 10));
    sandbox.run(&["run", "sweep.toml", "--db", "right.db"]).expect_exit(0);
    assert_complete(&sandbox, "right.db");
    for wrong in wrongs {
        std::fs::copy(sandbox.path("right.db"), sandbox.path("wrong.db")).unwrap();
        let database = Connection::open(sandbox.path("wrong.db")).unwrap();
        database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        database.execute_batch(wrong).unwrap_or_else(|error| panic!("{wrong}: {error}"));
        drop(database);
        let judging = AssertUnwindSafe(|| assert_complete(&sandbox, "wrong.db"));
        assert!(std::panic::catch_unwind(judging).is_err(), "not noticed: {wrong}");
    }
}
