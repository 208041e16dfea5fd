//! `spelrum backup`: a copy is whole and of one moment, whoever writes meanwhile, or there is none.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use serde_json::Value;

use crate::sandbox::{Process, Sandbox, Service, tic_tac_toe, wait_until};

fn played(games: u32) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", games));
    sandbox.run(&["run", "sweep.toml", "--db", "small.db"]).expect_exit(0);
    sandbox
}

/// The files of a sandbox.
fn names(sandbox: &Sandbox) -> BTreeSet<String> {
    let names = fs::read_dir(sandbox.path("")).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_copy_is_what_was_there() {
    let sandbox = played(40);
    fs::set_permissions(sandbox.path("small.db"), fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::read(sandbox.path("small.db")).unwrap();
    let ran = sandbox.run(&["backup", "copy.db", "--db", "small.db"]);
    let bytes = fs::metadata(sandbox.path("copy.db")).unwrap().len();
    let said = ran.expect_exit(0).stdout();
    assert!(said.starts_with("copy.db: whole, 80 settled games, "), "{said}");
    let names = names(&sandbox);
    let copies: Vec<_> = names.iter().filter(|name| name.starts_with("copy")).collect();
    assert_eq!(copies, ["copy.db"], "nothing stays beside it");
    let json = sandbox.run(&["backup", "again.db", "--db", "copy.db", "--json"]);
    let json: Value = serde_json::from_str(json.expect_exit(0).stdout()).unwrap();
    assert_eq!(json, serde_json::json!({ "backup": "again.db", "bytes": bytes, "games": 80 }));

    assert_eq!(fs::read(sandbox.path("small.db")).unwrap(), before, "it changes nothing");
    let uuid = |db: &str| sandbox.sql(db, "SELECT uuid FROM databases");
    for copy in ["copy.db", "again.db"] {
        let mode = fs::metadata(sandbox.path(copy)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "who may read the one may read the other");
        sandbox.run(&["check", "--db", copy]).expect_exit(0);
        assert_eq!(sandbox.all_games(copy), sandbox.all_games("small.db"));
        assert_eq!(uuid(copy), uuid("small.db"), "the copy is what was there");
        // It can be gone on with, and is another database then.
        sandbox.run(&["run", "sweep.toml", "--db", copy]).expect_exit(0);
        assert_ne!(uuid(copy), uuid("small.db"));
    }
}

#[test]
fn a_live_database_is_copied_as_of_one_moment() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 600));
    let coordinator = sandbox.coordinator_with("live.db", "127.0.0.1:0", "200ms");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let mut worker = sandbox.worker(url, "2", &["--exit-when-done"]);
    let mut copies = Vec::new();
    for part in 1..=3_u64 {
        wait_until("games are settled", || {
            sandbox.sql("live.db", "SELECT count(*) FROM games").parse::<u64>().unwrap()
                >= part * 100
        });
        let copy = format!("copy-{part}.db");
        sandbox.run(&["backup", &copy, "--db", "live.db"]).expect_exit(0);
        copies.push(copy);
    }
    assert_eq!(worker.wait().code(), Some(0), "the coordinator was not held up");
    let all = sandbox.all_games("live.db");
    let all: BTreeSet<_> = all.lines().collect();
    assert_eq!(all.len(), 1_201, "a heading and 1,200 games");
    let mut before = BTreeSet::new();
    for copy in &copies {
        sandbox.run(&["check", "--db", copy]).expect_exit(0);
        let games = sandbox.all_games(copy);
        let games: BTreeSet<String> = games.lines().map(ToOwned::to_owned).collect();
        assert!(games.iter().all(|game| all.contains(game.as_str())), "{copy} has other games");
        assert!(before.is_subset(&games), "{copy} lacks games of an earlier one");
        before = games;
    }
    // What a copy lacks is played from it, and comes out the same.
    sandbox.run(&["run", "sweep.toml", "--db", "copy-1.db"]).expect_exit(0);
    assert_eq!(sandbox.all_games("copy-1.db"), sandbox.all_games("live.db"));
}

/// As `docs/operating.md` says it, while workers go on with what they have.
#[test]
fn a_restored_database_is_played_to_its_end() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 1_000));
    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "200ms");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let workers = ["one", "two"].map(|name| sandbox.worker(&url, "1", &["--name", name]));
    let settled = |games| wait_until("games are settled", || sandbox.settled("c.db") >= games);
    settled(100);
    sandbox.run(&["backup", "monday.db", "--db", "c.db"]).expect_exit(0);
    let end = |mut coordinator: Service| {
        coordinator.process.signal(Signal::TERM);
        assert_eq!(coordinator.process.wait().code(), Some(0));
    };
    // What is put back is at its second start then, as this is.
    end(coordinator);
    let coordinator = sandbox.coordinator_with("c.db", &address, "200ms");
    // On a crowded machine the copy may have nearly all.
    settled((sandbox.settled("monday.db") + 200).min(2_000));
    end(coordinator);
    fs::remove_file(sandbox.path("c.db")).unwrap();
    sandbox.run(&["backup", "c.db", "--db", "monday.db"]).expect_exit(0);

    let coordinator = sandbox.coordinator_with("c.db", &address, "200ms");
    sandbox.wait_until_finished(&coordinator);
    let hellos = "SELECT count(*) FROM workers WHERE last_hello_unix_us >
                  (SELECT max(started_unix_us) FROM coordinators)";
    wait_until("each says who it is", || sandbox.sql("c.db", hellos) == "2");
    drop(workers);
    end(coordinator);
    sandbox.run(&["check", "--db", "c.db"]).expect_exit(0);
    sandbox.run(&["run", "sweep.toml", "--db", "undisturbed.db"]).expect_exit(0);
    assert_eq!(sandbox.all_games("c.db"), sandbox.all_games("undisturbed.db"));
}

/// Starts a backup and stops it in the middle: what is copied has its other name yet.
fn stopped_half_way(sandbox: &Sandbox) -> Process {
    for _ in 0..1_000 {
        let backup = sandbox.start(&["backup", "copy.db", "--db", "small.db"]);
        wait_until("a backup has begun", || {
            sandbox.path("copy.db-unfinished").exists() || sandbox.path("copy.db").exists()
        });
        backup.signal(Signal::STOP);
        // Or it has ended by itself.
        waitpid(Some(Pid::from_child(&backup.0)), WaitOptions::UNTRACED).unwrap();
        if sandbox.path("copy.db-unfinished").exists() {
            assert!(!sandbox.path("copy.db").exists());
            return backup;
        }
        fs::remove_file(sandbox.path("copy.db")).unwrap();
    }
    panic!("every backup was quicker than this test");
}

#[test]
fn a_killed_backup_leaves_no_half_file_under_the_name() {
    let sandbox = played(400);
    for _ in 0..3 {
        let mut backup = stopped_half_way(&sandbox);
        backup.kill();
        assert!(!sandbox.path("copy.db").exists());
    }
    // What it left is in nobody's way.
    sandbox.run(&["backup", "copy.db", "--db", "small.db"]).expect_exit(0);
    assert!(!sandbox.path("copy.db-unfinished").exists());
    sandbox.run(&["check", "--db", "copy.db"]).expect_exit(0);
    assert_eq!(sandbox.all_games("copy.db"), sandbox.all_games("small.db"));
}

#[test]
fn an_interrupted_backup_leaves_nothing_or_all() {
    let sandbox = played(400);
    let mut backup = stopped_half_way(&sandbox);
    backup.signal(Signal::INT);
    backup.signal(Signal::CONT);
    let code = backup.wait().code();
    assert!(!sandbox.path("copy.db-unfinished").exists());
    // It may have been done before it heard.
    assert!(matches!(code, Some(0 | 130)), "{code:?}");
    assert_eq!(sandbox.path("copy.db").exists(), code == Some(0));
}

#[test]
fn two_backups_do_not_write_one_file() {
    let sandbox = played(40);
    let other = fs::File::create(sandbox.path("copy.db-unfinished")).unwrap();
    other.lock().unwrap();
    let ran = sandbox.run(&["backup", "copy.db", "--db", "small.db"]);
    ran.expect_exit(6);
    insta::assert_snapshot!(ran.failure(), @r#"
    exit code 6
    error: failed to write copy.db: another process is writing it
    help: wait for it, or name another file
    "#);
    drop(other);
    sandbox.run(&["backup", "copy.db", "--db", "small.db"]).expect_exit(0);
}

#[test]
fn what_is_there_is_never_written_over() {
    let sandbox = played(40);
    sandbox.write("copy.db", "mine");
    let ran = sandbox.run(&["backup", "copy.db", "--db", "small.db"]);
    insta::assert_snapshot!(ran.failure(), @r#"
    exit code 3
    error: failed to write copy.db: there is copy.db already
    help: name another file; nothing is ever written over
    "#);
    assert_eq!(fs::read_to_string(sandbox.path("copy.db")).unwrap(), "mine");
    let ran = sandbox.run(&["backup", "small.db", "--db", "small.db"]);
    insta::assert_snapshot!(ran.failure(), @r#"
    exit code 3
    error: failed to write small.db: there is small.db already
    help: name another file; nothing is ever written over
    "#);
    sandbox.run(&["check", "--db", "small.db"]).expect_exit(0);
    // SQLite would take it for the copy's own log.
    sandbox.write("other.db-wal", "of another file");
    let ran = sandbox.run(&["backup", "other.db", "--db", "small.db"]);
    insta::assert_snapshot!(ran.failure(), @r#"
    exit code 3
    error: failed to write other.db: there is other.db-wal already
    help: name another file; nothing is ever written over
    "#);
    assert!(!sandbox.path("other.db").exists());
}

#[test]
fn what_cannot_be_copied_is_told() {
    let sandbox = played(40);
    let ran = sandbox.run(&["backup", "none/copy.db", "--db", "small.db"]);
    insta::assert_snapshot!(ran.failure(), @r#"
    exit code 3
    error: failed to write none/copy.db: there is no directory for it
    help: name a file in a directory that is there (mkdir -p makes one)
    "#);
    let ran = sandbox.run(&["backup", "copy.db", "--db", "none.db"]);
    insta::assert_snapshot!(ran.failure(), @r#"
    exit code 4
    error: failed to open none.db: there is no such file
    help: check the path; `spelrum run` and `spelrum coordinator` create one
    "#);
    assert!(!sandbox.path("none.db").exists() && !sandbox.path("copy.db").exists());
}

#[test]
fn a_damaged_database_has_no_whole_copy() {
    let sandbox = played(40);
    let path = sandbox.path("small.db");
    let mut bytes = fs::read(&path).unwrap();
    // Pages in the middle: of 4096 bytes each.
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let ran = sandbox.run(&["backup", "copy.db", "--db", "small.db"]);
    ran.expect_exit(4);
    assert!(ran.stderr().contains("the copy is damaged: "), "{}", ran.stderr());
    assert!(ran.stderr().contains("spelrum check"), "{}", ran.stderr());
    assert_eq!(names(&sandbox).iter().filter(|name| name.contains("copy")).count(), 0);
}

/// A database that was put away for good can be copied from where nothing may be written.
#[test]
fn an_archived_database_is_copied() {
    let sandbox = played(40);
    let archive = sandbox.path("archive");
    fs::create_dir(&archive).unwrap();
    fs::rename(sandbox.path("small.db"), archive.join("small.db")).unwrap();
    fs::set_permissions(&archive, fs::Permissions::from_mode(0o555)).unwrap();
    let ran = sandbox.run(&["backup", "copy.db", "--db", "archive/small.db"]);
    let in_archive = fs::read_dir(&archive).unwrap().count();
    fs::set_permissions(&archive, fs::Permissions::from_mode(0o755)).unwrap();
    ran.expect_exit(0);
    assert_eq!(in_archive, 1, "nothing was made there");
    sandbox.run(&["check", "--db", "copy.db"]).expect_exit(0);
}
