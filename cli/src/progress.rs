//! Progress on stderr: a bar on a terminal, a line now and then in a log.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{count, duration_us};

/// What a terminal shows.
const TEMPLATE: &str = "{elapsed_precise} [{bar:30}] {human_pos} of {human_len} games{msg}";

/// How often a log gets a line.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// Whether progress is kept silent, for the whole program.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences progress from here on; errors and warnings are still said.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether progress is kept silent.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Shows how far an experiment is.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    settled_at_start: u64,
    settled: u64,
    planned: u64,
    next_line: Duration,
}

impl Progress {
    /// Begins at `settled` of `planned` games.
    pub(crate) fn start(bar: ProgressBar, settled: u64, planned: u64) -> Self {
        bar.set_length(planned);
        bar.set_position(settled);
        bar.reset_eta();
        Self {
            bar,
            start: Instant::now(),
            settled_at_start: settled,
            settled,
            planned,
            next_line: LOG_INTERVAL,
        }
    }

    /// So many games are settled now.
    pub(crate) fn settled(&mut self, settled: u64) {
        self.settled = settled;
        self.bar.set_position(settled);
        self.bar.set_message(self.rate());
        if self.bar.is_hidden() && self.start.elapsed() >= self.next_line {
            self.next_line += LOG_INTERVAL;
            self.bar.suspend(|| say(&self.line()));
        }
    }

    /// Removes the bar and prints the last word.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
        self.bar.suspend(|| say(&self.line()));
    }

    fn line(&self) -> String {
        line(self.settled_at_start, self.settled, self.planned, self.start.elapsed().as_secs_f64())
    }

    fn rate(&self) -> String {
        rate(self.settled_at_start, self.settled, self.planned, self.start.elapsed().as_secs_f64())
    }
}

/// `1,300 of 4,000 games settled, 120 games/s, 22.5 s left`
fn line(settled_at_start: u64, settled: u64, planned: u64, seconds: f64) -> String {
    let rate = rate(settled_at_start, settled, planned, seconds);
    format!("{} of {} games settled{rate}", count(settled), count(planned))
}

fn rate(settled_at_start: u64, settled: u64, planned: u64, seconds: f64) -> String {
    let played = settled.saturating_sub(settled_at_start);
    if played == 0 || seconds <= 0.0 {
        return String::new();
    }
    let rate = played as f64 / seconds;
    let mut text = format!(", {rate:.*} games/s", usize::from(rate < 10.0));
    let left = planned.saturating_sub(settled);
    if left > 0 {
        text.push_str(", ");
        text.push_str(&duration_us(left as f64 / rate * 1e6));
        text.push_str(" left");
    }
    text
}

/// Tells the person at the terminal, or the log, how it goes.
pub(crate) fn say(line: &str) {
    if !is_quiet() {
        // With stderr gone there is nobody to tell.
        let _unheard = writeln!(anstream::stderr().lock(), "{line}");
    }
}

/// A bar that draws on stderr, or nothing where stderr is no terminal or cannot move its cursor.
pub(crate) fn bar() -> ProgressBar {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_quiet() || is_dumb || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(TEMPLATE);
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        // Then it looks otherwise; a test sees to it that it does not come to that.
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_one() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn a_line_says_how_far_and_how_long() {
        let line = |settled: u64, seconds: f64| line(100, settled, 4_000, seconds);
        assert_eq!(line(100, 3.0), "100 of 4,000 games settled");
        assert_eq!(line(1_300, 10.0), "1,300 of 4,000 games settled, 120 games/s, 22.5 s left");
        assert_eq!(line(115, 10.0), "115 of 4,000 games settled, 1.5 games/s, 43m 10s left");
        assert_eq!(line(4_000, 10.0), "4,000 of 4,000 games settled, 390 games/s");
    }
}
