//! `spelrum worker`: plays games for a coordinator.

use std::time::Duration;

use clap::{Args, Subcommand};
use spelrum_external::{AcceptedPrograms, EngineFile};
use spelrum_worker::{self as worker, Playing};

use crate::arguments::{self, CoordinatorArguments, LabelArguments, SlotsArguments};
use crate::commands::exclude::{Dismiss, Exclude, Readmit};
use crate::commands::playing_process;
use crate::config::{self, Target};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::build_info;
use crate::local::syzygy_tables::SyzygyTables;
use crate::players::engines_file::{self, EnginesArguments, FILES_OF_WORKER};
use crate::terminal::interrupt::Interrupts;
use crate::terminal::logging::LogArguments;

const EXAMPLES: &str = "\
It logs to stderr (RUST_LOG=debug for more). If the coordinator is unreachable, the worker keeps trying, \
and keeps finished games until they are reported. Where a coordinator can have several addresses, such as after it \
moved to another machine, give them all: when it does not answer at one, the worker goes on with the next. \
The token that a coordinator requires is read from SPELRUM_TOKEN or the config file; see spelrum config --help. The first Ctrl-C or SIGTERM (or \
SIGHUP, SIGUSR1, SIGUSR2) finishes the games under way and hands back the rest, the second stops now.

Examples:
  spelrum worker --coordinator http://10.0.0.5:7878
  spelrum worker --coordinator http://10.0.0.5:7878 --slots 8 --name rack-3
  spelrum worker --coordinator http://10.0.0.5:7878 --label site=lab2 --label gpu
  spelrum worker --coordinator http://10.0.0.5:7878 --exit-when-done
  spelrum worker --coordinator http://10.0.0.5:7878 --engines engines.toml
  spelrum worker --coordinator http://10.0.0.5:7878,http://10.0.0.6:7878
  spelrum worker exclude --help";

/// Play games for a coordinator, or exclude a worker
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Worker {
    #[command(subcommand)]
    command: Option<Box<WorkerCommand>>,
    #[command(flatten)]
    coordinator: CoordinatorArguments,
    #[command(flatten)]
    slots: SlotsArguments,
    #[command(flatten)]
    labels: LabelArguments,
    #[command(flatten)]
    engines: EnginesArguments,
    /// The worker's name in `status` and in the results [default: the host's name]
    #[arg(long)]
    name: Option<String>,
    /// End when the coordinator has nothing left to play, instead of waiting for more: for batch
    /// jobs
    #[arg(long)]
    exit_when_done: bool,
    /// End when no games came for this long, such as 300s
    #[arg(long, value_name = "TIME", value_parser = arguments::wait_from_text)]
    exit_when_idle: Option<Duration>,
    #[command(flatten)]
    logs: LogArguments,
}

/// What to do about a worker, here or on another machine.
#[derive(Debug, Subcommand)]
enum WorkerCommand {
    Exclude(Exclude),
    Readmit(Readmit),
    Dismiss(Dismiss),
}

impl Worker {
    /// Works until asked to end.
    pub(crate) async fn run(self) -> Result<Exit> {
        if let Some(command) = self.command {
            return match *command {
                WorkerCommand::Exclude(exclude) => exclude.run().await,
                WorkerCommand::Readmit(readmit) => readmit.run().await,
                WorkerCommand::Dismiss(dismiss) => dismiss.run().await,
            };
        }
        self.logs.start("info");
        let coordinator = config::coordinator(&self.coordinator)?;
        // Read early, so that its errors are reported first.
        let engines = self.engines.read()?;
        let tables = SyzygyTables::open(engines.as_ref())?;
        let labels = self.labels.labels(tables.as_ref().and_then(SyzygyTables::label))?;
        if let Some(tables) = tables {
            tracing::info!("{}", tables.describe());
        }
        let interrupts = Interrupts::listen(|| {
            tracing::info!("ending: finishing the games under way; a second signal stops now");
        })?;
        let mut offer = self.slots.offer();
        if engines.is_some() {
            let (slots, warning) =
                engines_file::slots_within_open_files(offer.slots, FILES_OF_WORKER);
            offer.slots = slots;
            if let Some(warning) = warning {
                tracing::warn!("{warning}");
            }
        }
        let accepted = engines.as_ref().and_then(EngineFile::accepted);
        let quiet = self.slots.quiet(offer.slots)?;
        tracing::info!("{}", arguments::describe_slots(offer.slots, &quiet));
        let playing = playing_process::command(offer, &quiet, &self.engines, self.logs)?;
        let config = worker::Config {
            coordinator: address(&coordinator)?,
            others: coordinator.others.iter().map(address).collect::<Result<_>>()?,
            name: self.name,
            labels,
            slots: offer.slots,
            quiet,
            memory_bytes: offer.memory_bytes,
            playing: Playing::Process(playing),
            build: build_info::current(),
            exit_when_done: self.exit_when_done,
            idle_max: self.exit_when_idle,
            programs: accepted.map(AcceptedPrograms::programs),
            speed: None,
        };
        let shutdown =
            worker::Shutdown { finish: interrupts.finish.clone(), now: interrupts.now.clone() };
        let summary = worker::run(config, shutdown).await?;
        // A service that finishes on request succeeds; one that is stopped in mid-game does not.
        match interrupts.exit() {
            Some(signal) if interrupts.now.is_cancelled() => Ok(signal),
            _ if summary.unreported > 0 => {
                let action = format!("report {} finished games", summary.unreported);
                Err(CliError::new(Exit::Network, action)
                    .because("the coordinator did not answer in time")
                    .help("start a worker again when it does; these games will be played again"))
            }
            _ => Ok(Exit::Success),
        }
    }
}

/// A worker's address of a coordinator.
fn address(target: &Target) -> Result<worker::Address> {
    let token = target.token.as_ref().map(|token| token.value.clone());
    Ok(worker::Address { endpoint: target.endpoint()?, token })
}
