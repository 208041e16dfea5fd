//! Cells whose definitions came along with a lease: kept until the worker's machine wants them.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use spelrum_model::{DefinitionHash, OpeningsCache};
use spelrum_proto::limits::LEASE_DEFINITIONS_BYTES_MAX;
use spelrum_proto::v1;

use crate::cells::{self, Ready};

/// Most cells that are kept (invariant 9).
const CELLS_MAX: NonZeroUsize = NonZeroUsize::new(4_096).expect("it is not zero");

/// Most bytes of their definitions: those of some leases.
const BYTES_MAX: usize = 8 * LEASE_DEFINITIONS_BYTES_MAX;

/// How long reading them may take: finding one cell's openings may take longer than all the others.
const READ_TIME_MAX: Duration = Duration::from_millis(100);

/// The cells, of which each is taken once: the machine keeps those that it uses.
#[derive(Debug)]
pub(crate) struct LeasedCells {
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    cells: LruCache<DefinitionHash, LeasedCell>,
    bytes: usize,
}

/// A cell that came along with a lease.
#[derive(Debug)]
pub(crate) struct LeasedCell {
    /// The length of its definition.
    pub(crate) bytes: usize,
    pub(crate) definition: Definition,
}

/// Its definition.
#[derive(Debug)]
pub(crate) enum Definition {
    /// It is what its hash names.
    Read(Ready),
    /// It is not read yet, or its positions must be fetched first.
    Sent(v1::GetCellResponse),
}

/// Reads definitions for a short time, all in one go: a sweep of many small cells has as many definitions as games, and
/// each would cost a change of threads. Those that are not what their hashes name are left out, to be fetched.
pub(crate) fn read_some(
    cells: Vec<(DefinitionHash, v1::GetCellResponse)>,
    openings: &OpeningsCache,
) -> Vec<(DefinitionHash, LeasedCell)> {
    let started = Instant::now();
    let mut leased = Vec::with_capacity(cells.len());
    for (hash, cell) in cells {
        let bytes = cell.definition_json.len();
        let listed =
            <[u8; 32]>::try_from(&*cell.openings_hash).ok().and_then(|hash| openings.listed(hash));
        let is_whole = cell.openings_hash.is_empty() || listed.is_some();
        let definition = if is_whole && started.elapsed() < READ_TIME_MAX {
            match cells::read_blocking(hash, cell.definition_json, listed.as_ref(), openings) {
                Ok(ready) => Definition::Read(ready),
                Err(problem) => {
                    tracing::debug!(%hash, problem, "a definition that came with a lease is of no use");
                    continue;
                }
            }
        } else {
            Definition::Sent(cell)
        };
        leased.push((hash, LeasedCell { bytes, definition }));
    }
    leased
}

impl Default for LeasedCells {
    fn default() -> Self {
        Self { kept: Mutex::new(Kept { cells: LruCache::new(CELLS_MAX), bytes: 0 }) }
    }
}

impl LeasedCells {
    /// Keeps cells, in place of those that have waited longest.
    pub(crate) fn keep(&self, cells: impl IntoIterator<Item = (DefinitionHash, LeasedCell)>) {
        let mut kept = self.lock();
        for (definition, cell) in cells {
            kept.bytes += cell.bytes;
            if let Some((_, replaced)) = kept.cells.push(definition, cell) {
                kept.bytes -= replaced.bytes;
            }
            while kept.bytes > BYTES_MAX
                && let Some((_, oldest)) = kept.cells.pop_lru()
            {
                kept.bytes -= oldest.bytes;
            }
        }
    }

    /// Takes a cell out.
    pub(crate) fn take(&self, definition: DefinitionHash) -> Option<Definition> {
        let mut kept = self.lock();
        let cell = kept.cells.pop(&definition)?;
        kept.bytes -= cell.bytes;
        Some(cell.definition)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: usize) -> DefinitionHash {
        DefinitionHash::from_json(&number.to_string())
    }

    fn cell(bytes: usize) -> LeasedCell {
        LeasedCell { bytes, definition: Definition::Sent(v1::GetCellResponse::default()) }
    }

    fn held(cells: &LeasedCells) -> (usize, usize) {
        let kept = cells.lock();
        (kept.cells.len(), kept.bytes)
    }

    #[test]
    fn each_is_taken_once() {
        let cells = LeasedCells::default();
        cells.keep([(hash(1), cell(10)), (hash(2), cell(20)), (hash(1), cell(30))]);
        assert_eq!(cells.lock().bytes, 50);
        assert!(cells.take(hash(1)).is_some() && cells.take(hash(1)).is_none());
        assert_eq!(cells.lock().bytes, 20);
    }

    #[test]
    fn they_are_bounded_in_number_and_bytes() {
        let cells = LeasedCells::default();
        let number = CELLS_MAX.get() + 10;
        cells.keep((0..number).map(|number| (hash(number), cell(1))));
        assert_eq!(held(&cells), (4_096, 4_096));
        assert!(cells.take(hash(9)).is_none() && cells.take(hash(10)).is_some());
        cells.keep((0..3).map(|number| (hash(number), cell(BYTES_MAX / 2))));
        assert_eq!(held(&cells), (2, BYTES_MAX));
        assert!(cells.take(hash(0)).is_none() && cells.take(hash(2)).is_some());
    }
}
