//! `spelrum allocate`: starts workers on a batch system as games wait.

mod deciding;
mod slurm;

use std::ffi::OsString;
use std::io::Write as _;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use spelrum_answers::{GetQueue, Queue};
use spelrum_model::labels::Label;
use spelrum_proto::{Reason, Refusal};
use spelrum_report::text::{count, counted};

use self::deciding::{Bounds, Jobs, Offered, Use, jobs_to_submit, wait_after};
use self::slurm::{JobOptions, check_sbatch};
use crate::arguments::{
    CA_VARIABLE, CERTIFICATE_VARIABLE, COORDINATOR_VARIABLE, CoordinatorArguments, KEY_VARIABLE,
    bytes_from_text, label_from_text, slots_from_text, wait_from_text,
};
use crate::config::{self, Origin, Target};
use crate::error::conversions::failed_call;
use crate::error::{CliError, MessageStyle, Result};
use crate::exit::Exit;
use crate::players::engines_file;
use crate::remote::connection::connect_to;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::logging::LogArguments;

/// The environment variable that names the program for the script.
const PROGRAM_VARIABLE: &str = "SPELRUM";

/// Most jobs in Slurm's arrays, unless its `MaxArraySize` was changed.
const JOBS_MAX: u32 = 1_000;

const EXAMPLES: &str = "\
Examples:
  spelrum allocate slurm --workers-max 32
  spelrum allocate slurm --dry-run -- --partition=short";

const SLURM_EXAMPLES: &str = "\
It looks at the coordinator's queue and at its own jobs (squeue, by --job-name) every --interval, and submits an \
array of jobs (sbatch), each a worker, while games wait that these workers can play: with the engines, the labels and \
the memory named here. A worker ends when nothing is left to play, or when it had no games for --idle-end. Run it \
where sbatch works, with a token that may read and work: the jobs get its environment, or read the config file. \
Ctrl-C ends it and leaves the jobs. Two of these need different job names.

Examples:
  spelrum allocate slurm --coordinator https://login1:7878 --ca ca.pem --workers-max 32
  spelrum allocate slurm --slots 16 --time 08:00:00 -- --partition=short --account=chess
  spelrum allocate slurm --dry-run";

/// Start workers on a batch system as games wait
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Allocate {
    #[command(subcommand)]
    system: System,
}

/// The batch system.
#[derive(Debug, Subcommand)]
enum System {
    Slurm(Slurm),
}

/// Submit worker jobs to Slurm as games wait
#[derive(Args, Debug)]
#[command(after_help = SLURM_EXAMPLES)]
struct Slurm {
    #[command(flatten)]
    coordinator: CoordinatorArguments,
    /// Most worker jobs at once, pending and running
    #[arg(long, value_name = "N", default_value = "16", value_parser = jobs_from_text)]
    workers_max: NonZeroU32,
    /// How many games each worker plays at once: its --slots, and --cpus-per-task of its job
    #[arg(long, value_name = "N", default_value = "8", value_parser = slots_from_text)]
    slots: NonZeroU32,
    /// Memory for each slot (--mem-per-cpu of the jobs), of which games get three quarters
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes_from_text)]
    memory_per_slot: u64,
    /// Time limit of each job, as sbatch takes it: 04:00:00, or 1-12 for 36 hours
    #[arg(long, value_name = "TIME", default_value = "04:00:00", value_parser = time_from_text)]
    time: String,
    /// Queued games per job; raise it for short games [default: --slots]
    #[arg(long, value_name = "N")]
    games_per_worker: Option<NonZeroU64>,
    /// A worker that had no games for this long ends
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = wait_from_text)]
    idle_end: Duration,
    /// A label of the workers, such as site=lab2 or gpu; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label_from_text)]
    labels: Vec<Label>,
    /// The engines file of the workers, at the same path on every node
    #[arg(long, value_name = "FILE")]
    engines: Option<PathBuf>,
    /// The name of the jobs, by which they are counted
    #[arg(long, value_name = "NAME", default_value = "spelrum-allocated", value_parser = name_from_text)]
    job_name: String,
    /// How often to look
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = wait_from_text)]
    interval: Duration,
    /// Look once, and print the script that would be submitted, and why
    #[arg(long, conflicts_with = "once")]
    dry_run: bool,
    /// Look once, and submit what is wanted then
    #[arg(long)]
    once: bool,
    /// More arguments of sbatch, except for --job-name, --array and --clusters
    #[arg(last = true, value_name = "SBATCH_ARGUMENTS")]
    sbatch: Vec<OsString>,
    #[command(flatten)]
    logs: LogArguments,
}

/// A number of jobs.
fn jobs_from_text(text: &str) -> Result<NonZeroU32, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroU32| jobs.get() <= JOBS_MAX);
    jobs.ok_or_else(|| format!("write a whole number from 1 to {JOBS_MAX}"))
}

/// A name that means the same to squeue, which takes lists, and in a script.
fn name_from_text(text: &str) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = (1..=64).contains(&text.len()) && text.bytes().all(is_plain);
    is_name.then(|| text.to_owned()).ok_or("write letters, digits, '-', '_' and '.' alone")
}

/// A time limit, for a line of the script.
fn time_from_text(text: &str) -> Result<String, &'static str> {
    let is_time = text.contains(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b":-".contains(&byte));
    is_time.then(|| text.to_owned()).ok_or("write it like 04:00:00, or 1-12:00:00 with days")
}

impl Allocate {
    /// Watches until asked to end.
    pub(crate) async fn run(self) -> Result<Exit> {
        let System::Slurm(slurm) = self.system;
        slurm.logs.start("info");
        Watch::new(slurm)?.run().await
    }
}

/// State of the watch.
struct Watch {
    target: Target,
    options: JobOptions,
    bounds: Bounds,
    engines: Vec<String>,
    labels: Vec<Label>,
    environment: Vec<(&'static str, OsString)>,
    interval: Duration,
    dry_run: bool,
    once: bool,
    /// The use of the submitted jobs.
    jobs_use: Use,
    /// Failed looks in a row.
    failures: u32,
}

/// Queue and jobs at one look.
struct Seen {
    /// All queued games.
    games: u64,
    /// Those that the workers can play.
    playable: u64,
    jobs: Jobs,
    /// The number of jobs to submit.
    new: u32,
}

impl Seen {
    fn describe(&self, bounds: Bounds) -> String {
        let Self { games, playable, jobs: Jobs { pending, running }, new } = self;
        let Bounds { games_per_job, jobs_max } = bounds;
        format!(
            "queue: {}, {} of them for such workers; jobs: {pending} pending and {running} running, of {jobs_max} \
             at most; with a job for each {}, {} to submit",
            counted(*games, "game"),
            count(*playable),
            counted(games_per_job.get(), "queued game"),
            counted((*new).into(), "more job"),
        )
    }
}

/// Why a look failed.
struct Failed {
    error: CliError,
    /// Whether the next look would fail as well.
    is_lasting: bool,
}

impl From<CliError> for Failed {
    fn from(error: CliError) -> Self {
        let is_lasting = error.exit() == Exit::Usage;
        Self { error, is_lasting }
    }
}

impl From<Failed> for CliError {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

impl Watch {
    fn new(slurm: Slurm) -> Result<Self> {
        check_sbatch(&slurm.sbatch)?;
        let target = config::coordinator(&slurm.coordinator)?;
        let absolute = |path: &PathBuf| {
            std::path::absolute(path).map_err(|error| {
                CliError::new(Exit::Input, format!("find {}", path.display())).because(error)
            })
        };
        let mut worker =
            vec!["--exit-when-idle".to_owned(), format!("{}ms", slurm.idle_end.as_millis())];
        worker.extend(slurm.labels.iter().flat_map(|l| ["--label".to_owned(), l.to_string()]));
        let mut engines = Vec::new();
        if let Some(file) = &slurm.engines {
            let read = engines_file::read(file)?;
            engines.extend(read.iter().map(|engine| engine.name.clone()));
            engines.extend(read.sources().map(|source| source.name().to_owned()));
            let path = absolute(file)?.into_os_string().into_string().map_err(|path| {
                CliError::new(Exit::Input, format!("name {} in a script", path.display()))
                    .because("it is not UTF-8 text")
                    .help("rename the file, or its folder")
            })?;
            worker.extend(["--engines".to_owned(), path]);
        }
        let urls = std::iter::once(&target).chain(&target.others);
        let urls: Vec<String> = urls.map(|target| target.url.value.to_string()).collect();
        let mut environment = vec![(COORDINATOR_VARIABLE, OsString::from(urls.join(",")))];
        for (variable, file) in [
            (CA_VARIABLE, &target.tls.ca),
            (CERTIFICATE_VARIABLE, &target.tls.cert),
            (KEY_VARIABLE, &target.tls.key),
        ] {
            // Those of the config file are each for one address: the jobs read that file, too.
            if let Some(file) = file
                && !matches!(file.origin, Origin::File { .. })
            {
                environment.push((variable, absolute(&file.value)?.into()));
            }
        }
        if std::env::var_os(PROGRAM_VARIABLE).is_none()
            && let Ok(program) = std::env::current_exe()
        {
            environment.push((PROGRAM_VARIABLE, program.into()));
        }
        Ok(Self {
            bounds: Bounds {
                games_per_job: slurm.games_per_worker.unwrap_or_else(|| slurm.slots.into()),
                jobs_max: slurm.workers_max,
            },
            options: JobOptions {
                name: slurm.job_name,
                slots: slurm.slots,
                mib_per_slot: slurm.memory_per_slot >> 20,
                time: slurm.time,
                worker,
                sbatch: slurm.sbatch,
            },
            target,
            engines,
            labels: slurm.labels,
            environment,
            interval: slurm.interval,
            dry_run: slurm.dry_run,
            once: slurm.once,
            jobs_use: Use::default(),
            failures: 0,
        })
    }

    async fn run(mut self) -> Result<Exit> {
        if self.dry_run {
            let seen = self.look().await?;
            let mut out = terminal::stdout();
            writeln!(out, "# {}.", seen.describe(self.bounds))?;
            if seen.new > 0 {
                writeln!(out, "# {} <<'END'", self.options.sbatch_line(seen.new))?;
                write!(out, "{}", self.options.script(seen.new)?)?;
            }
            return Ok(Exit::Success);
        }
        if self.once {
            self.round().await?;
            return Ok(Exit::Success);
        }
        let interrupts = Interrupts::listen(|| {})?;
        loop {
            let round = tokio::select! {
                round = self.round() => round,
                () = interrupts.finish.cancelled() => break,
            };
            match round {
                Ok(()) => self.failures = 0,
                Err(Failed { error, is_lasting: true }) => return Err(error),
                Err(Failed { error, is_lasting: false }) => {
                    self.failures = self.failures.saturating_add(1);
                    let message = error.message(MessageStyle::Plain).unwrap_or_default();
                    let problem = message.trim_end().trim_start_matches("error: ");
                    tracing::warn!("{problem}");
                }
            }
            let longer = self.failures.max(self.jobs_use.in_vain());
            let wait = wait_after(self.interval, longer);
            if longer > 0 {
                tracing::info!("looking again in {} s", wait.as_secs_f64());
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = interrupts.finish.cancelled() => break,
            }
        }
        let name = &self.options.name;
        tracing::info!(
            "ending; submitted jobs stay, and end when they have no games. To cancel them: \
             scancel --user=\"$USER\" --name={name}"
        );
        Ok(interrupts.exit().unwrap_or(Exit::Success))
    }

    /// Looks, and submits the jobs that are wanted, unless others have just ended for nothing.
    async fn round(&mut self) -> Result<(), Failed> {
        let seen = self.look().await?;
        if self.jobs_use.look(seen.playable, seen.jobs) {
            let queued = seen.playable;
            tracing::warn!(queued, "jobs have ended and no fewer games are queued: see their logs");
            return Ok(());
        }
        if seen.new > 0 {
            let job = self.options.submit(seen.new, &self.environment).await?;
            self.jobs_use.submitted(seen.playable, seen.new);
            tracing::info!(job, jobs = seen.new, "submitted; {}", seen.describe(self.bounds));
        }
        Ok(())
    }

    /// Looks at the queue and at the jobs.
    async fn look(&self) -> Result<Seen, Failed> {
        // A connection of its own each time: the coordinator may restart, or move to its next address.
        let api = connect_to(&self.target).await?;
        let queue = api.call(&GetQueue {}).await;
        let Queue { games, groups } = queue.map_err(|status| Failed {
            is_lasting: Refusal::from_status(&status).is_some_and(|refusal| {
                matches!(refusal.reason, Reason::BadToken | Reason::WrongRole | Reason::Protocol)
            }),
            error: failed_call("read the coordinator's queue", &status),
        })?;
        let slot_bytes = (self.options.mib_per_slot << 20) / 4 * 3;
        let (engines, labels) = (&self.engines, &self.labels);
        let playable = Offered { engines, labels, slot_bytes }.playable(&groups);
        let jobs = self.options.jobs().await?;
        let new = jobs_to_submit(playable, jobs, self.bounds);
        Ok(Seen { games, playable, jobs, new })
    }
}
