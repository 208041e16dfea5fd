//! What must hold of every experiment that depends on its own results, whatever decides about it.

use crate::sandbox::{Sandbox, Watched, wait_until};

/// Games that are surely played between two kills.
const GAMES_BETWEEN: u64 = 100;

/// What was tried and found, each individual that was bred, and every counted game.
pub(crate) fn course(sandbox: &Sandbox, db: &str) -> String {
    let statement = "
        SELECT 'note', run, kind, step, trial, note, '' FROM course_notes
        UNION ALL
        SELECT 'game', c.number, c.asked_after, g.number, g.outcome, c.definition_hash, g.moves_hash
            FROM games AS g JOIN cells AS c USING (cell_id) WHERE g.counted = 1
        ORDER BY 1, 2, 3, 4, 5";
    let ran = sandbox.run(&["sql", "--db", db, "--csv", statement]);
    ran.expect_exit(0);
    ran.stdout().to_owned()
}

/// The experiment of `sweep.toml` takes the same course in one process and in one that is killed so often, and on a
/// coordinator with three workers of which one after the other is killed and replaced.
pub(crate) fn assert_same_through_kills(sandbox: &Sandbox, games: u64, kills: u64) {
    sandbox.run(&["run", "sweep.toml", "--db", "one.db", "--slots", "1"]).expect_exit(0);
    sandbox.run(&["check", "--db", "one.db"]).expect_exit(0);
    let expected = course(sandbox, "one.db");
    assert_eq!(sandbox.settled("one.db"), games);

    // A fast machine may be through between a look and the kill: then the kills before must do.
    let (mut before, mut in_the_middle) = (0, 0);
    while in_the_middle < kills && before < games {
        let mut run =
            Watched::start(sandbox, &["run", "sweep.toml", "--db", "run.db", "--slots", "2"]);
        run.read_until("into run.db");
        let enough = games.min(before + GAMES_BETWEEN);
        wait_until("games are settled", || sandbox.settled("run.db") >= enough);
        run.process.kill();
        before = sandbox.settled("run.db");
        in_the_middle += u64::from(before < games);
    }
    assert!(in_the_middle > 0, "a kill came in the middle");
    sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
    assert_eq!(course(sandbox, "run.db"), expected);

    let mut coordinator = sandbox.coordinator_with("four.db", "127.0.0.1:0", "500ms");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut workers = [(); 3].map(|()| sandbox.worker(&url, "1", &[]));
    for (kill, worker) in (1..=kills).zip((0..workers.len()).cycle()) {
        wait_until("games are settled", || sandbox.settled("four.db") >= kill * GAMES_BETWEEN);
        coordinator.process.kill();
        workers[worker].kill();
        coordinator = sandbox.coordinator_with("four.db", &address, "500ms");
        workers[worker] = sandbox.worker(&url, "1", &[]);
    }
    sandbox.wait_until_finished(&coordinator);
    sandbox.run(&["check", "--db", "four.db"]).expect_exit(0);
    assert_eq!(course(sandbox, "four.db"), expected);

    // A coordinator tells the same report as the file.
    let report = |source: [&str; 2]| {
        let ran = sandbox.run(&["report", source[0], source[1]]);
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    assert_eq!(report(["--coordinator", &url]), report(["--db", "one.db"]));
}

/// What is known of the experiment of `results.db` moves whole to another database.
pub(crate) fn assert_moves(sandbox: &Sandbox, name: &str) {
    let expected = course(sandbox, "results.db");
    sandbox.run(&["export", name, "--output", "part.db", "--db", "results.db"]).expect_exit(0);
    assert_eq!(course(sandbox, "part.db"), expected);
    sandbox.run(&["import", "part.db", "--db", "new.db"]).expect_exit(0);
    assert_eq!(course(sandbox, "new.db"), expected);
    let report = |db| sandbox.run(&["report", "--db", db]).stdout().to_owned();
    assert_eq!(report("new.db"), report("results.db"));
}
