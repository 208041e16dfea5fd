//! The guard: a small process between this program and an engine, which ends the engine when this program
//! ends, for whatever reason.
//!
//! It is this program again, started with the words of [`Guard`]. Its standard input, output and error are
//! the engine's, which inherits them, so no data passes through it. Only this program holds the other end of
//! the standard input: the system closes it when this program ends, by SIGKILL too. The guard, which never
//! reads there, gets a hang-up and kills the engine's process group. It also ends when the engine ends, with
//! the engine's status as in shells (128 plus the signal's number).
//!
//! On Linux, where a program can leave its group, the guard also adopts orphans: an engine's leftover
//! processes become children of the guard, which finds them in `/proc` and kills them. And an engine asks the
//! kernel to be killed with its guard, in case that is killed.
//!
//! Other systems have only groups; and where descriptors can be marked close-on-exec only after they are
//! open, as on macOS, an engine started at the same time by another thread can inherit the end of a pipe that
//! a guard waits for, which then gets its hang-up only when that engine has ended too.
//!
//! None of it needs `unsafe`: the steps between fork and exec are done by a second stage, which is this
//! program again and then becomes the engine.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getpid, getrlimit, kill_process_group,
    setrlimit, waitid,
};

use crate::failure::is_exhaustion;
use crate::spec::EngineSpec;

/// The command that starts this program as a guard: these words, followed by the guard's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    program: PathBuf,
    words: Vec<OsString>,
}

/// The time after which it gives up killing.
pub(crate) const GIVES_UP: Duration = Duration::from_secs(10);

/// The status of a guard when the system has no room for it or its engine: `EX_TEMPFAIL`.
pub(crate) const EXHAUSTED: u8 = 75;

/// First of the guard's own words: guard an engine.
const WATCH: &str = "watch";
/// Become one.
const BECOME: &str = "become";
/// The prefix for the engine's environment variables during the guard's stages: the engine's libraries are
/// not for the guard.
const ENGINES_OWN: &str = "SPELRUM_ENGINE_";
/// In place of a memory limit.
const UNBOUNDED: &str = "-";

impl Guard {
    /// Uses the running program, in which [`run`] is called for these words.
    ///
    /// # Errors
    /// If the system does not report the running program.
    pub fn from_running_program(words: &[&str]) -> io::Result<Self> {
        Ok(Self::from_program(running_program()?, words))
    }

    /// Uses another program, in which [`run`] is called for these words.
    #[must_use]
    pub fn from_program(program: PathBuf, words: &[&str]) -> Self {
        Self { program, words: words.iter().map(OsString::from).collect() }
    }

    /// The command that starts an engine under guard: in its directory, with only its environment and `PATH`,
    /// and with its address space limit for each process.
    pub(crate) fn command(&self, spec: &EngineSpec) -> Command {
        let mut command = Command::new(&self.program);
        let memory = spec.memory_bytes.map_or(UNBOUNDED.to_owned(), |bytes| bytes.to_string());
        command.args(&self.words).args([WATCH, &memory]).arg(&spec.command).args(&spec.args);
        command.current_dir(&spec.directory).env_clear();
        // Scripts that start an engine look there for their programs.
        let path = std::env::var_os("PATH").map(|path| ("PATH".to_owned(), path));
        let environment = spec.environment.iter().map(|(name, value)| (name.clone(), value.into()));
        for (name, value) in path.into_iter().chain(environment) {
            command.env(format!("{ENGINES_OWN}{name}"), value);
        }
        // A Ctrl-C of the terminal is for the worker, which may finish its games first.
        command.arg0("spelrum-guard").process_group(0);
        command
    }
}

/// The running program, also after its file has been replaced. Without `/proc`, as in a bare `chroot`, it is
/// the file that the program was started from, if it was started by a path.
///
/// # Errors
/// If the system does not report it.
pub fn running_program() -> io::Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() {
        return Ok(link);
    }
    std::env::current_exe().or_else(|unknown| {
        let started = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        if started.parent().is_none_or(|folder| folder.as_os_str().is_empty()) {
            return Err(unknown);
        }
        started.canonicalize()
    })
}

/// Runs as a guard: called by a program that is started with the words of its [`Guard`]. `args` are the words
/// after those.
#[must_use]
pub fn run(words: &[&str], args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let stage = args.next();
    let done = match stage.as_ref().and_then(|stage| stage.to_str()) {
        Some(WATCH) => watch(words, args.collect()),
        Some(BECOME) => Err(become_engine(args)),
        _ => Err(io::Error::other("only spelrum itself runs this command, to start an engine")),
    };
    done.unwrap_or_else(|error| {
        // Standard error is the engine's, and ends in its transcript.
        let _ = io::Write::write_all(&mut io::stderr(), format!("guard: {error}\n").as_bytes());
        ExitCode::from(if is_exhaustion(&error) {
            EXHAUSTED
        } else if error.kind() == io::ErrorKind::NotFound {
            127
        } else {
            126
        })
    })
}

/// The first stage: starts the second, and supervises it.
fn watch(words: &[&str], args: Vec<OsString>) -> io::Result<ExitCode> {
    adopt_orphans();
    let mut engine = Command::new(running_program()?)
        .args(words)
        .args([BECOME, &getpid().as_raw_nonzero().to_string()])
        .args(args)
        .process_group(0)
        .spawn()?;
    let group = Pid::from_child(&engine);
    let waited = wait_for_end(&engine);
    let left = if matches!(waited, Ok(Ended::Itself)) { left_behind(group) } else { Vec::new() };
    // The engine is not reaped yet, so its number still is the group's, unless it has left that.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = engine.kill();
    let status = engine.wait();
    kill_orphans();
    report(&left);
    waited?;
    Ok(ExitCode::from(code_of(status?)))
}

/// The prefix of the guard's report, on the engine's standard error, of processes that outlived an engine
/// which ended by itself. Their number and names follow.
pub const LEFT_BEHIND: &str = "guard: it left processes behind, which were killed: ";

/// The most names in it.
const NAMED_MAX: usize = 5;

/// Reports leftover processes of the engine, unless that would block.
fn report(left: &[String]) {
    let stderr = io::stderr();
    let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if left.is_empty() || !poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0) {
        return;
    }
    let names = left.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let line = format!("{LEFT_BEHIND}{} ({names})\n", left.len());
    // A writable pipe takes this much without blocking.
    let _ = io::Write::write_all(&mut io::stderr(), line.as_bytes());
}

/// The first to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The engine, by itself.
    Itself,
    /// The program that started the guard, as far as can be seen.
    Us,
}

/// Waits until the engine or the program that started the guard has ended.
fn wait_for_end(engine: &Child) -> io::Result<Ended> {
    let stdin = io::stdin();
    let process = EngineFd::open(engine);
    // Without process descriptors, the checks are more frequent.
    let often = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let now_and_then = Timespec { tv_sec: 1, tv_nsec: 0 };
    loop {
        // No events are requested for the standard input, whose data is the engine's. A hang-up is always
        // reported.
        let mut fds = vec![PollFd::new(&stdin, PollFlags::empty())];
        fds.extend(process.poll_fd());
        let timeout = if fds.len() == 1 { often } else { now_and_then };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(Ended::Us);
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if waitid(WaitId::Pid(Pid::from_child(engine)), options)?.is_some() {
            return Ok(Ended::Itself);
        }
        // A child has ended, and it is not the engine.
        if waitid(WaitId::All, options)?.is_some() {
            reap_orphans(Pid::from_child(engine));
        }
    }
}

/// The second stage: sets up what the engine inherits, then becomes the engine.
fn become_engine(mut args: impl Iterator<Item = OsString>) -> io::Error {
    let mut word = || args.next().ok_or_else(|| io::Error::other("an argument is missing"));
    let prepared = (|| {
        let (guard, memory, program) = (word()?, word()?, word()?);
        die_with_guard(&guard)?;
        if memory != UNBOUNDED {
            let bytes = memory.to_str().and_then(|bytes| bytes.parse().ok());
            let bytes =
                bytes.ok_or_else(|| io::Error::other("the memory limit is not a number"))?;
            // The parent may have set a lower limit, which cannot be raised.
            let bytes = getrlimit(Resource::As).maximum.map_or(bytes, |most| most.min(bytes));
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            setrlimit(Resource::As, limit)?;
        }
        // Core dumps are useless here, and may be large.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        Ok(program)
    })();
    match prepared {
        Ok(program) => {
            let environment = std::env::vars_os().filter_map(|(name, value)| {
                let name = name.as_bytes().strip_prefix(ENGINES_OWN.as_bytes())?;
                Some((OsStr::from_bytes(name).to_owned(), value))
            });
            let error = Command::new(&program).args(args).env_clear().envs(environment).exec();
            io::Error::new(error.kind(), format!("{}: {error}", program.display()))
        }
        Err(error) => error,
    }
}

fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// The engine's process as a descriptor that polls as readable when it has ended, if the system has such.
struct EngineFd {
    #[cfg(target_os = "linux")]
    fd: Option<rustix::fd::OwnedFd>,
}

impl EngineFd {
    #[cfg(target_os = "linux")]
    fn open(engine: &Child) -> Self {
        use rustix::process::{PidfdFlags, pidfd_open};
        Self { fd: pidfd_open(Pid::from_child(engine), PidfdFlags::empty()).ok() }
    }

    #[cfg(target_os = "linux")]
    fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.fd.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN))
    }

    #[cfg(not(target_os = "linux"))]
    fn open(_: &Child) -> Self {
        Self {}
    }

    #[cfg(not(target_os = "linux"))]
    fn poll_fd(&self) -> Option<PollFd<'_>> {
        None
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // If the kernel refuses, groups must do.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Dies with its guard, which may have died already.
#[cfg(target_os = "linux")]
fn die_with_guard(guard: &OsStr) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().to_string());
    if parent.as_deref().map(OsStr::new) == Some(guard) {
        Ok(())
    } else {
        Err(io::Error::other("the guard has ended"))
    }
}

/// Kills adopted orphans and reaps them, until none is left.
#[cfg(target_os = "linux")]
fn kill_orphans() {
    use rustix::io::Errno;
    use rustix::process::{WaitOptions, kill_process, wait};

    // Faster multiplication is left to the system's limits.
    let deadline = Instant::now() + GIVES_UP;
    while Instant::now() < deadline {
        let children = children();
        let refused = |child: &Pid| kill_process(*child, Signal::KILL) == Err(Errno::PERM);
        // A process that now runs as another user cannot be killed, nor waited for.
        let is_in_vain = children.iter().filter(|child| refused(child)).count() == children.len();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                // A list of changing processes is never complete; the loop ends when there are none.
                Ok(None) if is_in_vain && !children.is_empty() => return,
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Reaps ended orphans, but not the engine, whose number is still needed: they would stay in the system's
/// table as long as the engine plays.
#[cfg(target_os = "linux")]
fn reap_orphans(engine: Pid) {
    use rustix::process::{WaitOptions, waitpid};

    for orphan in children().into_iter().filter(|child| *child != engine) {
        let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
    }
}

/// The children of this process, from `/proc`: each process's state and parent, after a name in parentheses
/// that may have any characters.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let own_id = getpid().as_raw_nonzero().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat);
        let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        behind_name.split(' ').nth(1) == Some(own_id.as_str())
    };
    pids.filter(is_child).filter_map(Pid::from_raw).collect()
}

/// The names of processes that outlive an engine which has ended and is not reaped yet.
#[cfg(target_os = "linux")]
fn left_behind(engine: Pid) -> Vec<String> {
    let name = |process: Pid| {
        let folder = format!("/proc/{}", process.as_raw_nonzero());
        let stat = std::fs::read(format!("{folder}/stat")).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat).into_owned();
        let (before, behind) = stat.rsplit_once(") ")?;
        // A zombie counts as gone.
        let name = before.split_once('(')?.1;
        (!behind.starts_with('Z')).then(|| crate::text::shown(name, 64))
    };
    let orphans = children().into_iter().filter(|process| *process != engine);
    orphans.filter_map(name).collect()
}

#[cfg(not(target_os = "linux"))]
fn left_behind(_: Pid) -> Vec<String> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

#[cfg(not(target_os = "linux"))]
fn die_with_guard(_: &OsStr) -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn kill_orphans() {}

#[cfg(not(target_os = "linux"))]
fn reap_orphans(_: Pid) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;
    use crate::spec::tests::plain;

    #[test]
    fn the_environment_of_an_engine_is_not_its_guards() {
        let mut spec = plain("sf", Protocol::Uci, "/sf".into());
        spec.environment = [("LD_PRELOAD".to_owned(), "/own.so".to_owned())].into();
        let command = Guard::from_program("/spelrum".into(), &["guard"]).command(&spec);
        let names: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
        assert!(names.contains(&"SPELRUM_ENGINE_LD_PRELOAD".into()), "{names:?}");
        let is_for_engine = |name: &OsString| name.as_bytes().starts_with(b"SPELRUM_ENGINE_");
        assert!(names.iter().all(is_for_engine), "{names:?}");
    }
}
