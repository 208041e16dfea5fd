//! What becomes of a coordinator, of its workers and of a plain run when the disk is full, and when the
//! database is taken from under them.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::statvfs;
use spelrum_test_support::{SKIP_NOTHING, Tools, skip};
use tempfile::TempDir;

use crate::sandbox::{Ran, Sandbox, Service, Watched, tic_tac_toe, wait_until};

/// A small disk, as long as this lives.
pub(crate) enum SmallDisk {
    Mounted(PathBuf, Tools),
    /// A directory on what containers have in the place of shared memory.
    #[expect(dead_code, reason = "held until the test is over")]
    Borrowed(PathBuf, TempDir),
}

/// What containers have, and is small there.
const SHARED_MEMORY: &str = "/dev/shm";

impl SmallDisk {
    /// One of 64 MiB; `None`, and the test is skipped, if none can be mounted here.
    fn mount(at: PathBuf) -> Option<Self> {
        Self::mount_of(at, 64).inspect_err(|why| skip(why)).ok()
    }

    /// Why not, if none can be mounted here. Where nothing may be skipped, a directory on shared memory takes its
    /// place.
    pub(crate) fn mount_of(at: PathBuf, mib: u64) -> Result<Self, String> {
        let tools = Tools::look_for(&["mount", "umount"])?;
        fs::create_dir(&at).unwrap();
        let mut mount = tools.command("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]).arg(&at);
        let mounted = Ran(mount.output().unwrap());
        if mounted.0.status.success() {
            return Ok(Self::Mounted(at, tools));
        }
        if std::env::var_os(SKIP_NOTHING).is_none() {
            let why = mounted.stderr().trim_end();
            return Err(format!("it needs the right to mount a small disk: {why}"));
        }
        let there = statvfs(SHARED_MEMORY).unwrap();
        let bytes = there.f_blocks * there.f_frsize;
        assert!(bytes <= 512 << 20, "a small disk cannot be mounted here, and there is none");
        let directory = tempfile::tempdir_in(SHARED_MEMORY).unwrap();
        fs::remove_dir(&at).unwrap();
        symlink(directory.path(), &at).unwrap();
        Ok(Self::Borrowed(at, directory))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Mounted(path, _) | Self::Borrowed(path, _) => path,
        }
    }

    /// Fills it but for so many bytes.
    pub(crate) fn fill(&self, left: u64) -> PathBuf {
        let path = self.path().join("ballast");
        let mut file = File::create(&path).unwrap();
        while file.write(&[0; 4_096]).is_ok_and(|written| written > 0) {}
        let length = file.metadata().unwrap().len();
        file.set_len(length - left).unwrap();
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if let Self::Mounted(path, tools) = self {
            let _unmounted = tools.command("umount").arg("--lazy").arg(path).status();
        }
    }
}

/// What it answers whoever asks for its health.
pub(crate) fn healthz(coordinator: &Service) -> String {
    get(coordinator, "/healthz")
}

/// What it answers who asks for a path.
pub(crate) fn get(coordinator: &Service, path: &str) -> String {
    let mut stream = TcpStream::connect(coordinator.address()).unwrap();
    let call = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(call.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn games(sandbox: &Sandbox, db: &str) -> u64 {
    sandbox.sql(db, "SELECT count(*) FROM games").parse().unwrap()
}

/// Takes a database away, with all that is beside it.
fn delete(path: &Path) {
    fs::remove_file(path).unwrap();
    for suffix in ["-wal", "-shm"] {
        let beside = format!("{}{suffix}", path.display());
        if Path::new(&beside).exists() {
            fs::remove_file(beside).unwrap();
        }
    }
}

/// Both a coordinator with a worker and a plain run go on by themselves when there is room again.
#[test]
fn a_full_disk_is_waited_for() {
    let sandbox = Sandbox::new();
    let Some(disk) = SmallDisk::mount(sandbox.path("disk")) else { return };
    // As many as the disk holds twice, in the file and in a log that was never begun anew.
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 8_000));

    let coordinator = sandbox.coordinator_with("disk/c.db", "127.0.0.1:0", "200ms");
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &coordinator.url]).expect_exit(0);
    assert!(healthz(&coordinator).ends_with("\r\n\r\nok\n"));
    let mut worker = sandbox.worker(&coordinator.url, "1", &["--exit-when-done"]);
    wait_until("games are settled", || games(&sandbox, "disk/c.db") > 100);
    let ballast = disk.fill(0);
    wait_until("nobody can write", || healthz(&coordinator).starts_with("HTTP/1.1 503"));
    let health = healthz(&coordinator);
    assert!(health.contains("the disk is full"), "{health}");
    // Also a short time after, nothing is stored.
    let stored = games(&sandbox, "disk/c.db");
    fs::remove_file(ballast).unwrap();
    let room = Instant::now();
    wait_until("games are stored again", || games(&sandbox, "disk/c.db") > stored);
    eprintln!("from room on the disk to the first game: {:?}", room.elapsed());
    // What was committed is seen here before the coordinator itself knows of it.
    wait_until("it is well again", || healthz(&coordinator).ends_with("\r\n\r\nok\n"));
    assert_eq!(worker.wait().code(), Some(0));
    assert_eq!(games(&sandbox, "disk/c.db"), 16_000);
    drop(coordinator);
    sandbox.run(&["check", "--db", "disk/c.db"]).expect_exit(0);
    delete(&sandbox.path("disk/c.db"));

    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--db", "disk/r.db"]);
    run.read_until("games in 2 cells");
    wait_until("games are settled", || games(&sandbox, "disk/r.db") > 100);
    let ballast = disk.fill(0);
    run.read_until("the disk is full");
    fs::remove_file(ballast).unwrap();
    assert_eq!(run.end(), Some(0));
    assert_eq!(games(&sandbox, "disk/r.db"), 16_000);
}

/// Nothing is acknowledged into a file that nobody will find; what was acknowledged is saved, and the
/// sweep goes on with it.
#[test]
fn a_database_that_is_deleted_ends_its_coordinator_and_is_saved() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4_000));
    let mut command = sandbox.spelrum(&[
        "coordinator",
        "--db",
        "c.db",
        "--listen",
        "127.0.0.1:0",
        "--heartbeat",
        "200ms",
    ]);
    let log = File::create(sandbox.path("log")).unwrap();
    let mut coordinator = sandbox.coordinator_as(command.stderr(log));
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut worker = sandbox.worker(&url, "1", &["--exit-when-done"]);
    wait_until("games are settled", || games(&sandbox, "c.db") > 100);
    delete(&sandbox.path("c.db"));
    assert_eq!(coordinator.process.wait().code(), Some(4));
    let log = fs::read_to_string(sandbox.path("log")).unwrap();
    assert!(log.contains("is not the file any more that was opened"), "{log}");
    assert!(log.contains("all of it was saved into this file"), "{log}");
    // The worker has kept what nobody acknowledged.
    assert!(!sandbox.path("c.db").exists());
    fs::rename(sandbox.path("c.db-rescued"), sandbox.path("c.db")).unwrap();
    let _coordinator = sandbox.coordinator_with("c.db", &address, "200ms");
    assert_eq!(worker.wait().code(), Some(0));
    assert_eq!(games(&sandbox, "c.db"), 8_000);
    let repeated = "SELECT count(*) FROM uncounted_games WHERE reason <> 'repeat'";
    assert_eq!(sandbox.sql("c.db", repeated), "0");
}

#[test]
fn a_run_whose_database_is_renamed_ends_and_all_is_in_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20_000));
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--db", "r.db"]);
    run.read_until("games in 2 cells");
    wait_until("games are settled", || games(&sandbox, "r.db") > 100);
    fs::rename(sandbox.path("r.db"), sandbox.path("away.db")).unwrap();
    run.read_until("is not the file any more that was opened");
    assert_eq!(run.end(), Some(4));
    let kept = games(&sandbox, "away.db");
    assert!(kept > 100);
    fs::rename(sandbox.path("away.db"), sandbox.path("r.db")).unwrap();
    sandbox.run(&["run", "sweep.toml", "--db", "r.db"]).expect_exit(0);
    assert_eq!(games(&sandbox, "r.db"), 40_000);
}

#[test]
fn a_database_with_two_names_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2));
    sandbox.run(&["run", "sweep.toml", "--db", "r.db"]).expect_exit(0);
    fs::hard_link(sandbox.path("r.db"), sandbox.path("other.db")).unwrap();
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "other.db"]);
    ran.expect_exit(4);
    assert!(ran.stderr().contains("has 2 names"), "{}", ran.stderr());
}
