//! `spelrum list`: the experiments.

use std::io::Write as _;

use clap::Args;

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::write_json;
use crate::results::ResultsSource;
use crate::summary;

const EXAMPLES: &str = "\
Examples:
  spelrum list --db results.db
  spelrum list --coordinator http://127.0.0.1:7878 --json";

/// List experiments
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    /// Prints them.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let experiments = source.experiments(None).await?;
        let mut out = anstream::stdout().lock();
        if self.json {
            let all: Vec<_> = experiments.iter().map(summary::Experiment::from).collect();
            write_json(&mut out, &all)?;
        } else if experiments.is_empty() {
            writeln!(out, "no experiments yet")?;
        } else {
            summary::experiments_table(&experiments).write(&mut out)?;
        }
        Ok(Exit::Success)
    }
}
