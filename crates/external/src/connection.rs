//! A game's way to its engine's process: its own, or a seat at one that holds several games.

use std::time::{Duration, Instant};

use crate::process::{Aborted, Lost, Process, Timed};
use crate::shared::Seat;
use crate::text::Line;

/// A game's way to a process.
#[derive(Debug)]
pub(crate) enum Connection {
    Own(Box<Process>),
    Shared(Seat),
}

impl Connection {
    /// The same for several games, if the system has room for that.
    pub(crate) fn into_shared(self) -> Self {
        match self {
            Self::Own(process) => match Seat::share(process) {
                Ok(trunk) => Self::Shared(trunk),
                Err(process) => Self::Own(process),
            },
            Self::Shared(_) => self,
        }
    }

    /// Another seat at a shared process.
    pub(crate) fn another_seat(&self) -> Option<Self> {
        match self {
            Self::Own(_) => None,
            Self::Shared(seat) => Some(Self::Shared(seat.another())),
        }
    }

    /// Whether other games may use the process.
    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    /// See [`Process::send`].
    pub(crate) fn send(
        &mut self,
        text: &str,
        deadline: Instant,
        aborted: Aborted<'_>,
    ) -> Result<Instant, Lost> {
        match self {
            Self::Own(process) => process.send(text, deadline, aborted),
            Self::Shared(seat) => seat.send(text, deadline, aborted),
        }
    }

    /// See [`Process::next_line`].
    pub(crate) fn next_line(
        &mut self,
        deadline: Instant,
        aborted: Aborted<'_>,
    ) -> Result<Timed, Lost> {
        match self {
            Self::Own(process) => process.next_line(deadline, aborted),
            Self::Shared(seat) => seat.next_line(deadline, aborted),
        }
    }

    /// See [`Process::line_at_hand`].
    pub(crate) fn line_at_hand(&mut self) -> Option<Line> {
        match self {
            Self::Own(process) => process.line_at_hand(),
            Self::Shared(seat) => seat.line_at_hand(),
        }
    }

    /// See [`Process::reuse`].
    pub(crate) fn reuse(&mut self, line: Line) {
        if let Self::Own(process) = self {
            process.reuse(line);
        }
    }

    /// The last request was answered.
    pub(crate) fn settle(&mut self) {
        if let Self::Shared(seat) = self {
            seat.settle();
        }
    }

    /// A message that belongs to no game for certain, since the last call.
    pub(crate) fn take_stray(&mut self) -> Option<String> {
        match self {
            Self::Own(_) => None,
            Self::Shared(seat) => seat.take_stray(),
        }
    }

    /// See [`Process::is_running`].
    pub(crate) fn is_running(&mut self) -> bool {
        match self {
            Self::Own(process) => process.is_running(),
            Self::Shared(seat) => seat.is_running(),
        }
    }

    /// See [`Process::guard_id`].
    pub(crate) fn guard_id(&self) -> u32 {
        match self {
            Self::Own(process) => process.guard_id(),
            Self::Shared(seat) => seat.guard_id(),
        }
    }

    /// See [`Process::transcript`].
    pub(crate) fn transcript(&self) -> String {
        match self {
            Self::Own(process) => process.transcript(),
            Self::Shared(seat) => seat.transcript(),
        }
    }

    /// See [`Process::close`].
    pub(crate) fn close(&mut self, farewell: Option<&str>, patience: Duration) -> bool {
        match self {
            Self::Own(process) => process.close(farewell, patience),
            Self::Shared(seat) => seat.close(farewell, patience),
        }
    }

    /// Ends the process, or this game's part in it.
    pub(crate) fn end(&mut self) {
        match self {
            Self::Own(process) => {
                process.end();
            }
            Self::Shared(seat) => seat.end(),
        }
    }
}
