//! `spelrum playing-process`: plays for the worker that started it. Not for people.

use clap::Args;
use spelrum_external::{EngineFile, FailureKind};
use spelrum_worker::{self as worker, Engines, ExclusiveSlots, PlayingCommand};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::arguments::{self, Offer, SlotsArguments};
use crate::config::TOKEN_VARIABLE;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::syzygy_tables::SyzygyTables;
use crate::players::engines_file::{self, EnginesArguments, FILES_OF_WORKER};
use crate::terminal::interrupt::TERMINATING;
use crate::terminal::logging::LogArguments;

/// Its name on the command line.
const NAME: &str = "playing-process";

/// Play for the worker that starts this
#[derive(Args, Debug)]
pub(crate) struct PlayingProcess {
    #[command(flatten)]
    slots: SlotsArguments,
    /// Where its quiet slots are, as the worker has planned them
    #[arg(long, value_name = "CPUS", default_value = "none")]
    quiet_cpus: ExclusiveSlots,
    #[command(flatten)]
    engines: EnginesArguments,
    #[command(flatten)]
    logs: LogArguments,
}

/// The command with which a worker with these arguments starts its playing process.
///
/// # Errors
/// If the system does not report this program's path.
pub(crate) fn command(
    Offer { slots, memory_bytes }: Offer,
    quiet: &ExclusiveSlots,
    engines: &EnginesArguments,
    logs: LogArguments,
) -> Result<PlayingCommand> {
    let mut command_line = vec![NAME.into(), "--slots".into(), slots.to_string().into()];
    if let Some(bytes) = memory_bytes {
        let mebibytes = (bytes >> 20).clamp(1, u32::MAX.into());
        command_line.extend(["--memory".into(), format!("{mebibytes}MiB").into()]);
    }
    command_line.extend(["--quiet-cpus".into(), quiet.to_string().into()]);
    command_line.extend(engines.process_arguments());
    command_line.extend(logs.process_arguments());
    command_line.extend(arguments::output_flags());
    PlayingCommand::for_this_program(command_line, &[TOKEN_VARIABLE]).map_err(|error| {
        CliError::new(Exit::Internal, "find this program, which plays").because(error)
    })
}

impl PlayingProcess {
    /// Plays until the worker ends it.
    pub(crate) async fn run(self) -> Result<Exit> {
        let playing = worker::PlayingProcess::from_standard_streams().map_err(|error| {
            CliError::new(Exit::Usage, "play")
                .because(error)
                .help("spelrum worker starts it; start that")
        })?;
        self.logs.start("info");
        // Service managers and batch systems signal every process of a worker. The worker decides when this one ends.
        let kinds = [SignalKind::interrupt()].into_iter().chain(TERMINATING);
        let failed = |error| CliError::new(Exit::Internal, "listen for signals").because(error);
        let _unheeded = kinds.map(signal).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let offer = self.slots.offer();
        let file = self.engines.read()?;
        if let Some(tables) = SyzygyTables::open(file.as_ref())? {
            tables.install();
        }
        let engines = match file {
            Some(file) => Some(find(file, offer).await?),
            None => None,
        };
        let played = playing.play(offer.slots, self.quiet_cpus, engines).await;
        played.map_err(|error| {
            CliError::new(Exit::Internal, "start a playing thread")
                .because(error)
                .help("use fewer slots, or raise the limit on threads")
        })?;
        Ok(Exit::Success)
    }
}

/// The engines that start. All are logged, including those that fail.
async fn find(file: EngineFile, offer: Offer) -> Result<Engines> {
    // If the worker ends first, this process ends.
    let (engines, failures) =
        engines_file::find(file.clone(), offer, FILES_OF_WORKER, CancellationToken::new()).await?;
    for failure in failures.into_iter().filter(|failure| failure.kind != FailureKind::Aborted) {
        tracing::error!("{}", engines_file::not_offered(&file, &failure));
        tracing::debug!(engine = failure.engine, "said:\n{}", failure.transcript);
    }
    for offered in engines.offered() {
        let (engine, name) = (&offered.engine, &offered.identity.name);
        tracing::info!(engine, name, "offered");
    }
    Ok(engines)
}
