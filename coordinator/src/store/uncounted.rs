//! Results beside the settled ones: kept whole, each with its reason (invariant 4).

use serde::Serialize;
use spelrum_proto::v1;
use spelrum_tournament::WorkerId;

use super::error::StoreError;
use super::numbers::{count, integer};
use super::results::{Checked, MoveRow, move_rows, outcome_name};
use super::transaction::{Transaction, rows};

/// Why a result does not count. The names are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The game has its result already, and this one says the same or may differ from it.
    Repeat,
    /// The game has its result already, and this one differs where it must not.
    Conflict,
    /// The experiment was cancelled before.
    AfterCancel,
}

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Self::Repeat => "repeat",
            Self::Conflict => "conflict",
            Self::AfterCancel => "after_cancel",
        }
    }
}

impl Transaction<'_> {
    /// Keeps other results whole in `uncounted_games`; tells repeats from conflicts itself.
    ///
    /// # Errors
    /// If a game is not one that an engine reports (see [`super::check_game`]), or the database fails.
    pub async fn store_uncounted(
        &mut self,
        worker: WorkerId,
        games: &[v1::Game],
        after_cancel: bool,
    ) -> Result<(), StoreError> {
        let games = self.check(games).await?;
        self.keep_uncounted(worker, &games, after_cancel.then_some(Reason::AfterCancel)).await
    }

    /// Keeps checked results, with the reason or one that is found out.
    pub(super) async fn keep_uncounted(
        &mut self,
        worker: WorkerId,
        games: &[Checked<'_>],
        reason: Option<Reason>,
    ) -> Result<(), StoreError> {
        // These are few: one at a time is simple, and fast enough.
        for game in games {
            let reason = match reason {
                Some(reason) => reason,
                None => self.compare(game).await?,
            };
            if reason == Reason::Conflict {
                tracing::warn!(
                    cell_id = game.game.cell_id,
                    number = game.number,
                    worker_id = worker.0,
                    "two results of one deterministic game differ"
                );
            }
            self.insert_uncounted(worker, game, reason).await?;
        }
        Ok(())
    }

    /// Compares a result with the settled one of its game.
    ///
    /// Games of a player with a time limit may differ; all others of one engine revision must
    /// agree in who moved first, moves, outcome, termination, depth, nodes and scores (invariant 2).
    async fn compare(&mut self, game: &Checked<'_>) -> Result<Reason, StoreError> {
        let (cell, number) = (game.game.cell_id, game.number);
        let settled = sqlx::query!(
            r#"SELECT g.game_id AS "game_id!: i64", g.first_side, g.outcome, g.termination,
                g.plies, g.moves_hash, g.engine_revision, o.position AS "opening?: String",
                NOT EXISTS (
                    SELECT 1 FROM player_parameters AS p
                    WHERE p.player_id IN (g.first_player_id, g.second_player_id)
                        AND p.parameter = 'move_time_us') AS "deterministic!: bool",
                EXISTS (SELECT 1 FROM moves AS m WHERE m.game_id = g.game_id) AS "has_moves!: bool",
                (SELECT sum(s.nodes) FROM game_sides AS s WHERE s.game_id = g.game_id)
                    AS "nodes?: i64"
            FROM games AS g LEFT JOIN openings AS o ON o.opening_id = g.opening_id
            WHERE g.cell_id = ? AND g.number = ?"#,
            cell,
            number
        )
        .fetch_optional(self.connection())
        .await?;
        let Some(settled) = settled else { return Ok(Reason::Repeat) };
        let new = game.game;
        // A game that was settled as failed has nothing to differ from.
        if !settled.deterministic
            || settled.engine_revision != Some(i64::from(new.engine_revision))
            || settled.outcome.is_none()
        {
            return Ok(Reason::Repeat);
        }
        let same = settled.first_side.as_deref() == Some(game.first_side)
            && settled.outcome.as_deref() == Some(outcome_name(game.outcome))
            && settled.termination.as_deref() == Some(&*new.termination)
            && settled.plies == Some(count(new.moves.len()))
            && settled.moves_hash == Some(integer(new.moves_hash))
            && settled.opening.as_deref() == Some(&*new.opening)
            && (settled.has_moves || settled.nodes == Some(searched_nodes(new)));
        if same && (!settled.has_moves || self.same_moves(settled.game_id, new).await?) {
            Ok(Reason::Repeat)
        } else {
            Ok(Reason::Conflict)
        }
    }

    async fn same_moves(&mut self, game_id: i64, new: &v1::Game) -> Result<bool, StoreError> {
        let stored = sqlx::query!(
            "SELECT move, depth, nodes, score FROM moves WHERE game_id = ? ORDER BY ply",
            game_id
        )
        .fetch_all(self.connection())
        .await?;
        Ok(stored.len() == new.moves.len()
            && stored.iter().zip(&new.moves).all(|(stored, new)| {
                stored.r#move == new.r#move
                    && stored.depth == i64::from(new.depth)
                    && stored.nodes == integer(new.nodes)
                    && stored.score == new.score.map(i64::from)
            }))
    }

    async fn insert_uncounted(
        &mut self,
        worker: WorkerId,
        checked: &Checked<'_>,
        reason: Reason,
    ) -> Result<(), StoreError> {
        #[derive(Serialize)]
        struct Row<'g>(
            i64,
            i64,
            &'g str,
            i64,
            i64,
            i64,
            &'g str,
            &'g str,
            &'g str,
            i64,
            i64,
            i64,
            i64,
            i64,
        );
        let game = checked.game;
        let [first, second] = checked.cell.movers(checked.number);
        let list = rows(&[Row(
            game.cell_id,
            checked.number,
            reason.name(),
            checked.opening_id,
            first,
            second,
            checked.first_side,
            outcome_name(checked.outcome),
            &game.termination,
            count(game.moves.len()),
            integer(game.moves_hash),
            i64::from(game.engine_revision),
            game.started_unix_us,
            integer(game.wall_us),
        )])?;
        let now = self.now_unix_us;
        let id = sqlx::query_scalar!(
            r#"INSERT INTO uncounted_games (cell_id, number, reason, opening_id, first_player_id,
                second_player_id, first_side, outcome, termination, plies, moves_hash,
                engine_revision, started_unix_us, wall_us, worker_id, received_unix_us)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
                value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11,
                value ->> 12, value ->> 13, ?2, ?3
            FROM jsonb_each(?1)
            RETURNING uncounted_game_id AS "id!: i64""#,
            list,
            worker.0,
            now
        )
        .fetch_one(self.connection())
        .await?;
        let moves: Vec<MoveRow<'_>> = move_rows(id, checked).collect();
        let list = rows(&moves)?;
        sqlx::query!(
            "INSERT INTO uncounted_moves (uncounted_game_id, ply, side, player_id, move,
                position_key, legal_moves, depth, nodes, evaluations, full_tree_leaves, score,
                wall_us, cpu_us, ended_by)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
                value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11,
                value ->> 12, value ->> 13, value ->> 14
            FROM jsonb_each(?)",
            list
        )
        .execute(self.connection())
        .await?;
        Ok(())
    }
}

/// A game's nodes as `game_sides` has them, where the moves themselves are not recorded.
fn searched_nodes(game: &v1::Game) -> i64 {
    game.moves
        .iter()
        .filter(|mv| mv.ended_by != super::rollup::ONLY_MOVE)
        .fold(0, |sum: i64, mv| sum.saturating_add(integer(mv.nodes)))
}
