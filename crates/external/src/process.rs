//! An engine's process, as lines in both directions with their times.
//!
//! Its pipes are non-blocking, and waited for all at once, with a deadline. So no engine can block a thread
//! by not reading, by printing for ever or by filling its standard error, and no thread stands between an
//! engine's line and the reading of the clock. Between waits, an engine's output stays in the pipe, which the
//! system bounds: an engine that prints more blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::ioctl_fionbio;

use crate::failure::{Exit, FailureKind, is_exhaustion};
use crate::guard::{GIVES_UP as GUARD_GIVES_UP, Guard};
use crate::log::Log;
use crate::spec::EngineSpec;
use crate::text::{Assembler, Line, LineSource, Transcript};

/// An engine's process and its guard.
#[derive(Debug)]
pub(crate) struct Process {
    guard: Child,
    input: Option<ChildStdin>,
    output: Pipe,
    errors: Pipe,
    /// Lines read but not taken yet.
    lines: VecDeque<Timed>,
    transcript: Transcript,
    /// Optional log.
    log: Option<Log>,
    buffer: Vec<u8>,
    ends_at_cr: bool,
    exit: Option<Exit>,
}

/// A pipe that the engine writes to.
#[derive(Debug)]
struct Pipe {
    file: Option<File>,
    assembler: Assembler,
}

/// A line and its arrival time.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) line: Line,
    pub(crate) at: Instant,
}

/// Why a wait failed.
#[derive(Debug)]
pub(crate) enum Lost {
    Ended(Exit),
    TimedOut,
    Aborted,
}

/// Polled during waits; true ends them.
pub(crate) type Aborted<'a> = &'a dyn Fn() -> bool;

/// The interval of that, and of checks whether a guard is gone without closing its pipes.
const SLICE: Duration = Duration::from_millis(50);

/// The bytes read at once: the capacity of a pipe.
const CHUNK_BYTES: usize = 64 * 1_024;

/// The most lines read ahead. An engine that goes on printing then blocks.
const LINES_AHEAD_MAX: usize = 4_096;
/// The same for their bytes.
const BYTES_AHEAD_MAX: usize = 1 << 20;

/// The number of reads from the pipes of an ended engine: each time as much as one holds.
const TURNS_AT_END: usize = 16;

/// The time limit for a guard to end its engine: longer than its own.
const GUARD_PATIENCE: Duration = GUARD_GIVES_UP.saturating_add(Duration::from_secs(5));

impl Process {
    /// Starts an engine under guard: with a clean environment, in its own directory and group.
    ///
    /// It inherits no descriptors but its pipes, since Rust opens files close-on-exec.
    pub(crate) fn start(spec: &EngineSpec, guard: &Guard) -> Result<Self, FailureKind> {
        let mut command = guard.command(spec);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !spec.directory.is_dir() {
            let directory = spec.directory.display();
            return Err(FailureKind::NoProcess(format!("there is no directory {directory}")));
        }
        let no_process = |error: io::Error| match is_exhaustion(&error) {
            true => FailureKind::Exhausted(error.to_string()),
            false => FailureKind::NoProcess(error.to_string()),
        };
        let mut guard = command.spawn().map_err(no_process)?;
        // Games go on without it.
        let log = spec.logs.as_deref().and_then(|logs| Log::start(logs, spec, guard.id()).ok());
        let input = guard.stdin.take();
        let output = Pipe::new(guard.stdout.take().map(OwnedFd::from));
        let errors = Pipe::new(guard.stderr.take().map(OwnedFd::from));
        let process = Self {
            guard,
            input,
            output,
            errors,
            lines: VecDeque::new(),
            transcript: Transcript::default(),
            log,
            buffer: vec![0; CHUNK_BYTES],
            ends_at_cr: spec.protocol.ends_lines_at_cr(),
            exit: None,
        };
        // From here on the process ends with this value.
        process.unblock().map_err(no_process)?;
        Ok(process)
    }

    fn unblock(&self) -> io::Result<()> {
        // Each end of a pipe has its own flag: the engine's ends block as usual.
        if let Some(input) = &self.input {
            ioctl_fionbio(input, true)?;
        }
        for pipe in [&self.output, &self.errors] {
            if let Some(file) = &pipe.file {
                ioctl_fionbio(file, true)?;
            }
        }
        Ok(())
    }

    /// Writes lines, each with its end, and returns the time at which the last of it was handed over: before
    /// that call, since the engine may run as soon as the system has it.
    pub(crate) fn send(
        &mut self,
        text: &str,
        deadline: Instant,
        aborted: Aborted<'_>,
    ) -> Result<Instant, Lost> {
        self.note_sent(text);
        let mut rest = text.as_bytes();
        loop {
            let Some(input) = &mut self.input else { return Err(Lost::Ended(self.end())) };
            let handed_over = Instant::now();
            match input.write(rest) {
                Ok(length) if length == rest.len() => return Ok(handed_over),
                Ok(length) => rest = &rest[length..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if aborted() {
                        return Err(Lost::Aborted);
                    }
                    let Some(slice) = slice_until(deadline) else { return Err(Lost::TimedOut) };
                    // It may have to be read before it reads.
                    self.turn(slice, true);
                }
                // Its guard has gone.
                Err(_) => return Err(Lost::Ended(self.end())),
            }
        }
    }

    /// Waits for a line.
    pub(crate) fn next_line(
        &mut self,
        deadline: Instant,
        aborted: Aborted<'_>,
    ) -> Result<Timed, Lost> {
        loop {
            // A line that came in time counts, even if read late; one that came late stays for the next wait.
            if self.lines.front().is_some_and(|timed| timed.at > deadline) {
                return Err(Lost::TimedOut);
            }
            if let Some(timed) = self.lines.pop_front() {
                return Ok(timed);
            }
            // Also checked if lines never end, since only some of them are read ahead.
            if aborted() {
                return Err(Lost::Aborted);
            }
            if self.output.file.is_none() {
                return Err(Lost::Ended(self.end()));
            }
            let Some(slice) = slice_until(deadline) else { return Err(Lost::TimedOut) };
            let has_come = self.turn(slice, false);
            if !has_come && self.lines.is_empty() && self.has_exited() {
                // A process that the guard could not end still holds the pipe.
                self.turn(Duration::ZERO, false);
                self.output.file = None;
            }
        }
    }

    /// Notes lines as sent.
    pub(crate) fn note_sent(&mut self, text: &str) {
        for line in text.lines() {
            note(&mut self.transcript, &mut self.log, LineSource::Us, line);
        }
    }

    /// Writes as much as the pipe takes, without waiting.
    ///
    /// # Errors
    /// If the engine takes no more.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> Result<usize, ()> {
        let Some(input) = &mut self.input else { return Err(()) };
        match input.write(bytes) {
            Ok(length) => Ok(length),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) =>
            {
                Ok(0)
            }
            Err(_) => Err(()),
        }
    }

    /// The next line, if it has come, without waiting.
    ///
    /// # Errors
    /// If no more will come.
    pub(crate) fn poll_line(&mut self) -> Result<Option<Timed>, ()> {
        if self.lines.is_empty() && self.output.file.is_some() {
            let has_come = self.turn(Duration::ZERO, false);
            if !has_come && self.lines.is_empty() && self.has_exited() {
                // A process that the guard could not end still holds the pipe.
                self.turn(Duration::ZERO, false);
                self.output.file = None;
            }
        }
        match self.lines.pop_front() {
            None if self.output.file.is_none() => Err(()),
            line => Ok(line),
        }
    }

    /// The pipes that it writes to, for a wait without this value.
    pub(crate) fn output_ends(&self) -> io::Result<OutputEnds> {
        let end = |pipe: &Pipe| pipe.file.as_ref().map(File::try_clone).transpose();
        Ok(OutputEnds { output: end(&self.output)?, errors: end(&self.errors)? })
    }

    /// The same if a pipe was closed since.
    pub(crate) fn changed_ends(&self, ends: &OutputEnds) -> Option<OutputEnds> {
        let is_open = [self.output.file.is_some(), self.errors.file.is_some()];
        let was_open = [ends.output.is_some(), ends.errors.is_some()];
        (is_open != was_open).then(|| {
            // Without room for copies, each wait ends at once, or in time.
            self.output_ends().unwrap_or(OutputEnds { output: None, errors: None })
        })
    }

    /// A line that has come already.
    pub(crate) fn line_at_hand(&mut self) -> Option<Line> {
        if self.lines.is_empty() {
            self.read_output();
        }
        self.lines.pop_front().map(|timed| timed.line)
    }

    /// Takes back a line that is no longer needed.
    pub(crate) fn reuse(&mut self, line: Line) {
        self.output.assembler.reuse(line);
    }

    /// Whether it seems to run, without waiting.
    pub(crate) fn is_running(&mut self) -> bool {
        self.output.file.is_some() && !self.has_exited()
    }

    /// The guard's process.
    pub(crate) fn guard_id(&self) -> u32 {
        self.guard.id()
    }

    /// The last lines of the conversation.
    pub(crate) fn transcript(&self) -> String {
        self.transcript.text()
    }

    /// Lets the engine end by itself after a last message, if there is one; finally kills it. Returns whether it
    /// ended by itself.
    pub(crate) fn close(&mut self, farewell: Option<&str>, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        if let Some(farewell) = farewell
            && self.is_running()
            && self.send(farewell, deadline, &|| false).is_ok()
        {
            self.wait_for_exit(deadline);
        }
        let ended_by_itself = self.has_exited();
        // The guard's last message may have come with its end.
        self.read_the_rest();
        self.end();
        ended_by_itself
    }

    /// Ends the engine if it is running, and returns how it ended.
    pub(crate) fn end(&mut self) -> Exit {
        self.end_within(GUARD_PATIENCE)
    }

    /// The same with this patience for one that has closed its output and may be about to end.
    pub(crate) fn end_within(&mut self, patience: Duration) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        if !self.has_exited() && self.output.file.is_none() {
            // Its last descriptors are closed: it is about to end, and its status matters.
            self.wait_for_exit(Instant::now() + patience);
        }
        if !self.has_exited() {
            // The hang-up that the guard waits for.
            self.input = None;
            self.wait_for_exit(Instant::now() + GUARD_PATIENCE);
        }
        if !self.has_exited() {
            // Then the kernel kills the engine.
            let _ = self.guard.kill();
            self.exit = self.guard.wait().ok().map(Exit::from_guard_status);
        }
        // Its remaining output, for the transcript. A process that outlived it may print for ever.
        self.read_the_rest();
        self.input = None;
        self.output.file = None;
        self.errors.file = None;
        *self.exit.get_or_insert(Exit::Unknown)
    }

    /// Reads available output, for the transcript alone.
    fn read_the_rest(&mut self) {
        self.lines.clear();
        for _ in 0..TURNS_AT_END {
            if !self.turn(Duration::ZERO, false) {
                break;
            }
            self.lines.clear();
        }
    }

    fn has_exited(&mut self) -> bool {
        if self.exit.is_none()
            && let Ok(Some(status)) = self.guard.try_wait()
        {
            self.exit = Some(Exit::from_guard_status(status));
        }
        self.exit.is_some()
    }

    /// Waits for the guard to end, reading meanwhile, so that no writer blocks.
    fn wait_for_exit(&mut self, deadline: Instant) {
        while !self.has_exited() {
            let Some(slice) = slice_until(deadline) else { return };
            self.turn(slice.min(Duration::from_millis(5)), false);
            self.lines.clear();
        }
    }

    fn bytes_ahead(&self) -> usize {
        self.lines.iter().map(|timed| timed.line.text.len()).sum()
    }

    /// Waits for a limited time until a pipe can be read, or also written, and reads it. Returns
    /// whether there was any data.
    fn turn(&mut self, wait: Duration, also_to_write: bool) -> bool {
        let timeout = Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 0, tv_nsec: 0 });
        let has_room = self.lines.len() < LINES_AHEAD_MAX && self.bytes_ahead() < BYTES_AHEAD_MAX;
        let (readable, has_any) = {
            let mut fds = Vec::with_capacity(3);
            let output = self.output.file.as_ref().filter(|_| has_room);
            fds.extend(output.map(|file| PollFd::new(file, PollFlags::IN)));
            let output = fds.len();
            fds.extend(self.errors.file.as_ref().map(|file| PollFd::new(file, PollFlags::IN)));
            let errors = fds.len();
            let input = self.input.as_ref().filter(|_| also_to_write);
            fds.extend(input.map(|input| PollFd::new(input, PollFlags::OUT)));
            // An interruption is followed by another turn.
            let has_any = poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0);
            let is_ready = |range: std::ops::Range<usize>| {
                has_any && fds[range].iter().any(|fd| !fd.revents().is_empty())
            };
            ([is_ready(0..output), is_ready(output..errors)], has_any)
        };
        let [output, errors] = readable;
        if output {
            self.read_output();
        }
        if errors {
            let (transcript, log) = (&mut self.transcript, &mut self.log);
            self.errors.read(&mut self.buffer, true, |line, _| {
                if !line.text.is_empty() {
                    note(transcript, log, LineSource::Errors, &line.text);
                }
            });
        }
        has_any
    }

    /// Reads what the engine has printed, without waiting.
    fn read_output(&mut self) {
        let ends_at_cr = self.ends_at_cr;
        let (lines, transcript) = (&mut self.lines, &mut self.transcript);
        let log = &mut self.log;
        self.output.read(&mut self.buffer, ends_at_cr, |line, at| {
            // Empty lines have a meaning in GTP, and are ignored otherwise.
            if !line.text.is_empty() {
                note(transcript, log, LineSource::Output, &line.text);
            }
            if !(ends_at_cr && line.text.is_empty()) {
                lines.push_back(Timed { line, at });
            }
        });
    }
}

/// The pipes that an engine writes to.
#[derive(Debug)]
pub(crate) struct OutputEnds {
    output: Option<File>,
    errors: Option<File>,
}

impl OutputEnds {
    /// Waits until one of them can be read, or this long.
    pub(crate) fn wait(&self, wait: Duration) {
        let timeout = Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 0, tv_nsec: 0 });
        let files = [&self.output, &self.errors];
        let mut fds: Vec<_> =
            files.into_iter().flatten().map(|file| PollFd::new(file, PollFlags::IN)).collect();
        // An interruption is followed by another wait.
        let _ready = poll(&mut fds, Some(&timeout));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Keeps a line: the last ones for explanations, all of them for a log.
fn note(transcript: &mut Transcript, log: &mut Option<Log>, voice: LineSource, text: &str) {
    transcript.add(voice, text);
    if let Some(log) = log {
        log.add(voice, text);
    }
}

impl Pipe {
    fn new(fd: Option<OwnedFd>) -> Self {
        Self { file: fd.map(File::from), assembler: Assembler::default() }
    }

    /// Reads available data once; closes the pipe at its end.
    fn read(&mut self, buffer: &mut [u8], ends_at_cr: bool, mut each: impl FnMut(Line, Instant)) {
        let Some(file) = &mut self.file else { return };
        match file.read(buffer) {
            Ok(0) => {
                self.file = None;
                let at = Instant::now();
                self.assembler.finish().into_iter().for_each(|line| each(line, at));
            }
            Ok(length) => {
                let at = Instant::now();
                let bytes = &buffer[..length];
                if ends_at_cr {
                    self.assembler.take(bytes, |line| each(line, at));
                } else {
                    self.assembler.take_keeping_cr(bytes, |line| each(line, at));
                }
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) => {}
            Err(_) => self.file = None,
        }
    }
}

/// The wait before the next check; `None` if the time has come.
pub(crate) fn slice_until(deadline: Instant) -> Option<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    (!left.is_zero()).then(|| left.min(SLICE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Line;

    const LATER: Duration = Duration::from_mins(2);

    /// A process that has ended or is about to, and the destination of its errors.
    fn ended() -> (Process, io::PipeWriter) {
        let program = std::env::current_exe().unwrap();
        let mut guard = std::process::Command::new(program);
        guard.arg("--help").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (errors, writer) = io::pipe().unwrap();
        let process = Process {
            guard: guard.spawn().unwrap(),
            input: None,
            output: Pipe::new(None),
            errors: Pipe::new(Some(errors.into())),
            lines: VecDeque::new(),
            transcript: Transcript::default(),
            log: None,
            buffer: vec![0; CHUNK_BYTES],
            ends_at_cr: true,
            exit: None,
        };
        (process, writer)
    }

    #[test]
    fn a_line_that_comes_just_too_late_is_there_for_the_next_wait() {
        let (mut process, _errors) = ended();
        let deadline = Instant::now();
        let at = deadline + Duration::from_micros(1);
        let line = Line { text: "bestmove e2e4".to_owned(), is_cut: false };
        process.lines.push_back(Timed { line, at });
        let lost = process.next_line(deadline, &|| false).unwrap_err();
        assert!(matches!(lost, Lost::TimedOut), "{lost:?}");
        let timed = process.next_line(deadline + LATER, &|| false).unwrap();
        assert_eq!((timed.line.text.as_str(), timed.at), ("bestmove e2e4", at));
    }

    #[test]
    fn what_is_read_ahead_has_a_bound() {
        let (mut process, _errors) = ended();
        let (output, mut writer) = io::pipe().unwrap();
        process.output = Pipe::new(Some(output.into()));
        std::thread::scope(|scope| {
            let line = [&[b'x'; 60_000][..], b"\n"].concat();
            scope.spawn(move || while writer.write_all(&line).is_ok() {});
            // Until it is full, there is always more to read.
            while process.turn(LATER, false) {
                if process.bytes_ahead() >= BYTES_AHEAD_MAX {
                    break;
                }
            }
            let bytes = process.bytes_ahead();
            assert!(bytes < BYTES_AHEAD_MAX + CHUNK_BYTES * 2, "{bytes}");
            assert!(!process.turn(Duration::ZERO, false));
            process.end();
        });
    }

    #[test]
    fn a_process_that_outlives_an_engine_and_prints_for_ever_is_not_waited_for() {
        let (mut process, mut errors) = ended();
        std::thread::scope(|scope| {
            scope.spawn(move || while errors.write_all(&[b'\n'; 4_096]).is_ok() {});
            assert_eq!(process.end(), Exit::Code(0));
        });
    }
}
