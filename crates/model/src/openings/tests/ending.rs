//! Openings of chess endings, against a slow reference that goes over all squares of the board.

use spelrum_engine::games::Chess;
use spelrum_engine::tables::{self, TableValue};
use spelrum_engine::{Outcome, Side, Timeless, Value};

use super::*;
use crate::conditions::Task;
use crate::game::PlayableCell;

static CHESS: LazyLock<Rules> = LazyLock::new(Chess::rules);

fn ending(ending: &str) -> OpeningsRule {
    rule(ending, ToMove::White, None, true)
}

fn rule(
    ending: &str,
    to_move: ToMove,
    distance: Option<[u32; 2]>,
    stratified: bool,
) -> OpeningsRule {
    OpeningsRule::Ending { ending: ending.to_owned(), to_move, distance, stratified }
}

fn chess(text: &str) -> Chess {
    let position = Chess::parse(&CHESS, text).unwrap();
    assert_eq!(position.to_string(), text, "as the game writes it");
    assert!(!position.is_over(), "{text}");
    position
}

/// The squares of the pieces in a FEN, in the order of these letters. Like pieces in ascending order.
fn squares(fen: &str, letters: &str) -> Vec<u8> {
    let mut men = Vec::new();
    for (row, rank) in fen.split(' ').next().unwrap().split('/').zip((0..8_u8).rev()) {
        let mut file = 0;
        for letter in row.chars() {
            if let Some(man) = letters.find(letter) {
                men.push((man, rank * 8 + file));
            }
            file += letter.to_digit(10).map_or(1, |empty| empty as u8);
        }
    }
    men.sort_unstable();
    men.into_iter().map(|(_, square)| square).collect()
}

/// The least of all eight images, with like pieces in ascending order.
fn least_image(squares: &[u8], letters: &str) -> Vec<u8> {
    let image = |symmetry: u8| {
        let turned = squares.iter().map(|&square| {
            let (file, rank) = (square % 8, square / 8);
            let file = if symmetry & 1 == 0 { file } else { 7 - file };
            let rank = if symmetry & 2 == 0 { rank } else { 7 - rank };
            if symmetry & 4 == 0 { rank * 8 + file } else { file * 8 + rank }
        });
        let mut men: Vec<_> = letters.chars().zip(turned).collect();
        // The kings stand first, and like pieces side by side.
        men[2..].sort_by_key(|&(letter, square)| (letters.find(letter), square));
        men.into_iter().map(|(_, square)| square).collect()
    };
    (0..8).map(image).min().unwrap()
}

/// The slow reference: all placements of the pieces that white wins, up to symmetry, each with the number of
/// moves that white still makes.
fn won_by_brute_force(name: &str, letters: &str, to_move: ToMove) -> BTreeMap<Vec<u8>, u32> {
    let table = tables::shared(&name.parse().unwrap());
    let side = if to_move == ToMove::White { Side::First } else { Side::Second };
    let mut won = BTreeMap::new();
    for number in 0..64_usize.pow(letters.len() as u32) {
        let place = |man: usize| (number >> (6 * man) & 63) as u8;
        let squares: Vec<u8> = (0..letters.len()).map(place).collect();
        let plies = match table.value_at(side, &squares) {
            Some(TableValue::Win { plies }) if side == Side::First => plies,
            Some(TableValue::Loss { plies }) if side == Side::Second => plies,
            Some(_) | None => continue,
        };
        if plies > 0 {
            won.insert(least_image(&squares, letters), plies.div_ceil(2));
        }
    }
    won
}

/// All openings of a rule by their least images, each once, with the moves to mate; checks the properties of
/// each.
fn found(rule: &OpeningsRule, letters: &str) -> (Openings, BTreeMap<Vec<u8>, u32>) {
    let openings = openings(7, &CHESS, rule);
    let count = openings.count().unwrap();
    let mut plies_by_image = BTreeMap::new();
    for number in 0..count {
        let text = openings.opening(number);
        let plies = tables::value(&chess(&text)).unwrap().plies();
        assert_eq!(openings.plies_to_mate(number), plies, "{text}");
        let image = least_image(&squares(&text, letters), letters);
        let again = plies_by_image.insert(image, plies.unwrap().div_ceil(2));
        assert_eq!(again, None, "{text} is there twice");
    }
    (openings, plies_by_image)
}

#[test]
fn every_position_that_white_wins_is_there_once() {
    for (name, letters) in [("KRK", "KkR"), ("KQK", "KkQ")] {
        for to_move in ToMove::ALL {
            let expected = won_by_brute_force(name, letters, to_move);
            for stratified in [true, false] {
                let (openings, found) = found(&rule(name, to_move, None, stratified), letters);
                assert_eq!(found, expected, "{name} {to_move:?}");
                assert_eq!(openings.distinct(u64::MAX), expected.len() as u64);
                assert_eq!(openings.distinct(5), 5);
                assert_eq!(openings.distinct_within(u64::MAX, 0), Some(expected.len() as u64));
            }
            let near = rule(name, to_move, Some([2, 5]), true);
            let mut expected = expected;
            expected.retain(|_, moves| (2..=5).contains(moves));
            assert_eq!(found(&near, letters).1, expected);
        }
    }
}

/// Exchanging two like pieces gives the same position; white wins few of these, and every one of them is
/// there.
#[test]
fn like_pieces_make_no_position_twice() {
    let expected = won_by_brute_force("KNNK", "KkNN", ToMove::White);
    let (openings, found) = found(&ending("KNNK"), "KkNN");
    assert_eq!(found, expected);
    assert!(openings.count().unwrap() > 10);
}

/// With pieces on both sides it is white that wins.
#[test]
fn white_wins_where_both_sides_have_pieces() {
    for name in ["KRKN", "KRKB"] {
        let openings = openings(3, &CHESS, &ending(name));
        assert!(openings.count().unwrap() > 100);
        for number in 0..200 {
            let text = openings.opening(number);
            let value = tables::value(&chess(&text)).unwrap();
            let plies = openings.plies_to_mate(number).unwrap();
            assert_eq!(value, TableValue::Win { plies }, "{text}");
            assert_eq!(squares(&text, "kKRNB").len(), squares(&text, "kKrRnNbB").len() - 1);
        }
    }
}

/// Distances in ascending order, over and over, each as long as it has positions left, as counted by a slow
/// reference.
#[test]
fn distances_are_taken_in_turn() {
    for wanted in [ending("KRK"), rule("KQK", ToMove::Black, Some([3, 9]), true)] {
        let openings = openings(7, &CHESS, &wanted);
        let count = openings.count().unwrap();
        let distances: Vec<u32> =
            (0..count).map(|number| openings.plies_to_mate(number).unwrap().div_ceil(2)).collect();
        let mut left = BTreeMap::<u32, u32>::new();
        distances.iter().for_each(|&moves| *left.entry(moves).or_default() += 1);
        let mut number = 0;
        while !left.is_empty() {
            for moves in left.keys().copied().collect::<Vec<_>>() {
                assert_eq!(distances[number], moves, "{number}");
                number += 1;
                *left.get_mut(&moves).unwrap() -= 1;
            }
            left.retain(|_, left| *left > 0);
        }
        assert_eq!(number as u64, count);
    }
}

/// Without strata distances are as frequent as they are in the ending.
#[test]
fn without_strata_all_are_shuffled_together() {
    let openings = openings(7, &CHESS, &rule("KRK", ToMove::White, None, false));
    let all = openings.count().unwrap();
    let far = |numbers: std::ops::Range<u64>| {
        let far =
            numbers.clone().filter(|&number| openings.plies_to_mate(number).unwrap() > 20).count();
        far as f64 / (numbers.end - numbers.start) as f64
    };
    assert!((far(0..2_000) - far(0..all)).abs() < 0.04, "{} {}", far(0..2_000), far(0..all));
}

#[test]
fn the_sequence_starts_again() {
    let openings = openings(7, &CHESS, &ending("KRK"));
    let count = openings.count().unwrap();
    for number in [0, 1, 17, count - 1] {
        for times in [1, 3, u64::MAX / count - 1] {
            assert_eq!(openings.opening(number), openings.opening(count * times + number));
            assert_eq!(
                openings.plies_to_mate(number),
                openings.plies_to_mate(count * times + number)
            );
        }
    }
    let _ = openings.opening(u64::MAX);
}

/// Invariant 1: neither the caller nor the order of requests is an input.
#[test]
fn endings_do_not_depend_on_who_asks_when() {
    let forwards = first(&openings(7, &CHESS, &ending("KRK")), 300);
    let other = openings(7, &CHESS, &ending("KRK"));
    let mut backwards: Vec<_> = (0..300).rev().map(|number| other.opening(number)).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert_ne!(forwards, first(&openings(8, &CHESS, &ending("KRK")), 300));
    assert_ne!(
        forwards,
        first(&openings(7, &CHESS, &rule("KRK", ToMove::White, Some([1, 16]), true)), 300)
    );
}

/// The white king is seen in all eight parts of the board, each as often as the others.
#[test]
fn openings_are_turned_every_way() {
    let openings = openings(7, &CHESS, &ending("KRK"));
    let mut seen = [0; 8];
    for text in first(&openings, 8_000) {
        let king = squares(&text, "K")[0];
        let (file, rank) = (king % 8, king / 8);
        let (left, down) = (file.min(7 - file), rank.min(7 - rank));
        if left != down {
            let part =
                usize::from(file > 3) + 2 * usize::from(rank > 3) + 4 * usize::from(left > down);
            seen[part] += 1;
        }
    }
    let mean = seen.iter().sum::<i32>() / 8;
    assert!(seen.iter().all(|count| (count - mean).abs() < mean / 5), "{seen:?}");
}

#[test]
fn endings_that_cannot_be_are_errors() {
    let error = |rules: &Rules, rule| Openings::new(1, rules, &rule).unwrap_err();
    assert_eq!(error(&PENTAGO, ending("KRK")), OpeningsError::NotChess);
    let chess960: Rules = serde_json::from_str(r#"{"name": "chess", "chess960": true}"#).unwrap();
    assert_eq!(error(&chess960, ending("KRK")), OpeningsError::NotChess);
    assert!(matches!(error(&CHESS, ending("KPPPK")), OpeningsError::Ending(_)));
    assert!(matches!(error(&CHESS, ending("")), OpeningsError::Ending(_)));
    let none = [
        ending("KK"),
        ending("KBK"),
        ending("KKR"),
        rule("KRK", ToMove::White, Some([17, 99]), true),
        rule("KRK", ToMove::White, Some([5, 4]), true),
        rule("KRK", ToMove::Black, Some([0, 0]), false),
        // Black is mated in some, and can be mated in none.
        rule("KNNK", ToMove::Black, None, true),
    ];
    let messages: Vec<String> = none.map(|rule| error(&CHESS, rule).to_string()).into();
    insta::assert_snapshot!(messages.join("\n"));
}

/// Part of the recorded data: these never change.
#[test]
fn golden_endings() {
    let lines = [
        ending("KRK"),
        rule("KRK", ToMove::Black, Some([3, 5]), false),
        rule("KBNK", ToMove::White, Some([20, 33]), true),
    ]
    .map(|rule| {
        let openings = openings(2014, &CHESS, &rule);
        let four: Vec<_> = first(&openings, 4);
        format!("{rule:?} of {}:\n  {}", openings.count().unwrap(), four.join("\n  "))
    });
    insta::assert_snapshot!(lines.join("\n"));
}

/// Table against table mates from each opening in its number of plies, with either player as white.
#[test]
fn games_of_perfect_players_last_as_long_as_their_openings_say() {
    let table = |shuffle| {
        let parameters =
            [("algorithm", Value::Text("table".into())), ("shuffle", Value::Bool(shuffle))];
        Arc::new(parameters.map(|(key, value)| (key.to_owned(), value)).into())
    };
    for (to_move, swap_sides) in
        [(ToMove::White, false), (ToMove::White, true), (ToMove::Black, true)]
    {
        let definition = CellDefinition {
            format: CellDefinition::FORMAT,
            seed: 5,
            rules: CHESS.clone(),
            openings: rule("KRK", to_move, None, true),
            max_plies: None,
            adjudication: None,
            swap_sides,
            task: Task::Game,
            players: [table(true), table(false)],
        };
        let json = definition.canonical_json();
        let cell = PlayableCell::from_json(&json, &OpeningsCache::default()).unwrap();
        assert_eq!(cell.definition(), &definition);
        for number in 0..80 {
            let (game, record) = cell.play(number, None, &Timeless).unwrap();
            assert_eq!(cell.plies_to_mate(number), Some(record.moves.len() as u32), "{number}");
            let mover_wins = to_move == ToMove::White;
            let outcome = if mover_wins { Outcome::Win } else { Outcome::Loss };
            assert_eq!(record.outcome, outcome, "{}", game.opening);
            assert_eq!(cell.referee(number, &game.opening, &record), Ok(()));
        }
    }
}

/// Far more openings than could be kept as text.
#[test]
fn endings_cost_little_for_what_they_have() {
    let openings = openings(1, &CHESS, &ending("KRK"));
    let (count, places) = (openings.count().unwrap(), 59_136 / 2 * 2);
    assert!(openings.cost() < 2 * count.max(places), "{} {count}", openings.cost());
}
