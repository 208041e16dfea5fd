//! `spelrum export`: whole experiments as a separate results database.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spelrum_report::data::write_json;
use spelrum_report::text::counted;
use spelrum_store::BackedUp;

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::results::ResultsSource;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;

const EXAMPLES: &str = "\
The file is a results database like the one that it comes from, with these experiments and nothing else: \
report, sql and every other command take it with --db. It has the sweeps' texts, cells, games, moves, sums, \
what was not counted and what failed. It is of one moment, checked and on disk when this ends, and nothing is \
ever written over. Experiments that run are paused in it.

spelrum import takes it into another database. To copy all there is: spelrum backup. For games as text or \
tables: spelrum games.

JSON: export (the path), experiments (names), bytes, games (those with a result).

Examples:
  spelrum export pentago-depth --db results.db --output pentago-depth.db
  spelrum export first second --coordinator http://127.0.0.1:7878 --output both.db
  spelrum report --db pentago-depth.db";

/// Copy whole experiments into a new results database
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// The experiments, by name or UUID; may be left out if there is only one
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// The file to make
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'p> {
    export: &'p str,
    experiments: Vec<&'p str>,
    bytes: u64,
    games: u64,
}

impl Export {
    /// Copies, and reports the copy's contents.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let mut experiments = Vec::new();
        if self.experiments.is_empty() {
            experiments.push(source.experiment(None).await?);
        }
        for wanted in &self.experiments {
            let found = source.experiment(Some(wanted)).await?;
            if experiments.iter().all(|experiment| experiment.uuid != found.uuid) {
                experiments.push(found);
            }
        }
        let interrupts = Interrupts::listen(|| {})?;
        let unwanted = interrupts.finish.clone();
        let look = move |_| {
            if unwanted.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let exporting = source.export(&experiments, &self.output, look);
        let exported = tokio::select! {
            exported = exporting => exported,
            () = interrupts.now.cancelled() => return Ok(interrupted(&interrupts)),
        };
        if exported.is_err() && interrupts.finish.is_cancelled() {
            return Ok(interrupted(&interrupts));
        }
        let BackedUp { bytes, games } = exported?;
        let path = self.output.to_string_lossy();
        let names: Vec<&str> = experiments.iter().map(|experiment| &*experiment.name).collect();
        let mut out = terminal::stdout();
        if self.json {
            let json = Json { export: &path, experiments: names, bytes, games };
            write_json(&mut out, &json)?;
        } else {
            let (names, games, bytes) =
                (names.join(", "), counted(games, "settled game"), counted(bytes, "byte"));
            writeln!(out, "{path}: {names}, {games}, {bytes}")?;
        }
        Ok(Exit::Success)
    }
}

fn interrupted(interrupts: &Interrupts) -> Exit {
    interrupts.exit().unwrap_or(Exit::Interrupted)
}
