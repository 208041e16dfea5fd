//! Counts of leaves against the reference data.

use serde::Deserialize;
use spelrum_engine::games::Chess;
use spelrum_engine::perft;

use super::{chess, chess960};

/// Leaves counted at most: more of them with `SPELRUM_PERFT_LEAVES`.
const LEAVES_MAX: u64 = 130_000_000;

#[derive(Deserialize)]
struct Entry {
    name: String,
    fen: String,
    leaves: Vec<u64>,
}

#[test]
fn leaves_agree_with_the_reference() {
    let entries: Vec<Entry> =
        serde_json::from_str(include_str!("../../vectors/chess/perft.json")).unwrap();
    assert_eq!(entries.len(), 4);
    let leaves_max =
        std::env::var("SPELRUM_PERFT_LEAVES").map_or(LEAVES_MAX, |leaves| leaves.parse().unwrap());
    for Entry { name, fen, leaves } in entries {
        let position = chess(&fen);
        for (depth, leaves) in (1..).zip(leaves).filter(|(_, leaves)| *leaves <= leaves_max) {
            let counted = perft(&position, depth);
            assert_eq!(counted.leaves, leaves, "{name} to depth {depth}");
            assert_eq!(counted.ended, []);
        }
    }
}

/// The notation of moves is all that differs.
#[test]
fn chess960_has_as_many_moves_from_the_same_positions() {
    let usual = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let by_files = usual.replace("KQkq", "HAha");
    assert_eq!(perft(&chess960(&by_files), 4), perft(&chess(usual), 4));
    assert_eq!(perft(&Chess::chess960(518), 4), perft(&Chess::initial(), 4));
}

#[test]
fn a_position_that_is_over_has_no_moves_to_count() {
    let mated = chess("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3");
    assert_eq!([0, 1, 4].map(|depth| perft(&mated, depth).leaves), [1, 0, 0]);
}
