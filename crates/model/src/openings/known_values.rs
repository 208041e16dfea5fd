//! Known values of moves: every player of an experiment chooses in the same positions, and evaluating all moves of one
//! position may take half a second.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most values kept in total: 32 MiB (invariant 9).
const VALUES_MAX: usize = 1 << 22;

/// Values of moves, by position. They belong to one reference under one set of rules, so that they never change.
#[derive(Debug, Default)]
pub(crate) struct KnownValues {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_position: BTreeMap<Box<str>, Arc<[i64]>>,
    values: usize,
}

impl KnownValues {
    /// The values of a position's legal moves, in canonical order.
    pub(crate) fn get(&self, position: &str) -> Option<Arc<[i64]>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_position.get(position).cloned()
    }

    /// Keeps the values while there is room: players reach the first positions first.
    pub(crate) fn keep(&self, position: &str, values: Arc<[i64]>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.values + values.len() <= VALUES_MAX {
            kept.values += values.len();
            kept.by_position.insert(position.into(), values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_a_bound() {
        let known_values = KnownValues::default();
        known_values.keep("a", Arc::from([1, -1]));
        assert_eq!(known_values.get("a").as_deref(), Some(&[1, -1][..]));
        assert_eq!(known_values.get("b"), None);
        known_values.keep("b", vec![0; VALUES_MAX - 2].into());
        assert_eq!(known_values.get("b").map(|values| values.len()), Some(VALUES_MAX - 2));
        known_values.keep("c", Arc::from([0]));
        assert_eq!(known_values.get("c"), None);
    }
}
