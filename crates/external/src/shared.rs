//! A process that holds several games at once: each has a seat, to which the lines that belong to it are handed.
//!
//! No thread stands between the games and the process. One of the games that wait is the reader: it waits for the
//! pipes, outside of the lock, and hands each line to the game whose request has its `id`. When it has what it
//! waited for, another one reads.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::failure::Exit;
use crate::lines::id_in;
use crate::process::{Aborted, Lost, OutputEnds, Process, Timed, slice_until};
use crate::text::{Line, LineSource, Transcript};

/// The most lines that wait for a game: while there are as many, no more are read.
const LINES_MAX: usize = 1_024;
/// The most lines that are handed out before others get the lock.
const LINES_AT_ONCE: usize = 256;
/// The wait for a process that has closed its output and may be about to end: its games wait meanwhile, and so may all
/// others.
const PATIENCE: Duration = Duration::from_secs(2);
/// The wait before the next try to write to a full pipe.
const FULL: Duration = Duration::from_millis(1);
/// The most bytes of standard error added to the transcript of a game.
const ERRORS_BYTES_MAX: usize = 2 * 1_024;

/// A game's place at a shared process; it is given up when this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    hub: Arc<Hub>,
    /// 0 for the trunk, which plays nothing while others do, and with which the process ends.
    number: u64,
}

#[derive(Debug)]
struct Hub {
    guard_id: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    process: Box<Process>,
    /// The pipes to wait for outside of the lock.
    ends: Arc<OutputEnds>,
    /// What the process has not taken yet.
    outgoing: Vec<u8>,
    /// All bytes so far, with and without those.
    queued: u64,
    written: u64,
    seats: BTreeMap<u64, Place>,
    seats_so_far: u64,
    /// The seat whose thread waits for the pipes.
    reader: Option<u64>,
    exit: Option<Exit>,
    /// Whether it has closed its input.
    is_deaf: bool,
    /// Whether a game gave up on an answer: no game begins in a process that may still think about it.
    is_retired: bool,
}

/// What belongs to one seat.
#[derive(Debug, Default)]
struct Place {
    changed: Arc<Condvar>,
    is_waiting: bool,
    /// The request without an answer.
    open: Option<u64>,
    lines: VecDeque<Timed>,
    /// The end of its last line among all bytes, until that is written.
    unsent_to: Option<u64>,
    sent_at: Option<Instant>,
    transcript: Transcript,
    /// A message that belongs to no game for certain.
    stray: Option<String>,
}

/// The `id` of a message.
#[derive(Deserialize)]
struct Identified {
    id: Option<Value>,
}

/// The request that a message seems to answer.
fn id_of_message(text: &str) -> Option<u64> {
    let id = serde_json::from_str::<Identified>(text).ok().and_then(|message| message.id);
    match id {
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.parse().ok(),
        _ => id_in(text),
    }
}

impl Seat {
    /// Shares a process; returns its trunk, or the process itself if the system has no room for that.
    pub(crate) fn share(process: Box<Process>) -> Result<Self, Box<Process>> {
        let Ok(ends) = process.output_ends() else { return Err(process) };
        let state = State {
            ends: Arc::new(ends),
            outgoing: Vec::new(),
            queued: 0,
            written: 0,
            seats: BTreeMap::from([(0, Place::default())]),
            seats_so_far: 0,
            reader: None,
            exit: None,
            is_deaf: false,
            is_retired: false,
            process,
        };
        let guard_id = state.process.guard_id();
        Ok(Self { hub: Arc::new(Hub { guard_id, state: Mutex::new(state) }), number: 0 })
    }

    /// Another seat at the same process.
    pub(crate) fn another(&self) -> Self {
        let mut state = self.hub.lock();
        state.seats_so_far += 1;
        let number = state.seats_so_far;
        state.seats.insert(number, Place::default());
        drop(state);
        Self { hub: Arc::clone(&self.hub), number }
    }

    /// See [`Process::send`].
    pub(crate) fn send(
        &self,
        text: &str,
        deadline: Instant,
        aborted: Aborted<'_>,
    ) -> Result<Instant, Lost> {
        {
            let mut state = self.hub.lock();
            if let Some(exit) = state.exit {
                return Err(Lost::Ended(exit));
            }
            state.outgoing.extend_from_slice(text.as_bytes());
            state.queued += text.len() as u64;
            let unsent_to = Some(state.queued);
            let Some(place) = state.seats.get_mut(&self.number) else {
                return Err(Lost::Ended(Exit::Unknown));
            };
            (place.unsent_to, place.sent_at) = (unsent_to, None);
            place.open = request_id(text).or(place.open);
            for line in text.lines() {
                place.transcript.add(LineSource::Us, line);
            }
            state.process.note_sent(text);
            state.write();
        }
        self.wait(deadline, aborted, |place| place.sent_at.take().map(Ok))
    }

    /// See [`Process::next_line`].
    pub(crate) fn next_line(&self, deadline: Instant, aborted: Aborted<'_>) -> Result<Timed, Lost> {
        self.wait(deadline, aborted, |place| {
            // One that came late stays for the next wait.
            if place.lines.front().is_some_and(|timed| timed.at > deadline) {
                return Some(Err(Lost::TimedOut));
            }
            place.lines.pop_front().map(Ok)
        })
    }

    /// See [`Process::line_at_hand`].
    pub(crate) fn line_at_hand(&self) -> Option<Line> {
        self.place(|place| place.lines.pop_front().map(|timed| timed.line)).flatten()
    }

    /// The last request was answered.
    pub(crate) fn settle(&self) {
        self.place(|place| place.open = None);
    }

    /// A message that belongs to no game for certain, since the last call.
    pub(crate) fn take_stray(&self) -> Option<String> {
        self.place(|place| place.stray.take()).flatten()
    }

    /// Whether the process seems to run; for the trunk, whether another game may begin in it.
    pub(crate) fn is_running(&self) -> bool {
        let mut state = self.hub.lock();
        let is_fit = self.number != 0 || !state.is_retired;
        is_fit && state.exit.is_none() && state.process.is_running()
    }

    pub(crate) fn guard_id(&self) -> u32 {
        self.hub.guard_id
    }

    /// The last lines of the game, and the last ones of the process on its standard error.
    pub(crate) fn transcript(&self) -> String {
        let state = self.hub.lock();
        let all = state.process.transcript();
        let Some(place) = state.seats.get(&self.number).filter(|_| self.number != 0) else {
            return all;
        };
        let errors: Vec<&str> = all.lines().filter(|line| line.starts_with("! ")).collect();
        let mut room = ERRORS_BYTES_MAX;
        let last = errors.iter().rev().take_while(|line| {
            let fits = line.len() < room;
            room = room.saturating_sub(line.len() + 1);
            fits
        });
        let mut text = place.transcript.text();
        for line in &errors[errors.len() - last.count()..] {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// See [`Process::close`], for the trunk. Another seat is given up.
    pub(crate) fn close(&self, farewell: Option<&str>, patience: Duration) -> bool {
        match self.number {
            0 => self.hub.lock().process.close(farewell, patience),
            _ => self.give_up(),
        }
    }

    /// See [`Process::end`], for the trunk. Another seat is given up, and the process goes on for other games.
    pub(crate) fn end(&self) {
        match self.number {
            0 => self.hub.lock().end(),
            _ => {
                self.give_up();
            }
        }
    }

    /// No game begins in a process that owes an answer.
    fn give_up(&self) -> bool {
        let mut state = self.hub.lock();
        let is_open = state.seats.get(&self.number).is_some_and(|place| place.open.is_some());
        state.is_retired |= is_open;
        !is_open
    }

    fn place<T>(&self, with: impl FnOnce(&mut Place) -> T) -> Option<T> {
        self.hub.lock().seats.get_mut(&self.number).map(with)
    }

    /// Waits for something of this seat, and reads for all of them if no other does.
    fn wait<T>(
        &self,
        deadline: Instant,
        aborted: Aborted<'_>,
        mut ready: impl FnMut(&mut Place) -> Option<Result<T, Lost>>,
    ) -> Result<T, Lost> {
        let _turn = ReaderTurn(self);
        loop {
            // Outside of the lock.
            let is_unwanted = aborted();
            let mut state = self.hub.lock();
            let Some(place) = state.seats.get_mut(&self.number) else {
                return Err(Lost::Ended(Exit::Unknown));
            };
            if let Some(found) = ready(place) {
                return found;
            }
            if is_unwanted {
                return Err(Lost::Aborted);
            }
            place.is_waiting = true;
            let changed = Arc::clone(&place.changed);
            if let Some(exit) = state.exit {
                return Err(Lost::Ended(exit));
            }
            let Some(slice) = slice_until(deadline) else { return Err(Lost::TimedOut) };
            if state.reader.is_some_and(|reader| reader != self.number) {
                drop(changed.wait_timeout(state, slice).unwrap_or_else(PoisonError::into_inner));
                continue;
            }
            state.reader = Some(self.number);
            let ends = Arc::clone(&state.ends);
            if state.is_full() {
                // Its game takes them; what is left in the pipe holds the process up.
                drop(changed.wait_timeout(state, FULL).unwrap_or_else(PoisonError::into_inner));
            } else {
                let slice = if state.outgoing.is_empty() { slice } else { slice.min(FULL) };
                drop(state);
                ends.wait(slice);
            }
            drop(ends);
            self.hub.lock().exchange();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.number != 0 {
            self.give_up();
            self.hub.lock().seats.remove(&self.number);
        }
    }
}

/// The time in which a seat waits, and may be the reader.
struct ReaderTurn<'a>(&'a Seat);

impl Drop for ReaderTurn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.hub.lock();
        let number = self.0.number;
        if let Some(place) = state.seats.get_mut(&number) {
            place.is_waiting = false;
        }
        if state.reader.is_none_or(|reader| reader == number) {
            state.reader = None;
            if let Some(place) = state.seats.values().find(|place| place.is_waiting) {
                place.changed.notify_one();
            }
        }
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing is half done where code under the lock could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes and reads what is possible without waiting.
    fn exchange(&mut self) {
        if self.exit.is_some() {
            return;
        }
        self.write();
        for _ in 0..LINES_AT_ONCE {
            if self.is_full() {
                break;
            }
            match self.process.poll_line() {
                Ok(Some(timed)) => self.deliver(timed),
                Ok(None) if !self.is_deaf => break,
                Ok(None) | Err(()) => {
                    self.end();
                    return;
                }
            }
        }
        if let Some(ends) = self.process.changed_ends(&self.ends) {
            self.ends = Arc::new(ends);
        }
    }

    fn write(&mut self) {
        while !self.outgoing.is_empty() {
            let handed_over = Instant::now();
            match self.process.try_write(&self.outgoing) {
                Ok(0) => return,
                Ok(length) => {
                    self.outgoing.drain(..length);
                    self.written += length as u64;
                }
                Err(()) => {
                    // Answers from before that count.
                    self.is_deaf = true;
                    self.outgoing.clear();
                    return;
                }
            }
            for place in self.seats.values_mut() {
                if place.unsent_to.take_if(|end| *end <= self.written).is_some() {
                    place.sent_at = Some(handed_over);
                    place.changed.notify_one();
                }
            }
        }
    }

    /// Whether a game has as many lines to read as may wait.
    fn is_full(&self) -> bool {
        self.seats.values().any(|place| place.lines.len() >= LINES_MAX)
    }

    /// Hands a line to the game whose request it answers.
    fn deliver(&mut self, timed: Timed) {
        let text = timed.line.text.trim_start();
        let is_message = text.starts_with('{');
        let id = if is_message { id_of_message(text) } else { None };
        let mut open = self.seats.iter().filter(|(_, place)| place.open.is_some());
        let seat = match id {
            Some(id) => open.find(|(_, place)| place.open == Some(id)).map(|(seat, _)| *seat),
            // With a single request it can belong to no other.
            None => open.next().map(|(seat, _)| *seat).filter(|_| open.next().is_none()),
        };
        // The reader notes the others as departures from the protocol.
        let Some(place) = self.seats.get_mut(&seat.or(self.reader).unwrap_or(0)) else { return };
        if seat.is_some() {
            place.transcript.add(LineSource::Output, &timed.line.text);
        }
        if seat.is_none() && is_message && id.is_none() {
            place.stray.get_or_insert(timed.line.text);
        } else {
            place.lines.push_back(timed);
            place.changed.notify_one();
        }
    }

    fn end(&mut self) {
        let exit = self.process.end_within(PATIENCE);
        self.exit.get_or_insert(exit);
        for place in self.seats.values() {
            place.changed.notify_one();
        }
    }
}

/// The number of a request, which is its first key.
fn request_id(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("{\"id\":")?;
    rest.split(',').next().and_then(|id| id.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_belongs_to_the_request_that_it_names() {
        for (text, id) in [
            (r#"{"id":7,"move":"d"}"#, Some(7)),
            (r#"{"note":{"id":3},"id": 7}"#, Some(7)),
            (r#"{"id":"7","move":"d"}"#, Some(7)),
            (r#"{"id":7,"score":NaN}"#, Some(7)),
            (r#"{"id":7,"note":"xxx"#, Some(7)),
            (r#"{"id":7"#, None),
            (r#"{"id":7.5}"#, None),
            (r#"{"move":"d"}"#, None),
            ("{'id': 7}", None),
            (r#"{"id":99999999999999999999,"score":NaN}"#, None),
        ] {
            assert_eq!(id_of_message(text), id, "{text}");
        }
        assert_eq!(request_id("{\"id\":12,\"match\":1}\n"), Some(12));
        assert_eq!(request_id("{\"match\":1,\"result\":\"win\"}\n"), None);
    }
}
