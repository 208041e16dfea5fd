//! Exports whole experiments as one file: a results database of the same schema with nothing else in it, for other
//! people, other programs and import.
//!
//! An export is a snapshot and keeps all ids, so a statement about a game holds in both databases. It contains
//! experiments and their results; workers' credentials and leases stay behind. Games in progress are returned to the
//! queue, so a coordinator that opens the file can continue, and running experiments are paused.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use spelrum_model::ExperimentId;

use crate::check::rot::seal_copy;
use crate::error::{code, query_code};
use crate::open::at_rest::with_suffix;
use crate::open::connection::{BUSY_TIMEOUT, INSTRUCTIONS_BETWEEN_LOOKS};
use crate::query::queries::{uri, yield_to_others};
use crate::read::readers::Readers;
use crate::schema::experiment_views::{make_in, quoted};
use crate::schema::migrations::APPLICATION_ID;
use crate::transfer::backup::{BackedUp, BackupError, Copied, Unfinished, refuse_existing};

/// Rows of a table to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    /// All rows.
    All,
    /// Rows of the exported experiments.
    OfExperiments,
    /// Rows of their cells.
    OfCells,
    /// Rows of their games.
    OfGames,
    /// Rows that satisfy this condition, which may refer to tables copied before.
    Where(&'static str),
    /// No rows: the table belongs to this database or its coordinator alone.
    None,
}

/// Every table, in copying order. A further rollup is one more line.
const TABLES: &[(&str, Rows)] = &[
    ("_sqlx_migrations", Rows::All),
    ("coordinators", Rows::All),
    ("time_buckets", Rows::All),
    ("experiments", Rows::OfExperiments),
    ("experiment_axes", Rows::OfExperiments),
    ("experiment_files", Rows::OfExperiments),
    ("experiment_anchors", Rows::OfExperiments),
    ("sweep_versions", Rows::OfExperiments),
    ("course_notes", Rows::OfExperiments),
    ("cells", Rows::OfExperiments),
    ("claims", Rows::OfExperiments),
    ("claim_cells", Rows::Where("claim_id IN (SELECT claim_id FROM main.claims)")),
    ("worker_results", Rows::OfExperiments),
    (
        "players",
        Rows::Where(
            "player_id IN (SELECT first_player_id FROM main.cells
                UNION SELECT second_player_id FROM main.cells)",
        ),
    ),
    (
        "networks",
        Rows::Where(
            "network_id IN (SELECT network_id FROM main.players
                UNION SELECT trains_network_id FROM main.cells)",
        ),
    ),
    ("network_runs", OF_NETWORKS),
    ("network_epochs", OF_NETWORKS),
    ("network_sides", OF_NETWORKS),
    ("network_distances", OF_NETWORKS),
    ("network_squares", OF_NETWORKS),
    ("conditions", Rows::Where("conditions_id IN (SELECT conditions_id FROM main.cells)")),
    ("condition_rules", Rows::Where("conditions_id IN (SELECT conditions_id FROM main.cells)")),
    ("stop_rules", Rows::Where("stop_rule_id IN (SELECT stop_rule_id FROM main.cells)")),
    ("cell_axes", Rows::OfCells),
    ("told_cells", Rows::OfCells),
    ("verifications", Rows::OfCells),
    ("attempts", Rows::OfCells),
    ("games", Rows::OfCells),
    ("uncounted_games", Rows::OfCells),
    ("refused_results", Rows::OfCells),
    ("cell_results", Rows::OfCells),
    ("cell_openings", Rows::OfCells),
    ("cell_depths", Rows::OfCells),
    ("cell_move_times", Rows::OfCells),
    (
        "valued_positions",
        Rows::Where(
            "opening_id IN (SELECT opening_id FROM main.games)
                AND conditions_id IN (SELECT conditions_id FROM main.cells)
                AND reference_player_id IN (SELECT second_player_id FROM main.cells)",
        ),
    ),
    (
        "move_values",
        Rows::Where("valued_position_id IN (SELECT valued_position_id FROM main.valued_positions)"),
    ),
    ("moves", Rows::OfGames),
    ("move_notes", Rows::OfGames),
    ("game_sides", Rows::OfGames),
    ("game_depths", Rows::OfGames),
    ("game_engines", Rows::OfGames),
    ("engines", Rows::Where("engine_id IN (SELECT engine_id FROM main.game_engines)")),
    ("forfeits", Rows::OfGames),
    ("game_digests", Rows::OfGames),
    (
        "uncounted_moves",
        Rows::Where("uncounted_game_id IN (SELECT uncounted_game_id FROM main.uncounted_games)"),
    ),
    (
        "openings",
        Rows::Where(
            "opening_id IN (SELECT opening_id FROM main.games
                UNION SELECT opening_id FROM main.uncounted_games)",
        ),
    ),
    (
        "workers",
        Rows::Where(
            "worker_id IN (SELECT worker_id FROM main.worker_results
                UNION SELECT worker_id FROM main.uncounted_games
                UNION SELECT worker_id FROM main.refused_results
                UNION SELECT worker_id FROM main.networks
                UNION SELECT played_by_worker_id FROM main.verifications
                UNION SELECT verified_by_worker_id FROM main.verifications)",
        ),
    ),
    ("worker_speeds", Rows::Where("worker_id IN (SELECT worker_id FROM main.workers)")),
    ("databases", Rows::None),
    ("leases", Rows::None),
    ("lease_ranges", Rows::None),
    ("returned_ranges", Rows::None),
    ("removals", Rows::None),
    ("exclusions", Rows::None),
    // Recomputed for the copy.
    ("table_digests", Rows::None),
];

const OF_NETWORKS: Rows = Rows::Where("network_id IN (SELECT network_id FROM main.networks)");

/// Turns the copied rows into a database of its own: a new UUID, no active workers or credentials, and all unsettled
/// games returned to the queue.
const AFTER: &str = "
    INSERT INTO main.databases (database_id, uuid) VALUES (1, lower(hex(randomblob(16))));
    UPDATE main.experiments SET state = 'paused' WHERE state = 'running';
    UPDATE main.workers SET secret_sha256 = NULL, credential = NULL;
    INSERT INTO main.returned_ranges (cell_id, first_number, games)
    SELECT cell_id, before + 1, number - before - 1
    FROM (
        SELECT cell_id, number, lag(number, 1, -1) OVER (PARTITION BY cell_id ORDER BY number) AS before
        FROM (
            SELECT g.cell_id, g.number
            FROM main.games AS g JOIN main.cells AS c ON c.cell_id = g.cell_id
            WHERE g.number < c.next_number
            UNION ALL
            SELECT c.cell_id, 0
            FROM main.cells AS c JOIN main.networks AS n ON n.network_id = c.trains_network_id
            WHERE c.next_number > 0 AND n.settled_unix_us IS NOT NULL
            UNION ALL
            SELECT c.cell_id, 0
            FROM main.cells AS c JOIN main.verifications AS v ON v.cell_id = c.cell_id
            WHERE c.next_number > 0 AND v.settled_unix_us IS NOT NULL
            UNION ALL
            SELECT cell_id, next_number FROM main.cells WHERE next_number > 0))
    WHERE number - before > 1;";

impl Readers {
    /// Copies experiments in their current state with all their data into a new file, and checks it. Blocks the calling
    /// thread for as long as the disks need. `look` can cancel.
    ///
    /// # Errors
    /// As [`Self::back_up`].
    pub fn export(
        &self,
        experiments: &[ExperimentId],
        to: &Path,
        look: impl FnMut() -> ControlFlow<()> + Clone + Send + 'static,
    ) -> Result<BackedUp, BackupError> {
        refuse_existing(to)?;
        let unfinished = Unfinished::create(to)?;
        let games = self.copy_experiments(&unfinished, experiments, look)?;
        // The export gets the database's permissions.
        let permissions = std::fs::metadata(self.path()).map(|metadata| metadata.permissions());
        let bytes = unfinished.publish(permissions.ok())?;
        Ok(BackedUp { bytes, games })
    }

    /// Exports into an unnamed file beside the database, to be read from its beginning.
    ///
    /// # Errors
    /// As [`Self::export`]; [`BackupError::Busy`] while another unnamed export is being made.
    pub fn export_unnamed(
        &self,
        experiments: &[ExperimentId],
        look: impl FnMut() -> ControlFlow<()> + Clone + Send + 'static,
    ) -> Result<(File, BackedUp), BackupError> {
        yield_to_others();
        let to = with_suffix(self.path(), "-export");
        let unfinished = Unfinished::create(&to)?;
        let games = self.copy_experiments(&unfinished, experiments, look)?;
        let failed = |source| BackupError::Write { to: to.clone(), source };
        let mut file = unfinished.file().try_clone().map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        file.rewind().map_err(failed)?;
        Ok((file, BackedUp { bytes, games }))
    }

    fn copy_experiments(
        &self,
        unfinished: &Unfinished,
        experiments: &[ExperimentId],
        mut look: impl FnMut() -> ControlFlow<()> + Clone + Send + 'static,
    ) -> Result<u64, BackupError> {
        let looking = look.clone();
        let copied = unfinished.connect().and_then(|mut into| {
            self.copy_rows(&into, experiments, looking)?;
            seal_copy(&mut into)?;
            into.close().map_err(|(_, error)| error)
        });
        copied.map_err(|error| match query_code(&error) {
            Some(code::INTERRUPT) => BackupError::GivenUp,
            Some(_) | None => self.note_damage(unfinished.failed(error)),
        })?;
        self.still_at_rest()?;
        unfinished.check(move |_: Copied| look())
    }

    fn copy_rows(
        &self,
        into: &Connection,
        experiments: &[ExperimentId],
        mut look: impl FnMut() -> ControlFlow<()> + Send + 'static,
    ) -> rusqlite::Result<()> {
        into.busy_timeout(BUSY_TIMEOUT)?;
        into.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(move || look().is_break()))?;
        // Not the copy's VFS, which lacks locks.
        let parameters =
            if self.is_at_rest() { "immutable=1&vfs=unix" } else { "mode=ro&vfs=unix" };
        into.execute("ATTACH ? AS source", [uri(self.path(), parameters)])?;
        into.execute_batch(&format!(
            "PRAGMA auto_vacuum = INCREMENTAL;
            PRAGMA application_id = {APPLICATION_ID};
            PRAGMA foreign_keys = OFF;
            CREATE TEMP TABLE exported (experiment_id INTEGER PRIMARY KEY);
            BEGIN"
        ))?;
        for ExperimentId(experiment) in experiments {
            into.execute("INSERT OR IGNORE INTO temp.exported VALUES (?)", [experiment])?;
        }
        make(into, "s.type = 'table' AND s.name NOT LIKE 'sqlite!_%' ESCAPE '!'")?;
        for (table, rows) in TABLES {
            copy(into, table, *rows)?;
        }
        make(into, "s.type = 'index' AND s.sql IS NOT NULL")?;
        into.execute_batch(AFTER)?;
        make(
            into,
            "s.type IN ('view', 'trigger') AND NOT EXISTS (
                SELECT 1 FROM source.experiments AS e
                WHERE lower(s.name) IN (e.results_view, e.times_view))",
        )?;
        let views: Vec<(String, String)> = into
            .prepare("SELECT results_view, times_view FROM main.experiments")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (results, times) in views {
            make_in(into, "main", &results)?;
            make_in(into, "main", &times)?;
        }
        into.execute_batch("COMMIT; DETACH source")
    }
}

/// Creates the matching objects of the source's schema.
fn make(into: &Connection, which: &str) -> rusqlite::Result<()> {
    let statements: Vec<String> = into
        .prepare(&format!(
            "SELECT sql FROM source.sqlite_schema AS s WHERE {which} ORDER BY s.rowid"
        ))?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    // Unqualified names refer to the copy.
    statements.iter().try_for_each(|statement| into.execute_batch(statement))
}

fn copy(into: &Connection, table: &str, rows: Rows) -> rusqlite::Result<()> {
    let condition = match rows {
        Rows::None => return Ok(()),
        Rows::All => "true",
        Rows::OfExperiments => "experiment_id IN (SELECT experiment_id FROM temp.exported)",
        Rows::OfCells => "cell_id IN (SELECT cell_id FROM main.cells)",
        Rows::OfGames => "game_id IN (SELECT game_id FROM main.games)",
        Rows::Where(condition) => condition,
    };
    let exists =
        "SELECT EXISTS (SELECT 1 FROM source.sqlite_schema WHERE type = 'table' AND name = ?)";
    // Older schemas have fewer tables.
    if !into.query_row(exists, [table], |row| row.get::<_, bool>(0))? {
        return Ok(());
    }
    let table = quoted(table, '"');
    into.execute_batch(&format!(
        "INSERT INTO main.{table} SELECT * FROM source.{table} WHERE {condition}"
    ))
}

/// A file received in pieces, such as an export from a coordinator. It gets its final name once it is complete and
/// checked.
pub struct Received {
    unfinished: Unfinished,
}

/// Begins a file that is received in pieces.
///
/// # Errors
/// If the name is taken, or the file cannot be written.
pub fn export_from_pieces(to: &Path) -> Result<Received, BackupError> {
    refuse_existing(to)?;
    Ok(Received { unfinished: Unfinished::create(to)? })
}

impl Received {
    /// Writes the next piece.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, to: &Path, piece: &[u8]) -> Result<(), BackupError> {
        let to = || PathBuf::from(to);
        let mut file = self.unfinished.file();
        file.write_all(piece).map_err(|source| BackupError::Write { to: to(), source })
    }

    /// Checks the received file and gives it its final name.
    ///
    /// # Errors
    /// If the file is not a whole results database, or cannot be renamed.
    pub fn finish(
        self,
        mut look: impl FnMut() -> ControlFlow<()> + Send + 'static,
    ) -> Result<BackedUp, BackupError> {
        let games = self.unfinished.check(move |_| look())?;
        let bytes = self.unfinished.publish(None)?;
        Ok(BackedUp { bytes, games })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::open::writer::Writer;

    /// A migration that creates a table must state here whether its rows are exported.
    #[tokio::test]
    async fn every_table_is_copied_or_left_on_purpose() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.db");
        Writer::open(&path).await.unwrap().close().await.unwrap();
        let connection = Connection::open(&path).unwrap();
        let tables: BTreeSet<String> = connection
            .prepare(
                "SELECT name FROM sqlite_schema
                WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
            )
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let listed: BTreeSet<String> =
            TABLES.iter().map(|(table, _)| (*table).to_owned()).collect();
        assert_eq!(tables, listed);
    }
}
