//! Progress: a bar on a terminal, and in a log a line at growing intervals.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spelrum_answers as results;
use spelrum_answers::{ExpectedGames, Pace, PlayerForfeits};
use spelrum_model::Task;
use spelrum_report::text::{count, duration_us};
use spelrum_statistics::forecast::Forecast;

use crate::terminal::notices::{is_quiet, notify};

/// The terminal's bar for games played here.
const TEMPLATE: &str = "{elapsed_precise} [{bar:30}] {human_pos} of {human_len} {prefix}{msg}";

/// The bar for a watched experiment, whose start time is unknown here.
const WATCH_TEMPLATE: &str = "[{bar:30}] {human_pos} of {human_len} {prefix}{msg}";

/// The bar for row removal; the total may be unknown.
const ROWS_TEMPLATE: &str = "{elapsed_precise} [{bar:30}] {msg}";

/// The line for consecutive steps.
const STEPS_TEMPLATE: &str = "{elapsed_precise} {spinner} {msg}";

/// Intervals between log lines; the last one repeats.
const LOG_INTERVALS_S: [u64; 5] = [30, 60, 120, 300, 600];

/// The longest interval while a match's standing is shown.
const MATCH_INTERVAL_S: u64 = 60;

/// How progress shows a match: for help texts.
pub(crate) const MATCH_HELP: &str = "\
In an experiment of up to 16 cells, progress also shows the first match under way: the player's score in percent, its \
Elo difference, each with half the width of its 95% interval, and where its stop rule stands (the SPRT's LLR and its two \
bounds). The interval of a match under way is a confidence sequence: it holds at every look, and is wider than the \
fixed one that the match has at its planned end.";

/// What the ends of the range mean: for help texts.
pub(crate) const RANGE_HELP: &str = "\
The time left is what the games left of each cell will take, by the mean time of its games so far, \
divided by the games played at once. The range beside it holds the truth about four times out of \
five, if as many slots go on playing: narrow where every cell has games, wide while cells are \
waiting for their first, whose times are guessed from the others'. Where a stop rule ends cells, the games still expected \
are shown with such a range, and the time left is of these: each match goes on as its games so far suggest.";

/// Shows an experiment's progress.
pub(crate) struct Progress {
    bar: ProgressBar,
    task: Task,
    start: Instant,
    settled_at_start: u64,
    settled: u64,
    planned: u64,
    pace: Pace,
    forecast: Option<Forecast>,
    /// Games still expected, as text.
    expected: String,
    /// Networks still to be trained before their games can be played, as text.
    training: String,
    /// Forfeits by player, as text.
    forfeits: String,
    /// Standing of the current match; empty without one.
    standing: String,
    log: LogTimes,
}

impl Progress {
    /// Starts at `settled` of `planned` units of `task`.
    pub(crate) fn start(bar: ProgressBar, task: Task, settled: u64, planned: u64) -> Self {
        bar.set_prefix(task.noun(planned));
        bar.set_length(planned);
        bar.set_position(settled);
        bar.reset_eta();
        Self {
            bar,
            task,
            start: Instant::now(),
            settled_at_start: settled,
            settled,
            planned,
            pace: Pace::default(),
            forecast: None,
            expected: String::new(),
            training: String::new(),
            forfeits: String::new(),
            standing: String::new(),
            log: LogTimes::default(),
        }
    }

    /// Updates the display; `standing` describes the current match.
    pub(crate) fn look(&mut self, seen: &results::Progress, standing: &str) {
        let elapsed = self.start.elapsed();
        self.pace.record(elapsed, seen.games_settled, seen.wall_us);
        // Work that is not planned yet cannot be forecast.
        let is_all_there = seen.games_planned >= self.planned;
        self.forecast = self.pace.forecast(seen).filter(|_| is_all_there);
        self.settled = seen.games_settled;
        self.bar.set_position(self.settled);
        self.expected = if is_all_there { expected_text(seen) } else { String::new() };
        self.training = training_text(seen);
        self.forfeits = forfeits_text(seen);
        let rate = rate_text(self.task, self.pace.games_per_second(), self.forecast);
        self.standing = standing.to_owned();
        let message = self.expected.clone()
            + &rate
            + &self.training
            + &self.forfeits
            + &standing_line(standing);
        self.bar.set_message(message);
        if self.bar.is_hidden() && self.log.is_due(elapsed, !standing.is_empty()) {
            notify(&self.line(self.pace.games_per_second()));
        }
    }

    /// Updates the number of settled games.
    pub(crate) fn settled(&mut self, settled: u64) {
        self.settled = settled;
        self.bar.set_position(settled);
    }

    /// Removes the bar and prints the final line, with the average rate.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
        let seconds = self.start.elapsed().as_secs_f64();
        let played = self.settled.saturating_sub(self.settled_at_start);
        if self.settled >= self.planned {
            self.forecast = None;
            self.expected.clear();
            self.training.clear();
        }
        // The standing may be out of date, and a report of all games follows.
        self.standing.clear();
        notify(&self.line((played > 0 && seconds > 0.0).then(|| played as f64 / seconds)));
    }

    fn line(&self, games_per_second: Option<f64>) -> String {
        settled_text(self.task, self.settled, self.planned)
            + &self.expected
            + &rate_text(self.task, games_per_second, self.forecast)
            + &self.training
            + &self.forfeits
            + &standing_text(&self.standing)
    }
}

/// Shows the progress of an operation on rows, such as a removal.
pub(crate) struct RowsProgress {
    bar: ProgressBar,
    /// Describes the finished rows: `results taken out`.
    noun: &'static str,
    start: Instant,
    log: LogTimes,
}

impl RowsProgress {
    /// Starts the display.
    pub(crate) fn start(noun: &'static str) -> Self {
        let (start, log) = (Instant::now(), LogTimes::default());
        Self { bar: bar_like(ROWS_TEMPLATE), noun, start, log }
    }

    /// Updates the number of finished rows, with the total if known.
    pub(crate) fn look(&mut self, done: u64, total: Option<u64>) {
        let text = rows_text(self.noun, done, total);
        if let Some(total) = total {
            self.bar.set_length(total);
            self.bar.set_position(done);
        }
        if self.bar.is_hidden() && self.log.is_due(self.start.elapsed(), false) {
            notify(&text);
        }
        self.bar.set_message(text);
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// `1,300 of 4,000 results taken out`
fn rows_text(noun: &str, done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{} of {} {noun}", count(done), count(total)),
        None => format!("{} {noun}", count(done)),
    }
}

/// `, 3 of 30 networks trained`, while games wait for networks.
pub(crate) fn training_text(seen: &results::Progress) -> String {
    if seen.networks_settled >= seen.networks {
        return String::new();
    }
    let noun = if seen.networks == 1 { "network" } else { "networks" };
    format!(", {} of {} {noun} trained", count(seen.networks_settled), count(seen.networks))
}

/// `, 12 forfeits (fish)`, if any.
pub(crate) fn forfeits_text(seen: &results::Progress) -> String {
    let games: u64 = seen.forfeits.iter().map(PlayerForfeits::total).sum();
    if games == 0 {
        return String::new();
    }
    let players: Vec<&str> = seen.forfeits.iter().map(|row| row.player.as_str()).collect();
    let noun = if games == 1 { "forfeit" } else { "forfeits" };
    format!(", {} {noun} ({})", count(games), players.join(", "))
}

/// `, about 300 more (210 to 440)`, where a stop rule is expected to leave out games.
pub(crate) fn expected_text(seen: &results::Progress) -> String {
    let most = seen.games_planned.saturating_sub(seen.games_settled);
    let expected = seen.games_expected.filter(|expected| expected.games < most);
    expected.map_or_else(String::new, |expected| format!(", {} more", about(&expected)))
}

/// `about 300 (210 to 440)`
pub(crate) fn about(expected: &ExpectedGames) -> String {
    let ExpectedGames { games, low, high } = *expected;
    format!("about {} ({} to {})", count(games), count(low), count(high))
}

/// The standing of a match as the second line of a terminal's bar.
pub(crate) fn standing_line(standing: &str) -> String {
    if standing.is_empty() { String::new() } else { format!("\n{standing}") }
}

/// The standing at the end of a log line: `; a 54.2 % ± 8.1, Elo +29 ± 57`.
pub(crate) fn standing_text(standing: &str) -> String {
    if standing.is_empty() { String::new() } else { format!("; {standing}") }
}

/// `1,300 of 4,000 games settled`
pub(crate) fn settled_text(task: Task, settled: u64, planned: u64) -> String {
    format!("{} of {} {} settled", count(settled), count(planned), task.noun(planned))
}

/// `, 120 games/s, 22.5 s left (19.0 s to 27.1 s)`, as far as known.
pub(crate) fn rate_text(task: Task, per_second: Option<f64>, forecast: Option<Forecast>) -> String {
    let mut text = String::new();
    if let Some(rate) = per_second {
        let noun = task.noun(2);
        text.push_str(&match rate {
            // Slow games are counted per minute or per hour.
            rate if rate < 1.0 / 60.0 => format!(", {:.1} {noun}/h", rate * 3_600.0),
            rate if rate < 1.0 => format!(", {:.1} {noun}/min", rate * 60.0),
            rate => format!(", {rate:.*} {noun}/s", usize::from(rate < 10.0)),
        });
    }
    if let Some(Forecast { left_us, low_us, high_us }) = forecast
        && left_us > 0.0
    {
        let [left, high] = [left_us, high_us].map(duration_us);
        // Games in progress may be almost finished: then the range begins at 0.
        let range = match low_us > 0.0 {
            true => format!("{} to {high}", duration_us(low_us)),
            false => format!("up to {high}"),
        };
        text.push_str(&format!(", {left} left ({range})"));
    }
    text
}

/// When a log line is due.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogTimes {
    lines: usize,
    last: Duration,
}

impl LogTimes {
    /// Whether a line is due at this time since the start; if so, schedules the next.
    pub(crate) fn is_due(&mut self, elapsed: Duration, shows_match: bool) -> bool {
        let interval = LOG_INTERVALS_S[self.lines.min(LOG_INTERVALS_S.len() - 1)];
        let interval = if shows_match { interval.min(MATCH_INTERVAL_S) } else { interval };
        let is_due = elapsed >= self.last + Duration::from_secs(interval);
        if is_due {
            self.lines += 1;
            self.last = elapsed;
        }
        is_due
    }
}

/// A bar on stderr; hidden if stderr is not a terminal or cannot move its cursor.
pub(crate) fn bar() -> ProgressBar {
    bar_like(TEMPLATE)
}

/// A spinner for steps whose number is unknown.
pub(crate) fn spinner() -> ProgressBar {
    let spinner = bar_like(STEPS_TEMPLATE);
    if !spinner.is_hidden() {
        spinner.enable_steady_tick(Duration::from_millis(200));
    }
    spinner
}

/// A bar for a watched experiment.
pub(crate) fn watch_bar() -> ProgressBar {
    bar_like(WATCH_TEMPLATE)
}

fn bar_like(template: &str) -> ProgressBar {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_quiet() || is_dumb || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        // Falls back to the default style; a test checks that the template is valid.
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_some() {
        for template in [TEMPLATE, WATCH_TEMPLATE, ROWS_TEMPLATE, STEPS_TEMPLATE] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let game = Task::Game;
        let line = |settled: u64, rate: Option<f64>, left_s: f64| {
            let forecast =
                Forecast { left_us: left_s * 1e6, low_us: left_s * 0.8e6, high_us: left_s * 1.5e6 };
            settled_text(game, settled, 4_000) + &rate_text(game, rate, Some(forecast))
        };
        let lines = [
            settled_text(game, 100, 4_000) + &rate_text(game, None, None),
            line(100, None, 1e6),
            line(1_300, Some(120.0), 22.5),
            line(115, Some(1.5), 2_590.0),
            line(116, Some(0.05), 80_000.0),
            line(117, Some(0.001), 800_000.0),
            line(4_000, Some(390.0), 0.0),
            rate_text(game, None, Some(Forecast { left_us: 9e4, low_us: 0.0, high_us: 7e5 })),
            settled_text(Task::Choice, 7, 4_000) + &rate_text(Task::Choice, Some(12.0), None),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn rows_are_counted_with_or_without_an_end() {
        let noun = "results taken out";
        assert_eq!(rows_text(noun, 1_300, Some(4_000)), "1,300 of 4,000 results taken out");
        assert_eq!(rows_text(noun, 1_300, None), "1,300 results taken out");
    }

    #[test]
    fn a_log_gets_lines_less_and_less_often() {
        let mut log = LogTimes::default();
        let mut is_due = |second: &u64| log.is_due(Duration::from_secs(*second), false);
        let due: Vec<u64> = (0..3_600).filter(&mut is_due).collect();
        assert_eq!(due, [30, 90, 210, 510, 1_110, 1_710, 2_310, 2_910, 3_510]);
    }

    #[test]
    fn a_log_of_a_match_gets_a_line_each_minute() {
        let mut log = LogTimes::default();
        let mut is_due = |second: &u64| log.is_due(Duration::from_secs(*second), true);
        let due: Vec<u64> = (0..300).filter(&mut is_due).collect();
        assert_eq!(due, [30, 90, 150, 210, 270]);
    }
}
