//! The cells of an experiment with games for any batch, grouped by their demands on a worker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use itertools::Itertools as _;
use spelrum_model::CellId;
use spelrum_model::demands::Demands;

use super::allocation::Turn;
use super::cells::Cell;

/// The cells. Cells with the same demands are grouped, so that a worker that does not meet them skips all of
/// them at once, however many they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WithWork {
    /// By their turn. No set is empty.
    by_demands: BTreeMap<Option<Arc<Demands>>, BTreeSet<(Turn, CellId)>>,
    /// Cells with demands, also by the memory of a game. No set is empty.
    by_needs: BTreeMap<(Arc<Demands>, u64), BTreeSet<CellId>>,
}

impl WithWork {
    /// Takes in a cell whose turn this is.
    pub(super) fn insert(&mut self, turn: Turn, id: CellId, cell: &Cell) {
        let demands = cell.demands().cloned();
        self.by_demands.entry(demands).or_default().insert((turn, id));
        if let Some(needs) = needs(cell) {
            self.by_needs.entry(needs).or_default().insert(id);
        }
    }

    /// Takes out a cell whose turn this was, if it is there.
    pub(super) fn remove(&mut self, turn: Turn, id: CellId, cell: &Cell) {
        take(&mut self.by_demands, &cell.demands().cloned(), &(turn, id));
        if let Some(needs) = needs(cell) {
            take(&mut self.by_needs, &needs, &id);
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_demands.is_empty()
    }

    /// All cells whose demands the asking worker meets, by their turn.
    pub(super) fn matching(
        &self,
        meets: impl Fn(&Demands) -> bool,
    ) -> impl Iterator<Item = CellId> {
        let meets = move |demands: &Option<Arc<Demands>>| demands.as_deref().is_none_or(&meets);
        let groups = self.by_demands.iter().filter(move |(demands, _)| meets(demands));
        groups.map(|(_, cells)| cells).kmerge().map(|&(_, id)| id)
    }

    /// The demands of the groups, each once.
    pub(super) fn demands(&self) -> impl Iterator<Item = &Demands> {
        self.by_demands.keys().filter_map(Option::as_deref)
    }

    /// All, in no meaningful order.
    pub(super) fn ids(&self) -> impl Iterator<Item = CellId> {
        self.by_demands.values().flatten().map(|&(_, id)| id)
    }

    /// Those with demands: by these, and by the memory that a game may take, in bytes.
    pub(super) const fn by_needs(&self) -> &BTreeMap<(Arc<Demands>, u64), BTreeSet<CellId>> {
        &self.by_needs
    }
}

/// The demands of a cell's games on their worker, if any beyond memory.
pub(super) fn needs(cell: &Cell) -> Option<(Arc<Demands>, u64)> {
    Some((Arc::clone(cell.demands()?), cell.memory_bytes()))
}

/// Removes a value from one of the sets, and the set with its last value.
fn take<K: Ord, V: Ord>(sets: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(value);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
