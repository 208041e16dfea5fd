//! Engines that this machine builds from commits of a Git repository.
//!
//! The engines file has the repository's address and the commands; only a commit comes from elsewhere, as 40 hexadecimal
//! digits. It is built if a branch or a tag of the repository led to it when it was fetched: a host of forks would also
//! give out commits that other people made, if it were asked for their hashes. Commands run under a [`Guard`], as engines
//! do.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::build::hash_build;
use crate::failure::Exit;
use crate::guard::Guard;
use crate::process::{Aborted, Lost, Process};
use crate::search_path::in_path;
use crate::spec::EngineSpec;

/// An engine of the engines file that is built from commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A build of it. Relative paths lead from the folder of the built commit.
    pub(crate) engine: EngineSpec,
    /// The repository: an address, or an absolute path.
    pub(crate) git: String,
    /// The shell command that builds it.
    pub(crate) build: String,
    /// The shell command that prints its number of nodes, if that is not `bench` as the engine's argument.
    pub(crate) bench: Option<String>,
    /// The time limit of fetching, of building and of `bench`, each.
    pub(crate) timeout: Duration,
}

/// A commit to build.
#[derive(Clone, Copy, Debug)]
pub struct CommitToBuild<'a> {
    /// The name of the built engine.
    pub name: &'a str,
    /// The commit, as 40 hexadecimal digits.
    pub commit: &'a str,
    /// The number of nodes that its `bench` must count.
    pub bench: Option<u64>,
}

/// Why a commit was not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// It was no longer wanted.
    #[error("the build was aborted")]
    Aborted,
    /// The repository could not be fetched, or lacks the commit, or the machine lacks room: it may succeed later.
    #[error("{0}")]
    MayPass(String),
    /// This machine cannot build this commit.
    #[error("{0}")]
    Failed(String),
}

/// Built commits of an engine that are kept; the least recently used are removed.
const KEPT_MAX: usize = 64;
/// The most that a command may print.
const OUTPUT_BYTES_MAX: u64 = 256 << 20;
/// The last lines of a failed command that its message has, and the bytes of each.
const LAST_LINES: usize = 5;
const LAST_LINE_BYTES_MAX: usize = 200;
/// The interval at which a build that waits for another process's build looks again.
const LOCK_INTERVAL: Duration = Duration::from_millis(200);
/// What Git needs of this process's environment to reach a repository. Builds and engines do not get it.
const FETCH_ENVIRONMENT: [&str; 4] = ["HOME", "SSH_AUTH_SOCK", "https_proxy", "no_proxy"];

/// A command that did not do its work.
enum Unsuccessful {
    Aborted,
    /// The problem, for people.
    Problem(String),
}

impl From<Unsuccessful> for BuildError {
    fn from(unsuccessful: Unsuccessful) -> Self {
        match unsuccessful {
            Unsuccessful::Aborted => Self::Aborted,
            Unsuccessful::Problem(problem) => Self::Failed(problem),
        }
    }
}

/// A command of a build.
struct Step<'a> {
    /// What it does, for people.
    title: &'a str,
    program: PathBuf,
    args: Vec<String>,
    directory: &'a Path,
    environment: BTreeMap<String, String>,
}

/// The place and means of a build.
struct Builder<'a> {
    source: &'a Source,
    guard: &'a Guard,
    /// The folder of this engine's repository and commits.
    folder: &'a Path,
    aborted: Aborted<'a>,
}

impl Source {
    /// The engine's name in the engines file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.engine.name
    }

    /// The engine as it is once it is built. Its program and its files are not there before.
    #[must_use]
    pub const fn unbuilt(&self) -> &EngineSpec {
        &self.engine
    }

    /// Builds a commit in a subfolder of `builds`, unless it is there, and checks its `bench`. Blocks until then, also
    /// while another process builds a commit of the engine.
    ///
    /// # Errors
    /// If it is aborted, cannot be fetched or built, or counts other nodes.
    pub fn build(
        &self,
        wanted: CommitToBuild<'_>,
        builds: &Path,
        guard: &Guard,
        aborted: &dyn Fn() -> bool,
    ) -> Result<EngineSpec, BuildError> {
        let folder = builds.join(self.key());
        Builder { source: self, guard, folder: &folder, aborted }.build(wanted)
    }

    /// Has a commit built anew the next time, after its program did not start.
    pub fn forget(&self, commit: &str, builds: &Path) {
        // Without its mark, a build is not used; one that cannot be removed is tried again as it is.
        let _gone = fs::remove_file(mark(&builds.join(self.key()), commit));
    }

    /// The name of the folder for this engine: another one if another repository or command is written in the engines
    /// file.
    fn key(&self) -> String {
        let mut hash = Sha256::new();
        let variables = self.engine.environment.iter().flat_map(|(name, value)| [name, value]);
        for text in [&self.git, &self.build].into_iter().chain(variables) {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        let digits: String =
            hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{digits}", self.engine.name)
    }

    /// The engine of a built commit.
    fn built(&self, name: &str, checkout: &Path) -> EngineSpec {
        let engine = &self.engine;
        // Joined with an empty path, it would end with a slash.
        let directory = match engine.directory.as_os_str().is_empty() {
            true => checkout.to_owned(),
            false => checkout.join(&engine.directory),
        };
        EngineSpec {
            name: name.to_owned(),
            command: checkout.join(&engine.command),
            files: engine.files.iter().map(|file| checkout.join(file)).collect(),
            directory,
            ..engine.clone()
        }
    }
}

impl Builder<'_> {
    fn build(&self, wanted: CommitToBuild<'_>) -> Result<EngineSpec, BuildError> {
        let CommitToBuild { name, commit, bench } = wanted;
        if !is_commit(commit) {
            return Err(BuildError::Failed(format!("{commit:?} is not a commit")));
        }
        let _lock = self.lock()?;
        let (checkout, mark) = (self.folder.join(commit), mark(self.folder, commit));
        let engine = self.source.built(name, &checkout);
        // A cleaner of caches may have removed files of it.
        let is_built = mark.is_file() && hash_build(&engine).is_ok();
        if !is_built {
            self.check_out(commit, &checkout)?;
            let step = Step { title: "the build", ..self.shell(&self.source.build, &checkout) };
            self.run(step).inspect_err(|_| {
                // A failed build is not used again. What cannot be removed is, before the next one.
                let _gone = fs::remove_dir_all(&checkout);
            })?;
        }
        // Also the time of its last use.
        File::create(&mark)
            .and_then(|file| file.set_modified(SystemTime::now()))
            .map_err(|error| self.unwritable(&error))?;
        self.remove_old(commit);
        if let Some(stated) = bench {
            self.check_bench(&engine, &checkout, stated)?;
        }
        Ok(engine)
    }

    /// Waits until no other process builds this engine.
    fn lock(&self) -> Result<File, BuildError> {
        let open = || {
            fs::create_dir_all(self.folder)?;
            File::create(self.folder.join("lock"))
        };
        let lock = open().map_err(|error| self.unwritable(&error))?;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(self.unwritable(&error)),
            }
            if (self.aborted)() {
                return Err(BuildError::Aborted);
            }
            thread::park_timeout(LOCK_INTERVAL);
        }
    }

    fn unwritable(&self, error: &io::Error) -> BuildError {
        let folder = self.folder.display();
        BuildError::MayPass(format!(
            "the folder {folder} for builds cannot be written: {error}; `builds` in the engines file names another one"
        ))
    }

    /// Fetches a commit, unless that was done, and checks it out.
    fn check_out(&self, commit: &str, checkout: &Path) -> Result<(), BuildError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let git = in_path(&path, "git").ok_or_else(|| {
            BuildError::Failed(
                "there is no program `git` in the PATH, which fetches commits".to_owned(),
            )
        })?;
        let repository = self.folder.join("repository");
        let directory = format!("--git-dir={}", repository.display());
        let step = |title, args: &[&str]| {
            let args = args.iter().map(|&arg| arg.to_owned());
            let args = std::iter::once(directory.clone()).chain(args).collect();
            let program = git.clone();
            Step { title, program, args, directory: self.folder, environment: fetch_environment() }
        };
        // A killed Git leaves locks behind, and no other process is here: a repository that is not in order is made anew.
        let made_anew = |unsuccessful| match unsuccessful {
            Unsuccessful::Aborted => BuildError::Aborted,
            Unsuccessful::Problem(problem) => {
                let _gone = fs::remove_dir_all(&repository);
                BuildError::MayPass(problem)
            }
        };
        self.run(step("git init", &["init", "--quiet", "--bare"])).map_err(made_anew)?;
        let object = format!("{commit}^{{commit}}");
        let has_commit = || match self.run(step("git cat-file", &["cat-file", "-e", &object])) {
            Ok(_) => Ok(true),
            Err(Unsuccessful::Problem(_)) => Ok(false),
            Err(Unsuccessful::Aborted) => Err(BuildError::Aborted),
        };
        if !has_commit()? {
            let address = &self.source.git;
            let branches = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
            let fetch = [
                "-c",
                "gc.auto=0",
                "-c",
                "maintenance.auto=false",
                "fetch",
                "--quiet",
                "--no-tags",
                "--prune",
                "--",
                address,
                branches[0],
                branches[1],
            ];
            self.run(step("git fetch", &fetch)).map_err(made_anew)?;
            if !has_commit()? {
                return Err(BuildError::MayPass(format!(
                    "no branch and no tag of {address} leads to the commit {commit}"
                )));
            }
        }
        // The files of a build that was killed.
        if let Err(error) = fs::remove_dir_all(checkout)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(self.unwritable(&error));
        }
        let folder = checkout.display().to_string();
        let add = ["worktree", "add", "--quiet", "--detach", "--force", "--force", &folder, commit];
        self.run(step("git worktree add", &add)).map(drop).map_err(made_anew)
    }

    /// Compares the number of nodes that a built engine counts.
    fn check_bench(
        &self,
        engine: &EngineSpec,
        checkout: &Path,
        stated: u64,
    ) -> Result<(), BuildError> {
        let title = "`bench`";
        let step = match &self.source.bench {
            Some(command) => Step { title, ..self.shell(command, checkout) },
            None => Step {
                title,
                program: engine.command.clone(),
                args: engine.args.iter().cloned().chain(["bench".to_owned()]).collect(),
                directory: checkout,
                environment: engine.environment.clone(),
            },
        };
        match self.run(step)? {
            Some(nodes) if nodes == stated => Ok(()),
            Some(nodes) => Err(BuildError::Failed(format!(
                "`bench` counts {nodes} nodes here, and the sweep says {stated}"
            ))),
            None => Err(BuildError::Failed(
                "`bench` printed no number of nodes, such as \"1234567 nodes\" or \"Nodes searched: 1234567\"".to_owned(),
            )),
        }
    }

    /// A command of the engines file, in the environment of its engine.
    fn shell<'s>(&self, command: &str, directory: &'s Path) -> Step<'s> {
        Step {
            title: "",
            program: "/bin/sh".into(),
            args: vec!["-c".to_owned(), command.to_owned()],
            directory,
            environment: self.source.engine.environment.clone(),
        }
    }

    /// Runs a command to its end, and returns the last number of nodes that it printed.
    fn run(&self, step: Step<'_>) -> Result<Option<u64>, Unsuccessful> {
        let Step { title, program, args, directory, environment } = step;
        let command = EngineSpec {
            command: program,
            args,
            directory: directory.to_owned(),
            environment,
            logs: None,
            ..self.source.engine.clone()
        };
        let failed = |what: &str| Unsuccessful::Problem(format!("{title} {what}"));
        let mut process = Process::start(&command, self.guard)
            .map_err(|kind| failed(&format!("did not start: {kind}")))?;
        let deadline = Instant::now() + self.source.timeout;
        let mut bytes = 0;
        let exit = loop {
            match process.next_line(deadline, self.aborted) {
                Ok(timed) => {
                    bytes += timed.line.text.len() as u64 + 1;
                    process.reuse(timed.line);
                    if bytes > OUTPUT_BYTES_MAX {
                        return Err(failed(&format!(
                            "printed more than {} MiB",
                            OUTPUT_BYTES_MAX >> 20
                        )));
                    }
                }
                Err(Lost::Ended(exit)) => break exit,
                Err(Lost::Aborted) => return Err(Unsuccessful::Aborted),
                Err(Lost::TimedOut) => {
                    let limit = self.source.timeout.as_secs_f64();
                    let last = last_lines(&process.transcript());
                    return Err(failed(&format!("did not end within {limit} s{last}")));
                }
            }
        };
        if exit != Exit::Code(0) {
            let last = last_lines(&process.transcript());
            return Err(failed(&format!("failed ({exit}){last}")));
        }
        // Some engines print it on their standard error.
        Ok(process.transcript().lines().rev().find_map(|line| node_count(line.get(2..)?)))
    }

    /// Removes the builds that were not used for longest, and the folders of builds that were killed.
    fn remove_old(&self, in_use: &str) {
        let Ok(entries) = fs::read_dir(self.folder) else { return };
        for entry in fs::read_dir(self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_left = name.to_str().is_some_and(|name| is_commit(name) && name != in_use)
                && !entry.path().with_extension("built").exists();
            if is_left {
                let _gone = fs::remove_dir_all(entry.path());
            }
        }
        let used = entries.flatten().filter_map(|entry| {
            let path = entry.path();
            let is_mark = path.extension().is_some_and(|extension| extension == "built");
            let at = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
            (is_mark && path.file_stem()? != in_use).then_some((at, path))
        });
        let mut used: Vec<_> = used.collect();
        used.sort_unstable();
        let excess = (used.len() + 1).saturating_sub(KEPT_MAX);
        for (_, mark) in used.into_iter().take(excess) {
            // The mark first: without it, the rest is built again. What cannot be removed takes space only.
            let _kept =
                fs::remove_file(&mark).and_then(|()| fs::remove_dir_all(mark.with_extension("")));
        }
    }
}

/// Whether a text is the full hash of a commit.
fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// The file that says that a commit is built. Its time is that of the last use.
fn mark(folder: &Path, commit: &str) -> PathBuf {
    folder.join(format!("{commit}.built"))
}

/// The environment of Git.
fn fetch_environment() -> BTreeMap<String, String> {
    let inherited =
        FETCH_ENVIRONMENT.into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
    // A worker has no terminal where a password could be typed.
    let silent = [("GIT_TERMINAL_PROMPT", "0"), ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")];
    let silent = silent.into_iter().map(|(name, value)| (name, value.to_owned()));
    inherited.chain(silent).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The number of nodes in a line of `bench`, as in "1234567 nodes 987654 nps" and "Nodes searched  : 1234567".
fn node_count(line: &str) -> Option<u64> {
    let words = || line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let is_nodes = |word: &str| word.eq_ignore_ascii_case("nodes");
    let first = words().next()?;
    // The progress of a search.
    if first == "info" {
        return None;
    }
    let is_any =
        |word: &str, names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let words_after = |place| words().nth(place).unwrap_or_default();
    let before = (1..words().count()).find(|place| is_nodes(words_after(*place)));
    // A speed, as in "987654 nodes per second", is another number.
    let before =
        before.filter(|place| !is_any(words_after(place + 1), &["per", "second", "sec", "s"]));
    if let Some(count) = before.and_then(|place| words_after(place - 1).parse().ok()) {
        return Some(count);
    }
    let is_titled = is_any(first, &["nodes", "bench", "total"])
        && !words().any(|word| is_any(word, &["second", "sec", "nps"]));
    let (_, value) = line.split_once([':', '=']).filter(|_| is_titled)?;
    value.split_whitespace().next()?.parse().ok()
}

/// The last lines of a command, in one line; nothing if it printed none.
fn last_lines(transcript: &str) -> String {
    let lines: Vec<&str> =
        transcript.lines().map(|line| line.get(2..).unwrap_or(line).trim()).collect();
    let shown =
        lines[lines.len().saturating_sub(LAST_LINES)..].iter().filter(|line| !line.is_empty());
    let shown: Vec<String> = shown
        .map(|line| {
            let line = &line[..line.floor_char_boundary(LAST_LINE_BYTES_MAX)];
            line.chars().filter(|c| !c.is_control()).collect()
        })
        .collect();
    if shown.is_empty() {
        String::new()
    } else {
        format!("; its last lines: {}", shown.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_nodes_are_read_as_engines_print_them() {
        for (line, count) in [
            ("Nodes searched  : 2030153", Some(2_030_153)),
            ("2030153 nodes 1234567 nps", Some(2_030_153)),
            ("Bench: 99", Some(99)),
            ("Total nodes: 12", Some(12)),
            ("info depth 3 seldepth 5 nodes 77 nps 1", None),
            ("Nodes/second    : 1000", None),
            ("987654 nodes/second", None),
            ("Speed: 987654 nodes per second", None),
            ("bestmove e2e4", None),
            ("", None),
        ] {
            assert_eq!(node_count(line), count, "{line}");
        }
    }

    #[test]
    fn a_message_has_the_last_lines_in_one() {
        let transcript = "< one\n! two\n< three\n\n< \u{7}four\n! five\n! six\n";
        assert_eq!(last_lines(transcript), "; its last lines: three | four | five | six");
        assert_eq!(last_lines(""), "");
    }
}
