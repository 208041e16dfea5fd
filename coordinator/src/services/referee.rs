//! Judges records before they are believed: every played game is played again by the rules.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use prost::Message as _;
use spelrum_engine::{Irregularity, MoveValue};
use spelrum_proto::game::to_wire;
use spelrum_proto::work::{Reported, ReportedWhat};
use spelrum_tournament::{CellId, OpeningsCache, PlayableCell, Task};

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
            let mut values = Vec::new();
            let cell = match &result.what {
                ReportedWhat::Played(played) => {
                    let cell = self.cell(result.game.cell).await?;
                    if cell.as_ref().is_some_and(|it| it.definition().task == Task::Choice) {
                        let revision = played.engine_revision;
                        let position = &played.opening;
                        values =
                            self.readers.values_of(result.game.cell, position, revision).await?;
                    }
                    cell
                }
                ReportedWhat::Failed { .. } | ReportedWhat::Irregular { .. } => None,
            };
            judged.push((cell, values, result));
        }
        // Some 10 microseconds for a game: a full report takes too long for the threads that listen.
        let judged = tokio::task::spawn_blocking(move || {
            let judged = judged.into_iter();
            judged.map(|(cell, values, result)| judge(cell.as_deref(), &values, result)).collect()
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

/// Judges a result. `values` are those that the moves of its position had before, if it is a choice in one that
/// came before.
fn judge(cell: Option<&PlayableCell>, values: &[MoveValue], result: Reported) -> Reported {
    let Reported { lease, game: id, what } = result;
    let what = match (cell, what) {
        (Some(cell), ReportedWhat::Played(played)) => {
            let problem = if played.record.moves_hash() == played.moves_hash {
                cell.referee(id.number, &played.opening, &played.record)
                    .and_then(|()| cell.referee_values(&played.opening, &played.values))
                    .and_then(|()| same_values(values, &played.values))
                    .and_then(|()| {
                        let (termination, forfeit) =
                            (played.record.termination, played.forfeit.as_ref());
                        cell.referee_engines(id.number, &played.engines, termination, forfeit)
                    })
                    .err()
                    .map(|irregularity| irregularity.to_string())
            } else {
                Some("its moves_hash is not that of its moves".to_owned())
            };
            match problem {
                None => ReportedWhat::Played(played),
                Some(problem) => ReportedWhat::Irregular {
                    engine_revision: played.engine_revision,
                    record: to_wire(played).encode_to_vec(),
                    problem,
                },
            }
        }
        (_, what) => what,
    };
    Reported { lease, game: id, what }
}

/// Whether a reference says of a position what it said before, to whichever worker.
fn same_values(before: &[MoveValue], told: &[MoveValue]) -> Result<(), Irregularity> {
    match before.iter().zip(told).find(|(before, told)| before != told) {
        None => Ok(()),
        Some((MoveValue { mv, value }, told)) => Err(Irregularity::new(format!(
            "the reference's value of `{mv}` is {} here, and was {value} when it was told first",
            told.value
        ))),
    }
}
