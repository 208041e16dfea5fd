//! The imported file. The file is untrusted: it is opened read-only, nothing of its schema is trusted or run, its
//! tables must be exactly ours, and callers check their contents.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row};
use spelrum_engine::{EndedBy, MoveRecord, MoveValue, SearchDetails, SearchReport};
use spelrum_model::{PlayableCell, Task};
use sqlx::migrate::Migrator;

use super::claims;
use super::engines;
use super::error::ImportError;
use crate::error::{StoreError, code, primary_code};
use crate::open::at_rest::AtRest;
use crate::open::connection::BUSY_TIMEOUT;
use crate::open::database::require_ours;
use crate::query::queries::{immutable_uri, uri};
use crate::schema::encoding::remarks;
use crate::schema::file_fields::{
    NAME_BYTES_MAX, TEXT_BYTES_MAX, VALUE_BYTES_MAX, number, optional, shown, text,
};
use crate::schema::numbers::scaled;
use crate::schema::settings;
use crate::write::stop_rules::RuleRow;

pub(super) use super::source_rows::{
    DepthRow, SideRow, SourceCell, SourceExperiment, SourceGame, SourcePlayed, SourceResult,
    SourceSearches, SourceVersion,
};

/// Games that are read at once.
const GAMES_AT_ONCE: i64 = 200;

/// A file whose experiments are imported.
pub(super) struct Source {
    path: PathBuf,
    connection: Connection,
    /// Set if no program had the file open.
    rest: Option<AtRest>,
}

/// An object of the schema: its type, name and text.
pub(super) type SchemaRow = (String, String, Option<String>);

/// Where the moves of games are stored.
struct StoredMoves {
    tables: &'static str,
    /// The column of the game's id.
    key: &'static str,
    /// The columns of the time that a player reported, and of its remarks.
    remarks: &'static str,
}

const SETTLED: StoredMoves = StoredMoves {
    tables: "moves LEFT JOIN move_notes USING (game_id, ply)",
    key: "game_id",
    remarks: "told_us, note, distribution_json, refused, seldepth, hashfull, tbhits, pv",
};
const UNCOUNTED: StoredMoves = StoredMoves {
    tables: "uncounted_moves",
    key: "uncounted_game_id",
    remarks: "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
};

/// Tables and indexes: the part of a schema that decides what is read.
pub(super) const SCHEMA: &str = "SELECT type, name, sql FROM sqlite_schema
    WHERE type IN ('table', 'index') ORDER BY type, name";

impl Source {
    /// Opens the file, and refuses anything but a whole database with exactly our tables.
    pub(super) async fn open(
        path: &Path,
        migrations: &Migrator,
        schema: &BTreeSet<SchemaRow>,
    ) -> Result<Self, ImportError> {
        let path = path.canonicalize().map_err(|source| {
            let path = path.to_owned();
            if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                StoreError::MissingDatabase { path }
            } else {
                StoreError::File { path, source }
            }
        })?;
        let rest = AtRest::find(&path);
        if let Err(error) = require_ours(&path).await {
            let is_damaged = matches!(&error, StoreError::Sql(error)
                if primary_code(error) == Some(code::CORRUPT));
            let what = "it is damaged".to_owned();
            return Err(if is_damaged {
                ImportError::Damaged { path, what }
            } else {
                error.into()
            });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let uri = match rest {
            Some(_) => immutable_uri(&path),
            None => uri(&path, "mode=ro"),
        };
        let source = Connection::open_with_flags(uri, flags)
            .map(|connection| Self { path: path.clone(), connection, rest })
            .map_err(StoreError::from)?;
        source.bound().map_err(|error| source.damaged(&error))?;
        source.check_schema(migrations, schema)?;
        source.check_pages()?;
        Ok(source)
    }

    /// This store's database, for reading its games like those of a file.
    pub(super) fn own(path: &Path, connection: Connection) -> Self {
        Self { path: path.to_owned(), connection, rest: None }
    }

    /// The definition of a cell.
    pub(super) fn definition(&self, cell: i64) -> rusqlite::Result<Option<String>> {
        let sql = "SELECT definition_json FROM cell_definitions WHERE cell_id = ?";
        self.connection.query_row(sql, [cell], |row| row.get(0))
    }

    fn bound(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.execute_batch("PRAGMA query_only = ON; PRAGMA cell_size_check = ON; BEGIN")
    }

    /// Compares the schema with ours: if a table is a view or has other columns, or an index covers something else,
    /// reads would not return what was written.
    fn check_schema(
        &self,
        migrations: &Migrator,
        ours: &BTreeSet<SchemaRow>,
    ) -> Result<(), ImportError> {
        let number = "SELECT coalesce(max(version), 0), (
                SELECT checksum FROM _sqlx_migrations ORDER BY version LIMIT 1)
            FROM _sqlx_migrations";
        let (found, first): (i64, Option<Vec<u8>>) = self
            .connection
            .query_row(number, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(|error| self.damaged(&error))?;
        let path = || self.path.clone();
        if let (Some(theirs), Some(ours)) = (first, migrations.iter().next())
            && theirs != *ours.checksum
        {
            return Err(StoreError::OtherSchema { path: path(), number: ours.version }.into());
        }
        let known = migrations.iter().map(|migration| migration.version).max().unwrap_or(0);
        if found > known {
            return Err(StoreError::NewerSchema { path: path(), found, known }.into());
        }
        if found < known {
            return Err(ImportError::OlderSchema { path: path(), found, known });
        }
        let theirs: BTreeSet<SchemaRow> = self
            .all(SCHEMA, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .into_iter()
            .collect();
        // SQLite's internal tables are missing from a fresh database.
        let differs = |row: &&SchemaRow| !row.1.starts_with("sqlite_");
        match theirs.symmetric_difference(ours).find(differs) {
            None => Ok(()),
            Some((kind, name, _)) => {
                Err(self.wrong(format!("its {kind} {} is not ours", shown(name))))
            }
        }
    }

    fn check_pages(&self) -> Result<(), ImportError> {
        let result: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(|error| self.damaged(&error))?;
        if result == "ok" { Ok(()) } else { Err(self.wrong(format!("it is damaged: {result}"))) }
    }

    /// The experiments of the file, except for those being removed.
    pub(super) fn experiments(&self) -> Result<Vec<SourceExperiment>, ImportError> {
        let mut experiments = self.all(
            "SELECT * FROM experiments AS e
            WHERE NOT EXISTS (SELECT 1 FROM removals AS r WHERE r.experiment_id = e.experiment_id)
            ORDER BY experiment_id",
            [],
            |row| {
                Ok(SourceExperiment {
                    id: row.get("experiment_id")?,
                    uuid: text(row, "uuid", NAME_BYTES_MAX)?,
                    name: text(row, "name", NAME_BYTES_MAX)?,
                    game: text(row, "game", NAME_BYTES_MAX)?,
                    seed: number(row, "seed")?,
                    state: row.get("state")?,
                    settings: settings::read_imported(row)?,
                    sweep_toml: text(row, "sweep_toml", TEXT_BYTES_MAX)?,
                    engine_revision: row.get("engine_revision")?,
                    submitted_unix_us: row.get("submitted_unix_us")?,
                    finished_unix_us: row.get("finished_unix_us")?,
                    course: row.get("course")?,
                    pruned_unix_us: row.get("pruned_unix_us")?,
                    engine_cpu_known: row.get("engine_cpu_known")?,
                    axes: Vec::new(),
                    anchors: Vec::new(),
                    files: BTreeMap::new(),
                    versions: Vec::new(),
                    cells: Vec::new(),
                    claims: Vec::new(),
                    notes: Vec::new(),
                })
            },
        )?;
        for experiment in &mut experiments {
            self.read_settings(experiment)?;
            experiment.cells = self.cells(experiment.id)?;
            experiment.notes = self.notes(experiment)?;
            experiment.claims = claims::read(&self.connection, experiment.id)
                .map_err(|error| self.damaged(&error))?;
        }
        Ok(experiments)
    }

    fn read_settings(&self, experiment: &mut SourceExperiment) -> Result<(), ImportError> {
        let name = |row: &Row<'_>| text(row, 0, NAME_BYTES_MAX);
        experiment.axes = self.all(
            "SELECT axis FROM experiment_axes WHERE experiment_id = ? ORDER BY number",
            [experiment.id],
            name,
        )?;
        experiment.anchors = self.all(
            "SELECT player FROM experiment_anchors WHERE experiment_id = ? ORDER BY number",
            [experiment.id],
            name,
        )?;
        let files = self.all(
            "SELECT name, text FROM experiment_files WHERE experiment_id = ?",
            [experiment.id],
            |row| Ok((text(row, 0, NAME_BYTES_MAX)?, text(row, 1, TEXT_BYTES_MAX)?)),
        )?;
        experiment.files = files.into_iter().collect();
        experiment.versions = self.all(
            "SELECT uuid, sweep_toml, submitted_unix_us, cells_kept, cells_continued, cells_added,
                cells_returned, cells_dropped, games_kept, games_to_play
            FROM sweep_versions WHERE experiment_id = ? ORDER BY version",
            [experiment.id],
            |row| {
                let mut counts = [0; 7];
                for (column, count) in (3..).zip(&mut counts) {
                    *count = row.get(column)?;
                }
                Ok(SourceVersion {
                    uuid: text(row, 0, NAME_BYTES_MAX)?,
                    sweep_toml: text(row, 1, TEXT_BYTES_MAX)?,
                    submitted_unix_us: row.get(2)?,
                    counts,
                })
            },
        )?;
        Ok(())
    }

    fn cells(&self, experiment: i64) -> Result<Vec<SourceCell>, ImportError> {
        let mut cells = self.all(
            "SELECT c.cell_id, c.number, c.definition_hash, k.definition_prefix, f.parameters_json,
                s.parameters_json, c.first_player_name, c.second_player_name, c.games_planned, c.timed,
                c.in_sweep, c.asked_after, k.openings_count, r.precision, r.elo0, r.elo1, r.alpha, r.beta,
                r.model, r.stop_rule_id, coalesce(r.over_pairs, 0), c.repeats, c.superseded,
                c.games_planned_first
            FROM cells AS c
            JOIN conditions AS k ON k.conditions_id = c.conditions_id
            JOIN players AS f ON f.player_id = c.first_player_id
            JOIN players AS s ON s.player_id = c.second_player_id
            LEFT JOIN stop_rules AS r ON r.stop_rule_id = c.stop_rule_id
            -- Trainings have no place in the grid.
            WHERE c.experiment_id = ? AND c.number >= 0 ORDER BY c.number, c.cell_id",
            [experiment],
            |row| {
                let rule = RuleRow {
                    precision: row.get(13)?,
                    over_pairs: row.get(20)?,
                    elo0: row.get(14)?,
                    elo1: row.get(15)?,
                    alpha: row.get(16)?,
                    beta: row.get(17)?,
                    model: row.get(18)?,
                };
                let rule = match row.get::<_, Option<i64>>(19)? {
                    Some(_) => Some(rule.read().ok_or(rusqlite::Error::InvalidQuery)?),
                    None => None,
                };
                Ok(SourceCell {
                    id: row.get(0)?,
                    number: row.get(1)?,
                    definition_hash: row.get(2)?,
                    definition_prefix: row.get(3)?,
                    parameters: [row.get(4)?, row.get(5)?],
                    names: [text(row, 6, NAME_BYTES_MAX)?, text(row, 7, NAME_BYTES_MAX)?],
                    games: number(row, 8)?,
                    games_first: optional(row, 23)?,
                    timed: row.get(9)?,
                    repeats: row.get(21)?,
                    in_sweep: row.get(10)?,
                    superseded: row.get(22)?,
                    asked_after: row.get(11)?,
                    rule,
                    openings_count: optional(row, 12)?,
                    places: Vec::new(),
                })
            },
        )?;
        let mut places: BTreeMap<i64, Vec<(String, Option<f64>, String)>> = BTreeMap::new();
        let found = self.all(
            "SELECT a.cell_id, a.axis, a.value_number, a.value_text
            FROM cells AS c JOIN cell_axes AS a ON a.cell_id = c.cell_id WHERE c.experiment_id = ?",
            [experiment],
            |row| {
                let (axis, value) = (text(row, 1, NAME_BYTES_MAX)?, text(row, 3, NAME_BYTES_MAX)?);
                Ok((row.get(0)?, (axis, row.get(2)?, value)))
            },
        )?;
        for (cell, place) in found {
            places.entry(cell).or_default().push(place);
        }
        for cell in &mut cells {
            cell.places = places.remove(&cell.id).unwrap_or_default();
        }
        Ok(cells)
    }

    /// Settled games of a cell, from this number on: one batch.
    pub(super) fn games(
        &self,
        cell: i64,
        from: i64,
        playable: &PlayableCell,
    ) -> Result<Vec<SourceGame>, ImportError> {
        self.some_games(cell, from, None, playable)
    }

    /// As `games`, up to this many.
    pub(super) fn some_games(
        &self,
        cell: i64,
        from: i64,
        games_max: Option<i64>,
        playable: &PlayableCell,
    ) -> Result<Vec<SourceGame>, ImportError> {
        let found = self.all(
            "SELECT g.game_id, g.number, g.failure, o.position, g.first_side, g.outcome, g.termination,
                g.plies, g.moves_hash, g.worker_id, g.engine_revision, g.started_unix_us, g.wall_us, g.margin,
                g.robbed_share, g.time_factor, g.speed
            FROM games AS g LEFT JOIN openings AS o ON o.opening_id = g.opening_id
            WHERE g.cell_id = ?1 AND g.number >= ?2 ORDER BY g.number LIMIT ?3",
            [cell, from, games_max.unwrap_or(GAMES_AT_ONCE)],
            |row| {
                let what = match row.get::<_, Option<String>>(2)? {
                    Some(_) => SourceResult::Failed(text(row, 2, NAME_BYTES_MAX * 2)?),
                    None => SourceResult::Played(SourcePlayed {
                        robbed_share: row.get(14)?,
                        scaled: scaled(row.get(15)?, row.get(16)?),
                        ..played(row, 3)?
                    }),
                };
                let (number, id) = (number(row, 1)?, row.get(0)?);
                Ok((id, SourceGame { number, what, reason: None, received_unix_us: 0 }))
            },
        )?;
        let mut games = Vec::with_capacity(found.len());
        for (id, mut game) in found {
            if let SourceResult::Played(played) = &mut game.what {
                if playable.definition().task == Task::Choice {
                    played.values = self.values(id)?;
                }
                if playable.has_engines() {
                    let damaged = |error: rusqlite::Error| self.damaged(&error);
                    played.engines =
                        engines::read_engines(&self.connection, id).map_err(damaged)?;
                    played.forfeit = engines::forfeit_of(&self.connection, id).map_err(damaged)?;
                }
            }
            games.push((id, game));
        }
        self.with_searches(games, &SETTLED)
    }

    /// The values of the moves in a choice's position.
    fn values(&self, game: i64) -> Result<Vec<MoveValue>, ImportError> {
        self.all(
            "SELECT v.move, v.value
            FROM games AS g
            JOIN cells AS c ON c.cell_id = g.cell_id
            JOIN valued_positions AS p ON p.conditions_id = c.conditions_id
                AND p.reference_player_id = c.second_player_id AND p.opening_id = g.opening_id
                AND p.engine_revision = g.engine_revision
            JOIN move_values AS v ON v.valued_position_id = p.valued_position_id
            WHERE g.game_id = ? ORDER BY v.number",
            [game],
            |row| Ok(MoveValue { mv: row.get(0)?, value: row.get(1)? }),
        )
    }

    /// Results of a cell kept beside the settled ones, from this id on: one batch, and its last id.
    pub(super) fn uncounted(
        &self,
        cell: i64,
        after: i64,
    ) -> Result<(Vec<SourceGame>, Option<i64>), ImportError> {
        let found = self.all(
            "SELECT g.uncounted_game_id, g.number, g.reason, o.position, g.first_side, g.outcome,
                g.termination, g.plies, g.moves_hash, g.worker_id, g.engine_revision, g.started_unix_us,
                g.wall_us, g.margin, g.received_unix_us, g.time_factor, g.speed
            FROM uncounted_games AS g JOIN openings AS o ON o.opening_id = g.opening_id
            WHERE g.cell_id = ?1 AND g.uncounted_game_id > ?2 ORDER BY g.uncounted_game_id LIMIT ?3",
            [cell, after, GAMES_AT_ONCE],
            |row| {
                let reason = Some(text(row, 2, NAME_BYTES_MAX)?);
                let scaled = scaled(row.get(15)?, row.get(16)?);
                let what = SourceResult::Played(SourcePlayed { scaled, ..played(row, 3)? });
                let (number, received_unix_us) = (number(row, 1)?, row.get(14)?);
                Ok((row.get(0)?, SourceGame { number, what, reason, received_unix_us }))
            },
        )?;
        let last = found.last().map(|(id, _)| *id);
        Ok((self.with_searches(found, &UNCOUNTED)?, last))
    }

    fn with_searches(
        &self,
        found: Vec<(i64, SourceGame)>,
        stored: &StoredMoves,
    ) -> Result<Vec<SourceGame>, ImportError> {
        let mut games = Vec::with_capacity(found.len());
        for (id, mut game) in found {
            if let SourceResult::Played(played) = &mut game.what {
                let moves = self.moves(id, stored)?;
                played.searches = if moves.is_empty() && played.plies > 0 {
                    self.sums(id)?
                } else {
                    SourceSearches::Moves(moves)
                };
            }
            games.push(game);
        }
        Ok(games)
    }

    fn moves(&self, game: i64, stored: &StoredMoves) -> Result<Vec<MoveRecord>, ImportError> {
        let StoredMoves { tables, key, remarks: of_player } = stored;
        self.all(
            &format!(
                "SELECT side, move, position_key, legal_moves, depth, nodes, evaluations,
                    full_tree_leaves, score, wall_us, cpu_us, ended_by,
                    involuntary_switches, {of_player}
                FROM {tables} WHERE {key} = ? ORDER BY ply"
            ),
            [game],
            |row| {
                Ok(MoveRecord {
                    mover: row.get(0)?,
                    mv: row.get(1)?,
                    position_key: number(row, 2)?,
                    legal_moves: row.get(3)?,
                    search: SearchReport {
                        depth: row.get(4)?,
                        nodes: number(row, 5)?,
                        evaluations: number(row, 6)?,
                        full_tree_leaves: number(row, 7)?,
                        score: row.get(8)?,
                        told_us: optional(row, 13)?,
                        ended_by: EndedBy::named(&row.get::<_, String>(11)?)
                            .ok_or(rusqlite::Error::InvalidQuery)?,
                    },
                    wall_us: number(row, 9)?,
                    cpu_us: number(row, 10)?,
                    involuntary_switches: optional(row, 12)?,
                    remarks: remarks(
                        row.get(14)?,
                        row.get(15)?,
                        row.get(16)?,
                        SearchDetails {
                            seldepth: row.get(17)?,
                            hashfull: row.get(18)?,
                            tbhits: optional(row, 19)?,
                            pv: row.get::<_, Option<String>>(20)?.unwrap_or_default(),
                        },
                    )
                    .map_err(|_| rusqlite::Error::InvalidQuery)?,
                })
            },
        )
    }

    fn sums(&self, game: i64) -> Result<SourceSearches, ImportError> {
        let sides = self.all(
            "SELECT side, moves, searched_moves, wall_us, cpu_us, nodes, evaluations, full_tree_leaves,
                wall_us_squared
            FROM game_sides WHERE game_id = ? ORDER BY side",
            [game],
            |row| {
                Ok(SideRow {
                    side: row.get(0)?,
                    moves: row.get(1)?,
                    searched_moves: row.get(2)?,
                    wall_us: row.get(3)?,
                    cpu_us: row.get(4)?,
                    nodes: row.get(5)?,
                    evaluations: row.get(6)?,
                    full_tree_leaves: row.get(7)?,
                    wall_us_squared: row.get(8)?,
                })
            },
        )?;
        let depths = self.all(
            "SELECT side, depth, searched_moves, wall_us, cpu_us, nodes, evaluations, full_tree_leaves,
                wall_us_squared, move_times_json
            FROM game_depths WHERE game_id = ? ORDER BY side, depth",
            [game],
            |row| {
                let times: String = row.get(9)?;
                Ok(DepthRow {
                    side: row.get(0)?,
                    depth: row.get(1)?,
                    searched_moves: row.get(2)?,
                    wall_us: row.get(3)?,
                    cpu_us: row.get(4)?,
                    nodes: row.get(5)?,
                    evaluations: row.get(6)?,
                    full_tree_leaves: row.get(7)?,
                    wall_us_squared: row.get(8)?,
                    times: serde_json::from_str(&times)
                        .map_err(|_| rusqlite::Error::InvalidQuery)?,
                })
            },
        )?;
        Ok(SourceSearches::Sums { sides, depths })
    }

    /// Lost and failed attempts of a cell's games: number, lost, lost alone, failed, last message.
    pub(super) fn attempts(&self, cell: i64) -> Result<Vec<Attempt>, ImportError> {
        self.all(
            "SELECT number, lost, lost_alone, failed, last_message FROM attempts WHERE cell_id = ?",
            [cell],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )
    }

    /// The outcome of a cell that was reported to its course.
    pub(super) fn course_outcome(&self, cell: i64) -> Result<Option<[i64; 11]>, ImportError> {
        let found = self.all(
            "SELECT games, games_failed, wins, draws, losses, pairs_0, pairs_half, pairs_1, pairs_1_half,
                pairs_2, margin_sum
            FROM told_cells WHERE cell_id = ?",
            [cell],
            |row| {
                let mut counts = [0; 11];
                for (column, count) in counts.iter_mut().enumerate() {
                    *count = row.get(column)?;
                }
                Ok(counts)
            },
        )?;
        Ok(found.into_iter().next())
    }

    /// The error for a file that Spelrum did not write.
    pub(super) fn wrong(&self, what: impl Into<String>) -> ImportError {
        ImportError::Damaged { path: self.path.clone(), what: what.into() }
    }

    /// The error for an experiment unknown to this release.
    pub(super) fn unknown(&self, name: &str, what: impl Into<String>) -> ImportError {
        ImportError::Unknown { path: self.path.clone(), name: name.to_owned(), what: what.into() }
    }

    fn damaged(&self, error: &rusqlite::Error) -> ImportError {
        let is_ill_formed =
            matches!(error, rusqlite::Error::InvalidQuery | rusqlite::Error::InvalidColumnType(..));
        self.wrong(if is_ill_formed {
            "it holds what spelrum does not write".to_owned()
        } else {
            error.to_string()
        })
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ImportError> {
        let read = || {
            self.connection
                .prepare(sql)?
                .query_map(parameters, read)?
                .collect::<Result<Vec<_>, _>>()
        };
        let read = read();
        if let Some(rest) = &self.rest {
            rest.check()?;
        }
        read.map_err(|error: rusqlite::Error| self.damaged(&error))
    }
}

/// A row of `attempts` without its cell.
pub(super) type Attempt = (i64, i64, i64, i64, Option<String>);

fn played(row: &Row<'_>, first: usize) -> rusqlite::Result<SourcePlayed> {
    Ok(SourcePlayed {
        opening: row.get(first)?,
        first_side: row.get(first + 1)?,
        outcome: row.get(first + 2)?,
        termination: row.get(first + 3)?,
        plies: number(row, first + 4)?,
        moves_hash: number(row, first + 5)?,
        worker: row.get(first + 6)?,
        engine_revision: row.get(first + 7)?,
        started_unix_us: row.get(first + 8)?,
        wall_us: number(row, first + 9)?,
        margin: row.get(first + 10)?,
        searches: SourceSearches::Moves(Vec::new()),
        values: Vec::new(),
        engines: [None, None],
        forfeit: None,
        robbed_share: None,
        scaled: None,
    })
}
