//! An experiment's whole report: its cells and the costs of their moves.

use std::collections::HashMap;

use spelrum_answers::{
    CostRow, CostedPlayer, Detail, MoveCost, Opponents, ReplayedGames, Report, StatedCell,
    StatedClaim, first_mover as first_mover_score, group_over_replicates, mean_over_replicates,
};
use spelrum_model::{CellId, ExperimentId, Role, Task};
use spelrum_statistics::claims::About;
use spelrum_statistics::{Clustered, Estimate};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::accuracy::accuracy;
use crate::read::cells::{REPORT_ROWS_MAX, all_results};
use crate::read::claims::stated_claims;
use crate::read::comparisons::{add_estimates, replicated};
use crate::read::disturbed_games::disturbed;
use crate::read::engines::engines_used;
use crate::read::game_times::{Clock, time_sums};
use crate::read::ratings::add_leads;
use crate::read::readers::Readers;
use crate::read::runs::runs;
use crate::read::summaries::{facts, find, summary};
use crate::read::time_scaling::{played_on, scaled};
use crate::schema::numbers::count;
use crate::write::cell_openings::first_mover_of_all;

impl Readers {
    /// Returns the results of the experiment with this UUID or name, as one snapshot of the rollups; `None` if the
    /// experiment is missing.
    ///
    /// # Errors
    /// If the database fails, takes too long, or has more than [`REPORT_ROWS_MAX`] rows of results.
    pub async fn report(&self, which: &str, detail: Detail) -> Result<Option<Report>, StoreError> {
        self.in_time(self.whole_report(which, detail)).await
    }

    async fn whole_report(
        &self,
        which: &str,
        detail: Detail,
    ) -> Result<Option<Report>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let Some(id) = find(&mut snapshot, which).await? else { return Ok(None) };
        let Some(experiment) = summary(&mut snapshot, id).await? else { return Ok(None) };
        let Some(facts) = facts(&mut snapshot, id).await? else { return Ok(None) };
        let (places, cells) = all_results(&mut snapshot, id).await?;
        let all = first_mover_of_all(&mut snapshot, id).await?;
        let games = cells.iter().map(|cell| cell.games).sum();
        let first_mover = first_mover_score(&all, games, cells.iter().map(|cell| cell.draws).sum());
        let opponents = Opponents::new(&cells);
        let players = players(&mut snapshot, id).await?;
        let wall = time_sums(&mut snapshot, id, Clock::Wall, limit(0)).await?;
        let cpu = match players.values().any(|player| player.is_cpu_time_known) {
            true => time_sums(&mut snapshot, id, Clock::Cpu, limit(0)).await?,
            false => HashMap::new(),
        };
        let cost = |row: CostRow, is_by_depth: bool| {
            let both = [row.player_id, row.opponent_id]
                .map(|player| players.get(&player).copied().unwrap_or_default());
            // Costs by depth are not stored per game.
            let [wall, cpu] =
                [&wall, &cpu].map(|sums| sums.get(&row.cell_id).filter(|_| !is_by_depth));
            let costs = row.costs(both, wall, cpu);
            MoveCost::new(CellId(row.cell_id), row.player, costs, &places, &opponents)
        };
        let moves = move_costs(&mut snapshot, id, limit(cells.len())).await?;
        let mut claims = stated_claims(&mut snapshot, id).await?;
        group_over_replicates(&mut claims, places.axes(), &cells);
        add_time_ratios(&mut claims, &moves, |row| {
            let both = [row.player_id, row.opponent_id]
                .map(|player| players.get(&player).copied().unwrap_or_default());
            row.log_time_ratio(both, wall.get(&row.cell_id), cpu.get(&row.cell_id))
        });
        let claims = add_estimates(&mut snapshot, &experiment, claims).await?;
        let claims = add_leads(&mut snapshot, &experiment, claims).await?;
        let mut moves: Vec<_> = moves.into_iter().filter_map(|row| cost(row, false)).collect();
        let depths = match detail {
            Detail::Cells => Vec::new(),
            Detail::Depths => {
                depth_costs(&mut snapshot, id, limit(cells.len() + moves.len())).await?
            }
        };
        let mut depths: Vec<_> = depths.into_iter().filter_map(|row| cost(row, true)).collect();
        let rows = cells.len() + moves.len() + depths.len();
        let accuracy = match experiment.task {
            Task::Game => Vec::new(),
            Task::Choice => accuracy(&mut snapshot, id, limit(rows)).await?,
        };
        if rows + accuracy.len() > REPORT_ROWS_MAX {
            return Err(StoreError::LargeReport { rows_max: REPORT_ROWS_MAX });
        }
        let replayed = replayed(&mut snapshot, id).await?;
        let disturbed = disturbed(&mut snapshot, id).await?;
        let scaled = scaled(&mut snapshot, id, facts.scaling).await?;
        let played_on = match cells.iter().any(|cell| cell.is_timed) {
            true => Some(played_on(&mut snapshot, id).await?),
            false => None,
        };
        for cost in moves.iter_mut().chain(&mut depths) {
            let overruns = cost.costs.overruns.take();
            cost.costs.overruns = overruns.filter(|_| !scaled.is_scaled(cost.cell));
        }
        let axes = places.into_axes();
        let engines = engines_used(&mut snapshot, id).await?;
        let runs = runs(&mut snapshot, id).await?;
        let replicated = match facts.replicates {
            Some(axis) => replicated(&mut snapshot, id, axis).await?,
            None => None,
        };
        Ok(Some(Report {
            experiment,
            description: facts.description,
            engine_revision: Some(facts.engine_revision),
            axes,
            first_mover,
            cells,
            moves,
            depths,
            accuracy,
            replayed,
            disturbed,
            scaled,
            played_on,
            claims,
            engines,
            runs,
            replicated,
            equal_within: None,
        }))
    }
}

/// Adds the estimates of the claims that are about ratios of times.
fn add_time_ratios(
    claims: &mut [StatedClaim],
    moves: &[CostRow],
    log_ratio: impl Fn(&CostRow) -> Option<Estimate>,
) {
    let is_of_times =
        |claim: &&mut StatedClaim| matches!(claim.statement.about, About::TimeRatio(_));
    let mut claims = claims.iter_mut().filter(is_of_times).peekable();
    if claims.peek().is_none() {
        return;
    }
    let rows: HashMap<(i64, bool), &CostRow> =
        moves.iter().map(|row| ((row.cell_id, row.is_second_player), row)).collect();
    for claim in claims {
        let ratio = |case: &[StatedCell]| {
            let [stated] = case else { return None };
            log_ratio(rows.get(&(stated.cell.0, stated.player == Role::Opponent))?)
        };
        let ratios: Vec<Option<Estimate>> = claim.cases().map(ratio).collect();
        claim.estimates = match claim.statement.over {
            None => ratios,
            Some(_) => {
                let figure = |case: usize| {
                    let Estimate { value, variance, freedom } = (*ratios.get(case)?)?;
                    Some(Clustered::certain(value).with_error(variance, freedom))
                };
                claim.means.iter().map(|mean| mean_over_replicates(mean, figure)).collect()
            }
        };
    }
}

/// Limit for the remaining rows of a report: one more than it may have.
fn limit(rows_before: usize) -> i64 {
    count(REPORT_ROWS_MAX.saturating_sub(rows_before) + 1)
}

/// An experiment's players, as far as their costs need them.
pub(crate) type Players = HashMap<i64, CostedPlayer>;

pub(crate) async fn players(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Players, StoreError> {
    let found = sqlx::query!(
        r#"SELECT p.player_id AS "player_id!", p.parameters_json, e.engine_cpu_known
        FROM experiments AS e JOIN players AS p
        WHERE e.experiment_id = ?1 AND p.player_id IN (
            SELECT first_player_id FROM cells WHERE experiment_id = ?1 AND in_sweep = 1
            UNION SELECT second_player_id FROM cells WHERE experiment_id = ?1 AND in_sweep = 1)"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let read = found.into_iter().map(|row| {
        (row.player_id, CostedPlayer::from_json(&row.parameters_json, row.engine_cpu_known))
    });
    Ok(read.collect())
}

/// A query for the costs of each player in each cell, in grid order: of all depths, or of each.
macro_rules! costs {
    ($same_depth:tt, $by:tt, $order:tt, $($argument:expr),*) => {
        sqlx::query_as!(
            CostRow,
            r#"SELECT c.cell_id AS "cell_id!", d.player_id AS "player_id!",
                d.player_id <> c.first_player_id AS "is_second_player!: bool",
                CASE WHEN d.player_id = c.first_player_id THEN c.second_player_id
                    ELSE c.first_player_id END AS "opponent_id!: i64",
                CASE WHEN d.player_id = c.first_player_id THEN c.first_player_name
                    ELSE c.second_player_name END AS "player!: String",
                sum(d.searched_moves) AS "searched_moves!: u64",
                total(d.wall_us) AS "wall_us!: f64", total(d.cpu_us) AS "cpu_us!: f64",
                total(1.0 * d.depth * d.searched_moves) AS "depths!: f64",
                total(d.nodes) AS "nodes!: f64", total(d.evaluations) AS "evaluations!: f64",
                -- A search that a limit cut off before it completed a depth has no full tree.
                total(CASE WHEN d.depth > 0 THEN d.evaluations END)
                    AS "completed_evaluations!: f64",
                total(d.full_tree_leaves) AS "full_tree_leaves!: f64",
                (SELECT group_concat(t.time_bucket_id || ' ' || t.searched_moves, ' ')
                    FROM cell_move_times AS t
                    WHERE t.cell_id = c.cell_id AND t.player_id = d.player_id
                "# + $same_depth + r#") AS "times!: String"
            FROM cells AS c JOIN cell_depths AS d ON d.cell_id = c.cell_id
            WHERE c.experiment_id = ? AND c.in_sweep = 1
            GROUP BY c.number, c.cell_id, d.player_id"# + $by + "
            ORDER BY c.number, c.cell_id, d.player_id <> c.first_player_id" + $order + " LIMIT ?",
            $($argument),*
        )
    };
}

async fn move_costs(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    limit: i64,
) -> Result<Vec<CostRow>, StoreError> {
    Ok(costs!("", "", "", experiment.0, limit).fetch_all(connection).await?)
}

/// As `move_costs`, by the completed depth of the search.
async fn depth_costs(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    limit: i64,
) -> Result<Vec<CostRow>, StoreError> {
    Ok(costs!(" AND t.depth = d.depth", ", d.depth", ", d.depth", experiment.0, limit)
        .fetch_all(connection)
        .await?)
}

/// Counted games of each cell that were lost or failed before.
async fn replayed(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<ReplayedGames>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT a.cell_id AS "cell_id!", count(*) AS "games!: u64"
        FROM cells AS c
        JOIN attempts AS a ON a.cell_id = c.cell_id AND a.lost + a.failed > 0
        JOIN games AS g ON g.cell_id = a.cell_id AND g.number = a.number AND g.counted = 1
        WHERE c.experiment_id = ? AND c.in_sweep = 1
        GROUP BY a.cell_id ORDER BY a.cell_id"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let read = |cell_id, games| ReplayedGames { cell: CellId(cell_id), games };
    Ok(found.into_iter().map(|row| read(row.cell_id, row.games)).collect())
}
