//! `spelrum status`: how far experiments are, what workers do, and what needs somebody.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use spelrum_coordinator::store::Readers;
use spelrum_proto::v1;

use crate::arguments::SourceArguments;
use crate::causes::failed_call;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{count, duration_us, write_json};
use crate::remote::Client;
use crate::results::ResultsSource;
use crate::summary;

const EXAMPLES: &str = "\
Below the tables it names what needs somebody, each with what to do about it: games that failed or \
were lost, results that contradict each other, workers that are silent or missing, experiments that \
are paused or of another engine, a disk that is nearly full, removals under way. A file knows \
nothing of workers.

Examples:
  spelrum status --coordinator http://127.0.0.1:7878
  spelrum status pentago-depth --coordinator http://127.0.0.1:7878 --json
  spelrum status --db results.db";

/// Show how far experiments are, what workers do, and what needs somebody
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    /// An experiment's name or UUID [default: all]
    experiment: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a file does not know is null.
#[derive(Serialize)]
struct Json<'a> {
    version: Option<&'a str>,
    coordinator_epoch: Option<i64>,
    uptime_ms: Option<u64>,
    experiments: Vec<summary::Experiment<'a>>,
    experiments_total: u64,
    workers: Option<Vec<summary::Worker<'a>>>,
    workers_total: Option<u64>,
    attention: Vec<Attention<'a>>,
    removals: Vec<Removal<'a>>,
}

#[derive(Serialize)]
struct Attention<'a> {
    kind: &'a str,
    experiment: Option<&'a str>,
    count: u64,
    problem: &'a str,
    remedy: &'a str,
}

#[derive(Serialize)]
struct Removal<'a> {
    experiment: &'a str,
    what: &'a str,
    games: u64,
    games_done: u64,
    shrinking: bool,
}

impl Status {
    /// Asks and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let (status, of_file) = match ResultsSource::open(&self.source).await? {
            ResultsSource::File(readers) => (self.of_file(&readers).await?, true),
            ResultsSource::Coordinator(client) => (self.of_coordinator(client).await?, false),
        };
        let mut out = anstream::stdout().lock();
        if self.json {
            write_json(&mut out, &json(&status, of_file))?;
        } else {
            text(&status, of_file, &mut out)?;
        }
        Ok(Exit::Success)
    }

    async fn of_coordinator(&self, mut client: Client) -> Result<v1::StatusResponse> {
        let experiment = self.experiment.clone().unwrap_or_default();
        let status = client.status(v1::StatusRequest { experiment }).await;
        let status = status.map_err(|status| failed_call("ask for the status", &status))?;
        Ok(status.into_inner())
    }

    /// What the file knows.
    async fn of_file(&self, readers: &Readers) -> Result<v1::StatusResponse> {
        let experiments = match &self.experiment {
            None => readers.experiments(None).await?,
            some @ Some(_) => {
                let source = ResultsSource::File(readers.clone());
                vec![source.experiment(some.as_deref()).await?]
            }
        };
        Ok(v1::StatusResponse {
            experiments_total: experiments.len() as u64,
            attention: readers.attention(&experiments).await?,
            removals: readers.removals().await?,
            experiments,
            ..Default::default()
        })
    }
}

fn json(status: &v1::StatusResponse, of_file: bool) -> Json<'_> {
    let unless_file = |known| (!of_file).then_some(known);
    Json {
        version: (!of_file).then_some(&*status.version),
        coordinator_epoch: (!of_file).then_some(status.coordinator_epoch),
        uptime_ms: unless_file(status.uptime_ms),
        experiments: status.experiments.iter().map(Into::into).collect(),
        experiments_total: status.experiments_total,
        workers: (!of_file).then(|| status.workers.iter().map(Into::into).collect()),
        workers_total: unless_file(status.workers_total),
        attention: status
            .attention
            .iter()
            .map(|it| Attention {
                kind: &it.kind,
                experiment: Some(&*it.experiment).filter(|name| !name.is_empty()),
                count: it.count,
                problem: &it.problem,
                remedy: &it.remedy,
            })
            .collect(),
        removals: status
            .removals
            .iter()
            .map(|it| Removal {
                experiment: &it.experiment,
                what: match it.what() {
                    v1::RemoveWhat::Moves => "moves",
                    v1::RemoveWhat::Everything | v1::RemoveWhat::Unspecified => "everything",
                },
                games: it.games,
                games_done: it.games_done,
                shrinking: it.shrinking,
            })
            .collect(),
    }
}

fn text(status: &v1::StatusResponse, of_file: bool, out: &mut dyn Write) -> io::Result<()> {
    if !of_file {
        writeln!(
            out,
            "coordinator {}, up for {}, start number {}\n",
            status.version,
            duration_us(status.uptime_ms as f64 * 1e3),
            status.coordinator_epoch,
        )?;
    }
    if status.experiments.is_empty() {
        writeln!(out, "no experiments yet: spelrum submit FILE")?;
    } else {
        summary::experiments_table(&status.experiments).write(out)?;
        cut(status.experiments.len(), status.experiments_total, "newest", "experiments", out)?;
    }
    writeln!(out)?;
    if of_file {
        // Who works, only a coordinator knows.
    } else if status.workers.is_empty() {
        writeln!(out, "no workers: spelrum worker --coordinator URL\n")?;
    } else {
        summary::workers_table(&status.workers).write(out)?;
        cut(status.workers.len(), status.workers_total, "busiest", "workers", out)?;
        writeln!(out)?;
    }
    attention(&status.attention, out)
}

/// Says that a table does not have all there is.
fn cut(shown: usize, total: u64, which: &str, what: &str, out: &mut dyn Write) -> io::Result<()> {
    if (shown as u64) < total {
        writeln!(out, "(the {} {which} of {} {what})", count(shown as u64), count(total))?;
    }
    Ok(())
}

/// What needs somebody, and what to do about it.
fn attention(attention: &[v1::Attention], out: &mut dyn Write) -> io::Result<()> {
    if attention.is_empty() {
        return writeln!(out, "nothing needs anybody");
    }
    writeln!(out, "needs somebody:")?;
    for it in attention {
        if it.experiment.is_empty() {
            writeln!(out, "  {}", it.problem)?;
        } else {
            writeln!(out, "  {}: {}", it.experiment, it.problem)?;
        }
        writeln!(out, "    {}", it.remedy)?;
    }
    Ok(())
}
