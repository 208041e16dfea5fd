//! The transposition table: a search's results for positions that may recur (Greenblatt, Eastlake &
//! Crocker 1967, "The Greenblatt chess program").
//!
//! # When a value may be used again
//!
//! Minimax's value depends on the depth, so an entry is valid for its own depth only, with two exceptions
//! that hold at every depth: a win or loss within the entry's depth, which every search of that depth or more
//! finds; and, for every greater depth, a value whose tree was searched to the ends of all its games. So a
//! table changes the cost of a search, not its result. (With `table_deeper` an entry is also valid for every
//! smaller depth: the search then finds what a deeper one would.)
//!
//! Where history matters this fails: a position's value depends on the line that leads to it. A value that
//! depends on an earlier position of its line, through a repetition, is not kept. But entries do not record
//! on which lines their position, or one below it, would be a repetition.

use crate::core::memory;
use crate::core::score;
use crate::search::{MemoryRefused, WIN, WIN_MIN};

/// The values that an entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    /// The value is this or greater.
    Lower,
    /// The value is this or less.
    Upper,
}

/// The entry of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// For its side to move, wins and losses counted in plies from this position.
    pub(super) value: i32,
    /// Plies searched.
    pub(super) depth: u32,
    pub(super) bound: Bound,
    /// Whether no evaluation contributed to the value: more depth does not change it.
    pub(super) is_whole: bool,
    /// The code of the best move, or of the one that caused a cut-off, if there is one.
    pub(super) best: Option<u16>,
}

impl Entry {
    /// An entry with only a move to try first, for a position whose value must not be reused: its
    /// value is the trivial lower bound.
    pub(super) const fn without_value(self) -> Self {
        Self { value: score::WORST, bound: Bound::Lower, is_whole: false, ..self }
    }

    /// The value's bound at this depth, if it has one, and whether it would hold at any greater depth. With
    /// `deeper`, deeper entries count too.
    pub(super) fn at_depth(&self, depth: u32, deeper: bool) -> Option<(i32, Bound, bool)> {
        let plies = WIN - self.value.abs();
        let is_decided = self.value.abs() >= WIN_MIN && plies <= self.depth.min(depth) as i32;
        let stays = is_decided || self.is_whole;
        let is_of_depth = self.depth == depth || (deeper && self.depth > depth);
        (is_of_depth || is_decided || (self.is_whole && depth >= self.depth))
            .then_some((self.value, self.bound, stays))
    }
}

/// A hash table of fixed size.
///
/// A bucket has two slots: the first keeps the deeper entry until it belongs to an earlier move of
/// the game; the second is always replaced (Breuker, Uiterwijk & van den Herik 1994, "Replacement
/// schemes for transposition tables": TwoBig1 without the shift).
#[derive(Debug)]
pub(super) struct TranspositionTable {
    /// For each slot the key and the packed entry, next to each other; 0 if empty.
    words: Vec<u64>,
    buckets: u64,
    /// The number of the search, in as many bits as an entry has for it.
    age: u64,
}

const SLOT_WORDS: usize = 2;
const BUCKET_SLOTS: usize = 2;
const AGES: u64 = 1 << 3;

impl TranspositionTable {
    /// An empty table of this size in MiB. The operating system provides the memory as it is
    /// written, so a large table delays no move.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(super) fn new(mebibytes: u32) -> Result<Self, MemoryRefused> {
        let bytes = (mebibytes as usize) << 20;
        let buckets = (bytes / (8 * SLOT_WORDS * BUCKET_SLOTS)).max(1);
        let words = memory::zeros(buckets * BUCKET_SLOTS * SLOT_WORDS, Some("table_mib"))?;
        Ok(Self { words, buckets: buckets as u64, age: 0 })
    }

    /// Begins the search of another move: entries stay, but become replaceable.
    pub(super) fn begin_search(&mut self) {
        self.age = (self.age + 1) % AGES;
    }

    /// The entry for this key.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<Entry> {
        let bucket = self.bucket(key);
        (0..BUCKET_SLOTS)
            .map(|slot| bucket + slot * SLOT_WORDS)
            .find(|&at| self.words[at] == key && self.words[at + 1] != 0)
            .map(|at| unpack(self.words[at + 1]))
    }

    /// Stores an entry, replacing one of the same position.
    #[inline]
    pub(super) fn insert(&mut self, key: u64, entry: Entry) {
        let packed = pack(entry) | self.age << AGE_SHIFT;
        let first = self.bucket(key);
        let second = first + SLOT_WORDS;
        let kept = self.words[first + 1];
        let at = if self.words[first] == key || kept == 0 {
            first
        } else if self.words[second] == key && self.words[second + 1] != 0 {
            second
        } else {
            let is_old = kept >> AGE_SHIFT & (AGES - 1) != self.age;
            if is_old || u64::from(entry.depth) >= kept >> DEPTH_SHIFT & DEPTH_MASK {
                first
            } else {
                second
            }
        };
        self.words[at] = key;
        self.words[at + 1] = packed;
    }

    #[inline]
    fn bucket(&self, key: u64) -> usize {
        // Keys are not hashes: the multiplication moves all their bits to the top.
        let mixed = (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bucket = (u128::from(mixed) * u128::from(self.buckets)) >> 64;
        bucket as usize * BUCKET_SLOTS * SLOT_WORDS
    }
}

// A packed entry, from the lowest bit: value 32, best move 16, depth 10, bound 2 (never 0, so that
// no entry is 0), whole 1, age 3.
const NO_MOVE: u16 = u16::MAX;
const BEST_SHIFT: u32 = 32;
const DEPTH_SHIFT: u32 = 48;
const DEPTH_MASK: u64 = (1 << 10) - 1;
const BOUND_SHIFT: u32 = 58;
const WHOLE_SHIFT: u32 = 60;
const AGE_SHIFT: u32 = 61;

fn pack(entry: Entry) -> u64 {
    let bound = match entry.bound {
        Bound::Exact => 1,
        Bound::Lower => 2,
        Bound::Upper => 3,
    };
    u64::from(entry.value as u32)
        | u64::from(entry.best.unwrap_or(NO_MOVE)) << BEST_SHIFT
        | (u64::from(entry.depth) & DEPTH_MASK) << DEPTH_SHIFT
        | bound << BOUND_SHIFT
        | u64::from(entry.is_whole) << WHOLE_SHIFT
}

fn unpack(packed: u64) -> Entry {
    Entry {
        value: packed as u32 as i32,
        best: Some((packed >> BEST_SHIFT) as u16).filter(|&code| code != NO_MOVE),
        depth: (packed >> DEPTH_SHIFT & DEPTH_MASK) as u32,
        bound: match packed >> BOUND_SHIFT & 3 {
            1 => Bound::Exact,
            2 => Bound::Lower,
            _ => Bound::Upper,
        },
        is_whole: packed >> WHOLE_SHIFT & 1 != 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries() -> impl Strategy<Value = Entry> {
        let bounds = prop_oneof![Just(Bound::Exact), Just(Bound::Lower), Just(Bound::Upper)];
        (-WIN..=WIN, 0..=1_000_u32, bounds, any::<bool>(), prop::option::of(0..1_000_u16)).prop_map(
            |(value, depth, bound, is_whole, best)| Entry { value, depth, bound, is_whole, best },
        )
    }

    #[test]
    fn a_table_that_the_system_refuses_is_an_error() {
        // 4 PiB: beyond every address space.
        let refused = TranspositionTable::new(u32::MAX).unwrap_err();
        let expected = (Some("table_mib"), u32::MAX.into());
        assert_eq!((refused.parameter, refused.bytes >> 20), expected);
    }

    proptest! {
        #[test]
        fn an_entry_comes_back_as_it_was(key: u64, entry in entries()) {
            let mut table = TranspositionTable::new(1).unwrap();
            table.insert(key, entry);
            prop_assert_eq!(table.find(key), Some(entry));
            prop_assert_eq!(table.find(key ^ 1 << 40), None);
        }

        /// A table that is too small forgets, but never confuses two keys.
        #[test]
        fn a_full_table_answers_with_the_newest_or_not_at_all(
            inserted in prop::collection::vec((0..40_u64, entries()), 1..200),
        ) {
            let mut table = TranspositionTable::new(0).unwrap();
            let mut newest = std::collections::BTreeMap::new();
            for (key, entry) in inserted {
                table.insert(key, entry);
                newest.insert(key, entry);
                prop_assert_eq!(table.find(key), Some(entry));
                for (&key, &entry) in &newest {
                    let found = table.find(key);
                    prop_assert!(found.is_none() || found == Some(entry));
                }
            }
        }
    }
}
