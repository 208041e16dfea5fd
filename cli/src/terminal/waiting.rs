//! Wait notices: on a terminal after a second, in a log at intervals.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices::notify;

/// Shorter waits need no explanation.
const QUIET: Duration = Duration::from_secs(1);

/// Interval between log lines.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// How often the message is refreshed.
const TICK: Duration = Duration::from_millis(200);

/// Runs long work on its own thread and shows a message computed from the elapsed time. Returns `None` if Ctrl-C came
/// first: the work is then abandoned.
pub(crate) async fn while_waiting<T: Send + 'static>(
    interrupts: &Interrupts,
    text: impl Fn(Duration) -> String,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>> {
    let mut working = tokio::task::spawn_blocking(work);
    let mut waiting = Waiting::start();
    let mut ticks = tokio::time::interval(TICK);
    let done = loop {
        tokio::select! {
            done = &mut working => break done,
            () = interrupts.finish.cancelled() => {
                waiting.end();
                return Ok(None);
            }
            _ = ticks.tick() => waiting.tick(&text),
        }
    };
    waiting.end();
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) => match error.try_into_panic() {
            // Resumes in the handler that reports all of the program's panics.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(CliError::new(Exit::Internal, "wait for a thread").because(error)),
        },
    }
}

/// Shows the reason for a wait.
pub(crate) struct Waiting {
    spinner: ProgressBar,
    start: Instant,
    next_line: Duration,
}

impl Waiting {
    /// Starts waiting.
    pub(crate) fn start() -> Self {
        // The message is the whole line.
        let spinner = if std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5))
                .with_style(indicatif::ProgressStyle::default_spinner())
        } else {
            ProgressBar::hidden()
        };
        Self { spinner, start: Instant::now(), next_line: LOG_INTERVAL }
    }

    /// Updates the reason for the wait.
    pub(crate) fn tick(&mut self, text: impl Fn(Duration) -> String) {
        let elapsed = self.start.elapsed();
        if elapsed < QUIET {
            return;
        }
        if !self.spinner.is_hidden() {
            self.spinner.set_message(text(elapsed));
            self.spinner.tick();
        } else if elapsed >= self.next_line {
            self.next_line += LOG_INTERVAL;
            notify(&text(elapsed));
        }
    }

    /// Removes the terminal's line.
    pub(crate) fn end(&self) {
        self.spinner.finish_and_clear();
    }
}
