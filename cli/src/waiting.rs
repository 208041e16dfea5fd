//! What is being waited for: on a terminal after a second, in a log now and then.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::progress::say;

/// Nobody needs to be told why something takes less long.
const QUIET: Duration = Duration::from_secs(1);

/// How often a log gets a line.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// Tells what is being waited for.
pub(crate) struct Waiting {
    spinner: ProgressBar,
    start: Instant,
    next_line: Duration,
}

impl Waiting {
    /// Begins to wait.
    pub(crate) fn start() -> Self {
        // Its message is its whole line.
        let spinner = if std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5))
                .with_style(indicatif::ProgressStyle::default_spinner())
        } else {
            ProgressBar::hidden()
        };
        Self { spinner, start: Instant::now(), next_line: LOG_INTERVAL }
    }

    /// Goes on waiting, for this.
    pub(crate) fn tick(&mut self, what: impl FnOnce(Duration) -> String) {
        let elapsed = self.start.elapsed();
        if elapsed < QUIET {
            return;
        }
        if !self.spinner.is_hidden() {
            self.spinner.set_message(what(elapsed));
            self.spinner.tick();
        } else if elapsed >= self.next_line {
            self.next_line += LOG_INTERVAL;
            say(&what(elapsed));
        }
    }

    /// Removes what the terminal shows.
    pub(crate) fn end(&self) {
        self.spinner.finish_and_clear();
    }
}
