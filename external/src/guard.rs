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
//! None of it needs `unsafe`: what a process must do between fork and exec is done by a second stage,
//! which is this program again and then becomes the engine.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getpid, kill_process_group, setrlimit,
    waitid,
};

/// How this program is started as a guard: with these words, behind which stand the guard's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    program: PathBuf,
    words: Vec<OsString>,
}

/// After this it leaves what it could not kill.
pub(crate) const GIVES_UP: Duration = Duration::from_secs(10);

/// First of the guard's own words: guard an engine.
const WATCH: &str = "watch";
/// Become one.
const BECOME: &str = "become";
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

    /// What starts a program under guard, with at most so many bytes of address space for each of its
    /// processes.
    pub(crate) fn command(
        &self,
        memory_bytes: Option<u64>,
        program: &OsStr,
        args: &[String],
    ) -> Command {
        let mut command = Command::new(&self.program);
        let memory = memory_bytes.map_or_else(|| UNBOUNDED.to_owned(), |bytes| bytes.to_string());
        command.args(&self.words).args([WATCH, &memory]).arg(program).args(args);
        // A Ctrl-C of the terminal is for the worker to hear, which may want to finish its games.
        command.arg0("spelrum-guard").process_group(0);
        command
    }
}

/// The running program, also when its file has been replaced meanwhile.
fn this_program() -> io::Result<PathBuf> {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { Ok(own) } else { std::env::current_exe() }
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
        ExitCode::from(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
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
    wait_for_end(&engine)?;
    // The engine is not reaped yet, so that its number still is the group's.
    let _ = kill_process_group(group, Signal::KILL);
    let status = engine.wait()?;
    kill_orphans();
    Ok(ExitCode::from(code_of(status)))
}

/// Waits until the engine or whoever guards it has ended.
fn wait_for_end(engine: &Child) -> io::Result<()> {
    let stdin = io::stdin();
    let process = EngineFd::open(engine);
    // Where the system has no descriptors of processes, we look now and then.
    let now_and_then = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    loop {
        // No events are asked for at the standard input: what comes there is the engine's. A hang-up
        // is always told.
        let mut fds = vec![PollFd::new(&stdin, PollFlags::empty())];
        fds.extend(process.poll_fd());
        let timeout = (fds.len() == 1).then_some(&now_and_then);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(());
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if waitid(WaitId::Pid(Pid::from_child(engine)), options)?.is_some() {
            return Ok(());
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
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            setrlimit(Resource::As, limit)?;
        }
        // What a crash would leave is of no use to anybody here, and may be large.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        Ok(program)
    })();
    match prepared {
        Ok(program) => {
            let error = Command::new(&program).args(args).exec();
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
    use rustix::process::{WaitOptions, kill_process, waitpid};

    // Whoever multiplies faster than that is left to the bounds of the system.
    let deadline = Instant::now() + GIVES_UP;
    loop {
        let children = children();
        if children.is_empty() || Instant::now() > deadline {
            return;
        }
        for child in children {
            let _ = kill_process(child, Signal::KILL);
            while let Err(rustix::io::Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
        }
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

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

#[cfg(not(target_os = "linux"))]
fn die_with_guard(_: &OsStr) -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn kill_orphans() {}
