//! `spelrum watch`: an experiment's progress, until it ends.

mod runs;

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;
use spelrum_answers::PAGE_ITEMS_MAX;
use spelrum_answers::{
    CellResult, ExperimentSummary, IntervalKind, Pace, Progress, SprtOutcome, places_text,
};
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, Task};
use spelrum_report::data::write_json_line;
use spelrum_report::tables::Forfeits;
use spelrum_report::text::{count, counted, optional, percent};
use spelrum_statistics::forecast::Forecast;

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::local::on_finish::OnFinish;
use crate::remote::reconnecting::Away;
use crate::results::CurrentMatch;
use crate::results::ResultsSource;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices;
use crate::terminal::progress::{
    self, LogTimes, MATCH_HELP, RANGE_HELP, expected_text, forfeits_text, rate_text, settled_text,
    standing_line, standing_text, training_text,
};
use runs::{ReportedRuns, RunNews};

/// Interval between reads, if a read takes no time.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Reads take at most this fraction (1/n) of the time, however many cells an experiment has.
const LOOK_SHARE: u32 = 20;

const EXAMPLES: &str = "\
Each cell gets a line when its last game is settled: its place on the axes, player and opponent, \
wins, draws and losses of the player, its score with a 95% interval; and how its stop rule has ended it, if it \
has: after how many games, and which strength a sequential test has taken. It ends when the experiment \
does. For [find], [tune] and [evolve] sweeps, each step or generation gets a line instead. Ctrl-C ends the \
watching and nothing else. In a pipe a line says how far it is, at once, \
after 30 s, then after 1, 2 and 5 min, then every 10 min, or every minute during a match.

{MATCH}

{RANGE}

JSON, one object a line: event (progress, cell, run or end). progress and end: experiment, state, \
games_planned, games_settled, games_failed, forfeits (player, games, forfeits, crash, time_forfeit, stall, \
illegal_move, share), stopped_for, cells, cells_settled, networks, networks_settled, stop_rule, \
cells_stopped, games_per_second, seconds_left, \
seconds_left_low, seconds_left_high. cell: experiment, cell_id, axes, player, opponent, wins, \
draws, losses, games_failed, score, score_low, score_high, interval (fixed or sequence), stopped_after, sprt_verdict. run: experiment, run, kind, axes, player, and of a generation generation, \
best, mean, least, distinct, mean_size; of other steps steps and estimates (parameter, value, value_text, low_text, \
high_text); of what confirms a run gain, gain_low, gain_high; of its end ended. What is not known is null.

Examples:
  spelrum watch --coordinator http://127.0.0.1:7878
  spelrum watch pentago-depth --db pentago-depth.db
  spelrum watch pentago-depth --coordinator lab --json >>watched.jsonl
  spelrum watch --coordinator lab --on-finish 'notify-send \"$SPELRUM_EXPERIMENT $SPELRUM_STATE\"'";

/// Show an experiment's progress until it ends
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES.replace("{RANGE}", RANGE_HELP).replace("{MATCH}", MATCH_HELP))]
pub(crate) struct Watch {
    /// The experiment's name or UUID; may be left out if there is only one, or one unfinished
    experiment: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    on_finish: OnFinish,
}

/// A progress report in JSON.
#[derive(Serialize)]
struct JsonLook<'a> {
    event: &'static str,
    experiment: &'a str,
    state: &'a str,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    forfeits: Forfeits<'a>,
    stopped_for: Option<&'a str>,
    cells: u64,
    cells_settled: u64,
    networks: u64,
    networks_settled: u64,
    stop_rule: Option<&'a str>,
    cells_stopped: u64,
    games_per_second: Option<f64>,
    seconds_left: Option<f64>,
    seconds_left_low: Option<f64>,
    seconds_left_high: Option<f64>,
}

/// News of a run in JSON.
#[derive(Serialize)]
struct JsonRun<'a> {
    experiment: &'a str,
    #[serde(flatten)]
    news: &'a RunNews,
}

/// A cell that is settled, also in JSON.
#[derive(Serialize)]
struct SettledCell<'a> {
    event: &'static str,
    experiment: &'a str,
    cell_id: i64,
    /// As `depth=2, budget=10ms`; null without axes.
    axes: Option<String>,
    player: String,
    opponent: String,
    wins: u64,
    draws: u64,
    losses: u64,
    games_failed: u64,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    /// `fixed`, or `sequence` for a confidence sequence; null without a score.
    interval: Option<&'static str>,
    stopped_after: Option<u64>,
    sprt_verdict: Option<&'static str>,
}

impl Watch {
    /// Watches until the experiment ends or the user stops.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let experiment = choose(&source, self.experiment.as_deref()).await?;
        let interrupts = Interrupts::listen(|| {})?;
        if let Some(note) = source.idle_note(std::slice::from_ref(&experiment)) {
            notices::notify(&note);
        }
        let is_live = !self.json && std::io::stdout().is_terminal();
        let watching = Watching {
            source,
            experiment,
            json: self.json,
            on_finish: self.on_finish,
            bar: if is_live { progress::watch_bar() } else { ProgressBar::hidden() },
            start: Instant::now(),
            pace: Pace::default(),
            log: LogTimes::default(),
            runs: ReportedRuns::default(),
            standing: CurrentMatch::new(!self.json),
            shown_cells: BTreeMap::new(),
        };
        tokio::select! {
            ended = watching.watch() => ended,
            () = interrupts.finish.cancelled() => Ok(interrupts.exit().unwrap_or(Exit::Interrupted)),
        }
    }
}

/// The experiment to watch: the one named, the only one, or the only unfinished one.
async fn choose(source: &ResultsSource, wanted: Option<&str>) -> Result<ExperimentSummary> {
    if wanted.is_none() {
        let mut unfinished = source.experiments().await?;
        unfinished.retain(|experiment| !experiment.state.is_over());
        if let [_] = unfinished[..] {
            return Ok(unfinished.remove(0));
        }
    }
    source.experiment(wanted).await
}

struct Watching {
    source: ResultsSource,
    experiment: ExperimentSummary,
    json: bool,
    on_finish: OnFinish,
    bar: ProgressBar,
    start: Instant,
    pace: Pace,
    log: LogTimes,
    runs: ReportedRuns,
    standing: CurrentMatch,
    /// Cells already printed, with their counted games: games in progress when a stop rule ended a cell arrive
    /// later and do not count.
    shown_cells: BTreeMap<CellId, u64>,
}

impl Watching {
    async fn watch(mut self) -> Result<Exit> {
        // The first read reports errors in the arguments or the source.
        let mut look = self.source.progress(&self.experiment).await?;
        let mut last_game_id = look.last_game_id;
        // Results known at the start are not news.
        self.runs.news(self.source.runs(&self.experiment).await?);
        self.bar.set_prefix(self.experiment.task.noun(look.games_planned));
        self.bar.set_length(look.games_planned);
        self.read_standing(&look).await;
        self.seen(&look);
        if !look.has_ended() {
            self.print_progress(&look, "progress")?;
        }
        let mut away = Away::default();
        loop {
            let start = Instant::now();
            let wait = match self.look_again(&mut look, &mut last_game_id).await {
                Ok(()) if look.has_ended() => {
                    self.bar.finish_and_clear();
                    self.print_progress(&look, "end")?;
                    self.on_finish.run(&self.experiment, look.state).await;
                    let has_failed = look.games_failed > 0;
                    return Ok(if has_failed { Exit::FailedGames } else { Exit::Success });
                }
                Ok(()) => {
                    away = Away::default();
                    LOOK_INTERVAL.max(start.elapsed() * LOOK_SHARE)
                }
                Err(error) => {
                    let waits = away.wait(error, |text| self.bar.suspend(|| notices::notify(text)));
                    waits.inspect_err(|_| self.bar.finish_and_clear())?
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Reads the progress and prints what has changed.
    async fn look_again(&mut self, look: &mut Progress, last_game_id: &mut i64) -> Result<()> {
        *look = self.source.progress(&self.experiment).await?;
        // Ids restart where the latest games were deleted.
        *last_game_id = (*last_game_id).min(look.last_game_id);
        // After the read, so that an ended experiment has all its cells reported.
        self.print_settled_cells(last_game_id).await?;
        self.print_runs().await?;
        self.read_standing(look).await;
        self.seen(look);
        let shows_match = !self.standing.text().is_empty();
        let elapsed = self.start.elapsed();
        if !look.has_ended() && self.bar.is_hidden() && self.log.is_due(elapsed, shows_match) {
            self.print_progress(look, "progress")?;
        }
        Ok(())
    }

    /// Reads the standing of the current match; runs of a course have lines of their own.
    async fn read_standing(&mut self, look: &Progress) {
        if !self.runs.is_any() {
            self.standing.read(&self.source, &self.experiment, look).await;
        }
    }

    fn seen(&mut self, look: &Progress) {
        self.pace.record(self.start.elapsed(), look.games_settled, look.wall_us);
        self.bar.set_length(look.games_planned);
        self.bar.set_position(look.games_settled);
        self.bar.set_message(self.figures(look) + &standing_line(self.standing.text()));
    }

    async fn print_settled_cells(&mut self, last_game_id: &mut i64) -> Result<()> {
        loop {
            let settled = self.source.settled_cells(&self.experiment, *last_game_id).await?;
            *last_game_id = settled.last_game_id;
            let cells = settled.cells.len();
            for cell in settled.cells {
                if self.shown_cells.insert(cell.cell, cell.games) == Some(cell.games) {
                    continue;
                }
                self.print_cell(&settled_cell(&self.experiment.name, &settled.axes, cell))?;
            }
            if cells < PAGE_ITEMS_MAX as usize {
                return Ok(());
            }
        }
    }

    fn print_cell(&self, cell: &SettledCell<'_>) -> Result<()> {
        // For people, an individual or a trial says less than its run.
        if self.runs.is_any() && !self.json {
            return Ok(());
        }
        self.print_event(cell, || cell_text(self.experiment.task, cell))
    }

    /// Prints news of the experiment's runs, if it has any.
    async fn print_runs(&mut self) -> Result<()> {
        if !self.runs.is_any() {
            return Ok(());
        }
        for news in self.runs.news(self.source.runs(&self.experiment).await?) {
            let experiment = &self.experiment.name;
            self.print_event(&JsonRun { experiment, news: &news }, || news.text())?;
        }
        Ok(())
    }

    /// Prints a line, above the bar if there is one.
    fn print_event(&self, json: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        self.bar.suspend(|| {
            let mut out = terminal::stdout();
            if self.json { write_json_line(&mut out, json) } else { writeln!(out, "{}", text()) }
        })?;
        Ok(())
    }

    /// Prints the progress at intervals, and the outcome at the end.
    fn print_progress(&self, look: &Progress, event: &'static str) -> Result<()> {
        let mut out = terminal::stdout();
        if self.json {
            write_json_line(&mut out, &self.json(look, event))?;
        } else if event == "end" {
            writeln!(out, "{}", end_text(&self.experiment, look))?;
        } else if self.bar.is_hidden() && !notices::is_quiet() {
            let settled =
                settled_text(self.experiment.task, look.games_settled, look.games_planned);
            let (figures, standing) = (self.figures(look), standing_text(self.standing.text()));
            writeln!(out, "{}: {settled}{figures}{standing}", self.experiment.name)?;
        }
        out.flush()?;
        Ok(())
    }

    /// Whether the reads span long enough for a rate: the second one follows the first without a wait.
    fn has_pace(&self) -> bool {
        self.start.elapsed() >= LOOK_INTERVAL
    }

    fn games_per_second(&self) -> Option<f64> {
        self.pace.games_per_second().filter(|_| self.has_pace())
    }

    /// The time left, while a process plays.
    fn forecast(&self, look: &Progress) -> Option<Forecast> {
        let pace =
            if self.has_pace() { self.pace.forecast(look) } else { Pace::forecast_at_first(look) };
        pace.filter(|_| self.source.is_live())
    }

    /// `, 120 games/s, 22.5 s left (19.0 s to 27.1 s), 3 of 8 cells settled`
    fn figures(&self, look: &Progress) -> String {
        let pace = match look.state {
            ExperimentState::Running if !self.source.is_live() => ", not being played".to_owned(),
            ExperimentState::Running => {
                expected_text(look)
                    + &rate_text(self.experiment.task, self.games_per_second(), self.forecast(look))
            }
            state @ (ExperimentState::Paused
            | ExperimentState::Cancelled
            | ExperimentState::Finished) => match &look.stopped_for {
                Some(player) => format!(", {} for the forfeits of {player}", state.name()),
                None => format!(", {}", state.name()),
            },
        };
        let cells = format!("{} of {}", count(look.cells_settled), counted(look.cells, "cell"));
        let pace = pace + &training_text(look) + &forfeits_text(look);
        match (&look.stop_rule, look.cells_stopped) {
            (None, _) | (_, 0) => format!("{pace}, {cells} settled"),
            (Some(_), stopped) => {
                format!("{pace}, {cells} settled, {} of them by the stop rule", count(stopped))
            }
        }
    }

    fn json<'a>(&'a self, look: &'a Progress, event: &'static str) -> JsonLook<'a> {
        let forecast = self.forecast(look);
        let seconds = |us: fn(Forecast) -> f64| forecast.map(|forecast| us(forecast) / 1e6);
        JsonLook {
            event,
            experiment: &self.experiment.name,
            state: look.state.name(),
            games_planned: look.games_planned,
            games_settled: look.games_settled,
            games_failed: look.games_failed,
            forfeits: Forfeits(&look.forfeits),
            stopped_for: look.stopped_for.as_deref(),
            networks: look.networks,
            networks_settled: look.networks_settled,
            cells: look.cells,
            cells_settled: look.cells_settled,
            stop_rule: look.stop_rule.as_deref(),
            cells_stopped: look.cells_stopped,
            games_per_second: self.games_per_second(),
            seconds_left: seconds(|forecast| forecast.left_us),
            seconds_left_low: seconds(|forecast| forecast.low_us),
            seconds_left_high: seconds(|forecast| forecast.high_us),
        }
    }
}

fn settled_cell<'a>(experiment: &'a str, axes: &[String], cell: CellResult) -> SettledCell<'a> {
    let stopped_after = cell.stop.and_then(|stop| stop.stopped_after);
    let sprt_verdict = cell.sprt().and_then(|standing| standing.outcome).map(SprtOutcome::name);
    let interval = cell.interval_kind().map(IntervalKind::name);
    SettledCell {
        event: "cell",
        experiment,
        cell_id: cell.cell.0,
        axes: places_text(axes, &cell.axes),
        player: cell.player,
        opponent: cell.opponent,
        wins: cell.wins,
        draws: cell.draws,
        losses: cell.losses,
        games_failed: cell.games_failed,
        score: cell.score.map(|score| score.score),
        score_low: cell.score.map(|score| score.low),
        score_high: cell.score.map(|score| score.high),
        interval,
        stopped_after,
        sprt_verdict,
    }
}

/// `depth=2  alphabeta against random  12 wins 3 draws 5 losses  score 0.675 (0.432–0.856)`; for choices, which have
/// no winner, their number: `depth=2  alphabeta  200 choices`
fn cell_text(task: Task, cell: &SettledCell<'_>) -> String {
    let mut text = String::new();
    if let Some(axes) = &cell.axes {
        text.push_str(axes);
        text.push_str("  ");
    }
    text.push_str(&match task {
        Task::Game => result_text(cell),
        Task::Choice => {
            let choices = cell.wins + cell.draws + cell.losses;
            format!("{}  {} {}", cell.player, count(choices), task.noun(choices))
        }
    });
    if let Some(games) = cell.stopped_after {
        text.push_str(&format!("  stopped after {}", counted(games, "game")));
    }
    if let Some(verdict) = cell.sprt_verdict {
        text.push_str(&format!(": {verdict}"));
    }
    if cell.games_failed > 0 {
        text.push_str(&format!("  {} failed", count(cell.games_failed)));
    }
    text
}

fn result_text(cell: &SettledCell<'_>) -> String {
    let mut text = format!(
        "{} against {}  {} wins {} draws {} losses  score {}",
        cell.player,
        cell.opponent,
        count(cell.wins),
        count(cell.draws),
        count(cell.losses),
        optional(cell.score, |score| format!("{score:.3}")),
    );
    if let Some((low, high)) = cell.score_low.zip(cell.score_high) {
        text.push_str(&format!(" ({low:.3}–{high:.3})"));
    }
    text
}

/// `small is finished: 40 of 40 games settled in 2 cells`
fn end_text(experiment: &ExperimentSummary, look: &Progress) -> String {
    let settled = settled_text(experiment.task, look.games_settled, look.games_planned);
    let (name, state) = (&experiment.name, look.state.name());
    let mut text = format!("{name} is {state}: {settled} in {}", counted(look.cells, "cell"));
    if look.games_failed > 0 {
        let share = look.games_failed as f64 / look.games_settled.max(1) as f64;
        let failed = count(look.games_failed);
        text.push_str(&format!(", {failed} of them ({}) failed", percent(share)));
    }
    text + &forfeits_text(look)
}
