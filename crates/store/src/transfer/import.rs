//! Imports experiments from an export without duplicating anything.
//!
//! An experiment is identified by its UUID, a cell by the hash of its definition, a worker by its UUID, a game by its
//! cell and number. The whole file is read and checked before anything is written; then each experiment comes in a
//! transaction of its own, and so do each cell's games. An interrupted import leaves consistent data, and repeating the
//! import completes it.

mod claims;
mod course_notes;
mod engines;
mod error;
mod games_without_moves;
mod networks;
mod plan;
mod played_games;
mod refereeing;
mod source;
mod source_rows;
mod workers;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use spelrum_model::repeat::Repeated;
use spelrum_model::{CellId, OpeningsCache, Plan, PlayableCell};

use crate::error::StoreError;
use crate::open::checkpoint::WAL_CHECKPOINT_BYTES;
use crate::open::writer::Writer;
use crate::schema::migrations::MIGRATIONS;
use crate::schema::numbers::integer;
use crate::write::transaction::Transaction;
use played_games::{ReadGame, read_game};
use source::{SCHEMA, SchemaRow, Source, SourceCell, SourceExperiment};
use workers::{MetWorkers, meet};
use writing::{Known, is_ours};

pub use error::ImportError;
pub use refereeing::Refereed;

/// Lower bound of numbers (inclusive) and ids (exclusive).
const FIRST: i64 = 0;

/// Result of importing an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Name of the experiment.
    pub name: String,
    /// UUID of the experiment.
    pub uuid: String,
    /// Whether the experiment is new here.
    pub is_new: bool,
    /// Whether its sweep was updated to the file's newer version.
    pub is_changed: bool,
    /// Its state after the import.
    pub state: String,
    /// Played games that were stored.
    pub games: u64,
    /// Games that finally failed and were stored as such.
    pub failed: u64,
    /// Games that already existed: identical ones, or known otherwise.
    pub known: u64,
    /// Other results of existing games, kept beside: identical in content, or free to differ.
    pub repeats: u64,
    /// Other results of existing games that differ where they must not.
    pub conflicts: u64,
    /// Results that the file had beside the settled ones.
    pub uncounted: u64,
    /// Whether this release plays its games as they were played.
    pub is_playable: bool,
}

impl Imported {
    /// Whether anything was stored.
    #[must_use]
    pub fn is_anything(&self) -> bool {
        let Self { is_new, is_changed, games, failed, repeats, conflicts, uncounted, .. } = self;
        *is_new || *is_changed || games + failed + repeats + conflicts + uncounted > 0
    }

    /// Counts another result of an existing game by its kind; `None` is one that was kept already.
    fn count(&mut self, found: Option<Repeated>, is_excluded: bool) {
        match found {
            None => self.known += 1,
            Some(_) if is_excluded => self.uncounted += 1,
            Some(Repeated::Repeat) => self.repeats += 1,
            Some(Repeated::Conflict) => self.conflicts += 1,
        }
    }
}

/// Progress of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportProgress {
    /// Whether the file is still being checked.
    pub is_checking: bool,
    /// Cells done so far.
    pub cells: u64,
    /// Cells in total.
    pub cells_total: u64,
}

/// How an experiment of the file is imported.
enum Kind {
    /// The experiment is stored.
    New,
    /// The experiment here is updated to the file's version.
    Newer(Known),
    /// Only missing games are stored.
    There(Known),
}

impl Writer {
    /// Imports the experiments of a file. With `new_experiment`, also those whose name another experiment has. `look`
    /// receives the progress and can cancel.
    ///
    /// # Errors
    /// If the file cannot be read or is not a Spelrum export, or an experiment cannot be imported: then nothing was
    /// changed. After cancellation or a database failure, data imported so far stays and is consistent.
    pub async fn import(
        &mut self,
        path: &Path,
        new_experiment: bool,
        mut look: impl FnMut(ImportProgress) -> ControlFlow<()>,
    ) -> Result<Vec<Imported>, ImportError> {
        let source = self.open_source(path).await?;
        let experiments = source.experiments()?;
        let cells_total = experiments.iter().map(|experiment| experiment.cells.len() as u64).sum();
        let mut tell = |is_checking, cells| {
            let wanted = look(ImportProgress { is_checking, cells, cells_total });
            if wanted.is_break() { Err(ImportError::GivenUp) } else { Ok(()) }
        };
        let mut kinds = Vec::with_capacity(experiments.len());
        for experiment in &experiments {
            kinds.push(self.kind(experiment, new_experiment).await?);
        }
        let mut done = 0;
        for experiment in &experiments {
            check_experiment(&source, experiment)?;
            let openings = OpeningsCache::default();
            for cell in &experiment.cells {
                check_cell(&source, experiment, cell, &openings)?;
                done += 1;
                tell(true, done)?;
            }
        }
        done = 0;
        let mut imported = Vec::with_capacity(experiments.len());
        for (experiment, kind) in experiments.iter().zip(kinds) {
            let mut tell_one = || {
                done += 1;
                tell(false, done)
            };
            imported.push(self.import_one(&source, experiment, kind, &mut tell_one).await?);
        }
        Ok(imported)
    }

    async fn open_source(&mut self, path: &Path) -> Result<Source, ImportError> {
        let mut transaction = self.begin().await?;
        let ours: Vec<SchemaRow> = sqlx::query_as(SCHEMA)
            .fetch_all(transaction.connection())
            .await
            .map_err(StoreError::from)?;
        drop(transaction);
        Source::open(path, &MIGRATIONS, &ours.into_iter().collect()).await
    }

    async fn kind(
        &mut self,
        exported: &SourceExperiment,
        new_experiment: bool,
    ) -> Result<Kind, ImportError> {
        let mut transaction = self.begin().await?;
        let name = || exported.name.clone();
        let Some(known) = writing::known(&mut transaction, &exported.uuid).await? else {
            if !new_experiment
                && writing::is_name_taken(&mut transaction, &exported.name, &exported.uuid).await?
            {
                return Err(ImportError::NameTaken { name: name() });
            }
            return Ok(Kind::New);
        };
        let theirs: Vec<&String> = exported.versions.iter().map(|version| &version.uuid).collect();
        let ours: Vec<&String> = known.versions.iter().collect();
        let cells = writing::cells_by_hash(&mut transaction, known.experiment).await?;
        let has_all = exported.cells.iter().all(|cell| cells.contains_key(&cell.definition_hash));
        if (known.has_course || exported.course.is_some()) && !has_all {
            return Err(ImportError::OtherCourse { name: name() });
        }
        if ours.starts_with(&theirs) && has_all {
            return Ok(Kind::There(known));
        }
        if theirs.starts_with(&ours) && theirs.len() > ours.len() {
            return Ok(Kind::Newer(known));
        }
        Err(ImportError::Diverged { name: name() })
    }

    async fn import_one(
        &mut self,
        source: &Source,
        exported: &SourceExperiment,
        kind: Kind,
        tell: &mut impl FnMut() -> Result<(), ImportError>,
    ) -> Result<Imported, ImportError> {
        let (is_new, is_changed) = match &kind {
            Kind::New => (true, false),
            Kind::Newer(_) => (false, true),
            Kind::There(_) => (false, false),
        };
        let mut imported = Imported {
            name: exported.name.clone(),
            uuid: exported.uuid.clone(),
            is_new,
            is_changed,
            is_playable: is_ours(exported),
            ..Imported::default()
        };
        let mut transaction = self.begin().await?;
        let mut workers = MetWorkers::new();
        networks::import_networks(&mut transaction, source, exported, &mut workers).await?;
        let experiment = match &kind {
            Kind::There(known) => known.experiment,
            Kind::New => adopt(&mut transaction, source, exported, None).await?,
            Kind::Newer(known) => adopt(&mut transaction, source, exported, Some(known)).await?,
        };
        let ids = writing::cells_by_hash(&mut transaction, experiment).await?;
        transaction.commit().await?;
        let openings = OpeningsCache::default();
        for cell in &exported.cells {
            let Some(id) = ids.get(&cell.definition_hash) else { continue };
            let playable = playable(source, exported, cell, &openings)?;
            let to = Target { cell: CellId(*id), playable: &playable };
            self.import_cell(source, cell, &to, &mut workers, &mut imported).await?;
            tell()?;
        }
        let was = match &kind {
            Kind::New => None,
            Kind::Newer(known) | Kind::There(known) => Some(known.state.clone()),
        };
        let mut transaction = self.begin().await?;
        imported.state = match was {
            // After an interrupted import, all games may be stored and the experiment not finished yet.
            Some(state) if !imported.is_anything() && state != "paused" => state,
            _ => writing::settle_state(&mut transaction, experiment, exported, is_new).await?,
        };
        transaction.commit().await?;
        Ok(imported)
    }

    /// Imports a cell's games in one transaction.
    async fn import_cell(
        &mut self,
        source: &Source,
        cell: &SourceCell,
        to: &Target<'_>,
        workers: &mut MetWorkers,
        imported: &mut Imported,
    ) -> Result<(), ImportError> {
        let mut transaction = self.begin().await?;
        let mut came = Imported { is_new: false, is_changed: false, ..imported.clone() };
        let mut from = FIRST;
        loop {
            let games = source.games(cell.id, from, to.playable)?;
            let Some(last) = games.last() else { break };
            from = integer(last.number).saturating_add(1);
            let games = read(source, cell, games, to, false)?;
            meet_players(&mut transaction, source, &games, workers).await?;
            writing::import_games(&mut transaction, to.cell, games, workers, &mut came).await?;
        }
        let mut after = FIRST;
        loop {
            let (games, last) = source.uncounted(cell.id, after)?;
            let Some(last) = last else { break };
            after = last;
            let games = read(source, cell, games, to, false)?;
            meet_players(&mut transaction, source, &games, workers).await?;
            writing::import_games(&mut transaction, to.cell, games, workers, &mut came).await?;
        }
        let stored = |imported: &Imported| {
            imported.games
                + imported.failed
                + imported.repeats
                + imported.conflicts
                + imported.uncounted
        };
        if imported.is_new {
            let outcome = source.course_outcome(cell.id)?;
            writing::import_history(&mut transaction, to.cell, &source.attempts(cell.id)?, outcome)
                .await?;
        }
        if imported.is_new || imported.is_changed || stored(&came) > stored(imported) {
            writing::finish_cell(&mut transaction, to.cell).await?;
            transaction.commit().await?;
        } else {
            // Neither the games nor their workers were stored.
            drop(transaction);
            workers.clear();
        }
        let (is_new, is_changed) = (imported.is_new, imported.is_changed);
        *imported = Imported { is_new, is_changed, ..came };
        if self.wal_bytes() > WAL_CHECKPOINT_BYTES {
            self.checkpoint().await?;
        }
        Ok(())
    }
}

struct Target<'t> {
    cell: CellId,
    playable: &'t PlayableCell,
}

/// Stores the experiment without its games.
async fn adopt(
    transaction: &mut Transaction<'_>,
    source: &Source,
    exported: &SourceExperiment,
    known: Option<&Known>,
) -> Result<i64, ImportError> {
    let whole = plan::plan(exported, &[]).map_err(|what| source.wrong(what))?;
    let parts = parts(source, exported)?;
    Ok(writing::adopt(transaction, exported, known, &whole, &parts).await?)
}

/// The cells, grouped by stop rule and by when their course requested them.
fn parts<'c>(
    source: &Source,
    exported: &'c SourceExperiment,
) -> Result<Vec<(Plan, Vec<&'c SourceCell>)>, ImportError> {
    let mut alike: BTreeMap<(Option<String>, Option<i64>), Vec<&SourceCell>> = BTreeMap::new();
    for cell in &exported.cells {
        let rule = cell.rule.map(|rule| rule.to_string());
        alike.entry((rule, cell.asked_after)).or_default().push(cell);
    }
    let plan = |cells: Vec<&'c SourceCell>| {
        let plan = plan::plan(exported, &cells).map_err(|what| source.wrong(what))?;
        Ok((plan, cells))
    };
    alike.into_values().map(plan).collect()
}

/// Refuses an experiment that cannot be stored.
fn check_experiment(source: &Source, exported: &SourceExperiment) -> Result<(), ImportError> {
    let wrong = |what: &str| Err(source.wrong(format!("{}: {what}", exported.name)));
    if !["running", "paused", "cancelled", "finished"].contains(&&*exported.state) {
        return wrong("it is in a state that there is not");
    }
    if exported.name.is_empty()
        || exported.name.chars().any(char::is_control)
        || exported.uuid.is_empty()
    {
        return wrong("its name or UUID is not one");
    }
    if exported.versions.is_empty() {
        return wrong("it has no text");
    }
    let hashes: BTreeSet<&str> = exported.cells.iter().map(|cell| &*cell.definition_hash).collect();
    if hashes.len() != exported.cells.len() {
        return wrong("it has a cell twice");
    }
    for claim in &exported.claims {
        let is_whole = claims::is_whole(claim)
            && claim.cells.iter().all(|(hash, ..)| hashes.contains(&**hash));
        if !is_whole {
            return wrong("a claim of it is not what was stated");
        }
    }
    parts(source, exported).map(drop)
}

/// A playable cell for its games.
fn playable(
    source: &Source,
    exported: &SourceExperiment,
    cell: &SourceCell,
    openings: &OpeningsCache,
) -> Result<PlayableCell, ImportError> {
    let definition = plan::definition(cell).map_err(|what| source.unknown(&exported.name, what))?;
    PlayableCell::with_cache(definition, openings)
        .map_err(|error| source.unknown(&exported.name, format!("cell {}: {error}", cell.id)))
}

/// Refuses a cell with records that are not games of it.
fn check_cell(
    source: &Source,
    exported: &SourceExperiment,
    cell: &SourceCell,
    openings: &OpeningsCache,
) -> Result<(), ImportError> {
    let playable = playable(source, exported, cell, openings)?;
    let to = Target { cell: CellId(cell.id), playable: &playable };
    let mut workers = BTreeSet::new();
    let mut judge = |games| {
        let games = read(source, cell, games, &to, true)?;
        for worker in games.iter().filter_map(|game| game.what.worker()) {
            if workers.insert(worker) {
                source.worker(worker)?;
            }
        }
        Ok::<_, ImportError>(())
    };
    let mut from = FIRST;
    loop {
        let games = source.games(cell.id, from, to.playable)?;
        let Some(last) = games.last() else { break };
        from = integer(last.number).saturating_add(1);
        judge(games)?;
    }
    let mut after = FIRST;
    loop {
        let (games, last) = source.uncounted(cell.id, after)?;
        let Some(last) = last else { return Ok(()) };
        after = last;
        judge(games)?;
    }
}

fn read(
    source: &Source,
    cell: &SourceCell,
    games: Vec<source::SourceGame>,
    to: &Target<'_>,
    judge: bool,
) -> Result<Vec<ReadGame>, ImportError> {
    let one = |game: source::SourceGame| {
        let number = game.number;
        read_game(game, to.cell, to.playable, judge)
            .map_err(|what| source.wrong(format!("game {number} of cell {}: {what}", cell.id)))
    };
    games.into_iter().map(one).collect()
}

/// Stores the workers that played these games.
async fn meet_players(
    transaction: &mut Transaction<'_>,
    source: &Source,
    games: &[ReadGame],
    workers: &mut MetWorkers,
) -> Result<(), ImportError> {
    for worker in games.iter().filter_map(|game| game.what.worker()) {
        meet(transaction, source, workers, worker).await?;
    }
    Ok(())
}
