//! The cells of an experiment that have games for any batch, by what these need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use itertools::Itertools as _;

use super::allocation::Turn;
use super::cells::Cell;
use crate::engines::NeededEngine;
use crate::ids::CellId;

/// What the games of some cells need: these engines.
type Engines = Arc<[NeededEngine]>;

/// The cells. Those that need the same engines are together, so that a worker that has not got them passes
/// over all of them at once, however many they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WithWork {
    /// By their turn. No set is empty.
    by_engines: BTreeMap<Option<Engines>, BTreeSet<(Turn, CellId)>>,
    /// Those that need engines, by the memory of a game too. No set is empty.
    by_needs: BTreeMap<(Engines, u64), BTreeSet<CellId>>,
}

impl WithWork {
    /// Takes in a cell whose turn this is.
    pub(super) fn insert(&mut self, turn: Turn, id: CellId, cell: &Cell) {
        let engines = cell.engines().cloned();
        self.by_engines.entry(engines).or_default().insert((turn, id));
        if let Some(needs) = needs(cell) {
            self.by_needs.entry(needs).or_default().insert(id);
        }
    }

    /// Takes out a cell whose turn this was, if it is there.
    pub(super) fn remove(&mut self, turn: Turn, id: CellId, cell: &Cell) {
        take(&mut self.by_engines, &cell.engines().cloned(), &(turn, id));
        if let Some(needs) = needs(cell) {
            take(&mut self.by_needs, &needs, &id);
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_engines.is_empty()
    }

    /// All, by their turn, of which whoever asks has the engines.
    pub(super) fn with_engines(
        &self,
        has: impl Fn(&[NeededEngine]) -> bool,
    ) -> impl Iterator<Item = CellId> {
        let has = move |needed: &Option<Engines>| needed.as_deref().is_none_or(&has);
        let groups = self.by_engines.iter().filter(move |(needed, _)| has(needed));
        groups.map(|(_, cells)| cells).kmerge().map(|&(_, id)| id)
    }

    /// All, in no order that means anything.
    pub(super) fn ids(&self) -> impl Iterator<Item = CellId> {
        self.by_engines.values().flatten().map(|&(_, id)| id)
    }

    /// Those that need engines: by these, and by the memory that a game may take, in bytes.
    pub(super) const fn by_needs(&self) -> &BTreeMap<(Engines, u64), BTreeSet<CellId>> {
        &self.by_needs
    }
}

/// What a cell's games need, if they need engines.
pub(super) fn needs(cell: &Cell) -> Option<(Engines, u64)> {
    Some((Arc::clone(cell.engines()?), cell.memory_bytes()))
}

/// Takes out of one of the sets, and the set with its last.
fn take<K: Ord, V: Ord>(sets: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(value);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
