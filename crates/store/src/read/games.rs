//! Settled games: lists and full records.

use spelrum_answers::{
    FoundGame, GameCursor, GameResult, GameSummary, GamesFilter, GamesOf, GamesOrder, GamesPage,
    GamesQuestion, MissingGame, Played, SettledGame, WhichGame, WholeGame, WholeGames,
};
use spelrum_engine::{
    EndedBy, MoveRecord, Outcome, SearchDetails, SearchReport, Side, termination_named,
};
use spelrum_model::GameEnd;
use spelrum_model::{CellId, DefinitionHash, ExperimentId, GameId, WorkerId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::engines::{engines_of, forfeit_of};
use crate::read::readers::Readers;
use crate::schema::encoding::remarks;
use crate::schema::numbers::{count, integer};

/// A game's row, with its players' names in the sweep.
struct GameRow {
    game_id: i64,
    cell_id: i64,
    number: u64,
    first_name: String,
    second_name: String,
    opening: Option<String>,
    first_side: Option<String>,
    outcome: Option<String>,
    margin: Option<i32>,
    termination: Option<String>,
    plies: Option<u32>,
    moves_hash: Option<u64>,
    engine_revision: Option<u32>,
    wall_us: Option<u64>,
    worker_id: Option<i64>,
    not_counted_reason: Option<String>,
    failure: Option<String>,
    started_unix_us: Option<i64>,
    time_factor: Option<f64>,
    worker_name: Option<String>,
}

/// A query for rows of games, whose other parts select them: `g` are games, `c` their cells.
macro_rules! games {
    ($from:tt, [$($where:tt)+], $($argument:expr),*) => {
        sqlx::query_as!(
            GameRow,
            r#"SELECT g.game_id AS "game_id!", g.cell_id, g.number AS "number: u64",
                CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name
                    ELSE c.second_player_name END AS "first_name!: String",
                CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name
                    ELSE c.first_player_name END AS "second_name!: String",
                o.position AS "opening?", g.first_side, g.outcome, g.margin, g.termination, g.plies,
                g.moves_hash, g.engine_revision, g.wall_us, g.worker_id, g.not_counted_reason,
                g.failure, g.started_unix_us, g.time_factor,
                (SELECT w.name FROM workers AS w WHERE w.worker_id = g.worker_id) AS worker_name
            FROM "# + $from + "
            LEFT JOIN openings AS o ON o.opening_id = g.opening_id
            WHERE " + $($where)+,
            $($argument),*
        )
    };
}

/// All rows of such a query that pass a filter (`?3`), in an order, up to a number (`?4`).
macro_rules! listed {
    ($connection:expr, $from:tt, $where:tt, $order:tt, $($argument:expr),*) => {
        games!(
            $from,
            [$where + " AND (?3 = 0 OR ?3 = 1 AND g.counted = 0
                OR ?3 = 2 AND g.failure IS NOT NULL OR ?3 = 3 AND g.counted = 1)
            ORDER BY " + $order + " LIMIT ?4"],
            $($argument),*
        )
        .fetch_all($connection)
        .await?
    };
}

impl GameRow {
    fn read(self) -> Result<GameSummary, StoreError> {
        let result = match self.failure {
            Some(failure) => GameResult::Failed(failure),
            None => GameResult::Played(Played {
                opening: there("opening", self.opening)?,
                end: GameEnd {
                    first_side: word("first_side", self.first_side, Side::named)?,
                    outcome: word("outcome", self.outcome, Outcome::named)?,
                    margin: self.margin,
                    termination: word("termination", self.termination, termination_named)?,
                    plies: there("plies", self.plies)?,
                    moves_hash: there("moves_hash", self.moves_hash)?,
                },
                engine_revision: there("engine_revision", self.engine_revision)?,
            }),
        };
        Ok(GameSummary {
            game_id: self.game_id,
            game: GameId { cell: CellId(self.cell_id), number: self.number },
            players: [self.first_name, self.second_name],
            result,
            not_counted_reason: self.not_counted_reason,
            wall_us: self.wall_us,
            worker: self.worker_id.map(WorkerId),
        })
    }
}

impl Readers {
    /// Returns a page of a list of settled games: from the start, or after this game.
    ///
    /// # Errors
    /// If the database fails, takes too long, or holds data unknown to this version.
    pub async fn games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> Result<GamesPage, StoreError> {
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            // One extra row shows whether there are more.
            let limit = i64::from(games_max) + 1;
            let rows = list(&mut snapshot, question, after, limit).await?;
            let games = rows.into_iter().map(GameRow::read).collect::<Result<_, _>>()?;
            Ok(GamesPage::new(
                games,
                usize::try_from(games_max).unwrap_or(usize::MAX),
                question.order,
            ))
        };
        self.in_time(reading).await
    }

    /// Games planned for a cell, up to where its stop rule ended it; `None` if the cell is missing.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn games_planned(&self, cell: CellId) -> Result<Option<u64>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        games_planned(&mut snapshot, cell).await
    }

    /// Returns a settled game with all its data, or why it is missing.
    ///
    /// # Errors
    /// If the database fails, or holds data unknown to this version.
    pub async fn game(&self, which: WhichGame) -> Result<FoundGame, StoreError> {
        self.in_time(self.whole_game(which)).await
    }

    async fn whole_game(&self, which: WhichGame) -> Result<FoundGame, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let Some(row) = game(&mut snapshot, which).await? else {
            return Ok(FoundGame::Missing(match which {
                WhichGame::Id(game_id) => MissingGame::Id(game_id),
                WhichGame::InCell(game) => {
                    MissingGame::new(game, games_planned(&mut snapshot, game.cell).await?)
                }
            }));
        };
        let summary = row.read()?;
        let cell = CellFacts::read(&mut snapshot, summary.game.cell).await?;
        Ok(FoundGame::Settled(Box::new(cell.read_game(&mut snapshot, summary).await?)))
    }

    /// Returns a page of a list of settled games with their moves: from the start, or after this game. A page with many
    /// moves ends before `games_max`.
    ///
    /// # Errors
    /// If the database fails, takes too long, or holds data unknown to this version.
    pub async fn whole_games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> Result<WholeGames, StoreError> {
        self.in_time(self.read_whole_games(question, after, games_max)).await
    }

    async fn read_whole_games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> Result<WholeGames, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let mut rows = list(&mut snapshot, question, after, i64::from(games_max) + 1).await?;
        let beside =
            |row: &mut GameRow| (row.worker_name.take(), row.started_unix_us, row.time_factor);
        let beside: Vec<_> = rows.iter_mut().map(beside).collect();
        let games = rows.into_iter().map(GameRow::read).collect::<Result<_, _>>()?;
        let page =
            GamesPage::new(games, usize::try_from(games_max).unwrap_or(usize::MAX), question.order);
        let listed = page.games.len();
        let (mut games, mut bytes) = (Vec::with_capacity(listed), 0);
        let mut last: Option<(CellId, CellFacts)> = None;
        for (summary, (worker_name, started_unix_us, time_factor)) in
            page.games.into_iter().zip(beside)
        {
            let cell = summary.game.cell;
            let facts = match last.take() {
                Some((known, facts)) if known == cell => facts,
                _ => {
                    let facts = CellFacts::read(&mut snapshot, cell).await?;
                    bytes += facts.definition_json.len();
                    facts
                }
            };
            let game = facts.read_game(&mut snapshot, summary).await?;
            last = Some((cell, facts));
            bytes += GAME_WIRE_BYTES + game.moves.iter().flatten().map(move_bytes).sum::<usize>();
            bytes += game
                .forfeit
                .as_ref()
                .map_or(0, |forfeit| forfeit.message.len() + forfeit.output.len());
            games.push(WholeGame { game, worker_name, started_unix_us, time_factor });
            if bytes >= WHOLE_GAMES_BYTES {
                break;
            }
        }
        let next = if games.len() < listed { games.last().map(cursor_after) } else { page.next };
        Ok(WholeGames { games, next })
    }
}

/// Full games are read until they reach this many bytes: well below a message's limit, most of which the last game may
/// take.
const WHOLE_GAMES_BYTES: usize = 1 << 20;
/// Approximate size of a game without its moves, and of a move without its text.
const GAME_WIRE_BYTES: usize = 512;
const MOVE_WIRE_BYTES: usize = 96;

fn move_bytes(mv: &MoveRecord) -> usize {
    let remarks = mv.remarks.as_deref().map_or(0, |remarks| {
        let moves = remarks.distribution.keys().map(|mv| mv.len() + 16);
        remarks.note.len() + moves.sum::<usize>()
    });
    MOVE_WIRE_BYTES + mv.mv.len() + remarks
}

fn cursor_after(last: &WholeGame) -> GameCursor {
    let summary = &last.game.summary;
    GameCursor { game_id: summary.game_id, game: summary.game }
}

/// Facts shared by all games of a cell.
struct CellFacts {
    experiment: String,
    experiment_uuid: String,
    definition_hash: DefinitionHash,
    definition_json: String,
    /// Whether a player is an external engine.
    has_engines: bool,
}

impl CellFacts {
    async fn read(connection: &mut SqliteConnection, cell: CellId) -> Result<Self, StoreError> {
        let row = sqlx::query!(
            r#"SELECT e.name, e.uuid, d.definition_hash,
                d.definition_json AS "definition_json!: String", EXISTS (
                    SELECT 1 FROM players AS p
                    WHERE p.player_id IN (c.first_player_id, c.second_player_id)
                        AND p.parameters_json ->> '$.engine' IS NOT NULL) AS "has_engines!: bool"
            FROM cells AS c
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            JOIN cell_definitions AS d ON d.cell_id = c.cell_id
            WHERE c.cell_id = ?"#,
            cell.0
        )
        .fetch_one(connection)
        .await?;
        let definition_hash = row
            .definition_hash
            .parse()
            .map_err(|_| unknown("definition_hash", row.definition_hash.clone()))?;
        Ok(Self {
            experiment: row.name,
            experiment_uuid: row.uuid,
            definition_hash,
            definition_json: row.definition_json,
            has_engines: row.has_engines,
        })
    }

    /// A game of the cell, with its moves.
    async fn read_game(
        &self,
        connection: &mut SqliteConnection,
        summary: GameSummary,
    ) -> Result<SettledGame, StoreError> {
        let moves = moves(connection, summary.game_id).await?;
        let (engines, forfeit) = if self.has_engines {
            let engines = engines_of(connection, summary.game_id).await?;
            (engines, forfeit_of(connection, summary.game_id).await?)
        } else {
            ([None, None], None)
        };
        let has_no_move = match &summary.result {
            GameResult::Played(played) => played.end.plies == 0,
            GameResult::Failed(_) => false,
        };
        Ok(SettledGame {
            moves: (has_no_move || !moves.is_empty()).then_some(moves),
            summary,
            experiment: self.experiment.clone(),
            experiment_uuid: self.experiment_uuid.clone(),
            definition_hash: self.definition_hash,
            definition_json: self.definition_json.clone(),
            engines,
            forfeit,
        })
    }
}

/// The rows of a list. The newest games of an experiment are searched in the list of all games, which reads past newer
/// games of other experiments.
async fn list(
    connection: &mut SqliteConnection,
    GamesQuestion { scope: of, filter, order }: GamesQuestion,
    after: Option<GameCursor>,
    limit: i64,
) -> Result<Vec<GameRow>, StoreError> {
    let filter = match filter {
        GamesFilter::All => 0,
        GamesFilter::Uncounted => 1,
        GamesFilter::Failed => 2,
        GamesFilter::Counted => 3,
    };
    match (order, of) {
        (GamesOrder::Newest, GamesOf::Experiment(experiment)) => {
            let before = after.map_or(i64::MAX, |after| after.game_id);
            Ok(listed!(
                connection,
                "games AS g NOT INDEXED JOIN cells AS c ON c.cell_id = g.cell_id",
                "c.experiment_id = ?1 AND c.in_sweep = 1 AND g.game_id < ?2",
                "g.game_id DESC",
                experiment.0,
                before,
                filter,
                limit
            ))
        }
        // Reads past other experiments' games in order of arrival, so a caller that polls reads only new games.
        (GamesOrder::Settled, GamesOf::Experiment(experiment)) => {
            let after = after.map_or(0, |after| after.game_id);
            Ok(listed!(
                connection,
                "games AS g NOT INDEXED CROSS JOIN cells AS c ON c.cell_id = g.cell_id",
                "c.experiment_id = ?1 AND c.in_sweep = 1 AND g.game_id > ?2",
                "g.game_id",
                experiment.0,
                after,
                filter,
                limit
            ))
        }
        (GamesOrder::Newest | GamesOrder::Settled, GamesOf::Cell(cell)) => {
            // Newest first is the order of negative ids. The product keeps SQLite from scanning the games of all cells.
            let sign: i64 = if order == GamesOrder::Newest { -1 } else { 1 };
            let after = after.map_or(i64::MIN, |after| sign.saturating_mul(after.game_id));
            Ok(listed!(
                connection,
                "games AS g JOIN cells AS c ON c.cell_id = g.cell_id",
                "g.cell_id = ?1 AND g.game_id * ?5 > ?2",
                "g.game_id * ?5",
                cell.0,
                after,
                filter,
                limit,
                sign
            ))
        }
        (GamesOrder::Number, GamesOf::Cell(cell)) => {
            let after = after.map_or(-1, |after| integer(after.game.number));
            in_order_of_cell(connection, cell, after, filter, limit).await
        }
        (GamesOrder::Number, GamesOf::Experiment(experiment)) => {
            let Some(after) = after else {
                return in_order(connection, experiment, CellId(0), filter, limit).await;
            };
            // The rest of its cell, then the following cells.
            let GameId { cell, number } = after.game;
            let mut found =
                in_order_of_cell(connection, cell, integer(number), filter, limit).await?;
            let left = limit - count(found.len());
            found.extend(in_order(connection, experiment, cell, filter, left).await?);
            Ok(found)
        }
    }
}

/// Games of a cell with greater numbers than this.
async fn in_order_of_cell(
    connection: &mut SqliteConnection,
    cell: CellId,
    after: i64,
    filter: i64,
    limit: i64,
) -> Result<Vec<GameRow>, StoreError> {
    Ok(listed!(
        connection,
        "games AS g JOIN cells AS c ON c.cell_id = g.cell_id",
        "g.cell_id = ?1 AND g.number > ?2",
        "g.number",
        cell.0,
        after,
        filter,
        limit
    ))
}

/// Games of an experiment's cells after this cell in grid order, or of all cells if there is no such cell.
async fn in_order(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    after: CellId,
    filter: i64,
    limit: i64,
) -> Result<Vec<GameRow>, StoreError> {
    Ok(listed!(
        connection,
        "cells AS c CROSS JOIN games AS g ON g.cell_id = c.cell_id",
        "c.experiment_id = ?1 AND c.in_sweep = 1 AND (c.number, c.cell_id) > (
            coalesce((SELECT a.number FROM cells AS a WHERE a.cell_id = ?2), -1), ?2)",
        "c.number, c.cell_id, g.number",
        experiment.0,
        after.0,
        filter,
        limit
    ))
}

async fn game(
    connection: &mut SqliteConnection,
    which: WhichGame,
) -> Result<Option<GameRow>, StoreError> {
    let (id, cell, number) = match which {
        WhichGame::Id(id) => (Some(id), None, None),
        WhichGame::InCell(game) => (None, Some(game.cell.0), Some(integer(game.number))),
    };
    Ok(games!(
        "games AS g JOIN cells AS c ON c.cell_id = g.cell_id",
        ["g.game_id = coalesce(?1, (
            SELECT x.game_id FROM games AS x WHERE x.cell_id = ?2 AND x.number = ?3))"],
        id,
        cell,
        number
    )
    .fetch_optional(connection)
    .await?)
}

async fn games_planned(
    connection: &mut SqliteConnection,
    cell: CellId,
) -> Result<Option<u64>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT coalesce(stop_number, games_planned) AS "games_planned!: u64" FROM cells
        WHERE cell_id = ?"#,
        cell.0
    )
    .fetch_optional(connection)
    .await?)
}

/// A game's recorded moves, by ply.
async fn moves(
    connection: &mut SqliteConnection,
    game_id: i64,
) -> Result<Vec<MoveRecord>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT m.side, m.move, m.position_key, m.legal_moves, m.depth, m.nodes, m.evaluations,
            m.full_tree_leaves, m.score, m.wall_us, m.cpu_us, m.ended_by, m.told_us, m.involuntary_switches,
            n.note, n.distribution_json, n.refused AS "refused?: u32", n.seldepth AS "seldepth: u32",
            n.hashfull AS "hashfull: u32", n.tbhits AS "tbhits: u64", n.pv
        FROM moves AS m LEFT JOIN move_notes AS n ON n.game_id = m.game_id AND n.ply = m.ply
        WHERE m.game_id = ? ORDER BY m.ply"#,
        game_id
    )
    .fetch_all(connection)
    .await?;
    let read = found.into_iter().map(|row| {
        Ok(MoveRecord {
            mover: row.side,
            mv: row.r#move,
            position_key: row.position_key,
            legal_moves: row.legal_moves,
            search: SearchReport {
                depth: row.depth,
                nodes: row.nodes,
                evaluations: row.evaluations,
                full_tree_leaves: row.full_tree_leaves,
                score: row.score,
                told_us: row.told_us,
                ended_by: EndedBy::named(&row.ended_by)
                    .ok_or_else(|| unknown("ended_by", row.ended_by))?,
            },
            wall_us: row.wall_us,
            cpu_us: row.cpu_us,
            involuntary_switches: row.involuntary_switches,
            remarks: remarks(
                row.note,
                row.distribution_json,
                row.refused,
                SearchDetails {
                    seldepth: row.seldepth,
                    hashfull: row.hashfull,
                    tbhits: row.tbhits,
                    pv: row.pv.unwrap_or_default(),
                },
            )
            .map_err(|error| unknown("distribution_json", error.to_string()))?,
        })
    });
    read.collect()
}

/// Parses a word stored in a column.
fn word<T>(
    column: &'static str,
    name: Option<String>,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, StoreError> {
    let name = there(column, name)?;
    read(&name).ok_or_else(|| unknown(column, name))
}

/// Unwraps a value that every played game has.
fn there<T>(column: &'static str, value: Option<T>) -> Result<T, StoreError> {
    value.ok_or_else(|| unknown(column, "NULL".to_owned()))
}

fn unknown(column: &'static str, value: String) -> StoreError {
    StoreError::UnknownValue { column, value }
}
