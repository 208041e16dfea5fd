//! Why an engine has no move to offer, with what it said last.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::Errno;

use crate::spec::OptionRefused;

/// An engine failed. What that costs is for the caller to decide: a game in which it was to move, or
/// nothing where it could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{engine}: {kind}{}", self.when())]
pub struct EngineFailure {
    /// The engine's name in the engines file.
    pub engine: String,
    /// What happened.
    pub kind: FailureKind,
    /// While what.
    pub during: Phase,
    /// The last lines that were exchanged with it, as
    /// [`Transcript::text`](crate::text::Transcript::text) has them.
    pub transcript: String,
}

/// Whether the system lacks open files, processes or memory for what was asked of it, which it may have later.
pub(crate) fn is_exhaustion(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|it| [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM].contains(&it))
}

impl EngineFailure {
    /// Whether the engine never came as far as playing: nobody lost a game by it.
    #[must_use]
    pub const fn is_of_start(&self) -> bool {
        !matches!(self.during, Phase::Move)
    }

    /// When it happened, where the kind alone does not say.
    fn when(&self) -> String {
        let is_crash = matches!(self.kind, FailureKind::Crash(_));
        if is_crash { format!(" {}", self.during) } else { String::new() }
    }
}

/// What an engine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is started and set up.
    Start,
    /// It makes itself ready for a game.
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

/// What happened to an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureKind {
    /// Its program is not there.
    #[error("there is no program {}", .0.display())]
    Missing(PathBuf),
    /// Its program is there and cannot be run.
    #[error("{} cannot be run: {problem}", path.display())]
    NotExecutable {
        /// The program.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A file that it needs cannot be read.
    #[error("the file {} of `files` cannot be read: {problem}", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The system started no process for it.
    #[error("no process could be started: {0}")]
    NoProcess(String),
    /// The system has no room for its process now: it may have later.
    #[error("the system has no room for its process now: {0}")]
    Exhausted(String),
    /// It did not greet, or did not become ready, in time.
    #[error("no `{awaited}` within {} after `{asked}`", Shown(*.within))]
    NoAnswer {
        /// What was said to it.
        asked: String,
        /// What it should have answered.
        awaited: &'static str,
        /// How long it was waited for.
        within: Duration,
    },
    /// It lacks an option that is to be set, or the option does not take the value.
    #[error("option `{name}`: {problem}")]
    Option {
        /// The option.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// An option may not be set by a sweep, or not to that.
    #[error("{0}")]
    NotAllowed(OptionRefused),
    /// It answered a command that it must know with an error.
    #[error("`{command}` was refused: {said}")]
    Refused {
        /// The command.
        command: String,
        /// What it answered.
        said: String,
    },
    /// Its process ended.
    #[error("it ended ({0})")]
    Crash(Exit),
    /// It had not answered when its time had long been over, and was killed.
    #[error("no move after {}, where {} were allowed; it was killed", Shown(*.waited), Shown(*.allowed))]
    Hang {
        /// How long a move may take, margin included.
        allowed: Duration,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It answered too late.
    #[error(
        "a move after {}, {} more than allowed",
        Shown(*.took),
        Shown(took.saturating_sub(*.allowed))
    )]
    OutOfTime {
        /// How long a move may take, margin included.
        allowed: Duration,
        /// How long it took by our clock.
        took: Duration,
    },
    /// It answered with something that is no move, or gave the game up.
    #[error("no move: it said `{0}`")]
    NoMove(String),
    /// It answered with a move that the rules do not allow; who knows them says so.
    #[error("an illegal move: `{0}`")]
    IllegalMove(String),
    /// It is asked for what its protocol cannot say.
    #[error("{0}")]
    Unsupported(String),
    /// The move was no longer wanted; the engine was ended.
    #[error("the game was aborted")]
    Aborted,
    /// It had failed before, and its process is gone.
    #[error("its process is gone")]
    Gone,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody knows.
    Unknown,
}

impl Exit {
    /// Of an engine whose guard ended so: [`guard`](crate::guard) hands a signal on as shells do. There are
    /// 64 of them; a status above that is one with which a program ended by itself, as by `exit(-1)`.
    pub(crate) fn of_guarded(status: ExitStatus) -> Self {
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
            Self::Signal(signal) => match name_of(*signal) {
                Some(name) => write!(f, "signal {signal}, {name}"),
                None => write!(f, "signal {signal}"),
            },
            Self::Unknown => f.write_str("its guard was killed"),
        }
    }
}

/// Those by which programs end that have faults, or of which somebody had enough.
fn name_of(signal: i32) -> Option<&'static str> {
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

/// A duration in a unit that people read.
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
        let exit = |code: i32| Exit::of_guarded(ExitStatus::from_raw(code << 8));
        assert_eq!([exit(0), exit(128)], [Exit::Code(0), Exit::Code(128)]);
        assert_eq!([exit(137), exit(192)], [Exit::Signal(9), Exit::Signal(64)]);
        assert_eq!([exit(193), exit(255)], [Exit::Code(193), Exit::Code(255)]);
        assert_eq!(Exit::of_guarded(ExitStatus::from_raw(9)), Exit::Unknown);
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
                FailureKind::NoAnswer { asked: "uci".into(), awaited: "uciok", within: ms(10_000) },
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
