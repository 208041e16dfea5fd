//! `--on-finish`: a command that runs when an experiment ends.

use crate::sandbox::{Sandbox, tic_tac_toe};

const COMMAND: &str = "echo \"$SPELRUM_EXPERIMENT $SPELRUM_STATE\" | tee -a ended; test -n \"$SPELRUM_EXPERIMENT_UUID\"";

#[test]
fn a_command_runs_when_an_experiment_ends() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("short", 2));
    let run =
        || sandbox.run(&["run", "sweep.toml", "--db", "x.db", "--json", "--on-finish", COMMAND]);
    let ran = run();
    // Its output does not mix with the results.
    serde_json::from_str::<serde_json::Value>(ran.expect_exit(0).stdout()).unwrap();
    assert!(ran.stderr().contains("short finished"), "{}", ran.stderr());
    let ended = || std::fs::read_to_string(sandbox.path("ended")).unwrap();
    assert_eq!(ended(), "short finished\n");
    // What ended earlier does not end again.
    run().expect_exit(0);
    assert_eq!(ended(), "short finished\n");
    sandbox.run(&["watch", "--db", "x.db", "--on-finish", COMMAND]).expect_exit(0);
    assert_eq!(ended(), "short finished\nshort finished\n");
}

#[test]
fn a_command_that_fails_is_a_warning() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("short", 2));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "x.db", "--on-finish", "exit 3"]);
    let said = ran.expect_exit(0).stderr();
    assert!(
        said.contains("the command of --on-finish failed: it ended with exit status: 3"),
        "{said}"
    );
}
