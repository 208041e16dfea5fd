//! Randomly changed positions, moves and games of every game: parsed ones can be written, parsed again and
//! played on; others are refused briefly. `PROPTEST_CASES=1000000` is the long form.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use spelrum_engine::games::Nim;
use spelrum_engine::{Game, Played, Problem, Random, Rules, with_game};

use crate::common::all_sample_rules;

use super::{moves_of, random, random_game};

/// Plies that are played on from a position that was read.
const PLIES_MAX: usize = 60;
/// Longer than this no refusal is, whatever was written.
const REFUSAL_CHARS_MAX: usize = 600;

/// One change of a text.
#[derive(Clone, Debug)]
enum Mutation {
    Insert(Index, String),
    Remove(Index, usize),
    Replace(Index, char),
    /// Copies a piece of it to another place.
    Copy(Index, Index, usize),
    /// Exchanges two of its words.
    SwapWords(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    // What one game or another writes, numbers that are too large, and what none writes.
    let letters: Vec<char> =
        "0123456789abcdefghABCDEFGHkqrbnpKQRBNPxXoO.-+#=/,:; |wW*!?()\n\té♔\u{0}".chars().collect();
    let words = [
        "O-O-O",
        "e8=Q",
        "--",
        "pass",
        "4294967296",
        "18446744073709551616",
        "-1",
        "a1",
        "h8",
        "e2e4",
        "8/8/8/8/8/8/8/8",
        "KQkq",
        "//",
        "  ",
        "1.",
        "w",
        "b",
    ];
    prop_oneof![
        3 => (any::<Index>(), select(letters.clone())).prop_map(|(at, letter)| Mutation::Replace(at, letter)),
        2 => (any::<Index>(), select(letters)).prop_map(|(at, letter)| Mutation::Insert(at, letter.into())),
        2 => (any::<Index>(), select(words.to_vec()).prop_map(str::to_owned))
            .prop_map(|(at, text)| Mutation::Insert(at, text)),
        2 => (any::<Index>(), 1..8_usize).prop_map(|(at, count)| Mutation::Remove(at, count)),
        1 => (any::<Index>(), any::<Index>(), 1..40_usize)
            .prop_map(|(from, to, count)| Mutation::Copy(from, to, count)),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::SwapWords(a, b)),
    ]
}

impl Mutation {
    fn apply(&self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        let count = chars.len();
        match self {
            Self::Insert(at, more) => {
                let at = at.index(count + 1);
                chars.splice(at..at, more.chars());
            }
            Self::Remove(at, count_of_letters) => {
                let at = at.index(count + 1);
                chars.drain(at..(at + count_of_letters).min(count));
            }
            Self::Replace(at, by) if count > 0 => chars[at.index(count)] = *by,
            Self::Replace(..) => {}
            Self::Copy(from, to, count_of_letters) => {
                let from = from.index(count + 1);
                let piece = chars[from..(from + count_of_letters).min(count)].to_vec();
                let to = to.index(count + 1);
                chars.splice(to..to, piece);
            }
            Self::SwapWords(a, b) => {
                let mut words: Vec<&str> = text.split(' ').collect();
                let (a, b) = (a.index(words.len()), b.index(words.len()));
                words.swap(a, b);
                return words.join(" ");
            }
        }
        chars.into_iter().collect()
    }
}

/// Every game under all its rules that tests look at, and Nim under any.
fn every_rules() -> impl Strategy<Value = Rules> {
    let all = all_sample_rules();
    prop_oneof![
        all.len() as u32 => select(all),
        2 => (prop::collection::vec(1_u32..=30, 1..=8), any::<bool>())
            .prop_map(|(heaps, misere)| Nim::rules(&heaps, misere).unwrap()),
    ]
}

fn assert_refusal(error: &Problem, text: &str) {
    let Problem { what: problem, remedy, .. } = error;
    assert!(!problem.is_empty() && !remedy.is_empty(), "{text:?}: {error:?}");
    assert!(problem.chars().count() <= REFUSAL_CHARS_MAX, "{text:?}: {problem}");
    assert!(remedy.chars().count() <= REFUSAL_CHARS_MAX, "{text:?}: {remedy}");
}

/// A position that was read can be written, read again, and played on.
fn assert_position<P: Game>(rules: &Rules, position: &P, random: &mut Random) {
    assert_eq!(P::parse(rules, &position.to_string()).as_ref(), Ok(position));
    let mut position = position.clone();
    for _ in 0..PLIES_MAX {
        if position.is_over() {
            break;
        }
        let moves = moves_of(&position);
        assert!(!moves.is_empty(), "{position} is not over and has no moves");
        for mv in moves {
            assert_eq!(position.parse_move(&mv.to_string()), Ok(mv), "{position}");
        }
        position.play_unchecked(position.random_move(random));
    }
}

fn attack<P: Game>(rules: &Rules, seed: u64, at: Index, mutations: &[Mutation]) {
    let mutate = |text: String| mutations.iter().fold(text, |text, mutation| mutation.apply(&text));
    let mut random = random(seed);
    let positions = random_game(P::start(rules).unwrap(), seed);
    let position = &positions[at.index(positions.len())];

    let text = mutate(position.to_string());
    match P::parse(rules, &text) {
        Ok(read) => assert_position(rules, &read, &mut random),
        Err(error) => assert_refusal(&error, &text),
    }

    if !position.is_over() {
        let text = mutate(position.random_move(&mut random).to_string());
        match position.parse_move(&text) {
            // Whether it is legal is another question, which has one answer.
            Ok(mv) => {
                assert_eq!(
                    position.is_legal(mv),
                    moves_of(position).contains(&mv),
                    "{mv}: {position}"
                );
                assert_eq!(position.parse_move(&mv.to_string()), Ok(mv), "{position}");
            }
            Err(error) => assert_refusal(&error, &text),
        }
    }

    let mut played = Played::from_start(position.clone());
    let mut last = position.clone();
    while !last.is_over() && played.moves.len() < PLIES_MAX {
        let mv = last.random_move(&mut random);
        played.moves.push(mv);
        last.play_unchecked(mv);
    }
    let text = mutate(played.to_string());
    match Played::<P>::parse(rules, &text) {
        Ok(read) => {
            let again = Played::parse(rules, &read.to_string());
            assert_eq!(again.as_ref(), Ok(&read), "{text:?}");
            let _last = read.last();
        }
        Err(error) => assert_refusal(&error, &text),
    }
}

proptest! {
    #[test]
    fn what_was_changed_is_read_or_refused(
        rules in every_rules(),
        seed: u64,
        at: Index,
        mutations in prop::collection::vec(mutation(), 1..5),
    ) {
        with_game!(&rules, P => attack::<P>(&rules, seed, at, &mutations));
    }
}
