//! Canonical keys: equal up to the games' symmetries, and fixed for all time.

use std::collections::BTreeSet;

use proptest::prelude::*;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{Game, Position, Rules};

use super::slow_pentago::SlowBoard;
use super::{board, pentago, random_board, random_game};

/// The images of a board under the eight symmetries of the square.
fn images(text: &str) -> Vec<String> {
    let mut images = Vec::new();
    let mut slow = SlowBoard::from_text(text);
    for _ in 0..4 {
        images.push(slow.text());
        images.push(slow.reflected().text());
        slow = slow.rotated();
    }
    images
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pentago_keys_are_equal_under_all_eight_symmetries(marbles in 0_usize..=36, seed: u64) {
        let text = random_board(marbles, seed);
        let key = board(&text).canonical_key();
        prop_assert!(key < 1 << 53);
        for image in images(&text) {
            prop_assert_eq!(board(&image).canonical_key(), key);
        }
    }

    /// A turn of a single quadrant is not a symmetry, nor is exchanging the colours.
    #[test]
    fn pentago_keys_distinguish_other_boards(marbles in 1_usize..=36, seed: u64) {
        let text = random_board(marbles, seed);
        let mut turned = SlowBoard::from_text(&text);
        turned.turn(0, true);
        let swapped: String =
            text.chars().map(|c| match c { 'w' => 'b', 'b' => 'w', c => c }).collect();
        let symmetric = images(&text);
        for other in [turned.text(), swapped] {
            if let Ok(position) = Pentago::parse(&pentago(), &other) {
                let equal = position.canonical_key() == board(&text).canonical_key();
                prop_assert_eq!(equal, symmetric.contains(&other));
            }
        }
    }

    #[test]
    fn nim_keys_ignore_the_order_of_heaps(heaps in prop::collection::vec(0_u32..=30, 1..=8)) {
        prop_assume!(heaps.iter().sum::<u32>() > 0);
        let key = |heaps: &[u32]| {
            let rules = Nim::rules(heaps, false).unwrap();
            Nim::start(&rules).unwrap().canonical_key()
        };
        let mut sorted = heaps.clone();
        sorted.sort_unstable();
        prop_assert!(key(&heaps) < 1 << 53);
        prop_assert_eq!(key(&heaps), key(&sorted));
        sorted.reverse();
        prop_assert_eq!(key(&heaps), key(&sorted));
    }
}

#[test]
fn a_game_ended_by_a_placement_has_another_key_than_by_a_turn() {
    let by_turn = board("wwwww.bbb.........b.................");
    let by_placement = board("wwwww.bbb.........b.................+");
    assert_ne!(by_turn, by_placement);
    assert_ne!(by_turn.canonical_key(), by_placement.canonical_key());
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let pentago: Vec<u64> = random_game(Pentago::empty(true), 1)
        .iter()
        .step_by(5)
        .map(Position::canonical_key)
        .collect();
    insta::assert_compact_debug_snapshot!(pentago, @"[5876733520225071, 6357563673199352, 4479313192155438, 2163670445977354]");
    let known = [
        "....................................",
        ".w..................................",
        "w...b.....ww....w........b.....b..b.",
        "wwwww.bbb.........b.................+",
    ];
    insta::assert_compact_debug_snapshot!(known.map(|text| board(text).canonical_key()), @"[5876733520225071, 3532771828038384, 6261676560981769, 7571753170919454]");
    let tic_tac_toe: Vec<u64> =
        random_game(TicTacToe::empty(), 1).iter().map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(tic_tac_toe, @"[0, 1024, 1152, 1664, 1696, 3720]");
    let nim = Nim::start(&Rules::from_name("nim").unwrap()).unwrap();
    let nim: Vec<u64> = random_game(nim, 1).iter().map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(nim, @"[352388644864, 283669168129, 281454575616, 210453397505, 139586437120, 70866960385, 68719476736, 1]");
}

/// Nim's keys and tic-tac-toe's are exact: as many keys as classes of positions.
#[test]
fn nim_keys_are_exact() {
    let mut keys = BTreeSet::new();
    let mut classes = BTreeSet::new();
    let rules = Nim::rules(&[4, 4, 4], false).unwrap();
    for number in 0..125 {
        let mut heaps = [number / 25, number / 5 % 5, number % 5];
        for colour in ["w", "b"] {
            let text = format!("{},{},{}/{colour}", heaps[0], heaps[1], heaps[2]);
            if let Ok(position) = Nim::parse(&rules, &text) {
                keys.insert(position.canonical_key());
                heaps.sort_unstable();
                classes.insert((heaps, colour));
            }
        }
    }
    assert_eq!(keys.len(), classes.len());
}
