//! `spelrum delete`, `prune`: permanently deleting an experiment, or only its moves.

use std::io::Write as _;

use clap::Args;
use serde::Serialize;
use spelrum_answers::{Removable, Removal, RemoveExperiment, RemovedExperiment, Removing};
use spelrum_report::data::write_json;
use spelrum_report::text::{count, counted};

use crate::arguments::SourceArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::cost_estimate::mebibytes;
use crate::remote::steering::Steerer;
use crate::terminal;

/// Permanently delete an experiment and all its data
#[derive(Args, Debug)]
#[command(after_help = "\
    Its cells, games, moves and results go, and its name is free again. It must not be running: \
    pause or cancel it first. The rows are deleted in small steps, so that other work continues; `spelrum \
    status` shows the progress. Players, openings and workers stay.\n\n\
    Examples:\n  \
    spelrum delete pentago-depth --db results.db --dry-run  (only shows what would be removed)\n  \
    spelrum delete pentago-depth --db results.db\n  \
    spelrum delete pentago-depth --coordinator http://127.0.0.1:7878 --yes")]
pub(crate) struct Delete {
    #[command(flatten)]
    arguments: RemoveArguments,
}

/// Delete an experiment's moves; games and results stay
#[derive(Args, Debug)]
#[command(after_help = "\
    Moves are most of a database. Without them every table of `spelrum report` stays as it is, and \
    times per move too. `spelrum replay` replays a game to show the same moves, except where a time limit \
    ended searches: those moves are lost permanently. Games played later store no moves either.\n\n\
    Examples:\n  \
    spelrum prune pentago-depth --db results.db --dry-run   (only shows what would be removed)\n  \
    spelrum prune pentago-depth --db results.db\n  \
    spelrum prune pentago-depth --coordinator http://127.0.0.1:7878 --yes")]
pub(crate) struct Prune {
    #[command(flatten)]
    arguments: RemoveArguments,
}

#[derive(Args, Debug)]
struct RemoveArguments {
    /// The experiment's name or UUID; of several with the name, the newest that is not over
    experiment: String,
    #[command(flatten)]
    source: SourceArguments,
    /// Only show what would be removed
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The differences between the two commands.
struct Kind {
    what: Removing,
    verb: &'static str,
    done: &'static str,
    name: &'static str,
}

const DELETE: Kind =
    Kind { what: Removing::Everything, verb: "delete", done: "deleted", name: "everything" };

const PRUNE: Kind = Kind { what: Removing::Moves, verb: "prune", done: "pruned", name: "moves" };

#[derive(Serialize)]
struct Json<'a> {
    experiment_uuid: &'a str,
    name: &'a str,
    what: &'a str,
    cells: u64,
    games: u64,
    moves: u64,
    /// Approximate.
    bytes: u64,
    dry_run: bool,
    /// Whether nothing of it is left in the file.
    finished: bool,
}

impl Delete {
    /// Deletes.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.arguments.remove(&DELETE).await
    }
}

impl Prune {
    /// Prunes.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.arguments.remove(&PRUNE).await
    }
}

impl RemoveArguments {
    async fn remove(self, kind: &Kind) -> Result<Exit> {
        let action = format!("{} {}", kind.verb, self.experiment);
        let mut steerer = Steerer::open(&self.source, &action).await?;
        // The coordinator inside this process is closed whatever the result.
        let removed = self.remove_with(&mut steerer, kind, &action).await;
        steerer.close().await?;
        let removed = removed?;
        let mut out = terminal::stdout();
        match removed {
            None => writeln!(out, "nothing is changed")?,
            Some(removed) if self.json => write_json(&mut out, &removed.json(kind))?,
            Some(removed) => writeln!(out, "{}", removed.text(kind))?,
        }
        Ok(Exit::Success)
    }

    /// Previews the removal, asks, and removes. `None` if the user declines.
    async fn remove_with(
        &self,
        steerer: &mut Steerer,
        kind: &Kind,
        action: &str,
    ) -> Result<Option<Removed>> {
        let mut request = RemoveExperiment {
            experiment: self.experiment.clone(),
            what: kind.what,
            preview: true,
        };
        let begun = steerer.removals(action).await?;
        let begun = |name: &str| {
            let is_it =
                |removal: &&Removal| removal.experiment == name && removal.removing == kind.what;
            begun.iter().find(is_it).cloned()
        };
        let preview = match (steerer.remove(&request, action).await, begun(&self.experiment)) {
            (Ok(preview), _) => preview,
            // The experiment has lost its name and UUID.
            (Err(error), Some(begun)) if error.exit() == Exit::Input => {
                return self.resume_removal(steerer, None, begun, action).await.map(Some);
            }
            (Err(error), _) => return Err(error),
        };
        let mut removed = Removed {
            experiment_uuid: preview.experiment.uuid.clone(),
            name: preview.experiment.name.clone(),
            removable: preview.removable,
            dry_run: self.dry_run,
            finished: steerer.is_own() && !self.dry_run,
            begun: None,
        };
        if let (true, Some(begun)) = (removed.is_nothing(kind), begun(&removed.name)) {
            return self.resume_removal(steerer, Some(preview), begun, action).await.map(Some);
        }
        if self.dry_run || removed.is_nothing(kind) {
            return Ok(Some(removed));
        }
        if !self.yes && !confirmed(&removed, kind, action)? {
            return Ok(None);
        }
        // The experiment that was shown, even if its name has moved to another.
        request.experiment = removed.experiment_uuid.clone();
        request.preview = false;
        removed.removable = steerer.remove(&request, action).await?.removable;
        steerer.finish_removals(action).await?;
        Ok(Some(removed))
    }

    /// Resumes an interrupted removal that was confirmed before.
    async fn resume_removal(
        &self,
        steerer: &mut Steerer,
        preview: Option<RemovedExperiment>,
        begun: Removal,
        action: &str,
    ) -> Result<Removed> {
        if !self.dry_run {
            steerer.finish_removals(action).await?;
        }
        // The UUID and name as far as they are known.
        let (experiment_uuid, name, removable) = match preview {
            Some(RemovedExperiment { experiment, removable }) => {
                (experiment.uuid, experiment.name, removable)
            }
            None => (self.experiment.clone(), self.experiment.clone(), Removable::default()),
        };
        let finished = steerer.is_own() && !self.dry_run;
        let removable = Removable { games: begun.games, ..removable };
        Ok(Removed {
            experiment_uuid,
            name,
            removable,
            dry_run: self.dry_run,
            finished,
            begun: Some(begun),
        })
    }
}

/// Asks the user on the terminal.
fn confirmed(removed: &Removed, kind: &Kind, action: &str) -> Result<bool> {
    let freed = removed.freed(kind);
    if !terminal::can_ask() {
        return Err(CliError::new(Exit::Usage, action)
            .because(format!("{freed} would be deleted, and there is no terminal to confirm it on"))
            .help("add --yes; --dry-run only shows what would be removed"));
    }
    let question =
        format!("{freed} would be deleted permanently. {} {}?", capital(kind.verb), removed.name);
    Ok(terminal::confirm(&question)?)
}

fn capital(verb: &str) -> String {
    verb[..1].to_uppercase() + &verb[1..]
}

/// The data that is deleted, or would be.
struct Removed {
    experiment_uuid: String,
    name: String,
    removable: Removable,
    dry_run: bool,
    finished: bool,
    /// An earlier removal that was interrupted.
    begun: Option<Removal>,
}

impl Removed {
    /// Whether there is nothing to do.
    fn is_nothing(&self, kind: &Kind) -> bool {
        kind.what == Removing::Moves && self.removable.moves == 0
    }

    /// What the removal frees, as text.
    fn freed(&self, kind: &Kind) -> String {
        let Removable { cells, games, moves, bytes } = self.removable;
        let about = mebibytes(bytes);
        if kind.what == Removing::Moves {
            format!("{} of {} (about {about})", counted(moves, "move"), counted(games, "game"))
        } else {
            format!(
                "{}, {} and {} (about {about})",
                counted(cells, "cell"),
                counted(games, "game"),
                counted(moves, "move")
            )
        }
    }

    fn text(&self, kind: &Kind) -> String {
        let (name, freed) = (&self.name, self.freed(kind));
        if let Some(Removal { games, games_done, .. }) = &self.begun {
            let (done, all) = (count(*games_done), count(*games));
            return if self.finished {
                format!(
                    "{} {name}: this was begun before, and interrupted after {done} of {all} games",
                    kind.done
                )
            } else {
                format!(
                    "{} {name} was begun before: {done} of {all} games are done; spelrum status shows the \
                     progress",
                    kind.gerund()
                )
            };
        }
        if self.is_nothing(kind) {
            return format!("{name} has no moves: nothing to prune");
        }
        match (self.dry_run, self.finished) {
            (true, _) => format!("{} {name} would free {freed}", kind.gerund()),
            (false, true) => format!("{} {name}: {freed}", kind.done),
            (false, false) => format!(
                "{} {name}: {freed} are being removed; spelrum status shows the progress",
                kind.done
            ),
        }
    }

    fn json(&self, kind: &Kind) -> Json<'_> {
        Json {
            experiment_uuid: &self.experiment_uuid,
            name: &self.name,
            what: match kind.what {
                Removing::Moves => PRUNE.name,
                Removing::Everything => DELETE.name,
            },
            cells: self.removable.cells,
            games: self.removable.games,
            moves: self.removable.moves,
            bytes: self.removable.bytes,
            dry_run: self.dry_run,
            finished: self.finished,
        }
    }
}

impl Kind {
    fn gerund(&self) -> &'static str {
        match self.what {
            Removing::Moves => "pruning",
            Removing::Everything => "deleting",
        }
    }
}
