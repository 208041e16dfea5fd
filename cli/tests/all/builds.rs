//! Rebuilt engines: each build is a player of its own, whose cells stand beside those of the build before it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use crate::external_engines::{RANDOM, external_player, run, sweep};
use crate::sandbox::{Sandbox, Watched, wait_until};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// A build of an engine: ours, behind a script that differs.
fn build(sandbox: &Sandbox, program: &str, version: u32) {
    let script = format!(
        "#!/bin/sh\n# Build {version}.\nexec {SPELRUM} engine uci --player alpha-beta --set preset=chess --set \
         evaluation=material\n"
    );
    // As a linker does: another file in place of the old one.
    let new = sandbox.write("new", &script);
    std::fs::set_permissions(&new, Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(new, sandbox.path(program)).unwrap();
}

/// A sandbox with build 1 of `dev`, and a sweep of 20 of its games.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    build(&sandbox, "dev", 1);
    engines(&sandbox, "engines.toml", "dev", "");
    games(&sandbox, 20, "");
    sandbox
}

fn engines(sandbox: &Sandbox, file: &str, program: &str, more: &str) {
    let text = format!("[engines.dev]\nprotocol = \"uci\"\ncommand = \"./{program}\"\n{more}");
    sandbox.write(file, &text);
}

fn games(sandbox: &Sandbox, games: u32, more: &str) {
    let text =
        sweep(games, &format!("{more}{RANDOM}{}", external_player("dev", "dev", "depth = 1")));
    sandbox.write("sweep.toml", &text);
}

/// The cells of a database in the order of reports: who plays, and how many of how many games are settled.
fn cells(sandbox: &Sandbox) -> String {
    let cells = "SELECT group_concat(opponent || ' ' || games || '/' || games_planned, ', ' ORDER BY cell_number,
        cell_id) AS cells FROM results";
    let names = sandbox.sql("match.db", cells);
    // Which build it is depends on the words of this test.
    let short = |word: &str| match word.split_once('@') {
        Some((name, build)) if build.len() == 8 => format!("{name}@…"),
        _ => word.to_owned(),
    };
    names.trim_matches('"').split(' ').map(short).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_rebuilt_engine_is_another_player() {
    let sandbox = sandbox();
    run(&sandbox, &[]).expect_exit(0);
    assert_eq!(cells(&sandbox), "dev 20/20");

    // The same program at a later time, and one that nobody built anew.
    build(&sandbox, "dev", 1);
    let again = run(&sandbox, &[]);
    again.expect_exit(0);
    assert!(again.stderr().contains("match is finished already"), "{}", again.stderr());

    build(&sandbox, "dev", 2);
    let dry = run(&sandbox, &["--dry-run"]);
    assert!(
        dry.stdout().contains("dev is another program than in the 20 games before"),
        "{}",
        dry.stdout()
    );
    assert_eq!(cells(&sandbox), "dev 20/20");
    let rebuilt = run(&sandbox, &[]);
    rebuilt.expect_exit(0);
    let said = rebuilt.stderr();
    assert!(said.contains("dev is another program than in the 20 games before"), "{said}");
    assert!(said.contains("beside    1 cell with the builds before"), "{said}");
    assert_eq!(cells(&sandbox), "dev@… 20/20, dev 20/20");
    // Both stand in the report, the older one first.
    let report = rebuilt.stdout();
    let (old, new) = (report.find("dev@").unwrap(), report.rfind("dev ").unwrap());
    assert!(old < new, "{report}");
    let openings = "SELECT count(DISTINCT opening_id) FROM games";
    assert_eq!(sandbox.sql("match.db", openings), "10", "both met the same");
    assert!(run(&sandbox, &[]).stderr().contains("match is finished already"));

    // More games are for the build that is there.
    games(&sandbox, 24, "");
    run(&sandbox, &[]).expect_exit(0);
    assert_eq!(cells(&sandbox), "dev@… 20/20, dev 24/24");

    // A build that comes back goes on where it was.
    build(&sandbox, "dev", 1);
    let back = run(&sandbox, &[]);
    assert!(back.stderr().contains("dev is another program than in the 24 games before"));
    assert_eq!(cells(&sandbox), "dev 24/24, dev@… 24/24");

    // Whoever only looks at the results needs no engine.
    let looked = sandbox.run(&["run", "sweep.toml", "--db", "match.db"]);
    looked.expect_exit(0);
    assert!(looked.stderr().contains("match is finished already"), "{}", looked.stderr());
    sandbox.run(&["check", "--db", "match.db"]).expect_exit(0);
}

/// The games that are left need the build before, and no other machine has it.
#[test]
fn a_run_whose_engine_is_replaced_ends_and_says_so() {
    let sandbox = sandbox();
    games(&sandbox, 2_000, "");
    let run =
        ["run", "sweep.toml", "--db", "match.db", "--engines", "engines.toml", "--slots", "1"];
    let mut watched = Watched::start(&sandbox, &run);
    watched.read_until("playing match");
    wait_until("a game is played", || sandbox.settled("match.db") > 0);
    build(&sandbox, "dev", 2);
    watched.read_until(
        "the program of engine `dev`, or one of its `files`, was replaced during the run",
    );
    watched.read_until("run the same command again");
    assert_eq!(watched.process.wait().code(), Some(3));
    let before: u32 = sandbox.sql("match.db", "SELECT count(*) FROM games").parse().unwrap();
    assert!((1..2_000).contains(&before), "{before}");

    games(&sandbox, 20, "");
    sandbox.run(&run).expect_exit(0);
    let programs = "SELECT max(n) FROM (SELECT count(DISTINCT x.engine_id) AS n FROM games
        JOIN game_engines AS x USING (game_id) GROUP BY cell_id)";
    assert_eq!(sandbox.sql("match.db", programs), "1", "no cell is a mixture");
}

#[test]
fn builds_stand_side_by_side_in_the_order_in_which_they_came() {
    let sandbox = sandbox();
    games(&sandbox, 4, "");
    for version in [1, 2, 3] {
        build(&sandbox, "dev", version);
        run(&sandbox, &[]).expect_exit(0);
    }
    assert_eq!(cells(&sandbox), "dev@… 4/4, dev@… 4/4, dev 4/4");
    let played = "SELECT group_concat(n, ' ' ORDER BY cell_id) AS engines FROM (SELECT cell_id,
        count(DISTINCT x.engine_id) AS n FROM games JOIN game_engines AS x USING (game_id) GROUP BY 1)";
    assert_eq!(sandbox.sql("match.db", played), "1 1 1", "no cell is a mixture");
}

#[test]
fn any_build_lets_a_rebuilt_engine_play_on_in_its_cells() {
    let sandbox = sandbox();
    games(&sandbox, 20, "any_build = true\n");
    run(&sandbox, &[]).expect_exit(0);
    build(&sandbox, "dev", 2);
    assert!(run(&sandbox, &[]).stderr().contains("match is finished already"));
    games(&sandbox, 24, "any_build = true\n");
    run(&sandbox, &[]).expect_exit(0);
    assert_eq!(cells(&sandbox), "dev 24/24");
    let programs = "SELECT count(DISTINCT engine_id) FROM game_engines";
    assert_eq!(sandbox.sql("match.db", programs), "2");

    // From here on the build counts. Which one played before is not known.
    games(&sandbox, 24, "");
    let counted = run(&sandbox, &[]);
    counted.expect_exit(0);
    let said = counted.stderr();
    assert!(said.contains("which it was in the 24 games before is not known"), "{said}");
    assert_eq!(cells(&sandbox), "dev@unknown 24/24, dev 24/24");
}

#[test]
fn a_wrapper_script_is_another_build_once_its_files_are_others() {
    let sandbox = sandbox();
    build(&sandbox, "real", 1);
    let script = sandbox.write("wrapper.sh", "#!/bin/sh\nexec ./real\n");
    std::fs::set_permissions(script, Permissions::from_mode(0o755)).unwrap();
    sandbox.write("net", "weights");
    engines(&sandbox, "engines.toml", "wrapper.sh", "files = [\"real\", \"net\"]\n");
    run(&sandbox, &[]).expect_exit(0);
    assert!(run(&sandbox, &[]).stderr().contains("match is finished already"));
    sandbox.write("net", "other weights");
    assert!(run(&sandbox, &[]).stderr().contains("dev is another program"));
    build(&sandbox, "real", 2);
    assert!(run(&sandbox, &[]).stderr().contains("dev is another program"));
    // What the engines file sets is a part of it.
    engines(
        &sandbox,
        "engines.toml",
        "wrapper.sh",
        "files = [\"real\", \"net\"]\nargs = [\"-x\"]\n",
    );
    assert!(run(&sandbox, &[]).stderr().contains("dev is another program"));
    assert_eq!(cells(&sandbox), "dev@… 20/20, dev@… 20/20, dev@… 20/20, dev 20/20");
    // A file that is not there is told with its name.
    std::fs::remove_file(sandbox.path("net")).unwrap();
    games(&sandbox, 22, "");
    let missing = run(&sandbox, &[]);
    missing.expect_exit(3);
    assert!(missing.stderr().contains("net of `files` cannot be read"), "{}", missing.stderr());
}

/// What the workers have is what a coordinator plays: one build is taken, of several one is to be named.
#[test]
fn a_coordinator_plays_the_build_that_its_workers_have() {
    let sandbox = sandbox();
    build(&sandbox, "dev-new", 2);
    engines(&sandbox, "new.toml", "dev-new", "");
    let coordinator = sandbox.coordinator_with("match.db", "127.0.0.1:0", "200ms");
    let url = &*coordinator.url;
    let submit = || sandbox.run(&["submit", "sweep.toml", "--coordinator", url]);
    let status = || sandbox.run(&["status", "--coordinator", url]).stdout().to_owned();

    // Before any worker has come it is accepted, and waits.
    submit().expect_exit(0);
    let waits = status();
    assert!(waits.contains("needs dev (uci), which no connected worker has"), "{waits}");
    let old = sandbox.worker(url, "2", &["--engines", "engines.toml", "--name", "old"]);
    sandbox.wait_until_finished(&coordinator);
    assert_eq!(cells(&sandbox), "dev 20/20");
    let again = submit();
    assert!(again.expect_exit(0).stdout().contains("nothing has changed"), "{}", again.stdout());

    let new = sandbox.worker(url, "2", &["--engines", "new.toml", "--name", "new"]);
    let two = || sandbox.sql("match.db", "SELECT count(*) FROM workers") == "2";
    wait_until("both are there", two);
    let several = submit();
    several.expect_exit(3);
    let said = several.stderr();
    assert!(said.contains("several builds of the engine dev"), "{said}");
    assert!(
        said.contains("(old)") && said.contains("(new)") && said.contains("build = \""),
        "{said}"
    );

    // The old worker has none of the games of the new build.
    drop(old);
    let gone = || !submit().stderr().contains("several builds");
    wait_until("the old one is gone", gone);
    sandbox.wait_until_finished(&coordinator);
    assert_eq!(cells(&sandbox), "dev@… 20/20, dev 20/20");
    let workers = "SELECT group_concat(n, ' ' ORDER BY cell_id) FROM (SELECT cell_id,
        count(DISTINCT worker_id) AS n FROM games GROUP BY 1)";
    assert_eq!(sandbox.sql("match.db", workers), "1 1");
    drop(new);

    // A worker of the old build comes back and gets no games of the new one.
    let old = sandbox.worker(url, "2", &["--engines", "engines.toml", "--name", "old again"]);
    let back = || status().contains("old again");
    wait_until("it is back", back);
    let named = sandbox.sql(
        "match.db",
        "SELECT parameters_json ->> '$.build' FROM players JOIN cells ON player_id = second_player_id
        WHERE superseded = 0 AND in_sweep = 1",
    );
    let new_build = format!("build = \"{}\"", &named[..12]);
    let text =
        sweep(2, &format!("{RANDOM}{}{new_build}\n", external_player("dev", "dev", "depth = 1")));
    sandbox.write("sweep.toml", &text.replace("\"match\"", "\"other\""));
    submit().expect_exit(0);
    wait_until("nobody has it", || {
        let status = status();
        status.contains(&format!("needs dev (uci), build {}", &named[..8]))
            && status.contains("old again has dev (uci)")
            && status.contains(", build ")
    });
    drop(old);
}
