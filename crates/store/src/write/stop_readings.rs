//! The readings that decide where cells end, so that the scheduler can continue them (invariant 7): stop rules, and
//! whether players repeat themselves.

use std::collections::BTreeMap;

use spelrum_engine::Outcome;
use spelrum_scheduling::scheduler::CellState;
use spelrum_scheduling::stopping::{LOOKS, Points, Prefix, Reading, Round, Settled};
use spelrum_statistics::{GameCounts, PairCounts};
use spelrum_statistics::{OpeningTally, StopRule, Tally};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::numbers::integer;
use crate::write::requirements::ends;
use crate::write::stop_rules;
use crate::write::transaction::Transaction;

/// The part of a cell that determines how its results are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) rule: Option<StopRule>,
    pub(crate) swap_sides: bool,
    pub(crate) openings_count: Option<u64>,
    /// Whether its players are assumed to repeat themselves.
    pub(crate) repeats: bool,
    pub(crate) games_planned: u64,
}

impl Read {
    /// An empty reading of the cell; `None` for a cell that just gets all its games.
    pub(crate) fn start(self) -> Option<Reading> {
        let openings_count = self.openings_count;
        let units = self.games_planned / if self.swap_sides { 2 } else { 1 };
        let round = openings_count.filter(|_| self.repeats);
        // A rule can be extended to more games; a cell without one and with at most a round just plays its games.
        let is_read = self.rule.is_some() || round.is_some_and(|openings| openings < units);
        is_read.then(|| {
            Reading::from_start(self.rule, self.swap_sides, Vec::new())
                .with_openings(openings_count)
                .with_round(round.and_then(Round::new))
        })
    }
}

/// Adds to some of an experiment's cells the progress of their stop rules, and the results to read next.
///
/// The units read are those that count, apart from those beyond the end: so the time depends on the games not read
/// yet, and on all of a cell's games only where its rule has changed.
pub(crate) async fn add_to_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    cells: &mut [CellState],
) -> Result<(), StoreError> {
    let Some((first, last)) = ends(cells) else { return Ok(()) };
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", c.swap_sides, c.stop_rule_id, c.decided_number,
            c.stop_number, k.openings_count, c.repeats, c.games_planned,
            coalesce(r.wins, 0) AS "wins!: u64", coalesce(r.draws, 0) AS "draws!: u64",
            coalesce(r.losses, 0) AS "losses!: u64", coalesce(r.pairs_0, 0) AS "pairs_0!: u64",
            coalesce(r.pairs_half, 0) AS "pairs_half!: u64",
            coalesce(r.pairs_1, 0) AS "pairs_1!: u64",
            coalesce(r.pairs_1_half, 0) AS "pairs_1_half!: u64",
            coalesce(r.pairs_2, 0) AS "pairs_2!: u64"
        FROM cells AS c
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE +c.experiment_id = ?1 AND c.cell_id BETWEEN ?2 AND ?3
            AND (c.stop_rule_id IS NOT NULL OR c.stop_number IS NOT NULL OR c.repeats = 1)"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    if found.is_empty() {
        return Ok(());
    }
    let rules = stop_rules::all(tx.connection()).await?;
    let mut beyond = unread(tx, experiment, [first, last]).await?;
    let mut openings = counted_by_opening(tx, experiment, [first, last]).await?;
    let mut of_round = first_round_hashes(tx, experiment, [first, last]).await?;
    let row_of: BTreeMap<i64, _> = found.into_iter().map(|row| (row.cell_id, row)).collect();
    for cell in cells {
        let Some(row) = row_of.get(&cell.cell.0) else { continue };
        cell.decided_number = row.decided_number;
        cell.stop_number = row.stop_number;
        let rule = row.stop_rule_id.and_then(|id| rules.get(&id).copied());
        let beyond = beyond.remove(&cell.cell.0).unwrap_or_default();
        let openings = openings.remove(&cell.cell.0).unwrap_or_default();
        let of_round = of_round.remove(&cell.cell.0).unwrap_or_default();
        let read = Read {
            rule,
            swap_sides: row.swap_sides,
            openings_count: row.openings_count,
            repeats: row.repeats,
            games_planned: row.games_planned,
        };
        cell.reading = read.start().map(|nothing| {
            if cell.decided_number == 0 {
                return Box::new(Reading { beyond, ..nothing });
            }
            let mut round = nothing.round;
            if let Some(round) = &mut round {
                let games_of_unit = nothing.tally.games_of_unit();
                for (number, moves_hash) in of_round {
                    round.note(number, games_of_unit, moves_hash);
                }
            }
            let counted = if row.swap_sides {
                let pairs =
                    [row.pairs_0, row.pairs_half, row.pairs_1, row.pairs_1_half, row.pairs_2];
                Tally::Pairs(PairCounts(pairs))
            } else {
                let games = [row.losses, row.draws, row.wins];
                Tally::Games(GameCounts(games))
            };
            let decided_number = cell.decided_number;
            // Games beyond a stop do not count, and were read for their round alone.
            let is_beyond = cell.stop_number == Some(decided_number);
            let counted_beyond = if is_beyond { &[][..] } else { &beyond };
            let (tally, openings) = without(counted, nothing.openings, openings, counted_beyond);
            Box::new(Reading { rule, decided_number, tally, openings, round, beyond })
        });
    }
    Ok(())
}

/// For each cell whose rule depends on openings: the number of each opening, its units that count, and their half
/// points.
async fn counted_by_opening(
    tx: &mut Transaction<'_>,
    experiment: i64,
    [first, last]: [i64; 2],
) -> Result<BTreeMap<i64, BTreeMap<u64, [u64; 2]>>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", o.opening_number AS "opening_number!", c.swap_sides,
            o.games, o.wins, o.draws, o.pairs, o.pairs_half_points
        FROM cells AS c
        CROSS JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
        CROSS JOIN conditions AS k ON k.conditions_id = c.conditions_id
        CROSS JOIN cell_openings AS o ON o.cell_id = c.cell_id
        WHERE +c.experiment_id = ?1 AND c.cell_id BETWEEN ?2 AND ?3 AND c.decided_number > 0
            AND s.over_pairs = 0 AND k.openings_count > 1"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    let mut openings: BTreeMap<i64, BTreeMap<u64, [u64; 2]>> = BTreeMap::new();
    for row in found {
        let sums = if row.swap_sides {
            [row.pairs, row.pairs_half_points]
        } else {
            [row.games, 2 * row.wins + row.draws]
        };
        let of_cell = openings.entry(row.cell_id).or_default();
        of_cell.insert(row.opening_number, sums);
    }
    Ok(openings)
}

/// For each cell whose players are assumed to repeat themselves, the hashes of its first games, as far as read.
async fn first_round_hashes(
    tx: &mut Transaction<'_>,
    experiment: i64,
    [first, last]: [i64; 2],
) -> Result<BTreeMap<i64, Vec<(u64, u64)>>, StoreError> {
    let looks = integer(LOOKS);
    let found = sqlx::query!(
        r#"SELECT g.cell_id, g.number AS "number: u64", g.moves_hash AS "moves_hash!"
        FROM cells AS c
        CROSS JOIN games AS g ON g.cell_id = c.cell_id
            AND g.number < min(c.decided_number, ?4 * (1 + c.swap_sides))
        WHERE +c.experiment_id = ?1 AND c.cell_id BETWEEN ?2 AND ?3 AND c.repeats = 1
            AND g.outcome IS NOT NULL"#,
        experiment,
        first,
        last,
        looks
    )
    .fetch_all(tx.connection())
    .await?;
    let mut of_round: BTreeMap<i64, Vec<(u64, u64)>> = BTreeMap::new();
    for row in found {
        let hashes = of_round.entry(row.cell_id).or_default();
        hashes.push((row.number, row.moves_hash));
    }
    Ok(of_round)
}

/// The unread settled games by cell, in number order; for a cell at its stop only those that can have shown that its
/// players repeat themselves.
async fn unread(
    tx: &mut Transaction<'_>,
    experiment: i64,
    [first, last]: [i64; 2],
) -> Result<BTreeMap<i64, Vec<(u64, Settled)>>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT g.cell_id, g.number AS "number: u64", g.outcome, g.moves_hash, c.swap_sides
        FROM cells AS c
        CROSS JOIN conditions AS k ON k.conditions_id = c.conditions_id
        CROSS JOIN games AS g ON g.cell_id = c.cell_id AND g.number >= c.decided_number
        WHERE +c.experiment_id = ?1 AND c.cell_id BETWEEN ?2 AND ?3
            AND (c.repeats = 1 AND k.openings_count * (1 + c.swap_sides) < c.games_planned
                OR c.stop_rule_id IS NOT NULL AND c.stop_number IS NOT c.decided_number)
        ORDER BY g.cell_id, g.number"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    let mut unread: BTreeMap<i64, Vec<(u64, Settled)>> = BTreeMap::new();
    for row in found {
        let of_first = !row.swap_sides || row.number % 2 == 0;
        let settled = settled(row.outcome.as_deref(), row.moves_hash, of_first);
        unread.entry(row.cell_id).or_default().push((row.number, settled));
    }
    Ok(unread)
}

/// A game's result, from its outcome and the hash of its stored moves, if any; and whether the cell's first player
/// moved first in it.
pub(crate) fn settled(
    outcome: Option<&str>,
    moves_hash: Option<u64>,
    first_player_moved_first: bool,
) -> Settled {
    let moves_hash = moves_hash.unwrap_or(0);
    match outcome.and_then(Outcome::named).map(Points::from) {
        Some(points) if first_player_moved_first => Settled::Played(points, moves_hash),
        Some(points) => Settled::Played(points.swapped(), moves_hash),
        None => Settled::Failed,
    }
}

/// Reads all of a cell's settled games by its rule: the progress, and where the rule ends the cell.
pub(crate) async fn read_again(
    connection: &mut SqliteConnection,
    cell: i64,
    nothing: Reading,
) -> Result<Prefix, StoreError> {
    let games = sqlx::query!(
        r#"SELECT number AS "number: u64", outcome, moves_hash FROM games WHERE cell_id = ?
        ORDER BY number"#,
        cell
    )
    .fetch_all(connection)
    .await?;
    let swap_sides = nothing.tally.games_of_unit() == 2;
    let mut prefix = Prefix::from(nothing);
    for game in games {
        let of_first = !swap_sides || game.number % 2 == 0;
        let settled = settled(game.outcome.as_deref(), game.moves_hash, of_first);
        prefix.tell(game.number, settled);
    }
    Ok(prefix)
}

/// The units that count, without those among these games; and the same by opening, if the rule needs it.
fn without(
    mut tally: Tally,
    by_opening: Option<OpeningTally>,
    mut openings: BTreeMap<u64, [u64; 2]>,
    games: &[(u64, Settled)],
) -> (Tally, Option<OpeningTally>) {
    let of_unit = tally.games_of_unit();
    for unit in games.chunk_by(|a, b| a.0 / of_unit == b.0 / of_unit) {
        let played = unit.iter().filter_map(|(_, settled)| match settled {
            Settled::Played(points, _) => Some(points.half_points()),
            Settled::Failed => None,
        });
        let played: Vec<usize> = played.collect();
        if played.len() as u64 == of_unit {
            let half_points = played.iter().sum();
            tally.remove(half_points);
            let number = unit.first().map_or(0, |(number, _)| number / of_unit);
            let opening =
                by_opening.as_ref().map_or(number, |openings| openings.opening_number(number));
            if let Some([units, sum]) = openings.get_mut(&opening) {
                *units -= 1;
                *sum -= half_points as u64;
            }
        }
    }
    let by_opening = by_opening.map(|mut tally_by_opening| {
        for (opening, [units, half_points]) in openings {
            tally_by_opening.add(opening, units, half_points);
        }
        tally_by_opening
    });
    (tally, by_opening)
}
