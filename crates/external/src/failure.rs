//! Failures of engines, with their last lines.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::Errno;

use crate::spec::OptionRefused;

/// A failed engine. The caller decides the consequence: a lost game if it was to move, or none if it could
/// not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{engine}: {kind}{}", self.when())]
pub struct EngineFailure {
    /// The engine's name in the engines file.
    pub engine: String,
    /// The failure.
    pub kind: FailureKind,
    /// The engine's activity.
    pub during: Phase,
    /// The last lines of the conversation, as in
    /// [`Transcript::text`](crate::text::Transcript::text).
    pub transcript: String,
}

/// Whether the system temporarily lacks open files, processes or memory.
pub(crate) fn is_exhaustion(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|code| {
        [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM].contains(&code)
    })
}

impl EngineFailure {
    /// Whether the engine never started to play: no game is lost by it.
    #[must_use]
    pub const fn is_startup_failure(&self) -> bool {
        !matches!(self.during, Phase::Move)
    }

    /// The time of the failure, unless the kind implies it.
    fn when(&self) -> String {
        let is_crash = matches!(self.kind, FailureKind::Crash(_));
        if is_crash { format!(" {}", self.during) } else { String::new() }
    }
}

/// An engine's activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is being started and set up.
    Start,
    /// It is preparing for a game.
    NewGame,
    /// It is to move.
    Move,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "while it was starting",
            Self::NewGame => "between games",
            Self::Move => "while it was to move",
        })
    }
}

/// The kind of a failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureKind {
    /// Its program is missing.
    #[error("there is no program {}", .0.display())]
    Missing(PathBuf),
    /// Its program exists but cannot be run.
    #[error("{} cannot be run: {problem}", path.display())]
    NotExecutable {
        /// The program.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// A required file cannot be read.
    #[error("the file {} of `files` cannot be read: {problem}", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// The system could not start a process for it.
    #[error("no process could be started: {0}")]
    NoProcess(String),
    /// The system temporarily has no room for its process.
    #[error("the system has no room for its process now: {0}")]
    Exhausted(String),
    /// It did not greet, or become ready, in time.
    #[error("no `{awaited}` within {} after `{asked}`", Shown(*.within))]
    NoAnswer {
        /// The command sent to it.
        asked: String,
        /// The expected answer.
        awaited: String,
        /// The wait.
        within: Duration,
    },
    /// It lacks an option, or the option does not accept the value.
    #[error("option `{name}`: {problem}")]
    Option {
        /// The option.
        name: String,
        /// The problem.
        problem: String,
    },
    /// A sweep may not set an option, or not to this value.
    #[error("{0}")]
    NotAllowed(OptionRefused),
    /// It answered a mandatory command with an error.
    #[error("`{command}` was refused: {said}")]
    Refused {
        /// The command.
        command: String,
        /// Its answer.
        said: String,
    },
    /// Its process ended.
    #[error("it ended ({0})")]
    Crash(Exit),
    /// It had not answered long after its time, and was killed.
    #[error("no move after {}, where {} were allowed; it was killed", Shown(*.waited), Shown(*.allowed))]
    Hang {
        /// The time limit of a move, margin included.
        allowed: Duration,
        /// The wait.
        waited: Duration,
    },
    /// It answered too late.
    #[error(
        "a move after {}, {} more than allowed",
        Shown(*.took),
        Shown(took.saturating_sub(*.allowed))
    )]
    OutOfTime {
        /// The time limit of a move, margin included.
        allowed: Duration,
        /// The measured time.
        took: Duration,
    },
    /// It answered with something other than a move, or resigned.
    #[error("no move: it said `{0}`")]
    NoMove(String),
    /// It answered with an illegal move, as reported by the caller.
    #[error("an illegal move: `{0}`")]
    IllegalMove(String),
    /// Its answer cannot be read.
    #[error("an answer that cannot be read: `{said}`: {problem}")]
    Unreadable {
        /// The answer, shortened.
        said: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It reported that it failed on this move.
    #[error("it failed: {0}")]
    Raised(String),
    /// Its protocol cannot express the request.
    #[error("{0}")]
    Unsupported(String),
    /// The move was no longer wanted; the engine was ended.
    #[error("the game was aborted")]
    Aborted,
    /// It had failed before, and its process is gone.
    #[error("its process is gone")]
    Gone,
}

/// The way a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Unknown.
    Unknown,
}

impl Exit {
    /// For an engine whose guard ended this way: [`guard`](crate::guard) passes a signal on as shells do.
    /// There are 64 of them; a greater status is the program's own, as by `exit(-1)`.
    pub(crate) fn from_guard_status(status: ExitStatus) -> Self {
        match status.code() {
            Some(code @ 129..=192) => Self::Signal(code - 128),
            Some(code) => Self::Code(code),
            None => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal}, {name}"),
                None => write!(f, "signal {signal}"),
            },
            Self::Unknown => f.write_str("its guard was killed"),
        }
    }
}

/// Signals of faulty programs, and of deliberate kills.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// A duration in a readable unit.
struct Shown(Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.0.as_micros();
        if us < 1_000 {
            write!(f, "{us} µs")
        } else if us < 1_000_000 {
            write!(f, "{} ms", us / 1_000)
        } else {
            let (s, tenth) = (us / 1_000_000, us / 100_000 % 10);
            if tenth == 0 { write!(f, "{s} s") } else { write!(f, "{s}.{tenth} s") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_signal_where_there_is_such_a_signal() {
        use std::os::unix::process::ExitStatusExt as _;
        let exit = |code: i32| Exit::from_guard_status(ExitStatus::from_raw(code << 8));
        assert_eq!([exit(0), exit(128)], [Exit::Code(0), Exit::Code(128)]);
        assert_eq!([exit(137), exit(192)], [Exit::Signal(9), Exit::Signal(64)]);
        assert_eq!([exit(193), exit(255)], [Exit::Code(193), Exit::Code(255)]);
        assert_eq!(Exit::from_guard_status(ExitStatus::from_raw(9)), Exit::Unknown);
    }

    #[test]
    fn failures_say_what_happened() {
        let ms = Duration::from_millis;
        for (kind, words) in [
            (FailureKind::Missing("/no/engine".into()), "there is no program /no/engine"),
            (
                FailureKind::NotExecutable { path: "/e".into(), problem: "it is a folder".into() },
                "/e cannot be run: it is a folder",
            ),
            (
                FailureKind::NoFile { path: "/net".into(), problem: "no such file".into() },
                "the file /net of `files` cannot be read: no such file",
            ),
            (FailureKind::NoProcess("no memory".into()), "no process could be started: no memory"),
            (
                FailureKind::Exhausted("too many files".into()),
                "the system has no room for its process now: too many files",
            ),
            (
                FailureKind::NoAnswer {
                    asked: "uci".into(),
                    awaited: "uciok".into(),
                    within: ms(10_000),
                },
                "no `uciok` within 10 s after `uci`",
            ),
            (
                FailureKind::Option { name: "Hash".into(), problem: "it has none".into() },
                "option `Hash`: it has none",
            ),
            (
                FailureKind::Refused { command: "play b D3".into(), said: "illegal move".into() },
                "`play b D3` was refused: illegal move",
            ),
            (
                FailureKind::Crash(Exit::Signal(11)),
                "it ended (signal 11, SIGSEGV) while it was to move",
            ),
            (FailureKind::Crash(Exit::Code(3)), "it ended (exit status 3) while it was to move"),
            (
                FailureKind::Hang { allowed: ms(150), waited: ms(2_150) },
                "no move after 2.1 s, where 150 ms were allowed; it was killed",
            ),
            (
                FailureKind::OutOfTime { allowed: ms(100), took: Duration::from_micros(100_250) },
                "a move after 100 ms, 250 µs more than allowed",
            ),
            (FailureKind::NoMove("(none)".into()), "no move: it said `(none)`"),
            (FailureKind::IllegalMove("e2e5".into()), "an illegal move: `e2e5`"),
            (FailureKind::Unsupported("GTP has no FEN".into()), "GTP has no FEN"),
            (FailureKind::Aborted, "the game was aborted"),
            (FailureKind::Gone, "its process is gone"),
        ] {
            let (engine, during, transcript) = ("sf".to_owned(), Phase::Move, String::new());
            let failure = EngineFailure { engine, kind, during, transcript };
            assert_eq!(failure.to_string(), format!("sf: {words}"));
        }
        let phases = [Phase::Start, Phase::NewGame, Phase::Move].map(|phase| phase.to_string());
        assert_eq!(phases, ["while it was starting", "between games", "while it was to move"]);
        assert_eq!(Exit::Signal(64).to_string(), "signal 64");
        assert_eq!(Exit::Unknown.to_string(), "its guard was killed");
    }
}
