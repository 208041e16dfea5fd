//! A coordinator and a worker inside this process.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use spelrum_answers::{
    Action, ExperimentSummary, MakeBrowserLink, SteerExperiment, SubmittedSweep,
};
use spelrum_coordinator as coordinator;
use spelrum_model::ExperimentState;
use spelrum_model::labels::Label;
use spelrum_model::speed::Speed;
use spelrum_proto::Token;
use spelrum_proto::api::Api;
use spelrum_store::Readers;
use spelrum_worker::{self as worker, Engines, ExclusiveSlots, Playing};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::arguments::{CoordinatorUrl, Offer};
use crate::config;
use crate::error::conversions::failed_call;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::build_info;
use crate::local::database_holder;
use crate::local::listener;
use crate::local::listener::{OwnerEntrance, TlsArguments};
use crate::remote::connection;
use crate::remote::connection::Manner;
use crate::results::CurrentMatch;
use crate::results::ResultsSource;
use crate::sweeps::file::SweepFile;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices;
use crate::terminal::progress::Progress;

/// Heartbeat interval of workers. Short, because the main worker is in this process: after a kill, the next run has
/// its games back within six times as long.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// Interval between reads of the progress, if a read takes no time.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Reads take at most this fraction (1/n) of the time, however many cells an experiment has.
const LOOK_SHARE: u32 = 20;

/// The address of a coordinator for this process alone.
const OWN_ADDRESS: &str = "127.0.0.1:0";

/// How games are played inside this process.
pub(crate) struct PlayOptions {
    pub(crate) offer: Offer,
    /// Which of the slots are exclusive.
    pub(crate) quiet: ExclusiveSlots,
    /// The labels of this machine.
    pub(crate) labels: Vec<Label>,
    /// The machine's speed, if just measured.
    pub(crate) speed: Option<Speed>,
    pub(crate) engines: Option<Engines>,
    /// Whether no other worker can play.
    pub(crate) alone: bool,
    /// Whether to show the current match; a course has too many.
    pub(crate) is_match: bool,
}

/// A coordinator inside this process, and a client of it.
pub(crate) struct Embedded {
    api: Api,
    url: CoordinatorUrl,
    token: Option<Token>,
    readers: Readers,
    shutdown: CancellationToken,
    /// The serving task, until its result has been taken.
    serving: Option<JoinHandle<Result<(), coordinator::CoordinatorError>>>,
}

impl Embedded {
    /// Opens the database and serves it: at `address` if given, with the configured token if any; else to this process
    /// alone. With `play`, people can play against built-in players in a browser.
    pub(crate) async fn start(
        db: &Path,
        address: Option<(&str, &TlsArguments)>,
        play: bool,
    ) -> Result<Self> {
        let listener = listener::bind(address.map_or(OWN_ADDRESS, |(address, _)| address)).await?;
        let url = listener::url_from_here(&listener)?;
        // For this process, and the database's owner.
        let secret = address.is_none().then(listener::random_token);
        let token =
            match &secret {
                Some(secret) => Some(secret.parse().map_err(|error| {
                    CliError::new(Exit::Internal, "make a token").because(error)
                })?),
                None => config::own_token(None)?,
            };
        if token.is_none() && !address.is_some_and(|(_, tls)| tls.demands_certificates()) {
            listener::refuse_if_open_to_others(
                listener::address(&listener)?,
                "spelrum coordinator --without-token",
            )?;
        }
        if let Some((_, tls)) = address {
            tls.refuse_if_readable_by_others(listener::address(&listener)?)?;
        }
        let tls = address.and_then(|(_, tls)| tls.files());
        let entrance = match &tls {
            Some(_) => Some(OwnerEntrance::open().await?),
            None => None,
        };
        let lock_text = match &entrance {
            Some(entrance) => database_holder::lock_text(&entrance.url, Some(&entrance.secret)),
            None => database_holder::lock_text(&url, secret.as_deref()),
        };
        let coordinator = coordinator::Coordinator::open(coordinator::Config {
            db: db.to_owned(),
            heartbeat_interval: HEARTBEAT_INTERVAL,
            token: token.clone(),
            tokens: None,
            tls,
            own_token: entrance.as_ref().map(|entrance| entrance.token.clone()),
            holder_text: lock_text,
            hosts: Vec::new(),
            is_alone: address.is_none(),
        })
        .await?
        .with_play(play);
        let readers = coordinator.readers();
        let shutdown = CancellationToken::new();
        let (url, token) = match &entrance {
            Some(entrance) => (entrance.url.clone(), Some(entrance.token.clone())),
            None => (url, token),
        };
        let listeners = listener::listeners(listener, entrance);
        let serving = Some(tokio::spawn(coordinator.serve_at(listeners, shutdown.clone())));
        let api = connection::connect_at(&url, token.as_ref()).await?;
        Ok(Self { api, url, token, readers, shutdown, serving })
    }

    /// A client of the coordinator.
    pub(crate) fn api(&self) -> Api {
        self.api.clone()
    }

    /// A link that shows a browser the coordinator's pages.
    pub(crate) async fn browser_link(&self) -> Option<String> {
        self.api.call(&MakeBrowserLink {}).await.ok().map(|link| link.url)
    }

    /// Connections to the database; closed when the coordinator stops.
    pub(crate) fn readers(&self) -> Readers {
        self.readers.clone()
    }

    /// Submits a sweep, and resumes a paused experiment.
    pub(crate) async fn submit(
        &mut self,
        sweep: &SweepFile,
        new_experiment: bool,
    ) -> Result<(SubmittedSweep, ExperimentSummary)> {
        let manner = Manner { new_experiment, preview: false };
        let submitted = connection::submit(&self.api, sweep, manner)
            .await
            .map_err(CliError::of_own_coordinator)?;
        let experiment = self.experiment(&submitted.experiment_uuid).await?;
        if experiment.state == ExperimentState::Paused {
            notices::notify(&format!("{} was paused, and goes on", experiment.name));
            let request = SteerExperiment {
                experiment: experiment.uuid.clone(),
                action: Action::Resume,
                priority: None,
            };
            let resumed = self.api.call(&request).await;
            resumed.map_err(|status| {
                failed_call("resume the experiment", &status).of_own_coordinator()
            })?;
        }
        Ok((submitted, experiment))
    }

    /// An experiment's progress.
    pub(crate) async fn experiment(&self, uuid: &str) -> Result<ExperimentSummary> {
        ResultsSource::File(self.readers()).experiment(Some(uuid)).await
    }

    /// Plays with a worker inside this process until the experiment or the worker ends.
    pub(crate) async fn play(
        &mut self,
        experiment: &ExperimentSummary,
        how: PlayOptions,
        interrupts: &Interrupts,
        progress: &mut Progress,
    ) -> Result<()> {
        let uuid = &experiment.uuid;
        let PlayOptions { offer, quiet, labels, speed, engines, alone, is_match } = how;
        let Offer { slots, memory_bytes } = offer;
        let own_engines = engines.clone().filter(|_| alone);
        let replaced = || own_engines.as_ref().and_then(Engines::replaced);
        let config = worker::Config {
            coordinator: worker::Address {
                endpoint: self.url.endpoint(),
                token: self.token.clone(),
            },
            name: None,
            labels,
            slots,
            quiet,
            memory_bytes,
            playing: Playing::Threads(engines),
            build: build_info::current(),
            exit_when_done: false,
            idle_max: None,
            others: Vec::new(),
            programs: None,
            speed,
        };
        // The worker also ends with the experiment, which is not an interruption.
        let finish = interrupts.finish.child_token();
        let shutdown = worker::Shutdown { finish: finish.clone(), now: interrupts.now.clone() };
        let mut working = pin!(worker::run(config, shutdown));
        let mut next_look = Instant::now();
        let results = ResultsSource::File(self.readers());
        let mut standing = CurrentMatch::new(is_match);
        loop {
            tokio::select! {
                ended = &mut working => {
                    ended?;
                    progress.settled(self.experiment(uuid).await?.games_settled);
                    return replaced().map_or(Ok(()), |engine| Err(engine_replaced(engine)));
                }
                ended = ended(&mut self.serving) => {
                    joined(ended)??;
                    return Err(CliError::new(Exit::Internal, "go on")
                        .because("the coordinator inside this process has ended"));
                }
                () = sleep_until(next_look) => {
                    let start = Instant::now();
                    let has_ended = match self.readers.progress(experiment.experiment).await {
                        Ok(Some(seen)) => {
                            standing.read(&results, experiment, &seen).await;
                            progress.look(&seen, standing.text());
                            // A person resumes it after looking at why it stopped.
                            seen.has_ended() || seen.stopped_for.is_some()
                        }
                        // Too many concurrent queries: falls back to the next best.
                        Ok(None) | Err(_) => self.experiment(uuid).await?.state.is_over(),
                    };
                    if has_ended || replaced().is_some() {
                        finish.cancel();
                    }
                    next_look = Instant::now() + LOOK_INTERVAL.max(start.elapsed() * LOOK_SHARE);
                }
            }
        }
    }

    /// Stops the coordinator and closes the database.
    pub(crate) async fn stop(self) -> Result<()> {
        let Self { api, shutdown, serving, .. } = self;
        drop(api);
        shutdown.cancel();
        // A coordinator that has already ended reports why.
        match serving {
            Some(serving) => Ok(joined(serving.await)??),
            None => Ok(()),
        }
    }
}

/// Waits for a task and takes it.
async fn ended<T>(
    running: &mut Option<JoinHandle<T>>,
) -> std::result::Result<T, tokio::task::JoinError> {
    match running {
        Some(handle) => {
            let ended = handle.await;
            *running = None;
            ended
        }
        None => std::future::pending().await,
    }
}

/// A task's result; resumes its panic.
fn joined<T>(ended: Result<T, tokio::task::JoinError>) -> Result<T> {
    ended.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => CliError::new(Exit::Internal, "wait for a task").because(error),
    })
}

/// The remaining games need a build that is no longer on this machine.
fn engine_replaced(engine: &str) -> CliError {
    CliError::new(Exit::Input, "play the remaining games")
        .because(format!(
            "the program of engine `{engine}`, or one of its `files`, was replaced during the run"
        ))
        .help(
            "run the same command again to play the new build in new cells, or put the old build back; \
             `any_build = true` in the sweep takes all builds for one player",
        )
}
