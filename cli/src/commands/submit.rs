//! `spelrum submit`: submits a sweep to a coordinator, or previews that.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spelrum_model::ExperimentState;
use spelrum_report::data::write_json;
use spelrum_report::text::{count, counted};

use crate::arguments::CoordinatorArguments;
use crate::config;
use crate::error::Result;
use crate::exit::Exit;
use crate::players::engine_check;
use crate::players::engines_file;
use crate::remote::connection::{self, Manner};
use crate::sweeps::engine_builds;
use crate::sweeps::file::{SweepArguments, SweepFile};
use crate::sweeps::found_players::{self, Outcomes};
use crate::sweeps::match_files::MatchFiles;
use crate::sweeps::preview::{self, Change, ClaimStanding};
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices;

const EXAMPLES: &str = "\
Submitting the same file twice is safe: the second time changes nothing. A changed file of the same \
name extends its experiment: cells that it still has keep their games, new cells are added, and removed \
cells stay in the database but no longer appear in reports. Changes are listed before they are applied, and \
on a terminal cells are dropped only after a confirmation.

JSON: experiment_uuid, name, cells, games, existed, change, claims (claim, exploratory, in_sweep); with --dry-run: name, game, cells, games, pairs, \
openings, slots, quiet_slots, seconds, seconds_at_least, depends_on_results, stop_rule, game_memory_bytes, game_slots, bytes; \
with --engines also engines, as \
spelrum engine check has them.

Examples:
  spelrum submit sweeps/pentago-depth.toml --dry-run       (asks the coordinator, if one is named)
  spelrum submit sweeps/pentago-depth.toml --dry-run --set depth=1..6 --set games=1000
  spelrum submit sweeps/chess-engines.toml --dry-run --engines deploy/engines.toml
  spelrum submit sweeps/pentago-depth.toml --coordinator http://127.0.0.1:7878";

/// Submit a sweep to a coordinator
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Submit {
    #[command(flatten)]
    sweep: SweepArguments,
    #[command(flatten)]
    coordinator: CoordinatorArguments,
    /// Start a new experiment, although there is one of this name
    #[arg(long)]
    new: bool,
    /// Do not ask for confirmation before cells are dropped
    #[arg(long)]
    yes: bool,
    /// Only show what the sweep would play (cells, games, openings, time and bytes), and what it
    /// would reuse, add and drop at the coordinator named here, by SPELRUM_COORDINATOR or in the
    /// config file, or in a database
    #[arg(long)]
    dry_run: bool,
    /// The results database to compare with in a dry run, instead of a coordinator
    #[arg(long, value_name = "PATH", requires = "dry_run")]
    db: Option<PathBuf>,
    /// With --dry-run: the builds of the engines, and whether they can play the sweep, by this engines file
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    engines: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    experiment_uuid: &'a str,
    name: &'a str,
    cells: u64,
    games: u64,
    existed: bool,
    /// The sweep's changes to the existing experiment.
    change: Option<Change<'a>>,
    /// The state of its claims.
    claims: Vec<ClaimStanding<'a>>,
}

impl Submit {
    /// Shows what the sweep would play, and what it would change in the existing experiment.
    async fn dry_run(&self, sweep: &mut SweepFile, preview: Manner) -> Result<Exit> {
        let file = self.engines.as_deref().map(engines_file::read).transpose()?;
        let previewed = if let Some(db) = &self.db {
            preview::preview_file(db, sweep, file.as_ref(), preview).await?
        } else if config::names_coordinator(&self.coordinator)? {
            engine_builds::name_builds(sweep, file.as_ref(), None, preview.new_experiment).await?;
            let api = connection::connect(&self.coordinator).await?;
            Some(connection::submit(&api, sweep, preview).await?)
        } else {
            None
        };
        let Some(file) = file else {
            if let Some(remark) = engines_file::unchecked(&sweep.plan) {
                notices::notify(&remark);
            }
            preview::print_dry_run(sweep, previewed.as_ref(), self.json, None, &[])?;
            return Ok(Exit::Success);
        };
        // Missing engines are reported before any is started.
        engines_file::needed(&sweep.plan, Some(&file))?;
        let interrupts = Interrupts::listen(|| notices::notify("ending the engine under check"))?;
        let checked = engine_check::check_for(&sweep.plan, &file, &interrupts).await?;
        if let Some(signal) = interrupts.exit() {
            return Ok(signal);
        }
        preview::print_dry_run(sweep, previewed.as_ref(), self.json, Some(&file), &checked)?;
        Ok(engine_check::exit_of(&checked))
    }

    /// The same for a match, whose sweep is not in a file.
    pub(crate) fn of_match(self, files: MatchFiles) -> Self {
        Self { sweep: self.sweep.with_text(files.sweep), ..self }
    }

    /// Whether it only shows what it would submit.
    pub(crate) fn is_dry(&self) -> bool {
        self.dry_run
    }

    /// Submits, or only previews.
    pub(crate) async fn run(self) -> Result<Exit> {
        let has_none = self.db.is_some() || !config::names_coordinator(&self.coordinator)?;
        let needs_none = self.dry_run && self.coordinator.coordinator.is_none() && has_none;
        let outcomes = if needs_none { Outcomes::Here } else { Outcomes::At(&self.coordinator) };
        let mut sweep = found_players::read_sweep(&self.sweep, outcomes).await?;
        for remark in &sweep.remarks {
            notices::notify(remark);
        }
        let preview = Manner { new_experiment: self.new, preview: true };
        if self.dry_run {
            return self.dry_run(&mut sweep, preview).await;
        }
        let api = connection::connect(&self.coordinator).await?;
        let mut out = terminal::stdout();
        if connection::find(&api, &sweep.plan.name).await?.is_some() {
            let preview = connection::submit(&api, &sweep, preview).await?;
            if let Some(change) = &preview.change {
                let announcement = preview::announcement(&sweep.plan, change);
                match self.json {
                    false => writeln!(out, "{announcement}")?,
                    true => notices::notify(&announcement),
                }
                out.flush()?;
                if !self.yes && !preview::may_drop(change)? {
                    notices::notify("nothing is changed");
                    return Ok(Exit::Success);
                }
            }
        }
        let manner = Manner { preview: false, ..preview };
        let answer = connection::submit(&api, &sweep, manner).await?;
        if self.json {
            let json = Json {
                experiment_uuid: &answer.experiment_uuid,
                name: &answer.name,
                cells: answer.cells,
                games: answer.games,
                existed: answer.existed,
                change: answer.change.as_ref().map(Change::from),
                claims: answer.claims.iter().map(ClaimStanding::from).collect(),
            };
            write_json(&mut out, &json)?;
            return Ok(Exit::Success);
        }
        let verb = match (answer.existed, &answer.change) {
            (true, None) => {
                let name = &answer.name;
                let experiment = connection::find(&api, &answer.experiment_uuid).await?;
                if experiment
                    .is_some_and(|experiment| experiment.state == ExperimentState::Cancelled)
                {
                    writeln!(
                        out,
                        "{name} was submitted before and cancelled, which is final: none of its games is \
                         played; --new starts a new experiment"
                    )?;
                } else {
                    writeln!(out, "{name} was submitted before; nothing has changed")?;
                }
                return Ok(Exit::Success);
            }
            (true, Some(_)) => "changed",
            (false, _) => "submitted",
        };
        let (games, cells) = (count(answer.games), counted(answer.cells, "cell"));
        let noun = sweep.plan.task().noun(answer.games);
        let amount = preview::runs_of(&sweep.plan);
        let at_most = if sweep.plan.stop.is_some() { "at most " } else { "" };
        let amount = amount.unwrap_or_else(|| format!("{at_most}{games} {noun} in {cells}"));
        writeln!(out, "{verb} {}: {amount}", answer.name)?;
        for remark in preview::remarks_on_claims(&answer.claims) {
            writeln!(out, "{remark}")?;
        }
        Ok(Exit::Success)
    }
}
