//! `spelrum import`: experiments of an export, copied into another results database.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spelrum_report::data::write_json;
use spelrum_report::text::{count, counted};
use spelrum_store::{ImportError, ImportProgress, Imported, StoreError, Writer};

use crate::arguments::SourceArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;

const EXAMPLES: &str = "\
The file is what spelrum export made, or any other results database: all its experiments come. Nothing is \
duplicated: experiments are identified by UUID, cells by the hash of their definition, games by number. A \
file with more games adds those that are missing; imported again it changes nothing. A game in both counts \
once; if its two results differ and must not, the file's result is kept in uncounted_games as a conflict.

An experiment that is not finished is paused here: spelrum resume plays what is left of it. If the file has \
a later version of a sweep, that version replaces the one in the database.

The file is not trusted: before anything is written, definitions must match their hashes, and every game \
with moves is checked against the rules. The database is created if it does not exist. It must not be open \
in a coordinator: stop the coordinator, import, and start it again.

JSON: experiments (experiment_uuid, name, state, new, changed, games, failed, known, repeats, conflicts, \
uncounted).

Examples:
  spelrum import pentago-depth.db --db results.db
  spelrum import theirs.db --db results.db --new";

/// Copy experiments into a results database, skipping what it already has
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// The file to import
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    into: SourceArguments,
    /// Import an experiment also beside another one of its name
    #[arg(long)]
    new: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'i> {
    experiments: Vec<Experiment<'i>>,
}

#[derive(Serialize)]
struct Experiment<'i> {
    experiment_uuid: &'i str,
    name: &'i str,
    state: &'i str,
    new: bool,
    changed: bool,
    games: u64,
    failed: u64,
    known: u64,
    repeats: u64,
    conflicts: u64,
    uncounted: u64,
}

impl<'i> From<&'i Imported> for Experiment<'i> {
    fn from(imported: &'i Imported) -> Self {
        Self {
            experiment_uuid: &imported.uuid,
            name: &imported.name,
            state: &imported.state,
            new: imported.is_new,
            changed: imported.is_changed,
            games: imported.games,
            failed: imported.failed,
            known: imported.known,
            repeats: imported.repeats,
            conflicts: imported.conflicts,
            uncounted: imported.uncounted,
        }
    }
}

impl Import {
    /// Imports, and reports the experiments.
    pub(crate) async fn run(self) -> Result<Exit> {
        let Some(db) = &self.into.db else {
            return Err(CliError::new(Exit::Usage, "import").because("--db is not given").help(
                "name the database, such as --db results.db; one that a coordinator has open is imported into \
                 while that is stopped",
            ));
        };
        let resolved = |file: &PathBuf| file.canonicalize().ok();
        if resolved(&self.file).is_some_and(|file| Some(file) == resolved(db)) {
            return Err(CliError::new(Exit::Usage, "import")
                .because("the file is the database itself")
                .help("name another database as --db"));
        }
        if !self.file.exists() {
            // Before a database is created.
            return Err(StoreError::MissingDatabase { path: self.file.clone() }.into());
        }
        let mut writer = Writer::open(db).await?;
        let interrupts = Interrupts::listen(|| {})?;
        let look = |_: ImportProgress| {
            if interrupts.finish.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let imported = writer.import(&self.file, self.new, look).await;
        let closed = writer.close().await;
        let imported = match imported {
            Err(ImportError::GivenUp) => {
                return Ok(interrupts.exit().unwrap_or(Exit::Interrupted));
            }
            imported => imported?,
        };
        closed?;
        self.print_imported(&imported)?;
        Ok(Exit::Success)
    }

    fn print_imported(&self, imported: &[Imported]) -> Result<()> {
        let mut out = terminal::stdout();
        if self.json {
            let experiments = imported.iter().map(Experiment::from).collect();
            write_json(&mut out, &Json { experiments })?;
            return Ok(());
        }
        if imported.is_empty() {
            writeln!(out, "the file has no experiments")?;
        }
        for experiment in imported {
            writeln!(out, "{}", result_line(experiment))?;
            if experiment.state == "paused" {
                let remedy = if experiment.is_playable {
                    format!("spelrum resume {} goes on with it", experiment.uuid)
                } else {
                    "only the engine revision that played it can continue it".to_owned()
                };
                writeln!(out, "  it is paused: {remedy}")?;
            }
            if experiment.conflicts > 0 {
                writeln!(out, "  see the conflicts: table uncounted_games, reason 'conflict'")?;
            }
        }
        Ok(())
    }
}

/// The result for an experiment, in a line.
fn result_line(imported: &Imported) -> String {
    if !imported.is_anything() {
        return format!(
            "{}: nothing is new, all {} games were here already",
            imported.name,
            count(imported.known)
        );
    }
    let mut parts = Vec::new();
    if imported.is_changed {
        parts.push("its sweep was replaced by the file's".to_owned());
    }
    parts.push(match (imported.is_new, imported.games) {
        (true, games) => format!("new, {}", counted(games, "game")),
        (false, games) => format!("{} more", counted(games, "game")),
    });
    let more = [
        (imported.failed, "failed games"),
        (imported.known, "were here already"),
        (imported.repeats, "repeats, kept and not counted"),
        (imported.conflicts, "CONFLICTS, kept and not counted"),
        (imported.uncounted, "other results that do not count"),
    ];
    let more = more.into_iter().filter(|(games, _)| *games > 0);
    parts.extend(more.map(|(games, text)| format!("{} {text}", count(games))));
    format!("{}: {}", imported.name, parts.join(", "))
}
