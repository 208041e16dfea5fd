//! Counts of leaves against those of OpenSpiel: see `vectors/README.md`.

use std::collections::BTreeMap;

use serde::Deserialize;
use spelrum_engine::{Game, Parameters, Played, Rules, perft, with_game};

#[derive(Deserialize)]
struct Entry {
    game: String,
    rules: Parameters,
    /// From the start, after spaces.
    moves: String,
    /// At depth 1, 2, …, games that ended sooner included.
    leaves: Vec<u64>,
    /// The leaves that are ended games.
    ended: Vec<u64>,
}

fn check<G: Game>(rules: &Rules, entry: &Entry) {
    let position = Played::<G>::parse(rules, &entry.moves).unwrap().last();
    for (depth, (&leaves, &ended)) in (1..).zip(entry.leaves.iter().zip(&entry.ended)) {
        let counted = perft(&position, depth);
        assert_eq!(counted.leaves, leaves, "{position:?} to depth {depth}");
        if G::LEAF_KINDS.is_empty() {
            continue;
        }
        let sum: u64 = counted.ended.iter().map(|(_, leaves)| leaves).sum();
        assert_eq!(sum, ended, "{position:?} to depth {depth}");
    }
}

#[test]
fn leaves_are_those_of_openspiel() {
    let entries: Vec<Entry> =
        serde_json::from_str(include_str!("../../vectors/openspiel/perft.json")).unwrap();
    let mut checked = BTreeMap::<&str, u32>::new();
    for entry in &entries {
        let rules = Rules::from_parameters(&entry.game, &entry.rules).unwrap();
        with_game!(&rules, G => check::<G>(&rules, entry));
        *checked.entry(&entry.game).or_default() += 1;
    }
    assert!(checked.values().all(|&positions| positions >= 3), "{checked:?}");
}
