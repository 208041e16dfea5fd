//! What becomes of a coordinator, its workers and a plain run when the database is damaged under them, and when the
//! log that a killed one leaves is gone: nothing is acknowledged that nobody will find, and it is said.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::sandbox::{Process, Sandbox, Service, Watched, tic_tac_toe, wait_until};

/// What a coordinator answers; nothing if it is not there any more.
fn get(address: &str, path: &str) -> String {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(address) {
        let call = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let _may_end =
            stream.write_all(call.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
    }
    answer
}

/// Games that it has settled, as it counts them after each commit.
fn acknowledged(address: &str) -> Option<u64> {
    let metrics = get(address, "/metrics");
    let lines = metrics.lines().filter(|line| line.starts_with("spelrum_games_settled_total"));
    let counts: Vec<u64> = lines.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    format!("{}{suffix}", path.display()).into()
}

fn cut(path: &Path, bytes: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

/// A coordinator with a worker amid a sweep, and its log.
struct Cluster {
    coordinator: Service,
    worker: Process,
    address: String,
    log: PathBuf,
}

impl Cluster {
    fn start(sandbox: &Sandbox) -> Self {
        sandbox.write("sweep.toml", &tic_tac_toe("sweep", 10_000));
        let log = sandbox.path("log");
        let arguments =
            ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0", "--heartbeat", "200ms"];
        let mut command = sandbox.spelrum(&arguments);
        let coordinator = sandbox.coordinator_as(command.stderr(File::create(&log).unwrap()));
        let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
        sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
        // The sweep is in the file itself: with the log only games are lost.
        let shell = rusqlite::Connection::open(sandbox.path("c.db")).unwrap();
        shell.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        drop(shell);
        let worker = sandbox.worker(&url, "1", &["--exit-when-done"]);
        wait_until("games are settled", || acknowledged(&address).is_some_and(|games| games > 300));
        Self { coordinator, worker, address, log }
    }

    /// Lets the worker stand still, until nothing of it is under way any more; how many games were acknowledged.
    fn pause(&self) -> u64 {
        self.worker.signal(Signal::STOP);
        let (mut before, mut since) = (None, Instant::now());
        wait_until("nothing is under way", || {
            let now = acknowledged(&self.address);
            if std::mem::replace(&mut before, now) != now {
                since = Instant::now();
            }
            now.is_some() && since.elapsed() > Duration::from_millis(300)
        });
        before.unwrap()
    }

    /// The worker goes on, and reports; that it is not told of one result more, that the coordinator says that it
    /// is not well, and ends with the code of a damaged database. What it has logged.
    fn expect_end(&mut self, acknowledged_before: u64) -> String {
        self.worker.signal(Signal::CONT);
        wait_until("the coordinator is not well", || {
            let now = acknowledged(&self.address);
            assert!(now.is_none_or(|now| now == acknowledged_before), "{now:?}");
            !get(&self.address, "/healthz").ends_with("\r\n\r\nok\n")
        });
        assert_eq!(self.coordinator.process.wait().code(), Some(4));
        fs::read_to_string(&self.log).unwrap()
    }
}

/// Once what is lost has been accepted, the sweep is played to its end by the same worker.
fn expect_all(sandbox: &Sandbox, worker: &mut Process, address: &str) {
    let more = ["--heartbeat", "200ms", "--accept-loss"];
    let arguments = [&["coordinator", "--db", "c.db", "--listen", address], &more[..]].concat();
    let _coordinator = sandbox.coordinator_as(&mut sandbox.spelrum(&arguments));
    assert_eq!(worker.wait().code(), Some(0));
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM games"), "20000");
}

#[test]
fn a_coordinator_whose_log_is_emptied_acknowledges_nothing_more() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let acknowledged = cluster.pause();
    cut(&beside(&sandbox.path("c.db"), "-wal"), 0);
    let log = cluster.expect_end(acknowledged);
    assert!(log.contains("it is damaged") && log.contains("c.db-wal was cut"), "{log}");
    assert!(log.contains("c.db-rescued"), "{log}");

    // It is not forgotten that the log is gone.
    let refused = sandbox.run(&["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"]);
    refused.expect_exit(4);
    assert!(refused.stderr().contains("--accept-loss"), "{}", refused.stderr());
    expect_all(&sandbox, &mut cluster.worker, &cluster.address);
}

#[test]
fn a_coordinator_whose_file_is_cut_acknowledges_nothing_more() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let acknowledged = cluster.pause();
    cut(&sandbox.path("c.db"), 8_192);
    let log = cluster.expect_end(acknowledged);
    assert!(log.contains("it is damaged") && log.contains("c.db was cut to 8192 bytes"), "{log}");
    assert_eq!(
        fs::metadata(sandbox.path("c.db")).unwrap().len(),
        8_192,
        "nothing was written into it"
    );
}

/// SIGTERM after that is no peaceful end.
#[test]
fn a_coordinator_that_is_told_to_end_says_that_its_file_is_cut() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    // Or a worker's call could meet the file before its end does.
    let _acknowledged = cluster.pause();
    cut(&sandbox.path("c.db"), 8_192);
    cluster.coordinator.process.signal(Signal::TERM);
    assert_eq!(cluster.coordinator.process.wait().code(), Some(4));
    let log = fs::read_to_string(&cluster.log).unwrap();
    assert!(log.contains("c.db was cut to 8192 bytes"), "{log}");
}

/// Noise in the middle of the file is met by whoever reads it.
#[test]
fn a_coordinator_that_meets_noise_acknowledges_nothing_more() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let acknowledged = cluster.pause();
    let file = OpenOptions::new().write(true).open(sandbox.path("c.db")).unwrap();
    let pages = file.metadata().unwrap().len() / 4_096;
    for page in 1..pages {
        file.write_all_at(&[0xa5; 4_096], page * 4_096).unwrap();
    }
    let url = cluster.coordinator.url.clone();
    let everything = "SELECT count(*), sum(length(definition_json)) FROM games, cells";
    wait_until("somebody meets it", || {
        let asked = sandbox.run(&["sql", "--coordinator", &url, everything]);
        let _other = sandbox.run(&["report", "--coordinator", &url, "sweep"]);
        !asked.0.status.success()
    });
    let log = cluster.expect_end(acknowledged);
    assert!(log.contains("it is damaged"), "{log}");
}

#[test]
fn a_run_whose_log_is_emptied_ends() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20_000));
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--db", "r.db"]);
    run.read_until("games in 2 cells");
    wait_until("games are settled", || sandbox.settled("r.db") > 100);
    cut(&sandbox.path("r.db-wal"), 0);
    run.read_until("it is damaged");
    assert_eq!(run.end(), Some(4));
    let again = sandbox.run(&["run", "sweep.toml", "--db", "r.db"]);
    again.expect_exit(4);
    assert!(again.stderr().contains("--accept-loss"), "{}", again.stderr());
    let again = sandbox.run(&["run", "sweep.toml", "--db", "r.db", "--accept-loss"]);
    again.expect_exit(0);
    assert!(again.stderr().contains("going on without it"), "{}", again.stderr());
    assert_eq!(sandbox.sql("r.db", "SELECT count(*) FROM games"), "40000");
}

/// Every command that would take what is left for all says that it is not.
#[test]
fn a_killed_coordinator_whose_log_is_gone_is_not_started_in_silence() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    cluster.coordinator.process.kill();
    let log = sandbox.path("c.db-wal");
    fs::rename(&log, sandbox.path("elsewhere")).unwrap();
    let commands: [&[&str]; 5] = [
        &["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"],
        &["run", "sweep.toml", "--db", "c.db"],
        &["check", "--db", "c.db"],
        &["backup", "copy.db", "--db", "c.db"],
        &["report", "--db", "c.db"],
    ];
    for command in commands {
        let refused = sandbox.run(command);
        refused.expect_exit(4);
        assert!(refused.stderr().contains("is missing"), "{command:?}: {}", refused.stderr());
        assert!(refused.stderr().contains("--accept-loss"), "{command:?}: {}", refused.stderr());
    }
    assert!(!sandbox.path("copy.db").exists() && !log.exists());

    // Another database's in its place.
    sandbox.write("other.toml", &tic_tac_toe("other", 20));
    sandbox.run(&["run", "other.toml", "--db", "o.db"]).expect_exit(0);
    let other = rusqlite::Connection::open(sandbox.path("o.db")).unwrap();
    other.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    fs::copy(sandbox.path("o.db-wal"), &log).unwrap();
    for command in commands {
        let refused = sandbox.run(command);
        refused.expect_exit(4);
        assert!(refused.stderr().contains("that of another database"), "{}", refused.stderr());
    }
    expect_all(&sandbox, &mut cluster.worker, &cluster.address);
    assert!(sandbox.path("c.db-wal-aside-1").exists());
}

/// With the log put back nothing is lost.
#[test]
fn a_killed_coordinator_whose_log_comes_back_goes_on() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let acknowledged = cluster.pause();
    cluster.coordinator.process.kill();
    fs::rename(sandbox.path("c.db-wal"), sandbox.path("elsewhere")).unwrap();
    sandbox.run(&["check", "--db", "c.db"]).expect_exit(4);
    fs::rename(sandbox.path("elsewhere"), sandbox.path("c.db-wal")).unwrap();
    assert!(sandbox.settled("c.db") >= acknowledged);
    cluster.worker.signal(Signal::CONT);
    let _coordinator = sandbox.coordinator_with("c.db", &cluster.address, "200ms");
    assert_eq!(cluster.worker.wait().code(), Some(0));
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM games"), "20000");
    sandbox.run(&["check", "--db", "c.db"]).expect_exit(0);
}
