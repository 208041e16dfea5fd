//! `spelrum bench`: a load test of a coordinator.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde::Serialize;
use spelrum_engine::parse_duration_us;
use spelrum_proto::v1;
use spelrum_report::data::write_json;
use spelrum_report::text::{Column, TextTable, count, duration_us};
use uuid::Uuid;

use crate::arguments::CoordinatorArguments;
use crate::config;
use crate::error::conversions::failed_call;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::fleet::{Call, Fleet, Measured, Working, connections_max};
use crate::remote::connection;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::logging;
use crate::terminal::notices::say;

const EXAMPLES: &str = "\
fleet simulates workers: each has a connection of its own and says what a real one says (Hello, leases, \
heartbeats, reports), and takes its time over games without spending it. Its games are of tic-tac-toe, \
moved by chance, or those of a sweep, in an experiment that it submits and cancels at the end: give it a \
coordinator with a database of its own. It needs a token that may submit and work, if tokens are demanded.

What it prints is measured from when all workers were welcomed. It and the coordinator share the machine \
if they are on one.

JSON: workers, seconds, calls (call, answered, per_second, failed, median_us, p95_us, p99_us, longest_us), \
games_counted, games_not_counted, leases, nothing_to_do, leases_dropped, workers_came_back, \
cpu_cores (of the fleet), coordinator_cpu_cores (with --pid), first_failure.

Examples:
  spelrum coordinator --db /tmp/load.db --heartbeat 10s
  spelrum bench fleet --workers 1000
  spelrum bench fleet --workers 10000 --game-time 10s --duration 60s --pid $(pgrep -f 'coordinator --db /tmp/load')";

/// Load-test a coordinator
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Let many simulated workers call a coordinator, and show how long its answers take
    Fleet(FleetArguments),
}

#[derive(Args, Debug)]
struct FleetArguments {
    #[command(flatten)]
    coordinator: CoordinatorArguments,
    /// How many workers
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    workers: u32,
    /// A sweep of their games, which are really played: of players who move by chance; tic-tac-toe without
    #[arg(long, value_name = "SWEEP")]
    sweep: Option<PathBuf>,
    /// How long each takes over a game; 0: none
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    game_time: Duration,
    /// For how long it is measured
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    duration: Duration,
    /// How many workers connect in a second
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    joins: u32,
    /// The coordinator's process on this machine, to tell how much of the processor it takes
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn duration(text: &str) -> std::result::Result<Duration, String> {
    let us = match text {
        "0" => Some(0),
        _ => parse_duration_us(text),
    };
    us.map(Duration::from_micros).ok_or_else(|| "write it like 500ms or 10s".to_owned())
}

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
const TOLD: Duration = Duration::from_secs(5);

impl Bench {
    /// Measures and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        match self.what {
            What::Fleet(fleet) => fleet.run().await,
        }
    }
}

impl FleetArguments {
    async fn run(self) -> Result<Exit> {
        logging::start("error", ProgressBar::hidden());
        let interrupts = Interrupts::listen(|| say("ending: handing back what is leased"))?;
        let most = connections_max(self.workers);
        if most < self.workers {
            return Err(CliError::new(Exit::Input, format!("connect {} workers", self.workers))
                .because(format!("this process may have no more than {most} connections"))
                .help("raise the limit of open files (ulimit -n), or simulate fewer workers"));
        }
        let target = config::coordinator(&self.coordinator)?;
        let mut client = connection::connect_to(&target).await?;
        let experiment = submit(&mut client, self.sweep.as_deref()).await?;
        let fleet = Fleet {
            coordinator: target.endpoint()?,
            token: target.token.map(|token| token.value),
            workers: self.workers,
            game_time: self.game_time,
            joins_per_second: self.joins,
        };
        let mut working = fleet.start();
        let measured = self.measure(&mut working, &interrupts).await;
        let joined = working.joined();
        let gave_up = working.gave_up();
        let over = interrupts.now.run_until_cancelled(working.end()).await;
        cancel(&mut client, &experiment).await?;
        if let Some(problem) = gave_up {
            return Err(CliError::new(Exit::Network, "simulate workers")
                .because(problem)
                .help("look at the coordinator's log"));
        }
        if let Some((measured, cores)) = measured {
            self.write(joined, &measured, &cores)?;
        }
        match (over, interrupts.exit()) {
            (None, _) => Ok(interrupts.exit().unwrap_or(Exit::Interrupted)),
            (_, Some(signal)) => Ok(signal),
            _ => Ok(Exit::Success),
        }
    }

    /// Waits until all workers have joined, and then for the measuring time. Returns the measurement, unless
    /// interrupted before or a worker gave up.
    async fn measure(
        &self,
        working: &mut Working,
        interrupts: &Interrupts,
    ) -> Option<(Measured, Cores)> {
        let mut told = tokio::time::Instant::now();
        let mut tell = |what: String| {
            if told.elapsed() >= TOLD {
                told = tokio::time::Instant::now();
                say(&what);
            }
        };
        let workers = count(u64::from(self.workers));
        while !working.join_more() {
            if interrupts.finish.is_cancelled() || working.gave_up().is_some() {
                return None;
            }
            tell(format!("{} of {workers} workers welcomed", count(working.joined())));
            tokio::time::sleep(TICK).await;
        }
        working.measure_from_now();
        let begun = tokio::time::Instant::now();
        let before = self.cpu();
        while begun.elapsed() < self.duration
            && !interrupts.finish.is_cancelled()
            && working.gave_up().is_none()
        {
            tell(format!(
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

    fn write(&self, joined: u64, measured: &Measured, cores: &Cores) -> Result<()> {
        let seconds = measured.time.as_secs_f64();
        let mut out = terminal::stdout();
        if self.json {
            let calls = Call::ALL.into_iter().zip(&measured.calls).map(|(call, it)| CallJson {
                call: call.name(),
                answered: it.answered,
                per_second: it.answered as f64 / seconds,
                failed: it.failed,
                median_us: it.median_us,
                p95_us: it.p95_us,
                p99_us: it.p99_us,
                longest_us: it.longest_us,
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
            write_json(&mut out, &json)?;
            return Ok(());
        }
        let time = duration_us(measured.time.as_micros() as f64);
        writeln!(out, "{} workers, measured for {time}\n", count(joined))?;
        let columns = ["answered", "per second", "median", "95%", "99%", "longest", "failed"];
        let columns = columns.map(Column::numbers);
        let columns: Vec<Column> = std::iter::once(Column::words("call")).chain(columns).collect();
        let mut table = TextTable::new(&columns);
        for (call, it) in Call::ALL.into_iter().zip(&measured.calls) {
            if it.answered + it.failed == 0 {
                continue;
            }
            let times = [it.median_us, it.p95_us, it.p99_us, it.longest_us];
            let [median, p95, p99, longest] = times.map(|us| duration_us(us as f64));
            table.row([
                call.name().to_owned(),
                count(it.answered),
                format!("{:.1}", it.answered as f64 / seconds),
                median,
                p95,
                p99,
                longest,
                count(it.failed),
            ]);
        }
        table.write(&mut out)?;
        let games = measured.counted as f64 / seconds;
        writeln!(
            out,
            "\n{} games counted ({games:.0} a second), {} reported and not counted",
            count(measured.counted),
            count(measured.not_counted)
        )?;
        writeln!(
            out,
            "{} leases granted, {} questions for which there was nothing to do, {} leases dropped",
            count(measured.leases),
            count(measured.nothing_to_do),
            count(measured.dropped)
        )?;
        writeln!(out, "{} workers had to say Hello again", count(measured.came_back))?;
        write!(out, "Processor: {:.2} cores for the fleet", cores.fleet)?;
        match cores.coordinator {
            Some(cores) => writeln!(out, ", {cores:.2} for the coordinator")?,
            None => writeln!(out)?,
        }
        if let Some(failure) = &measured.first_failure {
            writeln!(out, "The first call that failed: {failure}")?;
        }
        Ok(())
    }
}

/// A sweep of randomly moving players with more games than any fleet plays.
fn usual_sweep() -> String {
    let name = &Uuid::new_v4().simple().to_string()[..8];
    format!(
        "name = \"fleet-{name}\"\ndescription = \"A simulated fleet\"\ngame = \"tic-tac-toe\"\n\
         games = 50_000_000\n[players.a]\nalgorithm = \"random\"\n\
         [players.b]\nalgorithm = \"random\"\n"
    )
}

/// Submits the fleet's sweep as a new experiment.
async fn submit(client: &mut connection::Client, sweep: Option<&Path>) -> Result<String> {
    let (sweep_toml, file_name) = match sweep {
        None => (usual_sweep(), "fleet.toml".to_owned()),
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                CliError::new(Exit::Input, format!("read the sweep {}", path.display()))
                    .because(error)
                    .help("name a sweep's file")
            })?;
            (text, path.display().to_string())
        }
    };
    let request = v1::SubmitRequest {
        experiment_uuid: Uuid::new_v4().to_string(),
        sweep_toml,
        file_name,
        new_experiment: true,
        ..v1::SubmitRequest::default()
    };
    let answer = client.submit(request).await;
    let answer = answer.map_err(|status| failed_call("submit the fleet's sweep", &status))?;
    Ok(answer.into_inner().experiment_uuid)
}

async fn cancel(client: &mut connection::Client, experiment: &str) -> Result<()> {
    let request = v1::SteerRequest {
        experiment: experiment.to_owned(),
        action: v1::Action::Cancel.into(),
        priority: None,
    };
    let cancelled = client.steer(request).await;
    cancelled.map(drop).map_err(|status| failed_call("cancel the fleet's experiment", &status))
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
