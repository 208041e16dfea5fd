//! Differences between the cells of an experiment, opening by opening.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use spelrum_answers::{
    CellsToCompare, Comparisons, ExperimentSummary, OpeningSums, Replicated, StatedClaim,
    add_estimates_of_scores,
};
use spelrum_model::{ExperimentId, Task};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::accuracy::shares_of_best;
use crate::read::cells::all_cells;
use crate::read::openings;
use crate::read::readers::Readers;
use crate::read::summaries::{Facts, facts, find, summary};

/// Rows by opening that are read at once.
const ROWS_AT_ONCE: u32 = 50_000;

impl Readers {
    /// Compares the cells of the experiment with this UUID or name, in one snapshot; `None` if the experiment is
    /// missing.
    ///
    /// # Errors
    /// If the database fails, takes too long, or has too many cells for a report.
    pub async fn comparisons(&self, which: &str) -> Result<Option<Comparisons>, StoreError> {
        let Some((experiment, facts, cells)) = self.in_time(self.comparable(which)).await? else {
            return Ok(None);
        };
        let Facts { replicates, monotone, .. } = facts;
        computed(move || Some(cells.compare(experiment, replicates.as_deref(), &monotone))).await
    }

    async fn comparable(
        &self,
        which: &str,
    ) -> Result<Option<(ExperimentSummary, Facts, CellsToCompare)>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let Some(id) = find(&mut snapshot, which).await? else { return Ok(None) };
        let Some(experiment) = summary(&mut snapshot, id).await? else { return Ok(None) };
        let Some(facts) = facts(&mut snapshot, id).await? else { return Ok(None) };
        let cells = cells_to_compare(&mut snapshot, id).await?;
        Ok(Some((experiment, facts, cells)))
    }
}

/// Returns the mean results over replicates, the values of this axis.
pub(crate) async fn replicated(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    axis: String,
) -> Result<Option<Replicated>, StoreError> {
    let cells = cells_to_compare(connection, experiment).await?;
    computed(move || cells.replicated(&axis)).await
}

/// Adds the estimates of claims that follow from scores by opening, or from choices by position.
pub(crate) async fn add_estimates(
    connection: &mut SqliteConnection,
    experiment: &ExperimentSummary,
    mut claims: Vec<StatedClaim>,
) -> Result<Vec<StatedClaim>, StoreError> {
    let of_openings = claims.iter().filter(|claim| claim.needs_openings());
    let compared: BTreeSet<i64> =
        of_openings.flat_map(|claim| &claim.cells).map(|stated| stated.cell.0).collect();
    if compared.is_empty() {
        return Ok(claims);
    }
    match experiment.task {
        Task::Game => {
            let cells = cells_to_compare(connection, experiment.experiment).await?;
            computed(move || {
                add_estimates_of_scores(&mut claims, &cells.scores());
                claims
            })
            .await
        }
        Task::Choice => {
            let shares = shares_of_best(connection, compared).await?;
            computed(move || {
                let shares = shares.iter().map(|(cell, share)| (*cell, share)).collect();
                add_estimates_of_scores(&mut claims, &shares);
                claims
            })
            .await
        }
    }
}

/// Computes what would block the async thread for too long if there are many cells.
async fn computed<T: Send + 'static>(
    compute: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(compute).await {
        Ok(computed) => Ok(computed),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Reads the cells of an experiment with their results by opening.
async fn cells_to_compare(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<CellsToCompare, StoreError> {
    let (axes, results) = all_cells(connection, experiment).await?;
    let mut prefixes = definition_prefixes(connection, experiment).await?;
    let mut prefix_of = |cell: i64| prefixes.remove(&cell).unwrap_or_default();
    let mut cells = CellsToCompare::on(&axes);
    let mut results = results.into_iter().peekable();
    let mut openings: Vec<OpeningSums> = Vec::new();
    let mut after = None;
    loop {
        let page = openings::page(connection, experiment, after, ROWS_AT_ONCE).await?;
        // Both are in grid order; a cell without a game has no openings.
        for part in page.cells {
            while let Some(done) = results.next_if(|result| result.cell != part.cell) {
                cells.cell(&done, &prefix_of(done.cell.0), &openings);
                openings.clear();
            }
            openings.extend(part.openings);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    for last in results {
        cells.cell(&last, &prefix_of(last.cell.0), &openings);
        openings.clear();
    }
    Ok(cells)
}

/// Each cell's definition up to its players. Cells with equal prefixes share one copy: a prefix may list a megabyte of
/// positions.
pub(crate) async fn definition_prefixes(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<BTreeMap<i64, Arc<str>>, StoreError> {
    let mut found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", k.definition_prefix
        FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE c.experiment_id = ? AND c.in_sweep = 1"#,
        experiment.0
    )
    .fetch(connection);
    let (mut prefixes, mut distinct) = (BTreeMap::new(), BTreeSet::<Arc<str>>::new());
    while let Some(row) = found.try_next().await? {
        let prefix = match distinct.get(&*row.definition_prefix) {
            Some(known) => Arc::clone(known),
            None => Arc::from(row.definition_prefix),
        };
        distinct.insert(Arc::clone(&prefix));
        prefixes.insert(row.cell_id, prefix);
    }
    Ok(prefixes)
}
