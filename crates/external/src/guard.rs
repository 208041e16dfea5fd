//! The guard: a small process between us and an engine, which ends the engine when we end, whatever ends
//! us.
//!
//! It is this program once more, started with the words of [`Guard`]. Its standard input, output and
//! error are the engine's, which inherits them, so that nothing passes through it. The other end of the
//! standard input is ours alone: the system closes it when we end, by SIGKILL too, and the guard, which
//! never reads there, sees that as a hang-up and kills the engine's process group. It also ends
//! when the engine ends, with the engine's status as shells have it (128 and the number of the signal).
//!
//! On Linux, where a program can leave its group, the guard is also the one who inherits orphans: what
//! an engine leaves behind becomes a child of the guard, is found in `/proc` and is killed. And an engine
//! asks the kernel to be killed with its guard, should somebody kill that.
//!
//! Elsewhere groups are all there is; and where descriptors can be marked as closed on exec only after they
//! are open, as on macOS, an engine that is started at the same time by another thread can inherit the end
//! of a pipe for which a guard waits, which then hears of our end only when that engine has gone too.
//!
//! None of it needs `unsafe`: what a process must do between fork and exec is done by a second stage,
//! which is this program again and then becomes the engine.

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

/// How this program is started as a guard: with these words, behind which stand the guard's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    program: PathBuf,
    words: Vec<OsString>,
}

/// After this it leaves what it could not kill.
pub(crate) const GIVES_UP: Duration = Duration::from_secs(10);

/// With this status a guard ends for which the system has no room, or not for its engine: `EX_TEMPFAIL`.
pub(crate) const EXHAUSTED: u8 = 75;

/// First of the guard's own words: guard an engine.
const WATCH: &str = "watch";
/// Become one.
const BECOME: &str = "become";
/// Stands before the names of the engine's variables until it is there: its libraries are not for the
/// guard.
const ENGINES_OWN: &str = "SPELRUM_ENGINE_";
/// In place of a bound on memory.
const UNBOUNDED: &str = "-";

impl Guard {
    /// Of the running program, where [`run`] is called for these words.
    ///
    /// # Errors
    /// If the system does not tell which program is running.
    pub fn of_this_program(words: &[&str]) -> io::Result<Self> {
        Ok(Self::of_program(this_program()?, words))
    }

    /// Of another program, where [`run`] is called for these words.
    #[must_use]
    pub fn of_program(program: PathBuf, words: &[&str]) -> Self {
        Self { program, words: words.iter().map(OsString::from).collect() }
    }

    /// What starts an engine under guard: in its directory, with its environment and `PATH` alone, and
    /// with as much address space for each of its processes as it may have.
    pub(crate) fn command(&self, spec: &EngineSpec) -> Command {
        let mut command = Command::new(&self.program);
        let memory = spec.memory_bytes.map_or(UNBOUNDED.to_owned(), |bytes| bytes.to_string());
        command.args(&self.words).args([WATCH, &memory]).arg(&spec.command).args(&spec.args);
        command.current_dir(&spec.directory).env_clear();
        // Scripts that start an engine look there for what they use.
        let path = std::env::var_os("PATH").map(|path| ("PATH".to_owned(), path));
        let own = spec.environment.iter().map(|(name, value)| (name.clone(), value.into()));
        for (name, value) in path.into_iter().chain(own) {
            command.env(format!("{ENGINES_OWN}{name}"), value);
        }
        // A Ctrl-C of the terminal is for the worker to hear, which may want to finish its games.
        command.arg0("spelrum-guard").process_group(0);
        command
    }
}

/// The running program, also when its file has been replaced meanwhile. Where there is no `/proc`, as in a bare
/// `chroot`, it is the file that the program was started as, if it was started by a path.
///
/// # Errors
/// If the system does not tell which that is.
pub fn this_program() -> io::Result<PathBuf> {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() {
        return Ok(own);
    }
    std::env::current_exe().or_else(|unknown| {
        let started = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        if started.parent().is_none_or(|folder| folder.as_os_str().is_empty()) {
            return Err(unknown);
        }
        started.canonicalize()
    })
}

/// Is a guard: what a program does when it is started with the words of its [`Guard`]. `args` are what
/// follows those words.
#[must_use]
pub fn run(words: &[&str], args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let stage = args.next();
    let done = match stage.as_ref().and_then(|stage| stage.to_str()) {
        Some(WATCH) => watch(words, args.collect()),
        Some(BECOME) => Err(become_engine(args)),
        _ => Err(io::Error::other("it is started by a worker, for an engine")),
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

/// The first stage: starts the second, and sees to its end.
fn watch(words: &[&str], args: Vec<OsString>) -> io::Result<ExitCode> {
    adopt_orphans();
    let mut engine = Command::new(this_program()?)
        .args(words)
        .args([BECOME, &getpid().as_raw_nonzero().to_string()])
        .args(args)
        .process_group(0)
        .spawn()?;
    let group = Pid::from_child(&engine);
    let waited = wait_for_end(&engine);
    let left = if matches!(waited, Ok(Ended::Itself)) { left_behind(group) } else { Vec::new() };
    // The engine is not reaped yet, so that its number still is the group's. It may have left that.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = engine.kill();
    let status = engine.wait();
    kill_orphans();
    tell_of(&left);
    waited?;
    Ok(ExitCode::from(code_of(status?)))
}

/// How the guard tells, on the engine's standard error, of processes that outlived an engine which ended by itself.
/// Their number and their names follow.
pub const LEFT_BEHIND: &str = "guard: it left processes behind, which were killed: ";

/// No more names than this are told.
const NAMED_MAX: usize = 5;

/// Tells of processes that the engine has left behind, unless somebody would have to be waited for.
fn tell_of(left: &[String]) {
    let stderr = io::stderr();
    let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if left.is_empty() || !poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0) {
        return;
    }
    let names = left.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let line = format!("{LEFT_BEHIND}{} ({names})\n", left.len());
    // What can be written at once is no more than a pipe takes that takes anything.
    let _ = io::Write::write_all(&mut io::stderr(), line.as_bytes());
}

/// Who ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The engine, by itself.
    Itself,
    /// Whoever guards it, or so it seems.
    Us,
}

/// Waits until the engine or whoever guards it has ended.
fn wait_for_end(engine: &Child) -> io::Result<Ended> {
    let stdin = io::stdin();
    let process = EngineFd::open(engine);
    // Where the system has no descriptors of processes, we look more often.
    let often = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let now_and_then = Timespec { tv_sec: 1, tv_nsec: 0 };
    loop {
        // No events are asked for at the standard input: what comes there is the engine's. A hang-up
        // is always told.
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
        // Somebody has ended, and it is not the engine.
        if waitid(WaitId::All, options)?.is_some() {
            reap_orphans(Pid::from_child(engine));
        }
    }
}

/// The second stage: what the engine shall inherit, then the engine.
fn become_engine(mut args: impl Iterator<Item = OsString>) -> io::Error {
    let mut word = || args.next().ok_or_else(|| io::Error::other("a word is missing"));
    let prepared = (|| {
        let (guard, memory, program) = (word()?, word()?, word()?);
        die_with_guard(&guard)?;
        if memory != UNBOUNDED {
            let bytes = memory.to_str().and_then(|bytes| bytes.parse().ok());
            let bytes = bytes.ok_or_else(|| io::Error::other("the memory is no number"))?;
            // Whoever started us may have set a lower one, above which nothing goes.
            let bytes = getrlimit(Resource::As).maximum.map_or(bytes, |most| most.min(bytes));
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            setrlimit(Resource::As, limit)?;
        }
        // What a crash would leave is of no use to anybody here, and may be large.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        Ok(program)
    })();
    match prepared {
        Ok(program) => {
            let own = std::env::vars_os().filter_map(|(name, value)| {
                let name = name.as_bytes().strip_prefix(ENGINES_OWN.as_bytes())?;
                Some((OsStr::from_bytes(name).to_owned(), value))
            });
            let error = Command::new(&program).args(args).env_clear().envs(own).exec();
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
    // Where the kernel refuses, groups are all there is.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Dies with its guard, who may have died already.
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

/// Kills what became ours when its parents ended, and reaps it, until nothing is left.
#[cfg(target_os = "linux")]
fn kill_orphans() {
    use rustix::io::Errno;
    use rustix::process::{WaitOptions, kill_process, wait};

    // Whoever multiplies faster than that is left to the bounds of the system.
    let deadline = Instant::now() + GIVES_UP;
    while Instant::now() < deadline {
        let children = children();
        let refused = |child: &Pid| kill_process(*child, Signal::KILL) == Err(Errno::PERM);
        // One that runs as another user now is not ours to end, nor to wait for.
        let is_in_vain = children.iter().filter(|child| refused(child)).count() == children.len();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                // A list of processes that come and go is never complete; what ends us is to have none.
                Ok(None) if is_in_vain && !children.is_empty() => return,
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Reaps what became ours and has ended, and not the engine, whose number is still needed: it would stay
/// in the system's table as long as the engine plays.
#[cfg(target_os = "linux")]
fn reap_orphans(engine: Pid) {
    use rustix::process::{WaitOptions, waitpid};

    for orphan in children().into_iter().filter(|child| *child != engine) {
        let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
    }
}

/// Our children, by what `/proc` says of every process: its state, then its parent, behind a name in
/// parentheses that may have any characters.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat);
        let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        behind_name.split(' ').nth(1) == Some(own.as_str())
    };
    pids.filter(is_child).filter_map(Pid::from_raw).collect()
}

/// The names of the processes that outlive an engine which has ended, and is not reaped yet.
#[cfg(target_os = "linux")]
fn left_behind(engine: Pid) -> Vec<String> {
    let name = |process: Pid| {
        let folder = format!("/proc/{}", process.as_raw_nonzero());
        let stat = std::fs::read(format!("{folder}/stat")).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat).into_owned();
        let (before, behind) = stat.rsplit_once(") ")?;
        // One that has ended and waits to be reaped is no longer there.
        let name = before.split_once('(')?.1;
        (!behind.starts_with('Z')).then(|| crate::text::shown(name, 64))
    };
    let others = children().into_iter().filter(|process| *process != engine);
    others.filter_map(name).collect()
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
    use crate::spec::Protocol;
    use crate::spec::tests::plain;

    #[test]
    fn the_environment_of_an_engine_is_not_its_guards() {
        let mut spec = plain("sf", Protocol::Uci, "/sf".into());
        spec.environment = [("LD_PRELOAD".to_owned(), "/own.so".to_owned())].into();
        let command = Guard::of_program("/spelrum".into(), &["guard"]).command(&spec);
        let names: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
        assert!(names.contains(&"SPELRUM_ENGINE_LD_PRELOAD".into()), "{names:?}");
        let is_for_engine = |name: &OsString| name.as_bytes().starts_with(b"SPELRUM_ENGINE_");
        assert!(names.iter().all(is_for_engine), "{names:?}");
    }
}
