//! `spelrum run`: the main job, whole, on one machine.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use clap::Args;
use spelrum_coordinator as coordinator;
use spelrum_coordinator::store::Readers;
use spelrum_proto::v1;
use spelrum_proto::v1::experiments_client::ExperimentsClient;
use spelrum_worker as worker;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

use super::submit::submit;
use crate::arguments::{CoordinatorUrl, SlotsArguments};
use crate::causes::failed_call;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::interrupt::Interrupts;
use crate::progress::{self, Progress};
use crate::report::{self, Detail};
use crate::results::ResultsSource;
use crate::sweep_file::SweepFile;
use crate::{listen, logging, remote};

/// How often workers say that they live. Short, because the one that counts is in this process:
/// after a kill, the next run has its games back within six times as long.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// How often the progress is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

const EXAMPLES: &str = "\
The results stay in the database. Run the same file again and it goes on where it was; when every \
game is settled it only shows the tables. The first Ctrl-C finishes the games under way, the \
second stops now; either way nothing that was finished is lost.

Examples:
  spelrum run sweeps/tic-tac-toe.toml
  spelrum run sweeps/pentago-depth.toml --db /data/study.db --slots 8
  spelrum run sweeps/pentago-depth.toml --listen 0.0.0.0:7878

Workers of other machines can join the last one: spelrum worker --coordinator http://HOST:7878";

/// Play a sweep on this machine and show the results; run again, it resumes
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// The sweep
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The results database [default: the sweep's name with .db, in this directory]
    #[arg(long, value_name = "PATH")]
    db: Option<PathBuf>,
    #[command(flatten)]
    slots: SlotsArguments,
    /// Where to listen for workers of other machines
    #[arg(
        long,
        value_name = "ADDR:PORT",
        default_value = "127.0.0.1:0",
        hide_default_value = true
    )]
    listen: String,
}

impl Run {
    /// Plays the sweep to its end, or to a Ctrl-C.
    pub(crate) async fn run(self) -> Result<Exit> {
        let sweep = SweepFile::read(&self.file)?;
        let db = self.db.unwrap_or_else(|| PathBuf::from(format!("{}.db", sweep.plan.name)));
        let bar = progress::bar();
        logging::start("warn", bar.clone());
        let told = bar.clone();
        let interrupts = Interrupts::listen(move || {
            told.suspend(|| {
                progress::say("finishing the games under way; Ctrl-C again stops now");
            });
        })?;

        let mut service = Service::start(&db, &self.listen).await?;
        let submitted = submit(&mut service.client, &sweep).await?;
        let experiment = service.experiment(&submitted.experiment_uuid).await?;
        if Standing::of(&experiment) == Standing::Open {
            service.resume(&experiment).await?;
            progress::say(&beginning(&submitted, &experiment, &db));
            let mut progress =
                Progress::start(bar, experiment.games_settled, experiment.games_planned);
            let uuid = &submitted.experiment_uuid;
            service.play(uuid, self.slots.slots(), &mut progress, &interrupts).await?;
            progress.end();
        } else {
            progress::say(&format!(
                "{} is {} already; its results are in {}",
                experiment.name,
                experiment.state,
                db.display()
            ));
        }

        let experiment = service.experiment(&submitted.experiment_uuid).await?;
        let results = ResultsSource::File(service.readers.clone());
        report::print(&results, &experiment, Detail::Cells).await?;
        service.stop().await?;
        let ended = Standing::of(&experiment);
        if let (Standing::Open, Some(signal)) = (ended, interrupts.exit()) {
            progress::say(&format!(
                "interrupted; go on with: spelrum run {} --db {}",
                self.file.display(),
                db.display()
            ));
            return Ok(signal);
        }
        Ok(if experiment.games_failed > 0 { Exit::FailedGames } else { Exit::Success })
    }
}

/// Whether there is anything left to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Open,
    Ended,
}

impl Standing {
    fn of(experiment: &v1::ExperimentSummary) -> Self {
        match experiment.state.as_str() {
            "finished" | "cancelled" => Self::Ended,
            _ => Self::Open,
        }
    }
}

fn beginning(
    submitted: &v1::SubmitResponse,
    experiment: &v1::ExperimentSummary,
    db: &std::path::Path,
) -> String {
    use crate::output::count;
    let verb = if submitted.existed { "resuming" } else { "playing" };
    format!(
        "{verb} {}: {} games in {} cells, into {}",
        experiment.name,
        count(experiment.games_planned),
        count(experiment.cells),
        db.display()
    )
}

/// A coordinator inside this process, and a client of it.
struct Service {
    client: ExperimentsClient<Channel>,
    url: CoordinatorUrl,
    readers: Readers,
    shutdown: CancellationToken,
    serving: JoinHandle<Result<(), coordinator::CoordinatorError>>,
}

impl Service {
    async fn start(db: &std::path::Path, address: &str) -> Result<Self> {
        let listener = listen::bind(address).await?;
        let url = listen::url_from_here(&listener)?;
        let coordinator = coordinator::Coordinator::open(coordinator::Config {
            db: db.to_owned(),
            heartbeat_interval: HEARTBEAT_INTERVAL,
        })
        .await?;
        let readers = coordinator.readers();
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(coordinator.serve(listener, shutdown.clone()));
        let client = remote::connect(&url).await?;
        Ok(Self { client, url, readers, shutdown, serving })
    }

    async fn experiment(&self, uuid: &str) -> Result<v1::ExperimentSummary> {
        let source = ResultsSource::Coordinator(self.client.clone());
        source.experiment(Some(uuid)).await
    }

    /// A paused experiment goes on: whoever runs it wants it played.
    async fn resume(&mut self, experiment: &v1::ExperimentSummary) -> Result<()> {
        if experiment.state == "paused" {
            let request = v1::SteerRequest {
                experiment: experiment.experiment_uuid.clone(),
                action: v1::Action::Resume.into(),
            };
            let resumed = self.client.steer(request).await;
            resumed.map_err(|status| failed_call("resume the experiment", &status))?;
        }
        Ok(())
    }

    /// Plays with a worker inside this process until the experiment, or the worker, has ended.
    async fn play(
        &mut self,
        uuid: &str,
        slots: NonZeroU32,
        progress: &mut Progress,
        interrupts: &Interrupts,
    ) -> Result<()> {
        // The worker also ends when the experiment does, which is no interruption.
        let finish = interrupts.finish.child_token();
        let config = worker::Config {
            coordinator: self.url.endpoint(),
            name: None,
            slots,
            exit_when_done: false,
        };
        let shutdown = worker::Shutdown { finish: finish.clone(), now: interrupts.now.clone() };
        let mut working = pin!(worker::run(config, shutdown));
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        loop {
            tokio::select! {
                ended = &mut working => {
                    ended?;
                    break;
                }
                ended = &mut self.serving => {
                    joined(ended)??;
                    return Err(CliError::new(Exit::Internal, "go on")
                        .because("the coordinator inside this process has ended"));
                }
                _ = looks.tick() => {
                    let experiment = self.experiment(uuid).await?;
                    progress.settled(experiment.games_settled);
                    if Standing::of(&experiment) == Standing::Ended {
                        finish.cancel();
                    }
                }
            }
        }
        let experiment = self.experiment(uuid).await?;
        progress.settled(experiment.games_settled);
        Ok(())
    }

    /// Ends the coordinator, and closes the database.
    async fn stop(self) -> Result<()> {
        let Self { client, shutdown, serving, .. } = self;
        drop(client);
        shutdown.cancel();
        joined(serving.await)??;
        Ok(())
    }
}

/// A task's result; a panic in it goes on here.
fn joined<T>(ended: Result<T, tokio::task::JoinError>) -> Result<T> {
    ended.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => CliError::new(Exit::Internal, "wait for a task").because(error),
    })
}
