//! Judges records before they are believed: every played game is played again by the rules.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use spelrum_proto::game::from_wire;
use spelrum_proto::work::{Reported, ReportedWhat};
use spelrum_tournament::{CellId, OpeningsCache, PlayableCell};

use crate::store::{Readers, StoreError};

/// Cells that are kept (invariant 9).
const CELLS_MAX: NonZeroUsize = NonZeroUsize::new(1_024).expect("it is not zero");

/// The referee. It knows cells by their ids, which never come to mean others.
#[derive(Debug)]
pub(crate) struct Referee {
    readers: Readers,
    cells: Mutex<LruCache<CellId, Arc<PlayableCell>>>,
    /// Cells of one sweep share their openings.
    openings: Arc<OpeningsCache>,
}

impl Referee {
    pub(crate) fn new(readers: Readers) -> Self {
        Self { readers, cells: Mutex::new(LruCache::new(CELLS_MAX)), openings: Arc::default() }
    }

    /// Tells records that the rules do not allow from those that they do. One of a cell that is not
    /// there, or not played here, is left as it is: it was never leased.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn judge(&self, results: Vec<Reported>) -> Result<Vec<Reported>, StoreError> {
        let mut judged = Vec::with_capacity(results.len());
        for result in results {
            let cell = match result.what {
                ReportedWhat::Played(_) => self.cell(result.game.cell).await?,
                ReportedWhat::Failed { .. } | ReportedWhat::Irregular { .. } => None,
            };
            judged.push((cell, result));
        }
        // Some 10 microseconds for a game: a full report takes too long for the threads that listen.
        let judged = tokio::task::spawn_blocking(move || {
            judged.into_iter().map(|(cell, result)| judge(cell.as_deref(), result)).collect()
        });
        Ok(judged.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())))
    }

    async fn cell(&self, id: CellId) -> Result<Option<Arc<PlayableCell>>, StoreError> {
        if let Some(cell) = self.lock().get(&id) {
            return Ok(Some(Arc::clone(cell)));
        }
        let Some(json) = self.readers.definition_of(id).await? else { return Ok(None) };
        let openings = Arc::clone(&self.openings);
        // Finding the openings may take a while.
        let read =
            tokio::task::spawn_blocking(move || PlayableCell::from_json(&json, &openings)).await;
        let Ok(Ok(cell)) = read else { return Ok(None) };
        let cell = Arc::new(cell);
        self.lock().put(id, Arc::clone(&cell));
        Ok(Some(cell))
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<CellId, Arc<PlayableCell>>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn judge(cell: Option<&PlayableCell>, result: Reported) -> Reported {
    let Reported { lease, game: id, what } = result;
    let what = match (cell, what) {
        (Some(cell), ReportedWhat::Played(game)) => {
            let problem = match from_wire(&game) {
                Err(error) => Some(error.to_string()),
                Ok((_, record)) if record.moves_hash() != game.moves_hash => {
                    Some("its moves_hash is not that of its moves".to_owned())
                }
                Ok((_, record)) => cell
                    .referee(id.number, &game.opening, &record)
                    .err()
                    .map(|irregularity| irregularity.to_string()),
            };
            match problem {
                None => ReportedWhat::Played(game),
                Some(problem) => ReportedWhat::Irregular { game, problem },
            }
        }
        (_, what) => what,
    };
    Reported { lease, game: id, what }
}
