//! Progress of removals and exclusions.

use std::collections::VecDeque;

use spelrum_answers::Removing;
use sqlx::SqliteConnection;

use crate::error::StoreError;

/// Cells looked up at a time.
const CELLS_AHEAD: i64 = 2_000;

/// A removal in progress. Kept between transactions; `removals` has the state that must survive.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) removal: i64,
    pub(crate) experiment: i64,
    pub(crate) what: Removing,
    pub(crate) ahead: CellsAhead,
    /// Games of the first cell below this number are done.
    pub(crate) number: i64,
    /// Cells without games that remain to be removed.
    pub(crate) emptied: Vec<i64>,
}

/// An exclusion in progress. Kept between transactions; `exclusions` has the state that must survive.
#[derive(Debug)]
pub(crate) struct ExclusionWalk {
    pub(crate) id: i64,
    pub(crate) worker: i64,
    pub(crate) from: Option<i64>,
    pub(crate) since: Option<i64>,
    /// If set, only results with this engine are discarded.
    pub(crate) engine: Option<String>,
    /// The current experiment; 0 at first.
    pub(crate) experiment: i64,
    pub(crate) ahead: CellsAhead,
    /// Games of the first cell below this number are done.
    pub(crate) number: i64,
    pub(crate) kept: Option<[i64; 2]>,
}

/// An experiment's remaining cells, in the order of their ids.
#[derive(Debug)]
pub(crate) struct CellsAhead {
    next: VecDeque<i64>,
    /// The last cell looked up.
    looked_up: i64,
}

impl CellsAhead {
    /// The cells from this one on.
    pub(crate) fn from(cell: i64) -> Self {
        Self { next: VecDeque::new(), looked_up: cell - 1 }
    }

    /// The current cell; `None` after the experiment's last one.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn first(
        &mut self,
        experiment: i64,
        connection: &mut SqliteConnection,
    ) -> Result<Option<i64>, StoreError> {
        if self.next.is_empty() {
            // Uses the index alone: the cells' own rows are large.
            let found = sqlx::query_scalar!(
                r#"SELECT cell_id AS "cell_id!" FROM cells INDEXED BY cells_experiment
                WHERE experiment_id = ? AND cell_id > ? ORDER BY cell_id LIMIT ?"#,
                experiment,
                self.looked_up,
                CELLS_AHEAD
            )
            .fetch_all(connection)
            .await?;
            self.looked_up = found.last().copied().unwrap_or(self.looked_up);
            self.next = found.into();
        }
        Ok(self.next.front().copied())
    }

    /// Goes on to the next cell.
    pub(crate) fn pass(&mut self) {
        self.next.pop_front();
    }
}
