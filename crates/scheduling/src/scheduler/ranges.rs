//! Game numbers as ranges, so that a hundred million games cost as much as two.

use std::ops::Range;

use rangemap::RangeSet;

/// A set of game numbers with its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    ranges: RangeSet<u64>,
    count: u64,
}

impl Numbers {
    /// Number of members.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the number is a member.
    pub(super) fn contains(&self, number: u64) -> bool {
        self.ranges.contains(&number)
    }

    /// The maximal ranges, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges.iter().cloned()
    }

    /// Adds numbers; present ones stay.
    pub(super) fn insert(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            let had = self.overlap(&range);
            self.count += range.end - range.start - had;
            self.ranges.insert(range);
        }
    }

    /// Removes numbers, and returns how many of them were members.
    pub(super) fn remove(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let had = self.overlap(&range);
        if had > 0 {
            self.count -= had;
            self.ranges.remove(range);
        }
        had
    }

    /// Number of members from this one on.
    pub(super) fn count_from(&self, first: u64) -> u64 {
        if first == u64::MAX { 0 } else { self.overlap(&(first..u64::MAX)) }
    }

    /// Number of members in the range.
    pub(super) fn overlap(&self, range: &Range<u64>) -> u64 {
        let common = |r: &Range<u64>| r.end.min(range.end) - r.start.max(range.start);
        self.ranges.overlapping(range).map(common).sum()
    }
}

/// The first games of a range: as many as fit into `games_max` (at least 2) without splitting a
/// pair, of which the range may hold one game or both. Never empty if the range is not.
pub(super) fn whole_pairs(range: &Range<u64>, games_max: u64) -> Range<u64> {
    debug_assert!(games_max >= 2, "a pair has no room in {games_max}");
    let end = range.end.min(range.start.saturating_add(games_max.max(2)));
    // An odd end would leave the second game of the pair (end - 1, end) behind.
    let splits_a_pair = end < range.end && end % 2 == 1;
    range.start..end - u64::from(splits_a_pair)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A range, written out.
    fn numbers(range: Range<u64>) -> BTreeSet<u64> {
        range.collect()
    }

    proptest! {
        /// Compares with a set that stores every number.
        #[test]
        fn ranges_behave_like_a_set_of_numbers(
            steps in prop::collection::vec((any::<bool>(), 0_u64..60, 0_u64..12), 0..60),
        ) {
            let mut ranges = Numbers::default();
            let mut twin = BTreeSet::new();
            for (insert, first, count) in steps {
                let range = first..first + count;
                if insert {
                    ranges.insert(range.clone());
                    twin.extend(range);
                } else {
                    let before = twin.len();
                    twin.retain(|number| !range.contains(number));
                    prop_assert_eq!(ranges.remove(range), (before - twin.len()) as u64);
                }
                prop_assert_eq!(ranges.count(), twin.len() as u64);
                prop_assert_eq!(&ranges.iter().flatten().collect::<BTreeSet<_>>(), &twin);
                for number in 0..75 {
                    prop_assert_eq!(ranges.contains(number), twin.contains(&number));
                    prop_assert_eq!(ranges.count_from(number), twin.range(number..).count() as u64);
                }
                let maximal: Vec<_> = ranges.iter().collect();
                prop_assert!(maximal.windows(2).all(|pair| pair[0].end < pair[1].start));
            }
        }

        /// Takes as many games as fit, and splits no pair of which both halves are there.
        #[test]
        fn whole_pairs_split_no_pair(first in 0_u64..20, count in 1_u64..20, games_max in 2_u64..24) {
            let range = first..first + count;
            let taken = whole_pairs(&range, games_max);
            let (all, taken) = (numbers(range), numbers(taken));
            let splits = |prefix: &BTreeSet<u64>| {
                all.iter().any(|n| prefix.contains(n) != prefix.contains(&(n ^ 1)) && all.contains(&(n ^ 1)))
            };
            let longest = (1..=all.len())
                .map(|length| all.iter().copied().take(length).collect::<BTreeSet<_>>())
                .rfind(|prefix| prefix.len() as u64 <= games_max && !splits(prefix));
            prop_assert_eq!(Some(taken), longest);
        }
    }
}
