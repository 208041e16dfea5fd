//! The size of a whole game tree, ply by ply, without growing it.

use std::collections::BTreeSet;

use crate::core::position::Position;

/// The counts of one ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlyCounts {
    /// Nodes of the ordered tree: sequences of moves.
    pub nodes: u64,
    /// Nodes where the game is over or the depth is reached.
    pub leaves: u64,
    /// Distinct positions.
    pub positions: u64,
    /// Distinct positions up to the game's symmetries.
    pub up_to_symmetry: u64,
}

/// The counts of every ply to the depth, or to the end of the game, starting with the position
/// itself.
///
/// Sequences are counted by the positions that they lead to, so the time depends on the number of
/// positions. If a ply has more than `positions_max`, or its numbers exceed a `u64`, the list ends
/// before it.
#[must_use]
pub fn count_plies<P: Position>(
    position: &P,
    depth: Option<u32>,
    positions_max: usize,
) -> Vec<PlyCounts> {
    let mut level = vec![(position.clone(), 1_u64)];
    let mut counts = Vec::new();
    for ply in 0.. {
        let is_last = depth == Some(ply);
        let Some(counted) = count(&level, is_last) else { break };
        counts.push(counted);
        if is_last {
            break;
        }
        match next_level(&level, positions_max) {
            Some(next) if !next.is_empty() => level = next,
            Some(_) | None => break,
        }
    }
    counts
}

/// The counts of a ply, given its positions and the number of ways that lead to each.
fn count<P: Position>(level: &[(P, u64)], is_last: bool) -> Option<PlyCounts> {
    let keys: BTreeSet<u64> = level.iter().map(|(position, _)| position.canonical_key()).collect();
    let sum = |is_counted: &dyn Fn(&P) -> bool| {
        let mut ways =
            level.iter().filter(|(position, _)| is_counted(position)).map(|(_, ways)| *ways);
        ways.try_fold(0_u64, u64::checked_add)
    };
    Some(PlyCounts {
        nodes: sum(&|_| true)?,
        leaves: sum(&|position| is_last || position.is_over())?,
        positions: level.len() as u64,
        up_to_symmetry: keys.len() as u64,
    })
}

#[expect(clippy::disallowed_types, reason = "asked for places only, never iterated")]
type Places<P> = std::collections::HashMap<P, usize>;

fn next_level<P: Position>(level: &[(P, u64)], positions_max: usize) -> Option<Vec<(P, u64)>> {
    let mut places = Places::default();
    let mut next: Vec<(P, u64)> = Vec::new();
    let mut moves = Vec::new();
    for (parent, ways) in level {
        moves.clear();
        parent.legal_moves(&mut moves);
        for &mv in &moves {
            let mut child = parent.clone();
            child.play_unchecked(mv);
            match places.get(&child) {
                Some(&place) => next[place].1 = next[place].1.checked_add(*ways)?,
                None if next.len() == positions_max => return None,
                None => {
                    places.insert(child.clone(), next.len());
                    next.push((child, *ways));
                }
            }
        }
    }
    Some(next)
}
