//! Writing the rollups, in the transaction that stores the games (invariant 8).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use spelrum_engine::Outcome;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::{count, real};
use crate::write::cell_openings;
use crate::write::checked_games::{self, Checked};
use crate::write::margins::{Margins, first_player_margin, over_openings};
use crate::write::rollup_sums::{CellResult, Openings, Searches, SideSums, half_points};
use crate::write::transaction::Transaction;

/// A game that is already settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredEnd {
    /// The game's result, if it counts.
    pub(crate) counted: Option<CountedEnd>,
}

/// The result of a game that counts, for the first mover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedEnd {
    pub(crate) outcome: Outcome,
    pub(crate) margin: Option<i32>,
}

/// Adds searches to `cell_depths` and `cell_move_times`.
pub(crate) async fn add_searches(
    tx: &mut Transaction<'_>,
    searches: &Searches,
) -> Result<(), StoreError> {
    #[derive(Serialize)]
    struct Depth(i64, i64, u32, i64, f64, f64, f64, f64, f64, f64);
    #[derive(Serialize)]
    struct Time(i64, i64, u32, u32, i64);
    let depths: Vec<Depth> = searches
        .depths
        .iter()
        .map(|(&(cell, player, depth), sums)| {
            Depth(
                cell,
                player,
                depth,
                sums.searched_moves,
                sums.wall_us,
                sums.cpu_us,
                sums.nodes,
                sums.evaluations,
                sums.full_tree_leaves,
                sums.wall_us_squared,
            )
        })
        .collect();
    if depths.is_empty() {
        return Ok(());
    }
    let depths = rows(&depths)?;
    sqlx::query!(
        "INSERT INTO cell_depths (cell_id, player_id, depth, searched_moves, wall_us, cpu_us,
            nodes, evaluations, full_tree_leaves, wall_us_squared)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, value ->> 7, value ->> 8, value ->> 9
        FROM jsonb_each(?) WHERE true
        ON CONFLICT (cell_id, player_id, depth) DO UPDATE SET
            searched_moves = searched_moves + excluded.searched_moves,
            wall_us = wall_us + excluded.wall_us,
            cpu_us = cpu_us + excluded.cpu_us,
            nodes = nodes + excluded.nodes,
            evaluations = evaluations + excluded.evaluations,
            full_tree_leaves = full_tree_leaves + excluded.full_tree_leaves,
            wall_us_squared = wall_us_squared + excluded.wall_us_squared",
        depths
    )
    .execute(tx.connection())
    .await?;
    let times: Vec<Time> = searches
        .times
        .iter()
        .map(|(&(cell, player, depth, bucket), &moves)| Time(cell, player, depth, bucket, moves))
        .collect();
    let times = rows(&times)?;
    sqlx::query!(
        "INSERT INTO cell_move_times (cell_id, player_id, depth, time_bucket_id,
            searched_moves)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
        FROM jsonb_each(?) WHERE true
        ON CONFLICT (cell_id, player_id, depth, time_bucket_id) DO UPDATE SET
            searched_moves = searched_moves + excluded.searched_moves",
        times
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Adds new games, and the pairs they complete, to `cell_results` and `cell_openings`; `sides` has the searches of
/// each game, and `distinct` whether the game is the first of its kind.
pub(crate) async fn add_cell_results(
    tx: &mut Transaction<'_>,
    games: &[Checked<'_>],
    sides: &[[SideSums; 2]],
    there: &HashMap<(i64, i64), StoredEnd>,
    distinct: &[bool],
) -> Result<(), StoreError> {
    let cells: BTreeSet<i64> = games.iter().map(Checked::cell_id).collect();
    let mut results = cell_results(tx, cells.into_iter()).await?;
    // The games of this batch, to complete pairs with.
    let mut settled: HashMap<(i64, i64), CountedEnd> = HashMap::with_capacity(games.len());
    let mut openings = Openings::new();
    for ((game, sides), &distinct) in games.iter().zip(sides).zip(distinct) {
        let result = results.entry(game.cell_id()).or_default();
        if !game.counts() {
            continue;
        }
        let moves_first = game.cell.first_player_moves_first(game.number);
        result.add(moves_first, game.outcome());
        let opening = game.cell.numbering().opening_number(game.number);
        let opening = openings.entry((game.cell_id(), opening)).or_default();
        let searches = sides.each_ref().map(SideSums::searches);
        opening.add_game(moves_first, game.half_points(), searches);
        let margin = first_player_margin(moves_first, game.played.record.margin);
        result.margins.add(margin);
        opening.add_margin(margin);
        result.distinct_games += i64::from(distinct);
        result.plies += count(game.played.record.moves.len());
        result.wall_us += real(game.played.record.wall_us);
        // Where sides are fixed there are no pairs.
        if !game.cell.swap_sides {
            continue;
        }
        let other = (game.cell_id(), game.number ^ 1);
        let other_end = settled.get(&other).copied().or_else(|| there.get(&other)?.counted);
        if let Some(CountedEnd { outcome, margin: other_margin }) = other_end {
            result.margins.add_pair([margin, first_player_margin(!moves_first, other_margin)]);
            let mut pair = [game.half_points(), half_points(!moves_first, outcome)];
            if !moves_first {
                pair.reverse();
            }
            result.add_pair(pair);
            opening.add_pair(pair);
        }
        let (outcome, margin) = (game.outcome(), game.played.record.margin);
        settled.insert(game.id(), CountedEnd { outcome, margin });
    }
    cell_openings::add(tx.connection(), &openings).await?;
    write_cell_results(tx, &results).await
}

/// The existing rows of `cell_results` of these cells.
pub(crate) async fn cell_results(
    tx: &mut Transaction<'_>,
    cells: impl Iterator<Item = i64>,
) -> Result<BTreeMap<i64, CellResult>, StoreError> {
    let list = rows(&cells.collect::<Vec<_>>())?;
    let found = sqlx::query!(
        "SELECT r.* FROM jsonb_each(?) AS j JOIN cell_results AS r ON r.cell_id = j.value",
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let found = found.into_iter().map(|row| {
        let result = CellResult {
            games: row.games,
            games_failed: row.games_failed,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            wins_moving_first: row.wins_moving_first,
            draws_moving_first: row.draws_moving_first,
            losses_moving_first: row.losses_moving_first,
            pairs: [row.pairs_0, row.pairs_half, row.pairs_1, row.pairs_1_half, row.pairs_2],
            pairs_won: [row.pairs_won_by_first_mover, row.pairs_won_by_second_mover],
            distinct_games: row.distinct_games,
            plies: row.plies,
            wall_us: row.wall_us,
            margins: Margins {
                games: row.margin_games,
                sum: row.margin_sum,
                squares: row.margin_squares,
                pairs: row.margin_pairs,
                pairs_sum: row.margin_pairs_sum,
                products: row.margin_products,
            },
        };
        (row.cell_id, result)
    });
    Ok(found.collect())
}

/// Writes rows of `cell_results`, with the intervals computed from them, and from `cell_openings` where openings
/// repeat.
pub(crate) async fn write_cell_results(
    tx: &mut Transaction<'_>,
    results: &BTreeMap<i64, CellResult>,
) -> Result<(), StoreError> {
    #[derive(Serialize)]
    struct Row(
        i64,
        [i64; 8],
        [i64; 5],
        [i64; 2],
        i64,
        i64,
        f64,
        [f64; 3],
        Option<f64>,
        Option<f64>,
        [i64; 6],
        [Option<f64>; 2],
    );
    // The cell determines the unit of its interval.
    checked_games::fill_cells(tx, results.keys().copied()).await?;
    let come_again = results.iter().filter(|(cell, result)| {
        let numbering = tx.cache.cells.get(cell).map(|cell| cell.numbering());
        numbering.is_some_and(|numbering| numbering.come_again(result.units(numbering.swap_sides)))
    });
    let come_again: Vec<i64> = come_again.map(|(&cell, _)| cell).collect();
    let spreads = cell_openings::spreads(tx.connection(), &come_again).await?;
    let have_margins =
        |cell: &i64| results.get(cell).is_some_and(|result| result.margins.games > 0);
    let come_again: Vec<i64> = come_again.into_iter().filter(have_margins).collect();
    let margins = over_openings(tx.connection(), &come_again).await?;
    let list: Vec<Row> = results
        .iter()
        .map(|(&cell, result)| {
            let swap_sides = tx.cache.cells.get(&cell).is_none_or(|cell| cell.swap_sides);
            let spread = spreads.get(&cell).copied();
            let interval = result.interval(swap_sides, spread);
            let Margins { games, sum, squares, pairs, pairs_sum, products } = result.margins;
            let margin = result.margins.mean(margins.get(&cell)).and_then(|margin| margin.interval);
            Row(
                cell,
                [
                    result.games,
                    result.games_failed,
                    result.wins,
                    result.draws,
                    result.losses,
                    result.wins_moving_first,
                    result.draws_moving_first,
                    result.losses_moving_first,
                ],
                result.pairs,
                result.pairs_won,
                result.distinct_games,
                result.plies,
                result.wall_us,
                [interval.score, interval.low, interval.high],
                spread.map(|spread| spread.effective),
                spread.map(|spread| spread.variance),
                [games, sum, squares, pairs, pairs_sum, products],
                [margin.map(|interval| interval.low), margin.map(|interval| interval.high)],
            )
        })
        .collect();
    let list = rows(&list)?;
    sqlx::query!(
        "INSERT OR REPLACE INTO cell_results (cell_id, games, games_failed, wins, draws,
            losses, wins_moving_first, draws_moving_first, losses_moving_first,
            pairs_0, pairs_half, pairs_1, pairs_1_half, pairs_2,
            pairs_won_by_first_mover, pairs_won_by_second_mover,
            distinct_games, plies, wall_us, score, score_low, score_high,
            openings_effective, openings_variance, margin_games, margin_sum, margin_squares,
            margin_pairs, margin_pairs_sum, margin_products, margin_low, margin_high)
        SELECT value ->> '$[0]', value ->> '$[1][0]', value ->> '$[1][1]',
            value ->> '$[1][2]', value ->> '$[1][3]', value ->> '$[1][4]',
            value ->> '$[1][5]', value ->> '$[1][6]', value ->> '$[1][7]',
            value ->> '$[2][0]', value ->> '$[2][1]', value ->> '$[2][2]',
            value ->> '$[2][3]', value ->> '$[2][4]',
            value ->> '$[3][0]', value ->> '$[3][1]',
            value ->> '$[4]', value ->> '$[5]', value ->> '$[6]',
            value ->> '$[7][0]', value ->> '$[7][1]', value ->> '$[7][2]',
            value ->> '$[8]', value ->> '$[9]',
            value ->> '$[10][0]', value ->> '$[10][1]', value ->> '$[10][2]',
            value ->> '$[10][3]', value ->> '$[10][4]', value ->> '$[10][5]',
            value ->> '$[11][0]', value ->> '$[11][1]'
        FROM jsonb_each(?)",
        list
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Adds new games to `worker_results`.
pub(crate) async fn add_worker_results(
    tx: &mut Transaction<'_>,
    games: &[Checked<'_>],
) -> Result<(), StoreError> {
    let mut sums = WorkerSums::default();
    for game in games {
        let played = game.played;
        let plies = count(played.record.moves.len());
        let (started, wall_us) = (played.started_unix_us, real(played.record.wall_us));
        let sum = sums.played(game.worker.0, game.cell.experiment, started);
        if game.counts() {
            sum.add(plies, wall_us);
        }
    }
    add_worker_sums(tx, &sums).await
}

/// Adds games to `worker_results`.
pub(crate) async fn add_worker_sums(
    tx: &mut Transaction<'_>,
    sums: &WorkerSums,
) -> Result<(), StoreError> {
    let list = sums.rows()?;
    sqlx::query!(
        "INSERT INTO worker_results (worker_id, experiment_id, games, plies, wall_us,
            first_started_unix_us, last_started_unix_us)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6
        FROM jsonb_each(?) WHERE true
        ON CONFLICT (worker_id, experiment_id) DO UPDATE SET
            games = games + excluded.games,
            plies = plies + excluded.plies,
            wall_us = wall_us + excluded.wall_us,
            first_started_unix_us = min(first_started_unix_us, excluded.first_started_unix_us),
            last_started_unix_us = max(last_started_unix_us, excluded.last_started_unix_us)",
        list
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The increments of `worker_results`: a row for each worker and experiment.
#[derive(Debug, Default)]
pub(crate) struct WorkerSums(BTreeMap<(i64, i64), WorkerSum>);

#[derive(Debug)]
pub(crate) struct WorkerSum {
    games: i64,
    plies: i64,
    wall_us: f64,
    first_started: i64,
    last_started: i64,
}

impl WorkerSums {
    /// The sum for a game if it counts; its start is recorded in any case.
    pub(crate) fn played(&mut self, worker: i64, experiment: i64, started: i64) -> &mut WorkerSum {
        let sum = self.0.entry((worker, experiment)).or_insert(WorkerSum {
            games: 0,
            plies: 0,
            wall_us: 0.0,
            first_started: started,
            last_started: started,
        });
        sum.first_started = sum.first_started.min(started);
        sum.last_started = sum.last_started.max(started);
        sum
    }

    /// The negated sums, for subtraction. The times when games began stay.
    pub(crate) fn negated(mut self) -> Self {
        for sum in self.0.values_mut() {
            (sum.games, sum.plies, sum.wall_us) = (-sum.games, -sum.plies, -sum.wall_us);
        }
        self
    }

    fn rows(&self) -> Result<String, StoreError> {
        #[derive(Serialize)]
        struct Row(i64, i64, i64, i64, f64, i64, i64);
        let row = |(&(worker, experiment), sum): (&(i64, i64), &WorkerSum)| {
            let WorkerSum { games, plies, wall_us, first_started, last_started } = *sum;
            Row(worker, experiment, games, plies, wall_us, first_started, last_started)
        };
        rows(&self.0.iter().map(row).collect::<Vec<_>>())
    }
}

impl WorkerSum {
    /// Adds a counted game.
    pub(crate) fn add(&mut self, plies: i64, wall_us: f64) {
        self.games += 1;
        self.plies += plies;
        self.wall_us += wall_us;
    }
}
