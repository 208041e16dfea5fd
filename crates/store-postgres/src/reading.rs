//! Connections that only read, for the rows of which all other answers are sums.

use spelrum_answers::{
    ExperimentSummary, ExperimentsPage, FoundGame, GameCursor, GameResult, GameSummary,
    GamesFilter, GamesOf, GamesOrder, GamesPage, GamesQuestion, MissingGame, Played, SettledGame,
    WhichGame,
};
use spelrum_engine::{
    EndedBy, MoveRecord, Outcome, SearchDetails, SearchReport, Side, termination_named,
};
use spelrum_model::engines::Forfeit;
use spelrum_model::{CellId, ExperimentId, GameEnd, GameId, Task, WorkerId};
use spelrum_store::StoreError;
use spelrum_store::decisions::{identity, integer, remarks, state_of};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgConnection, PgPool, Postgres};

use crate::numbers::{number, small};

/// Readers at once.
const CONNECTIONS_MAX: u32 = 4;

/// Connections that only read.
#[derive(Clone, Debug)]
pub struct PgReaders {
    pool: PgPool,
}

/// A connection, in use.
struct Connection(PoolConnection<Postgres>);

impl Connection {
    fn connection(&mut self) -> &mut PgConnection {
        &mut self.0
    }
}

/// A game's row, with its players' names in the sweep.
#[derive(sqlx::FromRow)]
struct GameRow {
    game_id: i64,
    cell_id: i64,
    number: i64,
    first_name: String,
    second_name: String,
    opening: Option<String>,
    first_side: Option<String>,
    outcome: Option<String>,
    margin: Option<i32>,
    termination: Option<String>,
    plies: Option<i64>,
    moves_hash: Option<i64>,
    engine_revision: Option<i64>,
    wall_us: Option<i64>,
    worker_id: Option<i64>,
    not_counted_reason: Option<String>,
    failure: Option<String>,
}

/// A query for rows of games, whose other parts select them: `g` are games, `c` their cells.
macro_rules! games {
    ($($rest:literal),+) => {
        concat!(
            "SELECT g.game_id, g.cell_id, g.number,
                CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name ELSE c.second_player_name END
                    AS first_name,
                CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name ELSE c.first_player_name END
                    AS second_name,
                o.position AS opening, g.first_side, g.outcome, g.margin, g.termination, g.plies, g.moves_hash,
                g.engine_revision, g.wall_us, g.worker_id, g.not_counted_reason, g.failure
            FROM games AS g
            JOIN cells AS c ON c.cell_id = g.cell_id
            LEFT JOIN openings AS o ON o.opening_id = g.opening_id
            WHERE ",
            $($rest),+
        )
    };
}

/// A page of such a list.
macro_rules! listed {
    ($after:literal, $order:literal) => {
        games!(
            "($1::bigint IS NULL OR c.experiment_id = $1 AND c.in_sweep = 1)
            AND ($2::bigint IS NULL OR g.cell_id = $2)
            AND ($3 = 0 OR $3 = 1 AND g.counted = 0 OR $3 = 2 AND g.failure IS NOT NULL
                OR $3 = 3 AND g.counted = 1) AND ",
            $after,
            " ORDER BY ",
            $order,
            " LIMIT $4"
        )
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
                    plies: small(there("plies", self.plies)?),
                    moves_hash: number(there("moves_hash", self.moves_hash)?),
                },
                engine_revision: small(there("engine_revision", self.engine_revision)?),
            }),
        };
        Ok(GameSummary {
            game_id: self.game_id,
            game: GameId { cell: CellId(self.cell_id), number: number(self.number) },
            players: [self.first_name, self.second_name],
            result,
            not_counted_reason: self.not_counted_reason,
            wall_us: self.wall_us.map(number),
            worker: self.worker_id.map(WorkerId),
        })
    }
}

/// A row of `moves` with its `move_notes`.
#[derive(sqlx::FromRow)]
struct MoveRow {
    side: i16,
    #[sqlx(rename = "move")]
    mv: String,
    position_key: i64,
    legal_moves: i64,
    depth: i64,
    nodes: i64,
    evaluations: i64,
    full_tree_leaves: i64,
    score: Option<i32>,
    wall_us: i64,
    cpu_us: i64,
    ended_by: String,
    told_us: Option<i64>,
    involuntary_switches: Option<i64>,
    note: Option<String>,
    distribution_json: Option<String>,
    refused: Option<i64>,
    seldepth: Option<i64>,
    hashfull: Option<i64>,
    tbhits: Option<i64>,
    pv: Option<String>,
}

impl MoveRow {
    fn read(self) -> Result<MoveRecord, StoreError> {
        let details = SearchDetails {
            seldepth: self.seldepth.map(small),
            hashfull: self.hashfull.map(small),
            tbhits: self.tbhits.map(number),
            pv: self.pv.unwrap_or_default(),
        };
        let refused = self.refused.map(small);
        Ok(MoveRecord {
            mover: u8::from(self.side != 0),
            mv: self.mv,
            position_key: number(self.position_key),
            legal_moves: small(self.legal_moves),
            search: SearchReport {
                depth: small(self.depth),
                nodes: number(self.nodes),
                evaluations: number(self.evaluations),
                full_tree_leaves: number(self.full_tree_leaves),
                score: self.score,
                told_us: self.told_us.map(number),
                ended_by: word("ended_by", Some(self.ended_by), EndedBy::named)?,
            },
            wall_us: number(self.wall_us),
            cpu_us: number(self.cpu_us),
            involuntary_switches: self.involuntary_switches.map(number),
            remarks: remarks(self.note, self.distribution_json, refused, details)
                .map_err(|error| unknown("distribution_json", error.to_string()))?,
        })
    }
}

impl PgReaders {
    /// Connects when something is read.
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS_MAX);
        Self { pool: pool.connect_lazy_with(options) }
    }

    /// Ends the connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    async fn acquire(&self) -> Result<Connection, StoreError> {
        Ok(Connection(self.pool.acquire().await?))
    }

    /// Returns a page of experiments, oldest first: from the start, or after this one.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn experiments(
        &self,
        after: Option<ExperimentId>,
        experiments_max: u32,
    ) -> Result<ExperimentsPage, StoreError> {
        let mut reading = self.acquire().await?;
        // One extra row shows whether there are more.
        let found = all!(
            reading,
            (i64, String, String, String, String, String, i32, i64, i64, i64, i64, i64),
            "SELECT e.experiment_id, e.uuid, e.name, e.game, e.kind, e.state, e.priority, e.submitted_unix_us,
                count(c.cell_id), coalesce(sum(coalesce(c.stop_number, c.games_planned)), 0)::bigint,
                coalesce(sum(s.settled), 0)::bigint, coalesce(sum(s.failed), 0)::bigint
            FROM experiments AS e
            LEFT JOIN cells AS c ON c.experiment_id = e.experiment_id AND c.in_sweep = 1
            LEFT JOIN LATERAL (
                SELECT count(*) AS settled, count(g.failure) AS failed FROM games AS g
                WHERE g.cell_id = c.cell_id AND (c.stop_number IS NULL OR g.number < c.stop_number)) AS s ON true
            WHERE e.experiment_id > $1 AND e.name <> ''
            GROUP BY e.experiment_id ORDER BY e.experiment_id LIMIT $2",
            after.map_or(0, |after| after.0),
            i64::from(experiments_max) + 1
        );
        let summary = |row: (_, _, _, _, String, String, _, _, i64, i64, i64, i64)| {
            let (experiment, uuid, name, game, kind, state, priority, submitted, ..) = row;
            let (.., cells, planned, settled, failed) = row;
            ExperimentSummary {
                experiment: ExperimentId(experiment),
                uuid,
                name,
                game,
                task: Task::from_experiments(&kind).unwrap_or_default(),
                state: state_of(&state),
                priority,
                cells: number(cells),
                games_planned: number(planned),
                games_settled: number(settled),
                games_failed: number(failed),
                submitted_unix_us: submitted,
            }
        };
        Ok(ExperimentsPage::new(found.into_iter().map(summary).collect(), experiments_max as usize))
    }

    /// Returns a page of a list of settled games: from the start, or after this game.
    ///
    /// # Errors
    /// If the database fails, or holds data unknown to this version.
    pub async fn games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> Result<GamesPage, StoreError> {
        let mut reading = self.acquire().await?;
        let (experiment, cell) = match question.scope {
            GamesOf::Experiment(experiment) => (Some(experiment.0), None),
            GamesOf::Cell(cell) => (None, Some(cell.0)),
        };
        let filter = match question.filter {
            GamesFilter::All => 0_i64,
            GamesFilter::Uncounted => 1,
            GamesFilter::Failed => 2,
            GamesFilter::Counted => 3,
        };
        let limit = i64::from(games_max) + 1;
        let id = after.map(|after| after.game_id);
        let rows = match question.order {
            GamesOrder::Newest => {
                let sql = listed!("($5::bigint IS NULL OR g.game_id < $5)", "g.game_id DESC");
                all!(reading, GameRow, sql, experiment, cell, filter, limit, id)
            }
            GamesOrder::Settled => {
                let sql = listed!("($5::bigint IS NULL OR g.game_id > $5)", "g.game_id");
                all!(reading, GameRow, sql, experiment, cell, filter, limit, id)
            }
            GamesOrder::Number => {
                let sql = listed!(
                    "($5::bigint IS NULL OR (c.number, c.cell_id, g.number) > (
                        coalesce((SELECT a.number FROM cells AS a WHERE a.cell_id = $5), -1), $5, $6))",
                    "c.number, c.cell_id, g.number"
                );
                let [after_cell, after_number] = after.map_or([None; 2], |after| {
                    [Some(after.game.cell.0), Some(integer(after.game.number))]
                });
                all!(
                    reading,
                    GameRow,
                    sql,
                    experiment,
                    cell,
                    filter,
                    limit,
                    after_cell,
                    after_number
                )
            }
        };
        let games = rows.into_iter().map(GameRow::read).collect::<Result<_, _>>()?;
        Ok(GamesPage::new(games, games_max as usize, question.order))
    }

    /// Returns a settled game with all its data, or why it is missing.
    ///
    /// # Errors
    /// If the database fails, or holds data unknown to this version.
    pub async fn game(&self, which: WhichGame) -> Result<FoundGame, StoreError> {
        let mut reading = self.acquire().await?;
        let found = match which {
            WhichGame::Id(id) => {
                first!(reading, GameRow, games!("g.game_id = $1"), id)
            }
            WhichGame::InCell(game) => {
                let sql = games!("g.cell_id = $1 AND g.number = $2");
                first!(reading, GameRow, sql, game.cell.0, integer(game.number))
            }
        };
        let Some(row) = found else {
            return Ok(FoundGame::Missing(match which {
                WhichGame::Id(id) => MissingGame::Id(id),
                WhichGame::InCell(game) => {
                    let sql =
                        "SELECT coalesce(stop_number, games_planned) FROM cells WHERE cell_id = $1";
                    let planned = first!(reading, (i64,), sql, game.cell.0);
                    MissingGame::new(game, planned.map(|(planned,)| number(planned)))
                }
            }));
        };
        let summary = row.read()?;
        let id = summary.game_id;
        let (experiment, experiment_uuid, hash, definition_json) =
            sqlx::query_as::<_, (String, String, String, String)>(
                "SELECT e.name, e.uuid, d.definition_hash, d.definition_json
            FROM cells AS c
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            JOIN cell_definitions AS d ON d.cell_id = c.cell_id
            WHERE c.cell_id = $1",
            )
            .bind(summary.game.cell.0)
            .fetch_one(reading.connection())
            .await?;
        let moves = all!(
            reading,
            MoveRow,
            "SELECT m.*, n.note, n.distribution_json, n.refused, n.seldepth, n.hashfull, n.tbhits, n.pv
            FROM moves AS m LEFT JOIN move_notes AS n ON n.game_id = m.game_id AND n.ply = m.ply
            WHERE m.game_id = $1 ORDER BY m.ply",
            id
        );
        let moves = moves.into_iter().map(MoveRow::read).collect::<Result<Vec<_>, _>>()?;
        let mut engines = [None, None];
        for (side, name, author, sha256) in all!(
            reading,
            (i16, String, String, String),
            "SELECT x.side, e.name, e.author, e.sha256
            FROM game_engines AS x JOIN engines AS e ON e.engine_id = x.engine_id WHERE x.game_id = $1",
            id
        ) {
            engines[usize::from(side != 0)] = Some(identity(name, author, sha256)?);
        }
        let forfeit = "SELECT message, output FROM forfeits WHERE game_id = $1";
        let forfeit = first!(reading, (String, String), forfeit, id)
            .map(|(message, output)| Forfeit { message, output });
        let has_no_move = match &summary.result {
            GameResult::Played(played) => played.end.plies == 0,
            GameResult::Failed(_) => false,
        };
        Ok(FoundGame::Settled(Box::new(SettledGame {
            moves: (has_no_move || !moves.is_empty()).then_some(moves),
            summary,
            experiment,
            experiment_uuid,
            definition_hash: hash.parse().map_err(|_| unknown("definition_hash", hash))?,
            definition_json,
            engines,
            forfeit,
        })))
    }

    /// The definition of a cell, as canonical JSON.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn definition_of(&self, cell: CellId) -> Result<Option<String>, StoreError> {
        let mut reading = self.acquire().await?;
        let sql = "SELECT definition_json FROM cell_definitions WHERE cell_id = $1";
        Ok(first!(reading, (String,), sql, cell.0).map(|(definition,)| definition))
    }

    /// Results kept beside the settled ones, in order, each with the stored name of the reason.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn uncounted(&self) -> Result<Vec<(GameId, String)>, StoreError> {
        let mut reading = self.acquire().await?;
        let sql = "SELECT cell_id, number, reason FROM uncounted_games ORDER BY uncounted_game_id";
        let game =
            |(cell, game, reason)| (GameId { cell: CellId(cell), number: number(game) }, reason);
        Ok(all!(reading, (i64, i64, String), sql).into_iter().map(game).collect())
    }
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
