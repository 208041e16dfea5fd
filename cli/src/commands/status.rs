//! `spelrum status`: how far experiments are, and what workers do.

use std::io::Write as _;

use clap::Args;
use serde::Serialize;
use spelrum_proto::v1;

use crate::arguments::CoordinatorArguments;
use crate::causes::failed_call;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{duration_us, write_json};
use crate::{remote, summary};

const EXAMPLES: &str = "\
Examples:
  spelrum status --coordinator http://127.0.0.1:7878
  spelrum status pentago-depth --coordinator http://127.0.0.1:7878 --json";

/// Show how far experiments are and what workers do
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    /// An experiment's name or UUID [default: all]
    experiment: Option<String>,
    #[command(flatten)]
    coordinator: CoordinatorArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    version: &'a str,
    coordinator_epoch: i64,
    uptime_ms: u64,
    experiments: Vec<summary::Experiment<'a>>,
    workers: Vec<summary::Worker<'a>>,
}

impl Status {
    /// Asks and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let mut client = remote::connect(&self.coordinator).await?;
        let request = v1::StatusRequest { experiment: self.experiment.unwrap_or_default() };
        let status = client
            .status(request)
            .await
            .map_err(|status| failed_call("ask for the status", &status))?
            .into_inner();
        let mut out = anstream::stdout().lock();
        if self.json {
            let json = Json {
                version: &status.version,
                coordinator_epoch: status.coordinator_epoch,
                uptime_ms: status.uptime_ms,
                experiments: status.experiments.iter().map(Into::into).collect(),
                workers: status.workers.iter().map(Into::into).collect(),
            };
            write_json(&mut out, &json)?;
            return Ok(Exit::Success);
        }
        writeln!(
            out,
            "coordinator {}, up for {}, start number {}\n",
            status.version,
            duration_us(status.uptime_ms as f64 * 1e3),
            status.coordinator_epoch,
        )?;
        if status.experiments.is_empty() {
            writeln!(out, "no experiments yet: spelrum submit FILE")?;
        } else {
            summary::experiments_table(&status.experiments).write(&mut out)?;
        }
        writeln!(out)?;
        if status.workers.is_empty() {
            writeln!(out, "no workers: spelrum worker --coordinator URL")?;
        } else {
            summary::workers_table(&status.workers).write(&mut out)?;
        }
        Ok(Exit::Success)
    }
}
