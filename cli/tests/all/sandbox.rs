//! What the process tests share: the built program, a directory of their own, sweeps to play.

use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, RawPid, Signal, kill_process};
use tempfile::TempDir;

/// A directory that goes with the test, and the program run inside it.
pub(crate) struct Sandbox {
    directory: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program with these arguments, blind to the environment it is tested in.
    pub(crate) fn spelrum(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spelrum"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env_remove("SPELRUM_COORDINATOR")
            .env_remove("SPELRUM_TOKEN")
            .env_remove("SPELRUM_CONFIG")
            .env_remove("SPELRUM_CA")
            .env_remove("SPELRUM_CERT")
            .env_remove("SPELRUM_KEY")
            .env_remove("SPELRUM_TLS_CERT")
            .env_remove("SPELRUM_TLS_KEY")
            .env_remove("SPELRUM_CLIENT_CA")
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", self.directory.path())
            .env_remove("RUST_LOG")
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran(self.spelrum(arguments).output().unwrap())
    }

    /// Runs a statement that yields one value.
    pub(crate) fn sql(&self, db: &str, statement: &str) -> String {
        let ran = self.run(&["sql", "--db", db, "--csv", statement]);
        ran.expect_exit(0);
        ran.stdout().lines().nth(1).unwrap_or_default().to_owned()
    }

    /// The settled games of a database.
    pub(crate) fn settled(&self, db: &str) -> u64 {
        self.sql(db, "SELECT count(*) FROM games").parse().unwrap()
    }

    /// Waits until a coordinator's only experiment is finished.
    pub(crate) fn wait_until_finished(&self, coordinator: &Service) {
        wait_until("the experiment is finished", || {
            let list = self.run(&["list", "--coordinator", &coordinator.url, "--json"]);
            list.stdout().contains("\"finished\"")
        });
    }

    /// Starts it, with nobody to read what it says.
    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        let mut command = self.spelrum(arguments);
        Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Every settled game with its moves, apart from times and from who played it.
    pub(crate) fn all_games(&self, db: &str) -> String {
        let statement = "
            SELECT c.definition_hash, g.number, o.position, g.outcome, g.termination, g.plies,
                g.moves_hash, g.engine_revision, g.counted,
                (SELECT group_concat(m.move, ' ') FROM (
                    SELECT move || '/' || side || '/' || position_key || '/' || legal_moves
                        || '/' || depth || '/' || nodes || '/' || evaluations || '/'
                        || full_tree_leaves || '/' || coalesce(score, '-') || '/' || ended_by
                        AS move
                    FROM moves WHERE game_id = g.game_id ORDER BY ply) AS m) AS moves
            FROM games AS g
            JOIN cells AS c ON c.cell_id = g.cell_id
            JOIN openings AS o ON o.opening_id = g.opening_id
            ORDER BY c.definition_hash, g.number";
        let ran = self.run(&["sql", "--db", db, "--csv", statement]);
        ran.expect_exit(0);
        ran.stdout().to_owned()
    }

    /// Starts a coordinator, and waits until it listens.
    pub(crate) fn coordinator(&self, db: &str, listen: &str) -> Service {
        self.coordinator_with(db, listen, "5s")
    }

    /// The same with another heartbeat.
    pub(crate) fn coordinator_with(&self, db: &str, listen: &str, heartbeat: &str) -> Service {
        let child = self
            .spelrum(&["coordinator", "--db", db, "--listen", listen, "--heartbeat", heartbeat])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Service::listening(child)
    }

    /// The same, as this command starts it.
    pub(crate) fn coordinator_as(&self, command: &mut Command) -> Service {
        Service::listening(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// Starts a worker.
    pub(crate) fn worker(&self, url: &str, slots: &str, more: &[&str]) -> Process {
        self.start(&[&["worker", "--coordinator", url, "--slots", slots], more].concat())
    }
}

/// What a run of the program left.
pub(crate) struct Ran(pub(crate) Output);

impl Ran {
    pub(crate) fn stdout(&self) -> &str {
        std::str::from_utf8(&self.0.stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> &str {
        std::str::from_utf8(&self.0.stderr).unwrap()
    }

    /// Its error, without what it said before: a worker says what its machine gives.
    pub(crate) fn error(&self) -> &str {
        self.stderr().find("error: ").map_or("", |from| &self.stderr()[from..])
    }

    #[track_caller]
    pub(crate) fn expect_exit(&self, code: i32) -> &Self {
        assert_eq!(
            self.0.status.code(),
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout(),
            self.stderr()
        );
        self
    }

    /// Exit code and message, as a snapshot of a failure has them.
    pub(crate) fn failure(&self) -> String {
        assert_eq!(self.stdout(), "", "a failure prints nothing on standard output");
        format!("exit code {}\n{}", self.0.status.code().unwrap(), self.stderr())
    }
}

/// Nothing that a test waits for takes nearly so long, also on a crowded machine: whoever waits any
/// longer waits for ever.
const DEADLINE: Duration = Duration::from_secs(600);

/// Kills a child that a test waits for in vain, so that the test fails instead of hanging.
struct Watchdog(#[expect(dead_code, reason = "held until the wait is over")] Sender<()>);

impl Watchdog {
    fn over(child: &Child) -> Self {
        let pid = Pid::from_child(child);
        let (over, waits) = channel();
        std::thread::spawn(move || {
            if waits.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                // It may have ended in this moment.
                let _gone = kill_process(pid, Signal::KILL);
            }
        });
        Self(over)
    }
}

/// Looks again and again until it is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "waited in vain: {what}");
    }
}

/// A child that does not outlive the test.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// SIGKILL, and the end of it.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let _watchdog = Watchdog::over(&self.0);
        self.0.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ended already, or ends now.
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The process in which a worker plays now, as Linux tells.
pub(crate) fn playing_process(worker: &Process) -> Option<Pid> {
    let parent = worker.0.id().to_string();
    let is_its_child = |stat: &str| {
        // Behind the name, which may have anything in it, stand the state and the parent.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.split(' ').nth(1) == Some(&parent))
    };
    std::fs::read_dir("/proc").unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        let pid: RawPid = path.file_name()?.to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        is_its_child(&stat).then(|| Pid::from_raw(pid).unwrap())
    })
}

/// A program whose stderr is read line by line.
pub(crate) struct Watched {
    pub(crate) process: Process,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl Watched {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::spawn(sandbox.spelrum(arguments))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { process: Process(child), stderr }
    }

    /// Reads on until a line has these words.
    pub(crate) fn read_until(&mut self, words: &str) {
        let _watchdog = Watchdog::over(&self.process.0);
        let mut seen = Vec::new();
        for line in &mut self.stderr {
            let line = line.unwrap();
            if line.contains(words) {
                return;
            }
            seen.push(line);
        }
        panic!("{words:?} was not said: {seen:#?}");
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        let watchdog = Watchdog::over(&self.process.0);
        for line in &mut self.stderr {
            line.unwrap();
        }
        drop(watchdog);
        self.process.wait().code()
    }
}

/// A coordinator that listens.
pub(crate) struct Service {
    pub(crate) process: Process,
    pub(crate) url: String,
    _stdout: BufReader<ChildStdout>,
}

impl Service {
    fn listening(mut child: Child) -> Self {
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let watchdog = Watchdog::over(&child);
        stdout.read_line(&mut line).unwrap();
        drop(watchdog);
        let Some(url) = line.trim_end().strip_prefix("listening on ") else {
            let mut stderr = String::new();
            if let Some(mut said) = child.stderr.take() {
                said.read_to_string(&mut stderr).unwrap();
            }
            panic!("the coordinator does not listen: {line}{stderr}");
        };
        let url = url.to_owned();
        // Its log is read by nobody, and must not fill a pipe.
        if let Some(mut stderr) = child.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        }
        Self { process: Process(child), url, _stdout: stdout }
    }

    /// Host and port, to listen there again.
    pub(crate) fn address(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }
}

/// A sweep whose games do not depend on time: random play and a shallow search.
pub(crate) fn tic_tac_toe(name: &str, games: u32) -> String {
    format!(
        r#"name = "{name}"
game = "tic-tac-toe"
seed = 7
games = {games}

[axes]
depth = [1, 2]

[players.random]
algorithm = "random"

[players.alphabeta]
algorithm = "alpha-beta"
depth = "$depth"
"#
    )
}

/// The project's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
