//! Moves: listed, counted, drawn and made.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use spelrum_engine::{Before, Game, Line, MARGIN_MAX, Random, Side, perft};

use super::Sample;
use crate::common::brute_force::{after, moves_of};
use crate::common::key;

/// Moves whose legality is asked for, at most.
const ASKED_MAX: usize = 5_000_000;

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    moves_are_listed_counted_and_drawn_alike(sample);
    children_are_those_of_the_listed_moves(sample);
    only_listed_moves_are_legal(sample);
    codes_tell_moves_apart(sample);
    moves_change_the_position(sample);
    games_end_within_their_bound(sample);
    margins_are_of_ends_and_of_winners(sample);
    leaves_are_counted(sample);
    history_matters_where_it_is_said_to(sample);
}

fn moves_are_listed_counted_and_drawn_alike<G: Game>(sample: &Sample<'_, G>) {
    for (seed, position) in (0..).zip(sample.positions()) {
        let moves = moves_of(position);
        let is_ascending = moves.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(is_ascending, "{position:?}: {moves:?} is not in canonical order");
        assert_eq!(moves.len(), position.legal_move_count() as usize, "{position:?}");
        for (index, &mv) in (0..).zip(&moves) {
            assert_eq!(position.nth_legal_move(index), mv, "{position:?}, move {index}");
        }
        assert_eq!(moves.is_empty(), position.is_over(), "{position:?}");
        assert_eq!(position.ending().is_some(), position.is_over(), "{position:?}");

        let mut appended = moves.clone();
        position.legal_moves(&mut appended);
        assert_eq!(appended, [&moves[..], &moves].concat(), "{position:?}: moves are appended");

        let mut random = Random::from_key(key(seed));
        let mut same = random.clone();
        for _ in 0..if moves.is_empty() { 0 } else { 4 } {
            let index = same.below(moves.len() as u32) as usize;
            assert_eq!(position.random_move(&mut random), moves[index], "{position:?}");
        }
        assert_eq!(random.below(u32::MAX), same.below(u32::MAX), "{position:?}: other numbers");
    }
    // What is not there is not given; a few positions will do, since each panic is printed.
    let positions = &sample.games[0].positions;
    for position in positions.iter().rev().step_by(positions.len().div_ceil(60)) {
        let past = position.legal_move_count();
        let given = catch_unwind(AssertUnwindSafe(|| position.nth_legal_move(past)));
        assert!(given.is_err(), "{position:?} gave {given:?}");
        let drawn = AssertUnwindSafe(|| position.random_move(&mut Random::from_key(key(4))));
        assert_eq!(catch_unwind(drawn).is_err(), position.is_over(), "{position:?}");
    }
}

/// Also those that a game makes without listing its moves.
fn children_are_those_of_the_listed_moves<G: Game>(sample: &Sample<'_, G>) {
    for position in sample.positions() {
        let mut made = Vec::new();
        position.for_each_child(|child| made.push(format!("{child:?}")));
        let moves = moves_of(position);
        let mut expected: Vec<String> =
            moves.into_iter().map(|mv| format!("{:?}", after(position, mv))).collect();
        made.sort_unstable();
        expected.sort_unstable();
        assert_eq!(made, expected, "{position:?}");
    }
}

/// Of all moves that were legal anywhere, those are legal here that are listed here.
fn only_listed_moves_are_legal<G: Game>(sample: &Sample<'_, G>) {
    let mut all: Vec<G::Move> = sample.positions().flat_map(moves_of).collect();
    all.sort_unstable();
    all.dedup();
    let positions = ASKED_MAX / all.len();
    for position in sample.some_positions(positions) {
        let moves = moves_of(position);
        for &mv in &all {
            let is_listed = moves.binary_search(&mv).is_ok();
            assert_eq!(position.is_legal(mv), is_listed, "{mv} in {position:?}");
        }
    }
}

fn codes_tell_moves_apart<G: Game>(sample: &Sample<'_, G>) {
    for position in sample.positions() {
        let mut codes = BTreeMap::new();
        for mv in moves_of(position) {
            let code = G::move_code(mv);
            assert!(usize::from(code) < G::MOVE_CODES, "{mv} has the code {code}");
            let other = codes.insert(code, mv);
            assert_eq!(other, None, "{mv} has the code of another move in {position:?}");
        }
    }
}

fn moves_change_the_position<G: Game>(sample: &Sample<'_, G>) {
    for game in &sample.games {
        for (pair, &mv) in game.positions.windows(2).zip(&game.moves) {
            assert_ne!(pair[0], pair[1], "{mv} changes nothing");
        }
    }
}

fn games_end_within_their_bound<G: Game>(sample: &Sample<'_, G>) {
    for game in &sample.games {
        for (played, position) in game.positions.iter().enumerate() {
            let left = game.moves.len() - played;
            let bound = position.plies_left();
            assert!(left <= bound as usize, "{left} plies follow upon {position:?}, not {bound}");
        }
        for pair in game.positions.windows(2) {
            let [before, now] = [pair[0].plies_left(), pair[1].plies_left()];
            assert!(now <= before, "{:?} has {before} plies left, then {now}", pair[0]);
        }
    }
}

/// By [`perft`] as by hand, and every kind of leaf is either won, lost or drawn for who ends it.
fn leaves_are_counted<G: Game>(sample: &Sample<'_, G>) {
    let mut results = BTreeMap::new();
    for position in sample.some_ongoing(60) {
        let mut leaves = 0;
        let mut ended = vec![0; G::LEAF_KINDS.len()];
        let depth = if position.legal_move_count() > 40 { 1 } else { 2 };
        let mut level = vec![position.clone()];
        for ply in 1..=depth {
            let mut next = Vec::new();
            for parent in &level {
                for child in moves_of(parent).into_iter().map(|mv| after(parent, mv)) {
                    let Some(ending) = child.ending() else {
                        next.push(child);
                        continue;
                    };
                    assert!(G::TERMINATIONS.contains(&ending.termination), "{ending:?}");
                    if G::LEAF_KINDS.is_empty() {
                        // Then only what goes on to the depth is counted, unless it is said otherwise.
                        leaves += u64::from(ply == depth || G::ENDED_GAMES_ARE_LEAVES);
                        continue;
                    }
                    let mover = parent.to_move();
                    let kind = G::leaf_kind(ending, mover);
                    ended[kind] += 1;
                    leaves += 1;
                    let result = ending.winner.map(|winner| winner == mover);
                    let known = *results.entry(kind).or_insert((ending.termination, result));
                    let name = G::LEAF_KINDS[kind];
                    assert_eq!(known, (ending.termination, result), "{name} in {child:?}");
                }
            }
            leaves += if ply == depth { next.len() as u64 } else { 0 };
            level = next;
        }
        let counted = perft(position, depth);
        assert_eq!(counted.leaves, leaves, "{position:?} to depth {depth}");
        let ended: Vec<_> = G::LEAF_KINDS.iter().copied().zip(ended).collect();
        assert_eq!(counted.ended, ended, "{position:?} to depth {depth}");
        if let Some(full) = position.full_tree_leaves(depth) {
            let is_whole = ended.iter().all(|(_, leaves)| *leaves == 0);
            assert!(full == leaves || (full > leaves && !is_whole), "{position:?}: {full} leaves");
        }
    }
}

/// A game that counts something says of each end, and of nothing else, by how much it was won.
fn margins_are_of_ends_and_of_winners<G: Game>(sample: &Sample<'_, G>) {
    for position in sample.positions() {
        let ending = position.ending();
        let margin = position.margin();
        assert_eq!(margin.is_some(), G::MARGIN.is_some() && ending.is_some(), "{position:?}");
        if let (Some(ending), Some(margin)) = (ending, margin) {
            let sign = match ending.winner {
                Some(Side::First) => 1,
                Some(Side::Second) => -1,
                None => 0,
            };
            assert_eq!(margin.signum(), sign, "{position:?}");
            assert!(margin.abs() <= MARGIN_MAX, "{position:?}");
        }
    }
}

/// A game whose positions say all there is to say is never ended by what went before.
fn history_matters_where_it_is_said_to<G: Game>(sample: &Sample<'_, G>) {
    for game in sample.games.iter().filter(|_| !G::HISTORY_MATTERS) {
        let made = game.positions.iter().zip(&game.moves);
        let before: Vec<Before<G::Move>> =
            made.map(|(position, &mv)| Before { mv, key: position.canonical_key() }).collect();
        for (played, position) in game.positions.iter().enumerate() {
            let ending = G::adjudicate(Line { position, before: &before[..played] });
            assert_eq!(ending, None, "{position:?}");
        }
    }
}
