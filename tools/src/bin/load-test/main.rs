//! A load test of a coordinator: simulates workers, and shows how long its answers take.

mod fleet;
mod shared;
mod tally;
mod worker;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde::Serialize;
use spelrum_answers::{Action, SteerExperiment, SubmitSweep};
use spelrum_engine::parse_duration_us;
use spelrum_proto::api::Api;
use spelrum_proto::{Bearer, Token, TrustError};
use spelrum_report::data::write_json;
use spelrum_report::text::{Column, TextTable, count, duration_us};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use uuid::Uuid;

use crate::fleet::{Working, connections_max};
use crate::shared::Fleet;
use crate::tally::{Call, Measured};

const NOTES: &str = "\
Each simulated worker has its own connection and makes the calls of a real one (Hello, leases, heartbeats, \
reports), but spends no processor time on its games. The games are tic-tac-toe between random players, or \
those of a sweep. They belong to an experiment that the load test submits and cancels at its end: use a \
coordinator with a database of its own. If the coordinator demands tokens, the token needs the roles work and \
submit.

Times are measured from the moment at which all workers have joined.

Examples:
  spelrum coordinator --db /tmp/load.db --heartbeat 10s
  load-test --workers 1000
  load-test --workers 10000 --game-time 10s --duration 60s --pid $(pgrep -f 'coordinator --db /tmp/load')";

/// Load-tests a coordinator with simulated workers
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = NOTES)]
struct Arguments {
    /// The coordinator, or several that share a database, separated by commas: workers begin with each of these addresses
    /// equally often, and try the next when one does not answer
    #[arg(
        long,
        value_name = "URL",
        env = "SPELRUM_COORDINATOR",
        default_value = "http://127.0.0.1:7878",
        value_delimiter = ','
    )]
    coordinator: Vec<Endpoint>,
    /// The CAs to trust, as a PEM file [default: those of this system]
    #[arg(long, value_name = "FILE", env = "SPELRUM_CA")]
    ca: Option<PathBuf>,
    /// A token with the roles work and submit
    #[arg(long, env = "SPELRUM_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// The number of workers
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    workers: u32,
    /// A sweep whose games to play, between random players [default: tic-tac-toe]
    #[arg(long, value_name = "SWEEP")]
    sweep: Option<PathBuf>,
    /// How long each worker takes for a game; 0: no time
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    game_time: Duration,
    /// How long to measure
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    duration: Duration,
    /// Workers that connect per second
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    joins: u32,
    /// The coordinator's process on this machine, to measure its processor time
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn duration(text: &str) -> Result<Duration, String> {
    let us = match text {
        "0" => Some(0),
        _ => parse_duration_us(text),
    };
    us.map(Duration::from_micros).ok_or_else(|| "write it like 500ms or 10s".to_owned())
}

type Failure = Box<dyn Error>;

#[derive(Serialize)]
struct Json<'m> {
    workers: u64,
    seconds: f64,
    calls: Vec<CallJson>,
    games_counted: u64,
    games_not_counted: u64,
    leases: u64,
    nothing_to_do: u64,
    leases_dropped: u64,
    workers_came_back: u64,
    cpu_cores: f64,
    coordinator_cpu_cores: Option<f64>,
    first_failure: Option<&'m str>,
}

#[derive(Serialize)]
struct CallJson {
    call: &'static str,
    answered: u64,
    per_second: f64,
    failed: u64,
    median_us: u64,
    p95_us: u64,
    p99_us: u64,
    longest_us: u64,
}

/// CPU use, in cores.
struct Cores {
    fleet: f64,
    coordinator: Option<f64>,
}

/// Interval between checks whether the measurement is over.
const TICK: Duration = Duration::from_millis(50);

/// Interval between progress messages.
const PROGRESS: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> ExitCode {
    let Err(error) = Arguments::parse().run().await else { return ExitCode::SUCCESS };
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let problem = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
    let _closed = writeln!(std::io::stderr(), "error: {problem}");
    ExitCode::FAILURE
}

impl Arguments {
    async fn run(self) -> Result<(), Failure> {
        let possible = connections_max(self.workers);
        if possible < self.workers {
            return Err(format!(
                "this process may have {possible} connections: raise the limit of open files (ulimit -n), or \
                 simulate fewer workers"
            )
            .into());
        }
        let endpoints = self.endpoints()?;
        let Some(first) = endpoints.first() else { return Err("name a coordinator".into()) };
        let channel = first.connect().await.map_err(|error| unreachable(first, &error))?;
        let api = Api::new(channel, Bearer::new(self.token.as_ref()));
        let interrupted = CancellationToken::new();
        let interrupt = interrupted.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                interrupt.cancel();
            }
        });
        let experiment = submit(&api, self.sweep.as_deref()).await?;
        let fleet = Fleet {
            coordinators: endpoints,
            token: self.token.clone(),
            workers: self.workers,
            game_time: self.game_time,
            joins_per_second: self.joins,
        };
        let mut working = Working::start(fleet);
        let measured = self.measure(&mut working, &interrupted).await;
        let joined = working.joined();
        let gave_up = working.gave_up();
        working.end().await;
        cancel(&api, &experiment).await?;
        if let Some(problem) = gave_up {
            return Err(format!("a simulated worker gave up: {problem}").into());
        }
        if let Some((measured, cores)) = measured {
            self.write(&mut std::io::stdout().lock(), joined, &measured, &cores)?;
        }
        if interrupted.is_cancelled() { Err("interrupted".into()) } else { Ok(()) }
    }

    fn endpoints(&self) -> Result<Vec<Endpoint>, Failure> {
        self.coordinator.iter().map(|endpoint| self.endpoint(endpoint.clone())).collect()
    }

    fn endpoint(&self, endpoint: Endpoint) -> Result<Endpoint, Failure> {
        if endpoint.uri().scheme_str() != Some("https") {
            return Ok(endpoint);
        }
        let tls = match &self.ca {
            None => ClientTlsConfig::new().with_native_roots(),
            Some(path) => {
                ClientTlsConfig::new().ca_certificate(Certificate::from_pem(std::fs::read(path)?))
            }
        };
        Ok(endpoint.tls_config(tls)?)
    }

    /// Waits until all workers have joined, and then for the measuring time. Returns the measurement, unless
    /// interrupted before or a worker gave up.
    async fn measure(
        &self,
        working: &mut Working,
        interrupted: &CancellationToken,
    ) -> Option<(Measured, Cores)> {
        let mut shown = Instant::now();
        let mut show = |progress: String| {
            if shown.elapsed() >= PROGRESS {
                shown = Instant::now();
                let _closed = writeln!(std::io::stderr(), "{progress}");
            }
        };
        let workers = count(u64::from(self.workers));
        while !working.join_more() {
            if interrupted.is_cancelled() || working.gave_up().is_some() {
                return None;
            }
            show(format!("{} of {workers} workers joined", count(working.joined())));
            tokio::time::sleep(TICK).await;
        }
        working.measure_from_now();
        let begun = Instant::now();
        let before = self.cpu();
        while begun.elapsed() < self.duration
            && !interrupted.is_cancelled()
            && working.gave_up().is_none()
        {
            show(format!(
                "measured for {} of {}",
                duration_us(begun.elapsed().as_micros() as f64),
                duration_us(self.duration.as_micros() as f64)
            ));
            tokio::time::sleep(TICK).await;
        }
        let measured = working.measured();
        let after = self.cpu();
        let seconds = begun.elapsed().as_secs_f64();
        let share = |after: Duration, before: Duration| {
            after.saturating_sub(before).as_secs_f64() / seconds
        };
        let coordinator = after.1.zip(before.1).map(|(after, before)| share(after, before));
        Some((measured, Cores { fleet: share(after.0, before.0), coordinator }))
    }

    /// CPU time of this process and of the coordinator's.
    fn cpu(&self) -> (Duration, Option<Duration>) {
        (cpu_of("self").unwrap_or_default(), self.pid.and_then(|pid| cpu_of(&pid.to_string())))
    }

    fn write(
        &self,
        out: &mut impl Write,
        joined: u64,
        measured: &Measured,
        cores: &Cores,
    ) -> Result<(), Failure> {
        let seconds = measured.time.as_secs_f64();
        if self.json {
            let calls = Call::ALL.into_iter().zip(&measured.calls).map(|(call, times)| CallJson {
                call: call.name(),
                answered: times.answered,
                per_second: times.answered as f64 / seconds,
                failed: times.failed,
                median_us: times.median_us,
                p95_us: times.p95_us,
                p99_us: times.p99_us,
                longest_us: times.longest_us,
            });
            let json = Json {
                workers: joined,
                seconds,
                calls: calls.collect(),
                games_counted: measured.counted,
                games_not_counted: measured.not_counted,
                leases: measured.leases,
                nothing_to_do: measured.nothing_to_do,
                leases_dropped: measured.dropped,
                workers_came_back: measured.came_back,
                cpu_cores: cores.fleet,
                coordinator_cpu_cores: cores.coordinator,
                first_failure: measured.first_failure.as_deref(),
            };
            return Ok(write_json(out, &json)?);
        }
        let time = duration_us(measured.time.as_micros() as f64);
        writeln!(out, "{} workers, measured for {time}\n", count(joined))?;
        let columns = ["answered", "per second", "median", "95%", "99%", "longest", "failed"];
        let columns = columns.map(Column::numbers);
        let columns: Vec<Column> = std::iter::once(Column::words("call")).chain(columns).collect();
        let mut table = TextTable::new(&columns);
        for (call, times) in Call::ALL.into_iter().zip(&measured.calls) {
            if times.answered + times.failed == 0 {
                continue;
            }
            let quantiles = [times.median_us, times.p95_us, times.p99_us, times.longest_us];
            let [median, p95, p99, longest] = quantiles.map(|us| duration_us(us as f64));
            table.row([
                call.name().to_owned(),
                count(times.answered),
                format!("{:.1}", times.answered as f64 / seconds),
                median,
                p95,
                p99,
                longest,
                count(times.failed),
            ]);
        }
        table.write(out)?;
        let games = measured.counted as f64 / seconds;
        writeln!(
            out,
            "\n{} games counted ({games:.0} per second), {} reported but not counted",
            count(measured.counted),
            count(measured.not_counted)
        )?;
        writeln!(
            out,
            "{} leases granted, {} lease requests without work, {} leases dropped",
            count(measured.leases),
            count(measured.nothing_to_do),
            count(measured.dropped)
        )?;
        writeln!(out, "{} workers had to say Hello again", count(measured.came_back))?;
        write!(out, "Processor: {:.2} cores for the simulated workers", cores.fleet)?;
        match cores.coordinator {
            Some(cores) => writeln!(out, ", {cores:.2} for the coordinator")?,
            None => writeln!(out)?,
        }
        if let Some(failure) = &measured.first_failure {
            writeln!(out, "The first failed call: {failure}")?;
        }
        Ok(())
    }
}

fn unreachable(coordinator: &Endpoint, error: &tonic::transport::Error) -> Failure {
    let at = format!("cannot reach the coordinator at {}", coordinator.uri());
    match TrustError::from_error(error) {
        Some(TrustError { problem, remedy, .. }) => format!("{at}: {problem}; {remedy}").into(),
        None => {
            let causes = std::iter::successors(error.source(), |&cause| cause.source());
            let cause = causes.last().map_or_else(|| error.to_string(), ToString::to_string);
            format!("{at}: {cause}").into()
        }
    }
}

/// A sweep of random players with more games than any load test plays.
fn default_sweep() -> String {
    let name = &Uuid::new_v4().simple().to_string()[..8];
    format!(
        "name = \"fleet-{name}\"\ndescription = \"A load test\"\ngame = \"tic-tac-toe\"\n\
         games = 50_000_000\n[players.a]\nalgorithm = \"random\"\n\
         [players.b]\nalgorithm = \"random\"\n"
    )
}

/// Submits the sweep as a new experiment; returns its UUID.
async fn submit(api: &Api, sweep: Option<&Path>) -> Result<String, Failure> {
    let (sweep_toml, file_name) = match sweep {
        None => (default_sweep(), "load-test.toml".to_owned()),
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path);
            (text.map_err(|error| format!("cannot read the sweep {name}: {error}"))?, name)
        }
    };
    let request =
        SubmitSweep { sweep_toml, file_name, new_experiment: true, ..SubmitSweep::default() };
    let answer = api.call(&request).await;
    let answer = answer.map_err(|status| format!("submit the sweep: {}", status.message()))?;
    Ok(answer.experiment_uuid)
}

async fn cancel(api: &Api, experiment: &str) -> Result<(), Failure> {
    let request = SteerExperiment {
        experiment: experiment.to_owned(),
        action: Action::Cancel,
        priority: None,
    };
    let cancelled = api.call(&request).await;
    cancelled.map_err(|status| format!("cancel the experiment: {}", status.message()))?;
    Ok(())
}

/// A process's CPU time, from proc_pid_stat(5).
fn cpu_of(process: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The process name can contain anything, up to the last parenthesis.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = [11, 12].map(|field: usize| fields.get(field)?.parse::<u64>().ok());
    let [user, system] = ticks;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_secs_f64((user? + system?) as f64 / per_second as f64))
}
