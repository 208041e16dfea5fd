//! Storing results: settled games with their moves and rollups in one go.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use serde::Serialize;
use spelrum_engine::games::Chess;
use spelrum_engine::{Game as _, Outcome, tables};
use spelrum_tournament::disturbance::{TimedCell, Timing, is_known_of};
use spelrum_tournament::{DefinitionJson, GameId, OpeningsRule, PlayedGame, WorkerId, names};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::{count, integer, scaled_columns, scaling};
use crate::write::cache::{Cache, CellInfo, ValuedBy};
use crate::write::game_digests::NewDigests;
use crate::write::insert::{Row, Statements, Values, insert_digested};
use crate::write::reported_games::runs;
use crate::write::rollup_sums::{Searches, SideSums, half_points, side_depths};
use crate::write::side_rows::{DepthRow, depth_row, side_row};
use crate::write::transaction::Transaction;

/// A game that is ready to be stored.
pub(crate) struct Checked<'g> {
    pub(crate) worker: WorkerId,
    pub(crate) played: &'g PlayedGame,
    pub(crate) number: i64,
    pub(crate) cell: Arc<CellInfo>,
    pub(crate) opening_id: i64,
}

impl Checked<'_> {
    pub(crate) fn cell_id(&self) -> i64 {
        self.played.game.cell.0
    }

    /// For who moved first.
    pub(crate) fn outcome(&self) -> Outcome {
        self.played.record.outcome
    }

    pub(crate) fn movers(&self) -> [i64; 2] {
        self.cell.movers(self.number)
    }

    /// Half points of the cell's first player.
    pub(crate) fn half_points(&self) -> usize {
        half_points(self.cell.first_player_moves_first(self.number), self.outcome())
    }

    pub(crate) fn id(&self) -> (i64, i64) {
        (self.cell_id(), self.number)
    }

    /// Whether it counts, or lies beyond where its cell ends (invariant 7).
    pub(crate) fn counts(&self) -> bool {
        self.cell.counts(self.number)
    }
}

/// What games of a cell that are the same have in common: cell, hash of the moves, opening and who
/// moved first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Likeness(pub(crate) i64, pub(crate) i64, pub(crate) i64, pub(crate) i64);

/// Why a game that was played does not count: as it is stored.
pub(crate) const BEYOND_STOP: &str = "beyond_stop";

impl Transaction<'_> {
    /// Stores settled results, each of the worker beside it, their moves (if the sweep records them) and
    /// all rollups.
    ///
    /// Storing is idempotent: a game that has its settled result already, or comes twice, is kept
    /// in `uncounted_games` instead (invariant 4).
    ///
    /// # Errors
    /// If a game is not one that an engine reports (see [`PlayedGame::check`]), or the database fails.
    pub async fn store_games(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
    ) -> Result<(), StoreError> {
        let games = self.check(games).await?;
        if games.is_empty() {
            return Ok(());
        }
        let there = self.there(&games).await?;
        let mut seen = BTreeSet::new();
        let (new, again): (Vec<_>, Vec<_>) = games
            .into_iter()
            .partition(|game| !there.contains_key(&game.id()) && seen.insert(game.id()));
        if !new.is_empty() {
            self.store_new(&new, &there).await?;
        }
        self.keep_uncounted(&again, None).await
    }

    async fn store_new(
        &mut self,
        games: &[Checked<'_>],
        there: &HashMap<(i64, i64), There>,
    ) -> Result<(), StoreError> {
        let distinct = self.distinct(games).await?;
        let first_id = self.last_id("games").await? + 1;
        let mut digests = NewDigests::new(first_id, games.len());
        self.insert_games(first_id, games, &mut digests).await?;
        self.insert_moves(first_id, games, &mut digests).await?;
        self.insert_depths(first_id, games, &mut digests).await?;
        self.insert_values(games).await?;
        self.insert_engines(first_id, games, &mut digests).await?;
        let sides: Vec<[SideSums; 2]> =
            games.iter().map(|game| SideSums::of(&game.played.record.moves)).collect();
        let searches = self.insert_sides(first_id, games, &sides, &mut digests).await?;
        self.insert_digests(&digests).await?;
        self.add_searches(&searches).await?;
        self.add_cell_results(games, &sides, there, &distinct).await?;
        self.add_worker_results(games).await
    }

    /// Settles games as failed, with the message. They have no outcome and never count; a game
    /// that has its settled result already stays as it is.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn settle_failed(&mut self, games: &[(GameId, String)]) -> Result<(), StoreError> {
        #[derive(Serialize)]
        struct Row<'g>(i64, i64, &'g str);
        self.settle_failed_trainings(games).await?;
        self.settle_failed_verifications(games).await?;
        // Of one that comes twice the first.
        let mut seen = BTreeSet::new();
        let list: Vec<Row<'_>> = games
            .iter()
            .filter(|(game, _)| seen.insert(*game))
            .map(|(game, message)| Row(game.cell.0, integer(game.number), message))
            .collect();
        let list = rows(&list)?;
        // What is settled is left out before: an INSERT that finds it there would lose an id all the same.
        let settled = sqlx::query!(
            r#"INSERT INTO games (cell_id, number, first_player_id, second_player_id, counted,
                not_counted_reason, failure)
            SELECT c.cell_id, j.value ->> 1,
                CASE (j.value ->> 1) % 2 * c.swap_sides WHEN 0 THEN c.first_player_id
                    ELSE c.second_player_id END,
                CASE (j.value ->> 1) % 2 * c.swap_sides WHEN 0 THEN c.second_player_id
                    ELSE c.first_player_id END,
                0, 'failed', j.value ->> 2
            FROM jsonb_each(?1) AS j JOIN cells AS c ON c.cell_id = j.value ->> 0
            WHERE c.number >= 0 AND NOT EXISTS (
                SELECT 1 FROM games AS g
                WHERE g.cell_id = c.cell_id AND g.number = j.value ->> 1)
            ORDER BY j.key
            RETURNING game_id AS "game_id!: i64", cell_id AS "cell_id!: i64", number"#,
            list
        )
        .fetch_all(self.connection())
        .await?;
        let ids: Vec<i64> = settled.iter().map(|row| row.game_id).collect();
        self.digest_games(&ids).await?;
        self.fill_cells(settled.iter().map(|row| row.cell_id)).await?;
        let mut failed: BTreeMap<i64, i64> = BTreeMap::new();
        for row in settled {
            // One beyond the cell's end is no failure of what is asked.
            let counts = self.cache.cells.get(&row.cell_id).is_none_or(|it| it.counts(row.number));
            *failed.entry(row.cell_id).or_default() += i64::from(counts);
        }
        let mut results = self.cell_results(failed.keys().copied()).await?;
        for (cell, count) in failed {
            results.entry(cell).or_default().games_failed += count;
        }
        self.write_cell_results(&results).await
    }

    /// Checks games, and looks up what goes with them.
    pub(crate) async fn check<'g>(
        &mut self,
        games: &'g [(WorkerId, PlayedGame)],
    ) -> Result<Vec<Checked<'g>>, StoreError> {
        self.fill_cells(games.iter().map(|(_, played)| played.game.cell.0)).await?;
        let mut checked = Vec::with_capacity(games.len());
        for (worker, played) in games {
            let GameId { cell, number } = played.game;
            let invalid = |problem| StoreError::InvalidGame { cell_id: cell.0, number, problem };
            played.check().map_err(invalid)?;
            let Some(cell) = self.cache.cells.get(&cell.0) else {
                return Err(invalid("there is no such cell".to_owned()));
            };
            let (number, cell) = (integer(number), Arc::clone(cell));
            checked.push(Checked { worker: *worker, played, number, cell, opening_id: 0 });
        }
        let names = checked.iter().map(|game| (&*game.cell.game, &*game.played.opening));
        self.fill_openings(names).await?;
        for game in &mut checked {
            let name = (game.cell.game.clone(), game.played.opening.clone());
            if let Some(&id) = self.cache.openings.get(&name) {
                game.opening_id = id;
            }
        }
        Ok(checked)
    }

    /// Reads cells into the cache.
    pub(crate) async fn fill_cells(
        &mut self,
        cells: impl Iterator<Item = i64>,
    ) -> Result<(), StoreError> {
        let cells: BTreeSet<i64> = cells.collect();
        if self.cache.cells.len() + cells.len() > Cache::ENTRIES_MAX {
            self.cache.cells.clear();
        }
        let missing: Vec<i64> =
            cells.into_iter().filter(|cell| !self.cache.cells.contains_key(cell)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let list = rows(&missing)?;
        let found = sqlx::query!(
            r#"SELECT c.cell_id AS "cell_id!: i64", c.experiment_id, c.first_player_id,
                c.second_player_id, c.swap_sides AS "swap_sides: bool", e.game,
                e.record = 'moves' AS "record_moves!: bool", c.stop_number, k.openings_count,
                c.conditions_id, c.timed AS "timed: bool", e.disturbed_above,
                e.replays_max AS "replays_max: u32", e.reference_speed,
                e.factor_max_permille AS "factor_max_permille: u32",
                f.algorithm AS "first_algorithm: String", s.algorithm AS "second_algorithm: String",
                CASE e.kind WHEN 'accuracy' THEN k.definition_prefix END AS "valued_prefix?: String"
            FROM jsonb_each(?) AS j
            JOIN cells AS c ON c.cell_id = j.value
            JOIN conditions AS k ON k.conditions_id = c.conditions_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            JOIN players AS f ON f.player_id = c.first_player_id
            JOIN players AS s ON s.player_id = c.second_player_id"#,
            list
        )
        .fetch_all(self.connection())
        .await?;
        self.cache.cells.extend(found.into_iter().map(|cell| {
            let positions = cell.valued_prefix.as_deref().and_then(DefinitionJson::conditions_of);
            let valued_by = positions.map(|definition| ValuedBy {
                conditions: cell.conditions_id,
                reference: cell.second_player_id,
                // A cache of cells has no room for the positions of each.
                positions: if matches!(definition.openings, OpeningsRule::Listed { .. }) {
                    OpeningsRule::Listed { positions: Arc::default() }
                } else {
                    definition.openings
                },
            });
            let timing = Timing {
                disturbed_above: cell.disturbed_above,
                replays_max: cell.replays_max,
                scaling: scaling(cell.reference_speed, cell.factor_max_permille),
            };
            let known = [&cell.first_algorithm, &cell.second_algorithm].map(|it| is_known_of(it));
            let info = CellInfo {
                experiment: cell.experiment_id,
                game: cell.game,
                players: [cell.first_player_id, cell.second_player_id],
                swap_sides: cell.swap_sides,
                openings_count: cell.openings_count,
                record_moves: cell.record_moves,
                valued_by,
                stop_number: cell.stop_number,
                timed: cell.timed.then_some(TimedCell {
                    timing,
                    known,
                    swap_sides: cell.swap_sides,
                }),
            };
            (cell.cell_id, Arc::new(info))
        }));
        Ok(())
    }

    /// Reads openings into the cache, and stores new ones.
    pub(crate) async fn fill_openings(
        &mut self,
        openings: impl Iterator<Item = (&str, &str)>,
    ) -> Result<(), StoreError> {
        let openings: BTreeSet<(&str, &str)> = openings.collect();
        if self.cache.openings.len() + openings.len() > Cache::ENTRIES_MAX {
            self.cache.openings.clear();
        }
        let missing: Vec<(String, String)> = openings
            .into_iter()
            .map(|(game, position)| (game.to_owned(), position.to_owned()))
            .filter(|name| !self.cache.openings.contains_key(name))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let plies = |(game, position): &(String, String)| plies_to_mate(game, position);
        let list: Vec<_> = missing.iter().map(|name| (&name.0, &name.1, plies(name))).collect();
        let list = rows(&list)?;
        sqlx::query!(
            "INSERT INTO openings (game, position, plies_to_mate)
            SELECT value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(?) WHERE true
            ON CONFLICT (game, position) DO NOTHING",
            list
        )
        .execute(self.connection())
        .await?;
        let found = sqlx::query!(
            r#"SELECT o.opening_id AS "opening_id!: i64", o.game, o.position
            FROM jsonb_each(?) AS j
            JOIN openings AS o ON o.game = j.value ->> 0 AND o.position = j.value ->> 1"#,
            list
        )
        .fetch_all(self.connection())
        .await?;
        let found = found.into_iter().map(|row| ((row.game, row.position), row.opening_id));
        self.cache.openings.extend(found);
        Ok(())
    }

    /// Which of the games, and of the other games of their pairs, are settled.
    async fn there(
        &mut self,
        games: &[Checked<'_>],
    ) -> Result<HashMap<(i64, i64), There>, StoreError> {
        let pairs: BTreeSet<GameId> = games
            .iter()
            .map(|game| GameId { number: game.played.game.number / 2, ..game.played.game })
            .collect();
        let list = rows(&runs(pairs.into_iter()))?;
        let found = sqlx::query!(
            r#"SELECT g.cell_id, g.number, g.counted AS "counted: bool", g.outcome,
                g.margin AS "margin: i32"
            FROM jsonb_each(?) AS j
            CROSS JOIN games AS g ON g.cell_id = j.value ->> 0
                AND g.number BETWEEN 2 * (j.value ->> 1) AND 2 * (j.value ->> 2) + 1"#,
            list
        )
        .fetch_all(self.connection())
        .await?;
        let found = found.into_iter().map(|row| {
            let outcome = row.outcome.as_deref().and_then(names::outcome);
            let end = outcome.map(|outcome| CountedEnd { outcome, margin: row.margin });
            ((row.cell_id, row.number), There { counted: end.filter(|_| row.counted) })
        });
        Ok(found.collect())
    }

    /// For each game, whether it is the first counted one of its cell with its opening, moves and who
    /// moved first.
    async fn distinct(&mut self, games: &[Checked<'_>]) -> Result<Vec<bool>, StoreError> {
        let key = |game: &Checked<'_>| {
            let hash = integer(game.played.moves_hash);
            Likeness(game.cell_id(), hash, game.opening_id, game.movers()[0])
        };
        let mut seen = BTreeSet::new();
        let distinct = games.iter().map(|game| game.counts() && seen.insert(key(game)));
        let mut distinct: Vec<bool> = distinct.collect();
        let known = self.counted_likes(&seen).await?;
        if !known.is_empty() {
            for (distinct, game) in distinct.iter_mut().zip(games) {
                *distinct = *distinct && !known.contains(&key(game));
            }
        }
        Ok(distinct)
    }

    /// Which of these have a counted game.
    pub(crate) async fn counted_likes(
        &mut self,
        likes: &BTreeSet<Likeness>,
    ) -> Result<BTreeSet<Likeness>, StoreError> {
        let keys: Vec<_> = likes.iter().copied().collect();
        let list = rows(&keys)?;
        // Asked for each key whether there is any game: a cell may repeat one game a million times.
        let known = sqlx::query_scalar!(
            r#"SELECT j.key + 0 AS "key!: i64" FROM jsonb_each(?) AS j
            WHERE EXISTS (
                SELECT 1 FROM games AS g
                WHERE g.counted = 1 AND g.cell_id = j.value ->> 0
                    AND g.moves_hash = j.value ->> 1 AND g.opening_id = j.value ->> 2
                    AND g.first_player_id = j.value ->> 3)"#,
            list
        )
        .fetch_all(self.connection())
        .await?;
        let known = known.into_iter().filter_map(|index| keys.get(usize::try_from(index).ok()?));
        Ok(known.copied().collect())
    }

    /// Inserts the games' own rows, with successive ids.
    async fn insert_games(
        &mut self,
        first_id: i64,
        games: &[Checked<'_>],
        digests: &mut NewDigests,
    ) -> Result<(), StoreError> {
        let list: Vec<GameRow> = (first_id..)
            .zip(games)
            .map(|(id, game)| GameRow::of(Some(id), game, (!game.counts()).then_some(BEYOND_STOP)))
            .collect();
        insert_digested(self.connection(), &list, |row, digest| {
            digests.add(row.0.unwrap_or(first_id), digest);
        })
        .await
    }

    async fn insert_moves(
        &mut self,
        first_id: i64,
        games: &[Checked<'_>],
        digests: &mut NewDigests,
    ) -> Result<(), StoreError> {
        let list: Vec<MoveRow<'_>> = (first_id..)
            .zip(games)
            .filter(|(_, game)| game.cell.record_moves)
            .flat_map(|(id, game)| move_rows(id, game))
            .collect();
        insert_digested(self.connection(), &list, |row, digest| digests.add(row.0, digest)).await
    }

    /// Inserts the searches by depth of games without moves.
    async fn insert_depths(
        &mut self,
        first_id: i64,
        games: &[Checked<'_>],
        digests: &mut NewDigests,
    ) -> Result<(), StoreError> {
        let of_game = |(id, game): (i64, &Checked<'_>)| {
            let moves = &game.played.record.moves;
            side_depths(moves).into_iter().map(move |(key, depth)| depth_row(id, key, &depth))
        };
        let without_moves = (first_id..).zip(games).filter(|(_, game)| !game.cell.record_moves);
        let list: Vec<DepthRow> =
            without_moves.flat_map(of_game).collect::<Result<_, StoreError>>()?;
        insert_digested(self.connection(), &list, |row, digest| digests.add(row.0, digest)).await
    }

    /// Inserts each game's two sides, and sums up their searches.
    async fn insert_sides(
        &mut self,
        first_id: i64,
        games: &[Checked<'_>],
        sides: &[[SideSums; 2]],
        digests: &mut NewDigests,
    ) -> Result<Searches, StoreError> {
        let mut searches = Searches::default();
        let mut list = Vec::with_capacity(2 * games.len());
        for ((id, game), sides) in (first_id..).zip(games).zip(sides) {
            let movers = game.movers();
            let moves = &game.played.record.moves;
            if game.counts() {
                searches.add(game.cell_id(), movers, moves);
            }
            for (side, (player, of)) in movers.into_iter().zip(sides).enumerate() {
                list.push(side_row(id, side, player, of));
            }
        }
        insert_digested(self.connection(), &list, |row, digest| digests.add(row.0, digest)).await?;
        Ok(searches)
    }
}

/// A game that is settled already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct There {
    /// What it came to, if it counts.
    pub(crate) counted: Option<CountedEnd>,
}

/// What a game that counts came to, for who moved first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedEnd {
    pub(crate) outcome: Outcome,
    pub(crate) margin: Option<i32>,
}

/// A row of `games`, or of `uncounted_games` but for its id.
#[derive(Serialize)]
pub(crate) struct GameRow(
    Option<i64>,
    i64,
    i64,
    i64,
    i64,
    i64,
    &'static str,
    &'static str,
    &'static str,
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    bool,
    Option<&'static str>,
    Option<i32>,
    Option<f64>,
    Option<bool>,
    Option<f64>,
    Option<i64>,
);

impl GameRow {
    /// Of a game that counts, unless there is a reason why not.
    pub(crate) fn of(
        id: Option<i64>,
        checked: &Checked<'_>,
        not_counted_reason: Option<&'static str>,
    ) -> Self {
        let PlayedGame { engine_revision, record, moves_hash, .. } = checked.played;
        let [first, second] = checked.movers();
        let disturbance = checked.cell.disturbance(checked.number, &record.moves);
        let (time_factor, speed) = scaled_columns(checked.played.scaled);
        Self(
            id,
            checked.cell_id(),
            checked.number,
            checked.opening_id,
            first,
            second,
            names::of_side(record.first_side),
            names::of_outcome(record.outcome),
            record.termination.name(),
            count(record.moves.len()),
            integer(*moves_hash),
            i64::from(*engine_revision),
            checked.played.started_unix_us,
            integer(record.wall_us),
            checked.worker.0,
            not_counted_reason.is_none(),
            not_counted_reason,
            record.margin,
            disturbance.map(|(share, _)| share),
            disturbance.map(|(_, is_disturbed)| is_disturbed),
            time_factor,
            speed,
        )
    }
}

impl Row for GameRow {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            let columns = "game_id, cell_id, number, opening_id, first_player_id, second_player_id, \
                first_side, outcome, termination, plies, moves_hash, worker_id, engine_revision, \
                started_unix_us, wall_us, counted, not_counted_reason, margin, robbed_share, \
                disturbed, time_factor, speed";
            Statements::new("games", columns)
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        let Self(id, cell, number, opening, first, second, first_side, outcome, termination, ..) =
            *self;
        let Self(.., plies, hash, revision, started, wall_us, worker, _, _, _, _, _, _, _) = *self;
        let Self(.., counted, reason, margin, robbed_share, disturbed, time_factor, speed) = *self;
        values.add(id).add(cell).add(number).add(opening).add(first).add(second);
        values.add(first_side).add(outcome).add(termination).add(plies);
        values.add(hash).add(worker).add(revision).add(started).add(wall_us);
        values.add(counted).add(reason).add(margin).add(robbed_share).add(disturbed);
        values.add(time_factor).add(speed);
    }
}

/// A row of `moves` or `uncounted_moves`.
#[derive(Serialize)]
pub(crate) struct MoveRow<'g>(
    i64,
    usize,
    u8,
    i64,
    &'g str,
    i64,
    u32,
    u32,
    i64,
    i64,
    i64,
    Option<i32>,
    i64,
    i64,
    &'static str,
    Option<i64>,
    Option<i64>,
);

impl Row for MoveRow<'_> {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            let columns = "game_id, ply, side, player_id, move, position_key, legal_moves, depth, nodes, \
                evaluations, full_tree_leaves, score, wall_us, cpu_us, ended_by, told_us, \
                involuntary_switches";
            Statements::new("moves", columns)
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        let Self(game, ply, side, player, mv, key, legal, depth, nodes, evaluations, leaves, ..) =
            *self;
        let Self(.., score, wall_us, cpu_us, ended_by, involuntary_switches, told_us) = *self;
        values.add(game).add(count(ply)).add(side);
        values.add(player).add(mv).add(key).add(legal).add(depth).add(nodes);
        values.add(evaluations).add(leaves).add(score);
        values.add(wall_us).add(cpu_us).add(ended_by).add(told_us).add(involuntary_switches);
    }
}

/// The rows of a game's moves.
pub(crate) fn move_rows<'g>(id: i64, game: &Checked<'g>) -> impl Iterator<Item = MoveRow<'g>> {
    let movers = game.movers();
    game.played.record.moves.iter().enumerate().map(move |(ply, mv)| {
        let search = &mv.search;
        MoveRow(
            id,
            ply,
            mv.mover,
            movers[usize::from(mv.mover != 0)],
            &mv.mv,
            integer(mv.position_key),
            mv.legal_moves,
            search.depth,
            integer(search.nodes),
            integer(search.evaluations),
            integer(search.full_tree_leaves),
            search.score,
            integer(mv.wall_us),
            integer(mv.cpu_us),
            names::of_ended_by(search.ended_by),
            mv.involuntary_switches.map(integer),
            search.told_us.map(integer),
        )
    })
}

/// Plies to mate from an opening that was drawn from an ending: whoever draws openings, plays or referees such
/// games has the ending's table. `None` of others.
fn plies_to_mate(game: &str, position: &str) -> Option<u32> {
    // Two kings and two other pieces, with whose move it is and the counters.
    const BYTES_MAX: usize = 64;
    if game != Chess::NAME || position.len() > BYTES_MAX {
        return None;
    }
    let position = Chess::parse(&Chess::rules(), position).ok()?;
    tables::known_value(&position)?.plies()
}
