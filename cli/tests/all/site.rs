//! `spelrum report --site`: pages as files, in a directory that is new, empty or a site.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::sandbox::{Process, Sandbox, tic_tac_toe, wait_until};

/// All files of a directory, relative to it.
fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut open = vec![directory.to_owned()];
    let mut files = BTreeSet::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.insert(path.strip_prefix(directory).unwrap().to_owned());
        }
    }
    files
}

#[test]
fn a_site_takes_the_place_of_another_one_only() {
    let sandbox = Sandbox::new();
    sandbox.write("few.toml", &tic_tac_toe("few", 2));
    sandbox.run(&["run", "few.toml", "--db", "c.db"]).expect_exit(0);
    let write =
        |more: &[&str]| sandbox.run(&[&["report", "--db", "c.db", "--site"], more].concat());
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    write(&["empty"]).expect_exit(0);
    let again = write(&["empty"]);
    again.expect_exit(3);
    assert!(again.stderr().contains("the directory is not empty"), "{}", again.stderr());
    std::fs::remove_file(sandbox.path("empty/games/1.html")).unwrap();
    write(&["empty", "--force"]).expect_exit(0);
    assert!(sandbox.path("empty/games/1.html").is_file());

    // What is not a site is not replaced; neither is a file.
    std::fs::create_dir(sandbox.path("other")).unwrap();
    sandbox.write("other/index.html", "mine");
    write(&["other", "--force"]).expect_exit(3);
    assert_eq!(std::fs::read_to_string(sandbox.path("other/index.html")).unwrap(), "mine");
    sandbox.write("empty/mine.txt", "mine");
    write(&["empty", "--force"]).expect_exit(3);
    write(&["few.toml", "--force"]).expect_exit(3);
    write(&["."]).expect_exit(3);
    for more in [&["--json"][..], &["--html", "x.html"], &["--ratings"], &["--output", "x"]] {
        write(&[&["new"], more].concat()).expect_exit(2);
    }
    assert!(!sandbox.path("new").exists());
}

#[test]
fn a_call_that_ends_early_leaves_no_half_site() {
    let sandbox = Sandbox::new();
    sandbox.write("many.toml", &tic_tac_toe("many", 200));
    sandbox.run(&["run", "many.toml", "--db", "c.db"]).expect_exit(0);
    let write = ["report", "--db", "c.db", "--site", "site", "--site-games", "400"];
    let mut killed: Process = sandbox.start(&write);
    wait_until("games are written", || {
        sandbox.path("site.partial/games").exists() || sandbox.path("site").exists()
    });
    killed.kill();
    let is_half = sandbox.path("site").exists() && files(&sandbox.path("site")).len() < 406;
    assert!(!is_half);
    sandbox.run(&[&write[..], &["--force"]].concat()).expect_exit(0);
    assert_eq!(files(&sandbox.path("site")).len(), 406);
    assert!(!sandbox.path("site.partial").exists());
}
