//! A disk that becomes read-only under a coordinator and under a plain run, as Linux does it to a damaged one, and
//! databases that another program has locked.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use spelrum_test_support::{Tools, skip};

use super::cluster::{Cluster, HEARTBEAT};
use super::judge::assert_complete;
use crate::disk::healthz;
use crate::sandbox::{Ran, Sandbox, Watched, tic_tac_toe, wait_until};

/// A file system of its own in a file.
struct Ext4 {
    tools: Tools,
    image: PathBuf,
    at: PathBuf,
}

impl Ext4 {
    /// `None`, and the test is skipped, if none can be mounted here.
    fn mount(sandbox: &Sandbox, name: &str) -> Option<Self> {
        let tools = Tools::find(&["mkfs.ext4", "mount", "umount"])?;
        let (image, at) = (sandbox.path("image"), sandbox.path(name));
        File::create(&image).unwrap().set_len(64 << 20).unwrap();
        fs::create_dir(&at).unwrap();
        let disk = Self { tools, image, at };
        Ran(tools.command("mkfs.ext4").args(["-q", "-F"]).arg(&disk.image).output().unwrap())
            .expect_exit(0);
        let mounted = disk.try_mount();
        if mounted.0.status.success() {
            return Some(disk);
        }
        skip(format!("it needs the right to mount a disk: {}", mounted.stderr().trim_end()));
        None
    }

    fn try_mount(&self) -> Ran {
        let mut mount = self.tools.command("mount");
        Ran(mount.args(["-o", "loop"]).arg(&self.image).arg(&self.at).output().unwrap())
    }

    fn unmount(&self) {
        let _unmounted = self.tools.command("umount").arg("--lazy").arg(&self.at).output();
    }

    /// From now on nothing can be written, also by who had files open.
    fn fail(&self) {
        let mut mount = self.tools.command("mount");
        let failed = mount.args(["-o", "remount,abort"]).arg(&self.at).output();
        Ran(failed.unwrap()).expect_exit(0);
    }

    /// The disk as it is found when the machine is started anew.
    fn mend(&self) {
        self.unmount();
        self.try_mount().expect_exit(0);
    }
}

impl Drop for Ext4 {
    fn drop(&mut self) {
        self.unmount();
    }
}

#[test]
fn a_disk_that_becomes_read_only_ends_the_program_and_loses_nothing() {
    let sandbox = Sandbox::new();
    let Some(disk) = Ext4::mount(&sandbox, "disk") else { return };
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4_000));
    let mut command = sandbox.spelrum(&["coordinator", "--db", "disk/c.db"]);
    command.args(["--listen", "127.0.0.1:0", "--heartbeat", HEARTBEAT]);
    let log = File::create(sandbox.path("log")).unwrap();
    let mut coordinator = sandbox.coordinator_as(command.stderr(log));
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--db", "disk/r.db"]);
    run.read_until("games in 2 cells");
    let mut worker = sandbox.worker(&url, "1", &["--exit-when-done"]);
    for db in ["disk/c.db", "disk/r.db"] {
        wait_until("games are settled", || sandbox.settled(db) > 100);
    }

    disk.fail();
    wait_until("nobody can write", || healthz(&coordinator).starts_with("HTTP/1.1 503"));
    // After a minute in which nothing was mended.
    assert_eq!(coordinator.process.wait().code(), Some(4));
    let log = fs::read_to_string(sandbox.path("log")).unwrap();
    assert!(log.contains("make the file and its disk writable again"), "{log}");
    assert_eq!(run.end(), Some(4));

    disk.mend();
    let coordinator = sandbox.coordinator_with("disk/c.db", &address, HEARTBEAT);
    assert_eq!(worker.wait().code(), Some(0));
    drop(coordinator);
    assert_complete(&sandbox, "disk/c.db");
    sandbox.run(&["run", "sweep.toml", "--db", "disk/r.db"]).expect_exit(0);
    assert_complete(&sandbox, "disk/r.db");
}

/// Another program that has a database locked until this is dropped, for longer than anybody waits for it.
pub(super) struct Lock(Connection);

impl Lock {
    pub(super) fn on(path: &Path) -> Self {
        let other = Connection::open(path).unwrap();
        other.busy_timeout(Duration::from_secs(600)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        Self(other)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}

#[test]
fn a_database_that_another_program_has_locked_is_waited_for() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let worker = sandbox.worker(&cluster.url(), "2", &[]);
    cluster.plays_on();
    let lock = Lock::on(&sandbox.path(super::cluster::DB));
    // That nothing is committed may be found before the reason is.
    wait_until("nobody can write, and why", || {
        let health = healthz(&cluster.coordinator);
        health.starts_with("HTTP/1.1 503") && health.contains("another program")
    });
    // A kill does not help against it.
    drop(worker);
    let _worker = sandbox.worker(&cluster.url(), "2", &[]);
    drop(lock);
    wait_until("it is well again", || healthz(&cluster.coordinator).ends_with("\r\n\r\nok\n"));
    cluster.plays_on();
    // For less than anybody waits, again and again.
    for _ in 0..8 {
        drop(Lock::on(&sandbox.path(super::cluster::DB)));
        cluster.plays_on();
    }
    cluster.assert_ends_well();
}

#[test]
fn a_run_whose_database_is_locked_goes_on_by_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2_000));
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--db", "r.db"]);
    run.read_until("games in 2 cells");
    wait_until("games are settled", || sandbox.settled("r.db") > 100);
    let lock = Lock::on(&sandbox.path("r.db"));
    run.read_until("locked");
    drop(lock);
    assert_eq!(run.end(), Some(0));
    assert_complete(&sandbox, "r.db");
}
