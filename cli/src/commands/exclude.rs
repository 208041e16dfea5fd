//! `spelrum worker exclude`, `readmit`: workers whose results are not trusted; `dismiss`: workers that are gone.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::Serialize;
use spelrum_answers::{ExcludeWorkers, ExcludedWorkers, Exclusion, KeptResults, NamedWorker};
use spelrum_engine::parse_duration_us;
use spelrum_model::WorkerId;
use spelrum_report::data::write_json;
use spelrum_report::text::count;

use crate::arguments::SourceArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::remote::steering::Steerer;
use crate::terminal;

/// Discard a worker's results, replay its games elsewhere, and give it no more work
#[derive(Args, Debug)]
#[command(after_help = "\
    Its results and their moves go to uncounted_games and no longer count in any statistics; other workers \
    replay its games, also of finished experiments. It gets no more games until `spelrum worker readmit`, nor does \
    a worker of the same name that starts later on its host. \
    Experiments with [find], [tune] or [evolve] keep its results, since their later steps depend on them, \
    and so do accuracy experiments.\n\n\
    `spelrum verify` and `spelrum status` show which worker it is. A `spelrum run` counts as a worker of \
    its machine.\n\n\
    Examples:\n  \
    spelrum worker exclude 7 --db results.db --dry-run             (only shows what would be removed)\n  \
    spelrum worker exclude 7 --coordinator http://127.0.0.1:7878 --since 2h --yes\n  \
    spelrum worker exclude rack-4 --experiment pentago-depth --db results.db")]
pub(crate) struct Exclude {
    #[command(flatten)]
    arguments: WorkerArguments,
    /// Only from this experiment, by name or UUID [default: from all]
    #[arg(long, value_name = "EXPERIMENT")]
    experiment: Option<String>,
    /// Only results of games begun within this last period, by the worker's clock [default: all]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    since: Option<Duration>,
    /// Only show what would be removed
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Give an excluded worker work again
#[derive(Args, Debug)]
#[command(after_help = "\
    Discarded results stay discarded. Later starts of the worker that were excluded with it are readmitted too.\n\n\
    Examples:\n  \
    spelrum worker readmit 7 --coordinator http://127.0.0.1:7878\n  \
    spelrum worker readmit 7 --engine dev --db results.db          (only to the games of this engine)\n  \
    spelrum worker readmit rack-4 --db results.db                  (if no coordinator has it)")]
pub(crate) struct Readmit {
    #[command(flatten)]
    arguments: WorkerArguments,
    /// Only to games of this engine, from which the worker was barred after forfeits [default: to
    /// all]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,
}

/// Stop reporting a silent worker
#[derive(Args, Debug)]
#[command(after_help = "\
    `spelrum status` names a worker that fell silent while it held games until it is back, or for an hour. A dismissed \
    worker keeps its results, and gets games again if it comes back.\n\n\
    Examples:\n  \
    spelrum worker dismiss 7 --coordinator http://127.0.0.1:7878\n  \
    spelrum worker dismiss rack-4")]
pub(crate) struct Dismiss {
    #[command(flatten)]
    arguments: WorkerArguments,
}

#[derive(Args, Debug)]
struct WorkerArguments {
    /// The worker's id; or a name, which means all workers that have it
    worker: String,
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    workers: Vec<JsonWorker<'a>>,
    /// The experiment's name; empty for all experiments.
    experiment: &'a str,
    /// Counted results, regardless of when their games began.
    games: u64,
    kept: Vec<JsonKept<'a>>,
    dry_run: bool,
    /// Whether all results to discard are taken out.
    finished: bool,
}

#[derive(Serialize)]
struct JsonWorker<'a> {
    worker_id: i64,
    name: &'a str,
    host: &'a str,
}

#[derive(Serialize)]
struct JsonKept<'a> {
    experiment: &'a str,
    why: &'static str,
    games: u64,
}

#[derive(Serialize)]
struct JsonReadmitted {
    readmitted_worker_ids: Vec<WorkerId>,
}

#[derive(Serialize)]
struct JsonDismissed {
    dismissed_worker_ids: Vec<WorkerId>,
}

impl Exclude {
    /// Excludes.
    pub(crate) async fn run(self) -> Result<Exit> {
        let action = format!("exclude {}", self.arguments.worker);
        let steerer = Steerer::open(&self.arguments.source, &action).await?;
        // The coordinator inside this process is closed whatever the result.
        let excluded = self.exclude(&steerer, &action).await;
        let is_own = steerer.is_own();
        steerer.close().await?;
        let mut out = terminal::stdout();
        match excluded? {
            None => writeln!(out, "nothing is changed")?,
            Some(response) if self.arguments.json => {
                write_json(&mut out, &self.to_json(&response, is_own))?
            }
            Some(response) => write!(out, "{}", self.text(&response, is_own))?,
        }
        Ok(Exit::Success)
    }

    /// Previews the exclusion, asks, and excludes. `None` if the user declines.
    async fn exclude(&self, steerer: &Steerer, action: &str) -> Result<Option<ExcludedWorkers>> {
        let ask = |what: Exclusion| ExcludeWorkers {
            worker: self.arguments.worker.clone(),
            experiment: self.experiment.clone(),
            what,
            since_unix_us: self.since.map(time_before_now),
            engine: None,
        };
        let preview = steerer.call(&ask(Exclusion::Preview), action).await?;
        if self.dry_run {
            return Ok(Some(preview));
        }
        if !self.yes && !self.confirmed(&preview, action)? {
            return Ok(None);
        }
        steerer.call(&ask(Exclusion::Exclude), action).await?;
        steerer.finish_exclusions(&ask(Exclusion::Preview), action).await?;
        Ok(Some(preview))
    }

    /// Asks the user on the terminal.
    fn confirmed(&self, preview: &ExcludedWorkers, action: &str) -> Result<bool> {
        let games = self.games(preview);
        if !terminal::can_ask() {
            return Err(CliError::new(Exit::Usage, action)
                .because(format!(
                    "{games} would be discarded, and there is no terminal to confirm it on"
                ))
                .help("add --yes; --dry-run only shows what would be removed"));
        }
        writeln!(terminal::stderr(), "{}", names(preview))?;
        let question = format!("{games} would be discarded and their games replayed. Exclude?");
        Ok(terminal::confirm(&question)?)
    }

    /// The discarded games, as text.
    fn games(&self, response: &ExcludedWorkers) -> String {
        let games = count(response.games);
        let results = if response.games == 1 { "result" } else { "results" };
        match self.since {
            None => format!("{games} {results}"),
            Some(_) => format!("those of {games} {results} that are not older"),
        }
    }

    fn text(&self, response: &ExcludedWorkers, is_own: bool) -> String {
        let games = self.games(response);
        let mut text = names(response) + "\n";
        let _ = match (self.dry_run, is_own) {
            (true, _) => writeln!(text, "excluding would discard {games}"),
            (false, true) => {
                writeln!(text, "excluded: {games} are discarded; other workers replay the games")
            }
            (false, false) => writeln!(
                text,
                "excluded: {games} are being discarded, and other workers replay the games"
            ),
        };
        for kept in &response.kept {
            let _ =
                writeln!(text, "{} keeps {}: {}", kept.experiment, count(kept.games), why(kept));
        }
        text
    }

    fn to_json<'a>(&'a self, response: &'a ExcludedWorkers, is_own: bool) -> Json<'a> {
        let worker = |named: &'a NamedWorker| JsonWorker {
            worker_id: named.worker.0,
            name: &named.name,
            host: &named.host,
        };
        let kept = |results: &'a KeptResults| JsonKept {
            experiment: &results.experiment,
            why: why(results),
            games: results.games,
        };
        Json {
            workers: response.workers.iter().map(worker).collect(),
            experiment: self.experiment.as_deref().unwrap_or_default(),
            games: response.games,
            kept: response.kept.iter().map(kept).collect(),
            dry_run: self.dry_run,
            finished: is_own && !self.dry_run,
        }
    }
}

impl Readmit {
    /// Readmits.
    pub(crate) async fn run(self) -> Result<Exit> {
        let action = format!("readmit {}", self.arguments.worker);
        let steerer = Steerer::open(&self.arguments.source, &action).await?;
        let request = ExcludeWorkers {
            worker: self.arguments.worker.clone(),
            experiment: None,
            what: Exclusion::Readmit,
            since_unix_us: None,
            engine: self.engine.clone(),
        };
        let response = steerer.call(&request, &action).await;
        steerer.close().await?;
        let readmitted_worker_ids = response?.readmitted;
        let mut out = terminal::stdout();
        if self.arguments.json {
            write_json(&mut out, &JsonReadmitted { readmitted_worker_ids })?;
        } else if readmitted_worker_ids.is_empty() {
            let from =
                self.engine.as_ref().map(|engine| format!(" from {engine}")).unwrap_or_default();
            writeln!(out, "{} is not excluded{from}", self.arguments.worker)?;
        } else {
            for worker in readmitted_worker_ids {
                let games_of =
                    self.engine.as_ref().map(|engine| format!(" of {engine}")).unwrap_or_default();
                writeln!(out, "worker {worker} gets games{games_of} again")?;
            }
        }
        Ok(Exit::Success)
    }
}

impl Dismiss {
    /// Dismisses.
    pub(crate) async fn run(self) -> Result<Exit> {
        let action = format!("dismiss {}", self.arguments.worker);
        let steerer = Steerer::open(&self.arguments.source, &action).await?;
        let request = ExcludeWorkers {
            worker: self.arguments.worker.clone(),
            experiment: None,
            what: Exclusion::Dismiss,
            since_unix_us: None,
            engine: None,
        };
        let response = steerer.call(&request, &action).await;
        steerer.close().await?;
        let dismissed_worker_ids = response?.dismissed;
        let mut out = terminal::stdout();
        if self.arguments.json {
            write_json(&mut out, &JsonDismissed { dismissed_worker_ids })?;
        } else if dismissed_worker_ids.is_empty() {
            writeln!(out, "{} is not reported as silent; no action needed", self.arguments.worker)?;
        } else {
            for worker in dismissed_worker_ids {
                writeln!(out, "worker {worker} is no longer reported as silent")?;
            }
        }
        Ok(Exit::Success)
    }
}

fn duration(text: &str) -> std::result::Result<Duration, String> {
    parse_duration_us(text)
        .map(Duration::from_micros)
        .ok_or_else(|| "write it like 500ms or 10s".to_owned())
}

/// The time this long ago, in microseconds since 1970.
fn time_before_now(long: Duration) -> i64 {
    let then = SystemTime::now().checked_sub(long).unwrap_or(UNIX_EPOCH);
    let since_epoch = then.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX)
}

/// The names of the affected workers.
fn names(response: &ExcludedWorkers) -> String {
    let name = |worker: &NamedWorker| {
        format!("worker {} ({} on {})", worker.worker, worker.name, worker.host)
    };
    response.workers.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn why(kept: &KeptResults) -> &'static str {
    if kept.has_course {
        "its later steps depend on them"
    } else {
        "its choices share position values"
    }
}
