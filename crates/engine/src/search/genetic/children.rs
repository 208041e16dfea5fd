//! The lists of children of a reservation tree's nodes.

use super::node::PARAMETER;
use crate::core::limits::MemoryRefused;
use crate::core::memory;

/// The children of one node: a run of entries in [`ChildLists`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChildList {
    start: u32,
    /// The list has room for the next power of two.
    len: u32,
}

impl ChildList {
    pub(super) const fn is_empty(self) -> bool {
        self.len == 0
    }

    pub(super) const fn len(self) -> u32 {
        self.len
    }

    fn capacity(self) -> usize {
        self.len.next_power_of_two() as usize
    }
}

/// All nodes' lists of children, sorted by move, in one piece of memory.
///
/// A node has its own list, so that a search for a move stays within a few cache lines however
/// large the tree is. A full list moves to room for twice as many, and its old room goes to another
/// list of that size. So `n` children never need more than `4 n` entries: their lists are at least
/// half full, and all earlier rooms of a list together are smaller than its present one.
#[derive(Clone, Debug)]
pub(super) struct ChildLists<M> {
    entries: Vec<(M, u32)>,
    /// For each power of two the first free list of this size; the number of its first entry names
    /// the next one.
    vacant: [Option<u32>; u32::BITS as usize],
}

impl<M: Copy + Ord> ChildLists<M> {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), vacant: [None; u32::BITS as usize] }
    }

    /// Drops all lists, and reserves room for this many children (see `ReservationTree::reset`).
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn reset(&mut self, max_children: usize) -> Result<(), MemoryRefused> {
        self.vacant = [None; u32::BITS as usize];
        memory::reserve(&mut self.entries, 4 * max_children, PARAMETER)
    }

    /// Moves and nodes of a list, in the order of the moves.
    pub(super) fn entries(&self, list: ChildList) -> &[(M, u32)] {
        let start = list.start as usize;
        &self.entries[start..start + list.len as usize]
    }

    /// The child that a move leads to, or its place in the list.
    pub(super) fn find(&self, list: ChildList, mv: M) -> Result<u32, u32> {
        let entries = self.entries(list);
        match entries.binary_search_by_key(&mv, |&(mv, _)| mv) {
            Ok(place) => Ok(entries[place].1),
            Err(place) => Err(place as u32),
        }
    }

    /// Inserts a child at the place from [`Self::find`], and returns the updated list.
    pub(super) fn insert(&mut self, list: ChildList, place: u32, mv: M, node: u32) -> ChildList {
        let len = list.len as usize;
        let mut start = list.start as usize;
        if list.is_empty() {
            start = self.take(1, (mv, node));
        } else if len == list.capacity() {
            let old = start;
            start = self.take(2 * len, (mv, node));
            self.entries.copy_within(old..old + len, start);
            self.leave(old, len);
        }
        let place = start + place as usize;
        self.entries.copy_within(place..start + len, place + 1);
        self.entries[place] = (mv, node);
        ChildList { start: start as u32, len: list.len + 1 }
    }

    /// Room for this many entries, a power of two; new room is filled with `filler`.
    fn take(&mut self, capacity: usize, filler: (M, u32)) -> usize {
        let vacant = &mut self.vacant[capacity.ilog2() as usize];
        match *vacant {
            Some(start) => {
                let (_, next) = self.entries[start as usize];
                *vacant = (next != start).then_some(next);
                start as usize
            }
            None => {
                let start = self.entries.len();
                self.entries.resize(start + capacity, filler);
                start
            }
        }
    }

    /// Frees room. The last in the chain names itself as the next.
    fn leave(&mut self, start: usize, capacity: usize) {
        let vacant = &mut self.vacant[capacity.ilog2() as usize];
        self.entries[start].1 = vacant.unwrap_or(start as u32);
        *vacant = Some(start as u32);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Lists equal sorted maps, whatever the order of insertion, and stay within the reserved
        /// room.
        #[test]
        fn equals_sorted_maps(children in prop::collection::vec((0..5usize, 0..60u16), 0..300)) {
            let mut lists = ChildLists::new();
            lists.reset(children.len()).unwrap();
            let reserved = lists.entries.capacity();
            let mut kept = [ChildList::default(); 5];
            let mut maps: [BTreeMap<u16, u32>; 5] = Default::default();
            for (node, (parent, mv)) in children.into_iter().enumerate() {
                match lists.find(kept[parent], mv) {
                    Ok(known) => prop_assert_eq!(Some(&known), maps[parent].get(&mv)),
                    Err(place) => {
                        kept[parent] = lists.insert(kept[parent], place, mv, node as u32);
                        prop_assert_eq!(maps[parent].insert(mv, node as u32), None);
                    }
                }
                for (list, map) in kept.iter().zip(&maps) {
                    prop_assert!(lists.entries(*list).iter().copied().eq(map.clone()));
                }
            }
            prop_assert_eq!(lists.entries.capacity(), reserved);
        }
    }
}
