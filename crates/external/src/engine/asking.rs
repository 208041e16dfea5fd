//! Waits for an engine's answer, with one deadline whatever it prints.

use std::time::{Duration, Instant};

use crate::breach::Breaches;
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::process::{Aborted, Lost, Timed};
use crate::situation::Situation;
use crate::spec::Patience;
use crate::text::{Line, shown};

/// A question, and the time limit of its answer.
pub(super) struct Question<'a> {
    pub(super) asked: &'a str,
    pub(super) awaited: &'a str,
    pub(super) within: Duration,
}

impl Question<'_> {
    /// Sends a question, and waits for its answer.
    pub(super) fn ask<T>(
        &self,
        process: &mut Connection,
        text: &str,
        aborted: Aborted<'_>,
        parse_line: impl FnMut(&Line) -> Option<T>,
    ) -> Result<T, FailureKind> {
        self.ask_until(Instant::now() + self.within, process, text, aborted, parse_line)
    }

    /// The same for one of several questions with a common deadline.
    pub(super) fn ask_until<T>(
        &self,
        deadline: Instant,
        process: &mut Connection,
        text: &str,
        aborted: Aborted<'_>,
        parse_line: impl FnMut(&Line) -> Option<T>,
    ) -> Result<T, FailureKind> {
        process
            .send(text, deadline, aborted)
            .and_then(|_| wait(process, deadline, aborted, parse_line))
            .map(|(answer, _)| answer)
            .map_err(|lost| self.failure(lost))
    }

    /// Sends lines that no answer is awaited for.
    pub(super) fn tell(
        &self,
        process: &mut Connection,
        text: &str,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        let sent = process.send(text, Instant::now() + self.within, aborted);
        sent.map(|_| ()).map_err(|lost| self.failure(lost))
    }

    fn failure(&self, lost: Lost) -> FailureKind {
        match lost {
            Lost::Ended(exit) => FailureKind::Crash(exit),
            Lost::Aborted => FailureKind::Aborted,
            Lost::TimedOut => FailureKind::NoAnswer {
                asked: self.asked.to_owned(),
                awaited: self.awaited.to_owned(),
                within: self.within,
            },
        }
    }
}

/// A move as a word of a command. It may come from the network: one with a blank or a line end would change
/// the command.
pub(super) fn word(mv: &str) -> Result<&str, FailureKind> {
    let is_word = !mv.is_empty() && mv.bytes().all(|byte| byte.is_ascii_graphic());
    if is_word { Ok(mv) } else { Err(unsendable("move", mv)) }
}

/// A position as words of a command, without characters that would end it.
pub(super) fn position(fen: &str) -> Result<&str, FailureKind> {
    let is_line = fen.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let goes_on = fen.split(' ').any(|word| word == "moves");
    if is_line && !goes_on { Ok(fen) } else { Err(unsendable("position", fen)) }
}

/// The most lines skipped before a move: an engine that prints for ever is not waited for.
const STALE_LINES_MAX: usize = 10_000;

/// Reads what came after an engine's last answer: it does not belong to the next.
pub(super) fn read_stale(process: &mut Connection, mut read: impl FnMut(&Line)) {
    for _ in 0..STALE_LINES_MAX {
        let Some(line) = process.line_at_hand() else { return };
        read(&line);
        process.reuse(line);
    }
}

fn unsendable(kind: &str, text: &str) -> FailureKind {
    let text = shown(text, Breaches::SAID_BYTES_MAX);
    FailureKind::Unsupported(format!("cannot send `{text}`: not a valid {kind}"))
}

/// Waits for a line that matches, and returns its arrival time.
fn wait<T>(
    process: &mut Connection,
    deadline: Instant,
    aborted: Aborted<'_>,
    mut parse_line: impl FnMut(&Line) -> Option<T>,
) -> Result<(T, Instant), Lost> {
    loop {
        let Timed { line, at } = process.next_line(deadline, aborted)?;
        let answer = parse_line(&line);
        process.reuse(line);
        if let Some(answer) = answer {
            return Ok((answer, at));
        }
    }
}

/// The time limit of a move, margin included.
pub(super) fn allowed(
    situation: &Situation<'_>,
    patience: &Patience,
    margin: Duration,
) -> Duration {
    let clock = situation.clock.map(|clock| clock.remaining(situation.to_move).time);
    let given = match (situation.limits.move_time, clock) {
        (Some(a), Some(b)) => a.min(b),
        (Some(time), None) | (None, Some(time)) => time,
        // Limits of nodes or plies do not bound the time.
        (None, None) => return patience.unbounded_move,
    };
    given.saturating_add(margin).min(MOVE_MAX)
}

/// The longest wait for a move, whatever the limit.
const MOVE_MAX: Duration = Duration::from_hours(24);

/// The time budget of a move.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// The time for it, margin included.
    pub(super) allowed: Duration,
    /// The time spent already.
    pub(super) spent: Duration,
    /// The extra wait, to measure how late it is.
    pub(super) stop: Duration,
}

/// Asks for a move, and measures its time, which runs from handing over `text`, in addition to the time spent
/// before; when it is over, `stop` is sent if the protocol has it, and a little later the engine is killed.
pub(super) fn ask_move<T>(
    process: &mut Connection,
    text: &str,
    stop: Option<&str>,
    Budget { allowed, spent, stop: patience }: Budget,
    aborted: Aborted<'_>,
    mut parse_line: impl FnMut(&Line) -> Option<T>,
) -> Result<(T, Duration), FailureKind> {
    let failure = |lost| match lost {
        Lost::Ended(exit) => FailureKind::Crash(exit),
        Lost::Aborted => FailureKind::Aborted,
        Lost::TimedOut => FailureKind::Hang { allowed, waited: allowed },
    };
    let left = allowed.saturating_sub(spent);
    let asked = process.send(text, Instant::now() + left, aborted).map_err(failure)?;
    let deadline = asked + left;
    let took = |at: Instant| spent + at.saturating_duration_since(asked);
    match wait(process, deadline, aborted, &mut parse_line) {
        Ok((answer, at)) => return Ok((answer, took(at))),
        Err(Lost::TimedOut) => {}
        Err(lost) => return Err(failure(lost)),
    }
    let killed_at = Instant::now().max(deadline) + patience;
    let waited = stop
        .map_or(Ok(()), |stop| process.send(stop, killed_at, aborted).map(|_| ()))
        .and_then(|()| wait(process, killed_at, aborted, parse_line));
    match waited {
        Ok((_, at)) => Err(FailureKind::OutOfTime { allowed, took: took(at) }),
        Err(Lost::TimedOut) => {
            let waited = took(Instant::now());
            process.end();
            Err(FailureKind::Hang { allowed, waited })
        }
        Err(lost) => Err(failure(lost)),
    }
}
