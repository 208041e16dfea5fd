//! `spelrum run`: a whole sweep on one machine.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use spelrum_answers as results;
use spelrum_answers::SubmittedSweep;
use spelrum_answers::{ExperimentSummary, Machine, bound, syzygy_text};
use spelrum_engine::Rules;
use spelrum_external::EngineFile;
use spelrum_model::ExperimentState;
use spelrum_model::Plan;
use spelrum_model::change::Change;
use spelrum_model::demands;
use spelrum_model::demands::{Demands, Unmet};
use spelrum_model::labels::Label;
use spelrum_model::speed::Speed;
use spelrum_report::experiment::{ReportFormat, Shown, TableStyle};
use spelrum_report::text::{count, counted};
use spelrum_worker::{Cores, Engines, ExclusiveSlots, measured_speed};

use crate::arguments::{self, LabelArguments, Offer, SlotsArguments};
use crate::commands::speed::speed_unmeasured;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::database_holder;
use crate::local::embedded::{Embedded, PlayOptions};
use crate::local::listener::TlsArguments;
use crate::local::on_finish::OnFinish;
use crate::local::preflight::{self, DATABASE_THREADS};
use crate::local::syzygy_tables::SyzygyTables;
use crate::players::engines_file::{self, EnginesArguments, FILES_OF_RUN};
use crate::remote::connection::Manner;
use crate::results::ResultsSource;
use crate::results::reports;
use crate::sweeps::engine_builds;
use crate::sweeps::file::{SweepArguments, SweepFile};
use crate::sweeps::found_players::{self, Outcomes};
use crate::sweeps::match_files::MatchFiles;
use crate::sweeps::preview;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::logging;
use crate::terminal::notices;
use crate::terminal::progress::{self, Progress};

const EXAMPLES: &str = "\
The results stay in the database. Run the same file again and it goes on where it was; when every \
game is settled it only shows the tables. Change the file and run it again: it shows what it keeps, adds \
and drops, and plays what is missing. The first Ctrl-C finishes the games under way, the \
second stops now; either way nothing that was finished is lost. Where stderr is not a terminal, a \
line says how far it is after 30 s, then after 1, 2 and 5 min, then every 10 min, or every minute during a match.

{MATCH}

{RANGE}

Examples:
  spelrum run sweeps/tic-tac-toe.toml
  spelrum run sweeps/pentago-depth.toml --db /data/study.db --slots 8
  spelrum run sweeps/pentago-depth.toml --set depth=1..3 --quick
  spelrum run sweeps/pentago-depth.toml --dry-run
  spelrum run sweeps/chess-engines.toml --engines deploy/engines.toml
  spelrum run sweeps/pentago-depth.toml --listen 0.0.0.0:7878 --tls-cert coordinator.pem \\
      --tls-key coordinator.key

Workers of other machines can join the last one: spelrum worker --coordinator https://HOST:7878 --ca ca.pem \
(spelrum certificate makes the files). Anyone with the token has full access.";

/// Play a sweep on this machine and show the results; run again to resume
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES.replace("{RANGE}", progress::RANGE_HELP).replace("{MATCH}", progress::MATCH_HELP))]
pub(crate) struct Run {
    #[command(flatten)]
    sweep: SweepArguments,
    /// The results database [default: the sweep's name with .db, in this directory]
    #[arg(long, value_name = "PATH")]
    db: Option<PathBuf>,
    #[command(flatten)]
    slots: SlotsArguments,
    #[command(flatten)]
    labels: LabelArguments,
    #[command(flatten)]
    engines: EnginesArguments,
    /// Where to listen for workers of other machines, which bring the token that SPELRUM_TOKEN or
    /// the config file sets [default: only this process plays]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    tls: TlsArguments,
    /// Start a new experiment, although the database has one of this name
    #[arg(long)]
    new: bool,
    /// Do not ask for confirmation before cells are dropped
    #[arg(long)]
    yes: bool,
    /// Open the database although the log that a crash left is missing or not its own: the results in that log
    /// are lost, and played again
    #[arg(long)]
    accept_loss: bool,
    /// Only show what the sweep would reuse, add, drop and still play
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    on_finish: OnFinish,
    /// Do not print a link to the pages that show the sweep in a browser while it is played; only a terminal gets it, and
    /// `spelrum open --db` gives another one
    #[arg(long)]
    no_pages: bool,
    /// Let people play against built-in players and search positions in the pages; such a search takes processor time
    /// from this machine's games for at most 5 seconds
    #[arg(long)]
    play: bool,
    /// Print the end result as JSON, as spelrum report --json does; with --dry-run what it says
    #[arg(long)]
    json: bool,
    /// The command of the match that this is, if it is one.
    #[arg(skip)]
    match_command: Option<String>,
}

/// This machine's resources for a sweep.
struct Prepared {
    offer: Offer,
    quiet: ExclusiveSlots,
    engines: Option<Engines>,
}

impl Run {
    /// The same for a match of engines that this command began.
    pub(crate) fn of_match(self, files: MatchFiles, command: String) -> Self {
        let MatchFiles { sweep, engines, .. } = files;
        Self {
            sweep: self.sweep.with_text(sweep),
            engines: self.engines.with_text(engines),
            match_command: Some(command),
            ..self
        }
    }

    /// Whether it only shows what it would play.
    pub(crate) fn is_dry(&self) -> bool {
        self.dry_run
    }

    /// Plays the sweep to its end, or to a Ctrl-C.
    pub(crate) async fn run(self) -> Result<Exit> {
        if self.listen.is_none()
            && let Some(flag) = self.tls.flag()
        {
            return Err(CliError::new(Exit::Usage, "play the sweep")
                .because(format!("{flag} only applies with --listen"))
                .help("give --listen ADDR:PORT also, or leave it out"));
        }
        let mut sweep = found_players::read_sweep(&self.sweep, Outcomes::Here).await?;
        let in_this_directory = || PathBuf::from(format!("{}.db", sweep.plan.name));
        let db = self.db.clone().unwrap_or_else(in_this_directory);
        let file = self.engines.read()?;
        // Before a dry run makes promises, and before a database is created.
        let must_have_all = file.is_some() || !self.dry_run && !db.exists();
        if must_have_all && self.listen.is_none() {
            let needed = engines_file::needed(&sweep.plan, file.as_ref())?;
            let missing =
                needed.iter().flat_map(EngineFile::iter).filter(|spec| !spec.command.exists());
            for spec in missing.filter(|_| self.dry_run) {
                let (name, program) = (&spec.name, spec.command.display());
                notices::notify(&format!(
                    "warning: there is no program {program} for the engine {name}"
                ));
            }
        }
        if self.dry_run {
            for remark in &sweep.remarks {
                notices::notify(remark);
            }
            if file.is_none()
                && let Some(remark) = engines_file::unchecked(&sweep.plan)
            {
                notices::notify(&remark);
            }
            let manner = Manner { new_experiment: self.new, preview: true };
            let previewed = preview::preview_file(&db, &mut sweep, file.as_ref(), manner).await?;
            preview::print_dry_run(&sweep, previewed.as_ref(), self.json, file.as_ref(), &[])?;
            return Ok(Exit::Success);
        }
        let bar = progress::bar();
        logging::start("warn", bar.clone());
        let bar_handle = bar.clone();
        let interrupts = Interrupts::listen(move || {
            bar_handle.suspend(|| {
                notices::notify("finishing the games under way; Ctrl-C again stops now");
            });
        })?;
        if self.accept_loss {
            database_holder::accept_loss(&db)?;
        }
        // Threads refused later would leave the process waiting.
        preflight::threads(self.slots_for(&sweep).get() as usize + DATABASE_THREADS)?;
        let mut coordinator = Embedded::start(
            &db,
            self.listen.as_deref().map(|address| (address, &self.tls)),
            self.play,
        )
        .await?;
        // The link is a secret, and a log may be read by others.
        if !self.no_pages
            && std::io::stderr().is_terminal()
            && let Some(url) = coordinator.browser_link().await
        {
            notices::notify(&format!("watch it in a browser: {url}"));
        }
        let ended = self.play(&mut coordinator, &mut sweep, file, &db, bar, &interrupts).await;
        // The database is closed whatever the result.
        coordinator.stop().await?;
        ended
    }

    /// As many slots as memory allows. If workers can join, a game too large for this machine is left to them.
    fn offer(&self, sweep: &SweepFile, engines: Option<&Engines>) -> Result<Offer> {
        let requested = self.slots.offer();
        let offered = engines.map(Engines::offered).unwrap_or_default();
        match self.slots.offer_for(sweep.plan.memory_bytes_with(&offered)) {
            Ok(offer) => {
                if offer.slots < requested.slots {
                    notices::notify(&format!(
                        "playing {} games at once instead of {}, which may need more memory than \
                         there is",
                        offer.slots, requested.slots
                    ));
                }
                Ok(offer)
            }
            Err(_) if self.listen.is_some() => {
                notices::notify(
                    "some games may need more memory than there is here: they are left to workers",
                );
                Ok(requested)
            }
            Err(error) => Err(error),
        }
    }

    /// This machine's labels, and its speed if measured because games require fast machines. If workers can join,
    /// games that this process must not play are left to them.
    fn placed(
        &self,
        sweep: &SweepFile,
        file: Option<&EngineFile>,
    ) -> Result<(Vec<Label>, Option<Speed>)> {
        let tables = SyzygyTables::open(file)?;
        let labels = self.labels.labels(tables.as_ref().and_then(SyzygyTables::label))?;
        if let Some(tables) = tables {
            notices::notify(&tables.describe());
            tables.install();
        }
        let demands = sweep.plan.demands();
        let here = self.offered(&labels, sweep, &demands)?;
        let unmet = demands.iter().find_map(|demands| demands.unmet_by(&here));
        if let Some(unmet) = unmet {
            self.leave_to_workers(&unmet)?;
        } else {
            warn_of_quota(&demands, &here);
        }
        Ok((labels, here.speeds.into_iter().next()))
    }

    /// Reports games that this process must not play: an error unless workers can join.
    fn leave_to_workers(&self, unmet: &Unmet) -> Result<()> {
        let (whom, remedy) = if let Unmet::Label(label) = unmet
            && let Some((whom, remedy)) = syzygy_text(label)
        {
            let remedy = match self.match_command {
                Some(_) => "give --tb FOLDERS with the folders of the tables".to_owned(),
                None => format!("{remedy}; or use --listen to let workers join"),
            };
            (whom, remedy)
        } else if let Unmet::Label(label) = unmet {
            (
                format!("workers with the label {label}"),
                "give --label if it applies to this machine, use --listen to let workers join, or remove it \
                 from \
                 `require` in the sweep's [placement]"
                    .to_owned(),
            )
        } else {
            bound(unmet).unwrap_or_default()
        };
        if self.listen.is_some() {
            notices::notify(&format!("the sweep has games for {whom}: they are left to them"));
            return Ok(());
        }
        Err(CliError::new(Exit::Input, "play the sweep")
            .because(format!("it has games for {whom}, and only this process plays"))
            .help(remedy))
    }

    /// The expected number of slots; too little memory for a single one is reported later.
    fn slots_for(&self, sweep: &SweepFile) -> NonZeroU32 {
        let offer = self.slots.offer_for(sweep.plan.memory_bytes());
        offer.map_or_else(|_| self.slots.offer().slots, |offer| offer.slots)
    }

    /// This process's offer for the demands. Measures its speed where that matters.
    fn offered(
        &self,
        labels: &[Label],
        sweep: &SweepFile,
        demands: &BTreeSet<Demands>,
    ) -> Result<demands::Offer> {
        let slots = self.slots_for(sweep);
        let quiet = self.slots.quiet(slots)?;
        let machine = Machine {
            quiet_slots: Some(quiet.count()),
            cpu_quota: Cores::here().quota(),
            ..Machine::default()
        };
        let speed = match demands.iter().find_map(|demands| demands.speed.as_ref()) {
            None => None,
            Some(bounds) => {
                let rules = Rules::from_name(&bounds.game).ok();
                let speed = rules.and_then(|rules| measured_speed(&rules, slots, &quiet));
                Some(speed.ok_or_else(|| speed_unmeasured(&bounds.game))?)
            }
        };
        Ok(demands::Offer {
            labels: labels.into(),
            speeds: speed.into_iter().collect(),
            quota_period_us: machine.held_up_us(slots.get()),
            is_alone: self.listen.is_none(),
            ..demands::Offer::default()
        })
    }

    /// The engines that the sweep needs. If workers can join, engines missing here are left to them.
    async fn engines(
        &self,
        sweep: &SweepFile,
        file: Option<&EngineFile>,
        interrupts: &Interrupts,
    ) -> Result<Option<Engines>> {
        let needed = match engines_file::needed(&sweep.plan, file) {
            Ok(Some(needed)) => needed,
            Ok(None) => return Ok(None),
            Err(error) if self.listen.is_none() => return Err(error),
            Err(_) => {
                notices::notify(
                    "some engines that the sweep needs are not here: their games are left to workers",
                );
                match file {
                    Some(file) => file.clone(),
                    None => return Ok(None),
                }
            }
        };
        let mut offer = self.slots.offer();
        let (slots, warning) = engines_file::slots_within_open_files(offer.slots, FILES_OF_RUN);
        offer.slots = slots;
        if let Some(warning) = warning {
            notices::notify(&warning);
        }
        let finish = interrupts.finish.clone();
        let (found, failures) =
            engines_file::find(needed.clone(), offer, FILES_OF_RUN, finish).await?;
        if self.listen.is_none() && failures.is_empty() && interrupts.exit().is_none() {
            let built = engines_file::build(&sweep.plan, &found, &interrupts.finish).await;
            // An interrupt ends a build as well.
            if interrupts.exit().is_none() {
                built?;
            }
        }
        if interrupts.exit().is_some() {
            // No game can be played.
        } else if self.listen.is_none() {
            engines_file::check_found(&sweep.plan, &needed, &found, &failures)?;
        } else {
            engines_file::report_failures(&needed, &failures);
            engines_file::report_inabilities(&sweep.plan, &found);
        }
        Ok(Some(found))
    }

    /// Finds what the games need on this machine.
    async fn prepare(
        &self,
        sweep: &SweepFile,
        file: Option<&EngineFile>,
        interrupts: &Interrupts,
    ) -> Result<Prepared> {
        let engines = self.engines(sweep, file, interrupts).await?;
        let mut offer = self.offer(sweep, engines.as_ref())?;
        if engines.is_some() {
            // The warning was printed when the engines were started.
            (offer.slots, _) = engines_file::slots_within_open_files(offer.slots, FILES_OF_RUN);
        }
        let quiet = self.slots.quiet(offer.slots)?;
        Ok(Prepared { offer, quiet, engines })
    }

    /// Refuses to change a stored experiment by flags for a single run. Rebuilt engines are not such a change.
    fn refuse_to_change(&self, sweep: &SweepFile, change: &Change, db: &Path) -> Result<()> {
        let Some(flags) = self.sweep.changing() else { return Ok(()) };
        let is_by_builds = !change.builds_changed.is_empty()
            && change.cells_dropped == 0
            && !change.axes_changed
            && !change.rules_changed
            && change.settings_changed.is_empty();
        if is_by_builds {
            return Ok(());
        }
        Err(CliError::new(Exit::Input, format!("run {} with {flags}", sweep.plan.name))
            .because(format!("that would change the experiment in {}", db.display()))
            .help(format!(
                "{flags} applies to a single run: use a separate database for it (--db FILE), leave {} \
                 out, or change the sweep file to change the experiment",
                if flags.contains("and") { "them" } else { "it" },
            )))
    }

    async fn play(
        &self,
        coordinator: &mut Embedded,
        sweep: &mut SweepFile,
        file: Option<EngineFile>,
        db: &Path,
        bar: ProgressBar,
        interrupts: &Interrupts,
    ) -> Result<Exit> {
        for remark in &sweep.remarks {
            notices::notify(remark);
        }
        let readers = coordinator.readers();
        engine_builds::name_builds(sweep, file.as_ref(), Some(&readers), self.new).await?;
        let sweep = &*sweep;
        let manner = Manner { new_experiment: self.new, preview: false };
        let previewed = preview::preview(&coordinator.readers(), sweep, manner).await?;
        // Results can be viewed on any machine.
        let is_played = !previewed.games_left.is_empty()
            && previewed.games_left.iter().all(|&games| games == 0);
        let (labels, speed) =
            if is_played { Default::default() } else { self.placed(sweep, file.as_ref())? };
        if let Some(change) = &previewed.change {
            self.refuse_to_change(sweep, change, db)?;
            notices::notify(&preview::announcement(&sweep.plan, change));
            if !self.yes && !preview::may_drop(change)? {
                notices::notify("nothing is changed");
                return Ok(Exit::Success);
            }
        }
        // Before storing anything: a failed start leaves no experiment behind.
        let is_over = is_played
            || previewed.existed
                && previewed.change.is_none()
                && coordinator.experiment(&previewed.experiment_uuid).await?.state.is_over();
        let mut prepared = match is_over {
            true => None,
            false => Some(self.prepare(sweep, file.as_ref(), interrupts).await?),
        };
        let (submitted, experiment) = coordinator.submit(sweep, self.new).await?;
        for remark in preview::remarks_on_claims(&submitted.claims) {
            notices::notify(&remark);
        }
        let was_over = experiment.state.is_over();
        if was_over {
            notices::notify(&already_over_text(&experiment, db));
        } else {
            let Prepared { offer, quiet, engines } = match prepared.take() {
                Some(prepared) => prepared,
                None => self.prepare(sweep, file.as_ref(), interrupts).await?,
            };
            if sweep.plan.has_timed() {
                notices::notify(&arguments::describe_slots(offer.slots, &quiet));
            }
            notices::notify(&start_text(&submitted, &experiment, &sweep.plan, db));
            let settled = experiment.games_settled;
            let planned = match sweep.plan.course {
                Some(_) => sweep.plan.games(),
                None => experiment.games_planned,
            };
            let mut progress = Progress::start(bar, experiment.task, settled, planned);
            let alone = self.listen.is_none();
            let is_match = sweep.plan.course.is_none();
            let how = PlayOptions { offer, quiet, labels, speed, engines, alone, is_match };
            coordinator.play(&experiment, how, interrupts, &mut progress).await?;
            progress.end();
        }

        let experiment = coordinator.experiment(&submitted.experiment_uuid).await?;
        let results = ResultsSource::File(coordinator.readers());
        let format = if self.json { ReportFormat::Json } else { ReportFormat::Text };
        let out = &mut terminal::stdout();
        let style = TableStyle::default();
        reports::write_report(&results, &experiment, Shown::Usual, format, &style, out).await?;
        if self.match_command.is_some() && !self.json {
            writeln!(out)?;
            let format = ReportFormat::Match;
            reports::write_report(&results, &experiment, Shown::Usual, format, &style, out).await?;
        }
        if !was_over && interrupts.exit().is_none() {
            self.on_finish.run(&experiment, experiment.state).await;
        }
        if experiment.state == ExperimentState::Paused && interrupts.exit().is_none() {
            notices::notify(&self.pause_text(&results.progress(&experiment).await?, db));
            return Ok(Exit::FailedGames);
        }
        if let Some(warning) = forfeited(&results.progress(&experiment).await?, db) {
            notices::notify(&warning);
        }
        match interrupts.exit() {
            Some(signal) if !experiment.state.is_over() => {
                notices::notify(&self.interrupted(db));
                Ok(signal)
            }
            _ if experiment.games_failed > 0 => Ok(Exit::FailedGames),
            _ => Ok(Exit::Success),
        }
    }

    /// The reason for a pause, and how to go on.
    fn pause_text(&self, seen: &results::Progress, db: &Path) -> String {
        let why = seen.stopped_for.as_ref().map_or_else(
            || "it is paused".to_owned(),
            |player| {
                let forfeits = seen.forfeits.iter().find(|row| row.player == *player);
                let words =
                    forfeits.map_or_else(|| "too many games".to_owned(), |row| row.in_words());
                format!("paused, since {player} forfeited {words}: more than its sweep allows")
            },
        );
        format!(
            "{why}\nsee why: spelrum sql \"SELECT * FROM forfeited\" --db {}; go on with: {}",
            db.display(),
            self.resume_command(db)
        )
    }

    fn interrupted(&self, db: &Path) -> String {
        format!("interrupted; go on with: {}", self.resume_command(db))
    }

    /// The command that continues.
    fn resume_command(&self, db: &Path) -> String {
        if let Some(command) = &self.match_command {
            return command.clone();
        }
        let (sweep, engines) = (self.sweep.command_line(), self.engines.command_line());
        let on_finish = self.on_finish.command_line();
        format!("spelrum run {sweep} --db {}{engines}{on_finish}", db.display())
    }
}

/// Players with so many forfeits that they must be mentioned with the results.
fn forfeited(seen: &results::Progress, db: &Path) -> Option<String> {
    let notable: Vec<String> = seen
        .forfeits
        .iter()
        .filter(|row| row.is_notable())
        .map(|row| format!("{} forfeited {}", row.player, row.in_words()))
        .collect();
    (!notable.is_empty()).then(|| {
        format!(
            "warning: {}; see why: spelrum sql \"SELECT * FROM forfeited\" --db {}",
            notable.join("; "),
            db.display()
        )
    })
}

/// Warns that time limits are unreliable under this machine's CPU quota, which would exclude it if other workers could
/// play.
fn warn_of_quota(demands: &BTreeSet<Demands>, here: &demands::Offer) {
    let shared_offer = demands::Offer { is_alone: false, ..here.clone() };
    let is_unmet = |demands: &Demands| {
        matches!(demands.unmet_by(&shared_offer), Some(Unmet::QuotaPeriod { .. }))
    };
    if let Some(period_us) = here.quota_period_us.filter(|_| demands.iter().any(is_unmet)) {
        notices::notify(&format!(
            "warning: this machine's quota of CPU time comes every {} ms, and there are time limits of less than ten \
             times that: so how much of a limit a player gets varies by chance (docs/timing.md)",
            period_us as f64 / 1_000.0
        ));
    }
}

fn start_text(
    submitted: &SubmittedSweep,
    experiment: &ExperimentSummary,
    plan: &Plan,
    db: &Path,
) -> String {
    let amount = preview::runs_of(plan).unwrap_or_else(|| {
        format!(
            "{}{} {} in {}",
            if plan.stop.is_some() { "at most " } else { "" },
            count(experiment.games_planned),
            experiment.task.noun(experiment.games_planned),
            counted(experiment.cells, "cell")
        )
    });
    format!(
        "{} {}: {amount}, into {}",
        match (submitted.existed, &submitted.change) {
            (true, None) => "resuming",
            (true, Some(_)) | (false, _) => "playing",
        },
        experiment.name,
        db.display()
    )
}

fn already_over_text(experiment: &ExperimentSummary, db: &Path) -> String {
    let ExperimentSummary { name, state, .. } = experiment;
    format!("{name} is {} already; its results are in {}", state.name(), db.display())
}
