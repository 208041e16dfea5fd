//! Changing a sweep's file and running or submitting it again: what is said, and what is done.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, tic_tac_toe};

fn depths(depths: &str, games: u32) -> String {
    tic_tac_toe("small", games).replace("depth = [1, 2]", &format!("depth = [{depths}]"))
}

#[test]
fn a_changed_sweep_says_what_it_reuses_and_plays_the_rest() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &depths("1, 2", 20));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);

    sandbox.write("sweep.toml", &depths("2, 3", 30));
    let dry = sandbox.run(&["run", "sweep.toml", "--dry-run"]);
    dry.expect_exit(0);
    assert!(dry.stdout().contains("small would still play"), "{}", dry.stdout());
    assert!(dry.stdout().contains("games     40"), "{}", dry.stdout());
    let same = sandbox.run(&["submit", "sweep.toml", "--dry-run", "--db", "small.db", "--json"]);
    let same: Value = serde_json::from_str(same.stdout()).unwrap();
    assert_eq!((&same["games"], &same["change"]["cells_kept"]), (&40.into(), &1.into()));
    assert_eq!(same["change"]["examples"][1]["axes"], "depth=3");
    assert_eq!(sandbox.sql("small.db", "SELECT count(*) FROM cells"), "2", "nothing was changed");

    let ran = sandbox.run(&["run", "sweep.toml", "--slots", "1"]);
    ran.expect_exit(0);
    let said = ran.stderr().split("\nplaying").next().unwrap();
    insta::assert_snapshot!(said);
    assert!(ran.stderr().contains("playing small: 60 games in 2 cells"), "{}", ran.stderr());
    assert!(ran.stdout().contains('3') && !ran.stdout().contains("depth=1"), "{}", ran.stdout());
    assert_eq!(sandbox.sql("small.db", "SELECT count(*) FROM games"), "80");
    let list = sandbox.run(&["list", "--db", "small.db", "--json"]);
    let list: Value = serde_json::from_str(list.stdout()).unwrap();
    assert_eq!(list[0]["games_settled"], 60, "{list}");

    let again = sandbox.run(&["run", "sweep.toml"]);
    assert!(again.stderr().contains("small is finished already"), "{}", again.stderr());
    let dry = sandbox.run(&["run", "sweep.toml", "--dry-run"]);
    assert_eq!(dry.stdout(), "small already has exactly this sweep\nnothing is left to play\n");
}

#[test]
fn a_change_of_every_cell_needs_a_new_experiment() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4).replace("seed = 7", "seed = 8"));
    let refused = sandbox.run(&["run", "sweep.toml"]);
    refused.expect_exit(3);
    insta::assert_snapshot!(refused.failure());
    sandbox.run(&["run", "sweep.toml", "--dry-run"]).expect_exit(3);

    let new = sandbox.run(&["run", "sweep.toml", "--new"]);
    new.expect_exit(0);
    assert!(new.stderr().contains("playing small: 8 games"), "{}", new.stderr());
    assert_eq!(sandbox.sql("small.db", "SELECT count(*) FROM experiments"), "2");
    // The newest is meant from now on.
    let again = sandbox.run(&["run", "sweep.toml"]);
    again.expect_exit(0);
    assert!(again.stderr().contains("small is finished already"), "{}", again.stderr());
    let report = sandbox.run(&["report", "--db", "small.db"]);
    report.expect_exit(3);
    assert!(report.stderr().contains("small ("), "{}", report.stderr());
    sandbox.run(&["report", "small", "--db", "small.db"]).expect_exit(0);
}

#[test]
fn a_coordinator_is_asked_before_it_changes_anything() {
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = &coordinator.url;
    let submit = |more: &[&str]| {
        let ran = [&["submit", "sweep.toml", "--coordinator", url], more].concat();
        let ran = sandbox.run(&ran);
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    sandbox.write("sweep.toml", &depths("1, 2", 20));
    assert_eq!(submit(&[]), "submitted small: 40 games in 2 cells\n");
    sandbox.write("sweep.toml", &depths("1, 3", 10));
    let dry: Value = serde_json::from_str(&submit(&["--dry-run", "--json"])).unwrap();
    assert_eq!(dry["change"]["cells_dropped"], 1);
    assert_eq!(dry["games"], 20);
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM cells"), "2");
    insta::assert_snapshot!(submit(&[]));
    sandbox.write("sweep.toml", &depths("1, 2", 10));
    let back: Value = serde_json::from_str(&submit(&["--json"])).unwrap();
    assert_eq!(back["change"]["cells_returned"], 1);
    assert_eq!(back["existed"], true);

    // Cancelled is final, also for the unchanged file.
    sandbox.run(&["cancel", "small", "--coordinator", url]).expect_exit(0);
    let refused = sandbox.run(&["submit", "sweep.toml", "--coordinator", url]);
    refused.expect_exit(3);
    insta::assert_snapshot!(refused.failure());
    assert_eq!(submit(&["--new"]), "submitted small: 20 games in 2 cells\n");
}

#[test]
fn a_cancelled_sweep_is_not_run() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    let mut coordinator = sandbox.coordinator("small.db", "127.0.0.1:0");
    let url = coordinator.url.clone();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    sandbox.run(&["cancel", "small", "--coordinator", &url]).expect_exit(0);
    coordinator.process.signal(rustix::process::Signal::TERM);
    coordinator.process.wait();
    let refused = sandbox.run(&["run", "sweep.toml"]);
    refused.expect_exit(3);
    insta::assert_snapshot!(refused.failure());
    sandbox.run(&["run", "sweep.toml", "--new"]).expect_exit(0);
}

#[test]
fn a_dry_run_asks_the_coordinator_that_the_submit_would_go_to() {
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.write("sweep.toml", &depths("1, 2", 20));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    sandbox.write("sweep.toml", &depths("1", 20));
    let dry = ["submit", "sweep.toml", "--dry-run"];
    let by_environment =
        Ran(sandbox.spelrum(&dry).env("SPELRUM_COORDINATOR", url).output().unwrap());
    let config = sandbox.write("config.toml", &format!("coordinator = \"{url}\"\n"));
    let by_file = Ran(sandbox.spelrum(&dry).env("SPELRUM_CONFIG", config).output().unwrap());
    for ran in [by_environment, by_file] {
        let said = ran.expect_exit(0).stdout();
        assert!(said.contains("this sweep would change small:"), "{said}");
        assert!(said.contains("dropped   1 cell with 0 games"), "{said}");
    }
    // Where none is named, it shows the sweep alone; so it does beside a database.
    let alone = sandbox.run(&dry);
    assert!(alone.expect_exit(0).stdout().starts_with("small would play"), "{}", alone.stdout());
    let mut beside = sandbox.spelrum(&[&dry[..], &["--db", "none.db"]].concat());
    let beside = Ran(beside.env("SPELRUM_COORDINATOR", url).output().unwrap());
    assert!(beside.expect_exit(0).stdout().starts_with("small would play"), "{}", beside.stdout());
}

#[test]
fn flags_for_one_run_change_no_stored_experiment() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &depths("1, 2", 20));
    // What comes first may be a tenth of it, and goes on.
    sandbox.run(&["run", "sweep.toml", "--quick"]).expect_exit(0);
    sandbox.run(&["run", "sweep.toml", "--quick"]).expect_exit(0);
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let stored = || {
        let text = sandbox.sql("small.db", "SELECT sweep_toml FROM experiments");
        text + &sandbox.sql("small.db", "SELECT count(*) FROM sweep_versions")
    };
    let before = stored();
    for flags in [&["--quick"][..], &["--set", "depth=1"], &["--set", "games=40", "--quick"]] {
        let refused = sandbox.run(&[&["run", "sweep.toml"], flags].concat());
        refused.expect_exit(3);
        let error = refused.stderr();
        assert!(error.contains("that would change the experiment in small.db"), "{error}");
        assert!(error.contains("(--db FILE)"), "{error}");
        assert_eq!(stored(), before);
    }
    sandbox.run(&["run", "sweep.toml", "--set", "depth=1", "--db", "one.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("one.db", "SELECT count(*) FROM games"), "20");
    assert_eq!(stored(), before);
}

#[test]
fn a_start_that_fails_leaves_no_experiment_behind() {
    let sandbox = Sandbox::new();
    let engine = "[players.it]\nalgorithm = \"uci\"\nengine = \"it\"\ndepth = 1\n";
    let other = "[players.b]\nalgorithm = \"minimax\"\nevaluation = \"material\"\ndepth = 1\n";
    let sweep = |seed: u32, player: &str| {
        format!(
            "name = \"match\"\ngame = \"chess\"\ngames = 2\nseed = {seed}\nmax_plies = 4\n\
             openings = {{ kind = \"random\", plies = 2 }}\n[players.a]\nalgorithm = \"random\"\n{player}"
        )
    };
    sandbox.write("sweep.toml", &sweep(1, engine));
    let failure = sandbox.run(&["run", "sweep.toml"]).failure();
    assert!(failure.contains("needs the external engine it"), "{failure}");
    assert!(!sandbox.path("match.db").exists());
    sandbox.write("engines.toml", "[engines.it]\nprotocol = \"uci\"\ncommand = \"./none\"\n");
    let failure = sandbox.run(&["run", "sweep.toml", "--engines", "engines.toml"]).failure();
    assert!(failure.contains("none"), "{failure}");
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM experiments"), "0");
    // Nothing stands in the way of another sweep of the name, of which every cell is another.
    sandbox.write("sweep.toml", &sweep(2, other));
    let ran = sandbox.run(&["run", "sweep.toml"]);
    assert!(
        ran.expect_exit(0).stderr().contains("playing match: 2 games in 1 cell,"),
        "{}",
        ran.stderr()
    );
}
