//! Names of chess openings: the Encyclopaedia of Chess Openings' code and a name for each of some thousand positions.
//!
//! `openings.tsv` was made from the tables of <https://github.com/lichess-org/chess-openings> (commit 51b88624, public
//! domain by CC0 1.0): for each of their lines the code, the name, and the position that it leads to, as EPD.

use std::collections::HashMap;
use std::sync::LazyLock;

use spelrum_engine::{Rules, replay_moves};

/// Plies of the longest line.
const PLIES_MAX: usize = 36;

/// An opening by its code, such as `C50`, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) eco: &'static str,
    pub(crate) name: &'static str,
}

/// Openings by the first four fields of their positions.
static OPENINGS: LazyLock<HashMap<&str, Opening>> = LazyLock::new(|| {
    let lines = include_str!("openings.tsv").lines();
    let fields = lines.filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?, fields.next()?))
    });
    fields.map(|(eco, name, position)| (position, Opening { eco, name })).collect()
});

/// The last position with a name of a game from `start`; transpositions are recognised. `None` if no position has
/// one, or the moves are not of this game.
pub(crate) fn name_opening<'m>(
    rules: &Rules,
    start: &str,
    moves: impl Iterator<Item = &'m str>,
) -> Option<Opening> {
    let positions = replay_moves(rules, start, moves.take(PLIES_MAX)).ok()?;
    positions.iter().rev().find_map(|position| OPENINGS.get(key(&position.position)?).copied())
}

/// A position without its clocks.
fn key(position: &str) -> Option<&str> {
    Some(position.rsplit_once(' ')?.0.rsplit_once(' ')?.0)
}

#[cfg(test)]
mod tests {
    use spelrum_engine::Game as _;
    use spelrum_engine::games::Chess;

    use super::*;

    #[test]
    fn every_position_is_written_as_ours_are() {
        let rules = Rules::from_name("chess").unwrap();
        assert_eq!(OPENINGS.len(), include_str!("openings.tsv").lines().count());
        for position in OPENINGS.keys() {
            let ours = Chess::parse(&rules, &format!("{position} 0 1")).unwrap().to_string();
            assert_eq!(key(&ours), Some(*position));
        }
    }

    #[test]
    fn the_last_name_stays() {
        let rules = Rules::from_name("chess").unwrap();
        let start = Chess::start(&rules).unwrap().to_string();
        let name = |moves: &str| {
            let opening = name_opening(&rules, &start, moves.split_whitespace())?;
            Some((opening.eco, opening.name))
        };
        assert_eq!(name(""), None);
        assert_eq!(name("e2e4 e7e5 g1f3 b8c6 f1c4"), Some(("C50", "Italian Game")));
        // By another order, and with moves that have no name behind it.
        let later = "g1f3 b8c6 e2e4 e7e5 f1c4 a7a6 a2a3 a6a5 a3a4 h7h6";
        assert_eq!(name(later), Some(("C50", "Italian Game")));
        // A capture in passing is possible here.
        let french = "e2e4 e7e6 e4e5 d7d5";
        assert_eq!(name(french), Some(("C00", "French Defense: Steinitz Attack")));
        assert_eq!(name("e2e4 e2e4"), None);
    }
}
