//! A PostgreSQL server for the tests of a program: on a socket in a directory of its own, and gone with the program.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{path_of, skip};

/// Where Debian has the programs, which are not on the `PATH`: a directory for each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// `nobody`: the server refuses to run as root.
const UNPRIVILEGED: u32 = 65_534;

/// Makes the data of a new server.
const NEW: &str = "\"$2/initdb\" --pgdata=data --auth=trust --username=spelrum --encoding=UTF8 --locale=C --no-sync";

/// Said by a server that accepts connections; a standby accepts those that only read.
const READY: &[&str] = &["ready to accept connections", "ready to accept read-only connections"];

/// A server, or a pooler of connections to one, on a socket, without a port and without a password.
pub struct PostgresServer {
    directory: PathBuf,
    /// The server ends when its standard input does: however this program ends. A line there stops or starts it.
    process: Child,
}

impl PostgresServer {
    /// Starts a server. `None`, and the calling test is skipped, if this machine has none.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or if there is none where nothing may be skipped.
    #[track_caller]
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with(NEW)
    }

    /// Starts a standby of this server, which follows it.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    pub fn standby(&self) -> Self {
        let primary = self.directory.display();
        let copy = format!(
            "\"$2/pg_basebackup\" -h '{primary}' -U spelrum -D data -R --checkpoint=fast --no-sync"
        );
        Self::start_with(&copy).unwrap()
    }

    fn start_with(make_data: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            skip(
                "it needs initdb, pg_basebackup and postgres on the PATH or in /usr/lib/postgresql/*/bin",
            );
            return None;
        };
        // What is asked is what the server answers: nothing needs to be on the disk.
        let script = format!(
            "trap '' INT TERM HUP; {make_data} >log 2>&1 && \
            start() {{ \"$2/postgres\" -D \"$1/data\" -k \"$1\" -c listen_addresses= -c fsync=off -c full_page_writes=off \
                -c jit=off >>log 2>&1 & server=$!; }} && \
            start \"$@\" && while read -r order; do case $order in \
                start) start \"$@\";; \
                stop) kill -INT \"$server\"; wait \"$server\";; \
                wait-for-standby) echo \"synchronous_standby_names = '*'\" >>data/postgresql.conf; \
                    kill -HUP \"$server\";; \
                promote) : >data/promote; kill -USR1 \"$server\";; esac; done; \
            kill -QUIT \"$server\"; wait"
        );
        let (directory, process) = start_unprivileged(&script, &programs)?;
        let server = Self { process, directory };
        server.wait_for(READY, 1);
        Some(server)
    }

    /// Starts a pooler of connections to this server, PgBouncer in transaction mode: each transaction gets one of two
    /// connections. `None`, and the calling test is skipped, if this machine has none.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or if there is none where nothing may be skipped.
    #[track_caller]
    #[must_use]
    pub fn pooler(&self) -> Option<Self> {
        let system = Path::new("/usr/sbin/pgbouncer");
        let Some(program) =
            path_of("pgbouncer").or_else(|| system.is_file().then(|| system.to_owned()))
        else {
            skip("it needs pgbouncer on the PATH or in /usr/sbin");
            return None;
        };
        let script = format!(
            "trap '' INT TERM HUP; printf '%s\\n' '[databases]' '* = host={} user=spelrum' '[pgbouncer]' 'auth_type = any' \
                'pool_mode = transaction' 'default_pool_size = 2' 'listen_port = 5432' \"unix_socket_dir = $1\" >settings && \
            {{ \"$2\" settings >log 2>&1 & pooler=$!; }} && read -r _; kill -KILL \"$pooler\"; wait",
            self.directory.display()
        );
        let (directory, process) = start_unprivileged(&script, &program)?;
        let pooler = Self { process, directory };
        pooler.wait_for(&["process up"], 1);
        Some(pooler)
    }

    /// Stops the server, without losing anything.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn stop(&mut self) {
        self.order("stop", &["database system is shut down"]);
    }

    /// Starts the server that was stopped.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn start_again(&mut self) {
        self.order("start", READY);
    }

    /// Has this server acknowledge nothing from now on that its standby does not have on its disk.
    ///
    /// # Panics
    ///
    /// If no standby follows it.
    pub fn wait_for_standby(&mut self) {
        self.order("wait-for-standby", &["is now a synchronous standby"]);
    }

    /// Makes this standby a server that accepts writes.
    ///
    /// # Panics
    ///
    /// If it does not become one.
    pub fn promote(&mut self) {
        self.order("promote", READY);
    }

    /// Waits until one of these words stands in the log once more.
    fn order(&mut self, order: &str, words: &[&str]) {
        let times = self.times(words) + 1;
        writeln!(self.process.stdin.as_mut().unwrap(), "{order}").unwrap();
        self.wait_for(words, times);
    }

    fn wait_for(&self, words: &[&str], times: usize) {
        let started = Instant::now();
        while self.times(words) < times {
            assert!(started.elapsed() < Duration::from_secs(60), "no server: {}", self.log());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    fn times(&self, words: &[&str]) -> usize {
        let log = self.log();
        words.iter().map(|words| log.matches(words).count()).sum()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// The address of its database `postgres`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("postgres://spelrum@localhost/postgres?host={}", self.directory.display())
    }

    /// The directory of its socket. The user is `spelrum`, and there is the database `postgres`.
    #[must_use]
    pub fn socket_directory(&self) -> &Path {
        &self.directory
    }
}

/// Starts a shell's script in a directory of its own, which is deleted after it, as a user that is not root. Its arguments
/// are the directory and a path. `None`, and the calling test is skipped, if the machine lacks what that needs.
#[track_caller]
fn start_unprivileged(script: &str, argument: &Path) -> Option<(PathBuf, Child)> {
    let directory = tempfile::tempdir().unwrap().keep();
    let is_root = directory.metadata().unwrap().uid() == 0;
    if is_root && path_of("setpriv").is_none() {
        skip("it needs setpriv on the PATH");
        return None;
    }
    let mut command = Command::new(if is_root { "setpriv" } else { "sh" });
    if is_root {
        chown(&directory, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        let id = UNPRIVILEGED.to_string();
        command.args([&format!("--reuid={id}"), &format!("--regid={id}")]);
        command.args(["--clear-groups", "sh"]);
    }
    let script = format!("cd \"$1\" && umask 077 && {script}; cd / && rm -rf \"$1\"");
    command.args(["-c", &script, "sh"]).arg(&directory).arg(argument);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    Some((directory, command.spawn().unwrap()))
}

/// The directory of its programs: that on the `PATH`, or that of the latest version.
fn programs() -> Option<PathBuf> {
    let on_path = path_of("postgres").and_then(|file| Some(file.parent()?.to_owned()));
    let versions = std::fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    versions.reverse();
    let has_all = |folder: &PathBuf| {
        ["initdb", "pg_basebackup", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    on_path.into_iter().chain(versions).find(has_all)
}
