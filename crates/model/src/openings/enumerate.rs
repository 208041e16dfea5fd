//! Enumerating all openings, if there are few.

use std::collections::BTreeMap;

use spelrum_engine::Position;

use super::is_opening;

/// The most an enumeration may cost before it gives up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Most positions, distinct up to symmetry, at any one ply.
    pub(super) positions: usize,
    /// Most moves played in total.
    pub(super) moves: u64,
}

/// For `random`: beyond this, playouts are drawn. Pentago's 2 and 3 plies are within.
pub(super) const FEW: Bound = Bound { positions: 1 << 14, moves: 1 << 22 };

/// For `all`. Pentago's 4 plies are within.
pub(super) const ALL: Bound = Bound { positions: 1 << 17, moves: 1 << 24 };

/// The openings after this many plies, in ascending order of their canonical keys, or `None` if finding them costs more
/// than the bound. Adds the played moves to `played`.
///
/// Breadth first, ply by ply, keeping one position of each symmetry class: the one reached first when the positions of
/// the previous ply are taken in ascending order of their canonical keys and their moves in canonical order. Keys and
/// move order are fixed by the `Position` contract, so the representative of each class is fixed, too.
pub(super) fn openings<P: Position>(
    start: &P,
    plies: u32,
    bound: Bound,
    played: &mut u64,
) -> Option<Vec<P>> {
    let mut level = BTreeMap::from([(start.canonical_key(), start.clone())]);
    let mut moves = Vec::new();
    let most = *played + bound.moves;
    for _ in 0..plies {
        let mut next = BTreeMap::new();
        for position in level.values() {
            moves.clear();
            position.legal_moves(&mut moves);
            *played += moves.len() as u64;
            for &mv in &moves {
                let mut child = position.clone();
                child.play_unchecked(mv);
                next.entry(child.canonical_key()).or_insert(child);
            }
            if next.len() > bound.positions || *played > most {
                return None;
            }
        }
        level = next;
    }
    Some(level.into_values().filter(|position| is_opening(position, &mut moves)).collect())
}
