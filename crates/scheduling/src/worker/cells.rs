//! The known cells, with the length of their games: fetched once and kept.

use std::collections::BTreeMap;
use std::time::Duration;

use spelrum_model::DefinitionHash;

/// Maximum number of cells kept (invariant 9).
const CELLS_MAX: usize = 1_024;

/// The cells.
#[derive(Clone, Debug)]
pub(super) struct Cells<C> {
    cells: BTreeMap<DefinitionHash, CachedCell<C>>,
    /// The cells by their last use.
    by_use: BTreeMap<u64, DefinitionHash>,
    /// Rises with every use.
    uses: u64,
}

#[derive(Clone, Debug)]
struct CachedCell<C> {
    cell: C,
    /// Mean time of a game in nanoseconds, of late; 0 while unknown.
    game_ns: u64,
    last_used: u64,
}

impl<C: Clone> Cells<C> {
    pub(super) const fn new() -> Self {
        Self { cells: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    /// Keeps a cell, in place of the least recently used one.
    pub(super) fn keep(&mut self, definition: DefinitionHash, cell: C) {
        if self.cells.len() >= CELLS_MAX
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.cells.remove(&oldest);
        }
        self.uses += 1;
        let cached = CachedCell { cell, game_ns: 0, last_used: self.uses };
        if let Some(before) = self.cells.insert(definition, cached) {
            self.by_use.remove(&before.last_used);
        }
        self.by_use.insert(self.uses, definition);
    }

    /// The cell with this definition, if it is known.
    pub(super) fn get(&mut self, definition: DefinitionHash) -> Option<C> {
        self.uses += 1;
        let cached = self.cells.get_mut(&definition)?;
        self.by_use.remove(&cached.last_used);
        self.by_use.insert(self.uses, definition);
        cached.last_used = self.uses;
        Some(cached.cell.clone())
    }

    /// Records the total time of some games.
    pub(super) fn measured(&mut self, definition: DefinitionHash, games: u64, took: Duration) {
        let Some(cached) = self.cells.get_mut(&definition) else { return };
        let Some(mean) = took.as_nanos().checked_div(games.into()) else { return };
        let mean = u64::try_from(mean).unwrap_or(u64::MAX).max(1);
        // Half of it is the last batch: quick to learn, and a single outlier is soon forgotten.
        cached.game_ns =
            if cached.game_ns == 0 { mean } else { (cached.game_ns / 2 + mean / 2).max(1) };
    }

    /// Length of its games; `None` if none was played.
    pub(super) fn game_time(&self, definition: DefinitionHash) -> Option<Duration> {
        self.cells
            .get(&definition)
            .filter(|cached| cached.game_ns > 0)
            .map(|cached| Duration::from_nanos(cached.game_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u64) -> DefinitionHash {
        DefinitionHash::from_json(&number.to_string())
    }

    #[test]
    fn the_cells_that_are_used_are_kept() {
        let mut cells = Cells::new();
        for number in 0..2 * CELLS_MAX as u64 {
            assert_eq!(cells.get(hash(number)), None);
            cells.keep(hash(number), number);
            assert_eq!(cells.get(hash(0)), Some(0));
        }
        assert_eq!(cells.cells.len(), CELLS_MAX);
        assert_eq!(cells.get(hash(1)), None);
        assert_eq!(cells.by_use.len(), CELLS_MAX);
        cells.keep(hash(0), 1);
        assert_eq!((cells.get(hash(0)), cells.by_use.len()), (Some(1), cells.cells.len()));
    }

    #[test]
    fn times_follow_the_latest_games() {
        let mut cells = Cells::new();
        cells.measured(hash(1), 1, Duration::from_secs(1));
        assert_eq!(cells.game_time(hash(1)), None, "it is not known");
        cells.keep(hash(1), ());
        cells.measured(hash(1), 0, Duration::from_secs(1));
        assert_eq!(cells.game_time(hash(1)), None, "none was played");
        cells.measured(hash(1), 4, Duration::from_secs(4));
        assert_eq!(cells.game_time(hash(1)), Some(Duration::from_secs(1)));
        cells.measured(hash(1), 1, Duration::ZERO);
        assert_eq!(cells.game_time(hash(1)), Some(Duration::from_millis(500)));
    }
}
