//! Tabulated knowledge of positions, against making every move.

use std::collections::BTreeSet;

use crate::common::brute_force::{after, moves_of, wins};
use crate::common::{key, random_position};
use proptest::prelude::*;
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::games::{Pentago, PentagoMove};
use spelrum_engine::search::{Budget, Evaluate, LastPly, Limits};
use spelrum_engine::{Game, Knowledge, Losing, Position, Random, Sifted, Timeless};

/// A position that is not over, from a game of random moves in which the first win is passed over
/// now and then, so that there are threats.
fn position(seed: u64, win_before_rotation: bool) -> Pentago {
    let rules = Pentago::rules(win_before_rotation);
    let mut random = Random::from_key(key(seed));
    let plies = random.below(35);
    random_position(&rules, plies, &mut random)
}

/// How a move loses at once or to a reply, if it does.
fn loses<P: Position>(position: &P, mv: P::Move) -> Option<Losing> {
    let child = after(position, mv);
    match child.ending() {
        Some(ending) => {
            (ending.winner == Some(position.to_move().other())).then_some(Losing::AtOnce)
        }
        None => {
            moves_of(&child).into_iter().any(|mv| wins(&child, mv)).then_some(Losing::ToTheReply)
        }
    }
}

fn best_by_making_every_move(
    position: &Pentago,
    evaluation: &dyn Evaluate<Pentago>,
    LastPly { lost, lost_to_reply, .. }: LastPly,
) -> i32 {
    let value = |mv| {
        let child = after(position, mv);
        match (loses(position, mv), child.ending(), lost_to_reply) {
            (Some(Losing::AtOnce), ..) => lost,
            (Some(Losing::ToTheReply), _, Some(lost_to_reply)) => lost_to_reply,
            (_, Some(drawn), _) => {
                assert_eq!(drawn.winner, None);
                0
            }
            (_, None, _) => -evaluation.evaluate(&child),
        }
    };
    moves_of(position).into_iter().map(value).max().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_win_at_once_is_found_if_there_is_one(seed: u64, win_before_rotation: bool) {
        let position = position(seed, win_before_rotation);
        let winning: Vec<PentagoMove> =
            moves_of(&position).into_iter().filter(|&mv| wins(&position, mv)).collect();
        prop_assert_eq!(position.winning_move(), winning.first().copied(), "{}", position);
        prop_assert_eq!(position.can_win_at_once(), !winning.is_empty(), "{}", position);
    }

    #[test]
    fn the_moves_that_lose_to_a_reply_are_removed(seed: u64, win_before_rotation: bool) {
        let position = position(seed, win_before_rotation);
        if position.winning_move().is_some() {
            return Ok(());
        }
        let all = moves_of(&position);
        let mut kept = all.clone();
        let removed = position.remove_losing(&mut kept, 0);
        if position.plies_left() == 1 {
            // After the last placement there is no reply: the search sees every ending itself.
            prop_assert_eq!((kept, removed), (all, Sifted::AllSafe));
            return Ok(());
        }
        let losing: Vec<Losing> = all.iter().filter_map(|&mv| loses(&position, mv)).collect();
        let expected: Vec<PentagoMove> =
            all.into_iter().filter(|&mv| loses(&position, mv).is_none()).collect();
        prop_assert_eq!(kept, expected, "{}", position);
        let best = [Losing::ToTheReply, Losing::AtOnce].into_iter().find(|way| losing.contains(way));
        let expected = best.map_or(Sifted::AllSafe, Sifted::Removed);
        prop_assert_eq!(removed, expected, "{}", position);
    }

    #[test]
    fn of_moves_with_equal_results_the_first_is_listed(seed: u64, plies in 0..12_u32) {
        let rules = Pentago::rules(seed % 2 == 0);
        let position: Pentago = random_position(&rules, plies, &mut Random::from_key(key(seed)));
        let mut results = BTreeSet::new();
        let first_of_each: Vec<PentagoMove> = moves_of(&position)
            .into_iter()
            .filter(|&mv| results.insert(after(&position, mv).to_string()))
            .collect();
        let mut distinct = Vec::new();
        position.distinct_moves(&mut distinct);
        prop_assert_eq!(distinct, first_of_each, "{}", position);
    }

    /// No game is won sooner than the bounds say, played at random or straight for the win.
    #[test]
    fn nobody_wins_sooner_than_the_bounds_say(seed: u64, win_before_rotation: bool) {
        let position = position(seed, win_before_rotation);
        let [own, other] = position.plies_to_win();
        let mover = position.to_move();
        let mut random = Random::from_key(key(seed ^ 1));
        let mut game = position;
        let mut plies = 0;
        while !game.is_over() {
            let won = game.winning_move();
            game.play_unchecked(won.unwrap_or_else(|| game.random_move(&mut random)));
            plies += 1;
        }
        match game.ending().and_then(|ending| ending.winner) {
            Some(winner) if winner == mover => prop_assert!(plies >= own, "{position}"),
            Some(_) => prop_assert!(plies >= other, "{position}"),
            None => {}
        }
    }

    #[test]
    fn the_last_ply_from_tables_is_the_best_of_all_moves(
        seed: u64,
        win_before_rotation: bool,
        plies in prop::option::of(0..10_u32),
        beta in -60..60,
        sees_replies: bool,
    ) {
        let rules = Pentago::rules(win_before_rotation);
        let position = match plies {
            // Few marbles: many turns that change nothing.
            Some(plies) => random_position(&rules, plies, &mut Random::from_key(key(seed))),
            None => position(seed, win_before_rotation),
        };
        if position.winning_move().is_some() {
            return Ok(());
        }
        let (runs, lines) = (PentagoRuns::default(), PentagoLines::default());
        let asked = LastPly {
            lost: -900_000,
            lost_to_reply: sees_replies.then_some(-899_999),
            beta: i32::MAX,
        };
        for evaluation in [&runs as &dyn Evaluate<Pentago>, &lines] {
            let last_ply = |beta| {
                let mut budget = Budget::new(&Limits::default(), &Timeless);
                let asked = LastPly { beta, ..asked };
                evaluation.last_ply(&position, asked, &mut budget).map(Result::unwrap)
            };
            if position.plies_left() == 1 {
                prop_assert_eq!(last_ply(beta), None);
                continue;
            }
            let exact = best_by_making_every_move(&position, evaluation, asked);
            prop_assert_eq!(last_ply(i32::MAX), Some(exact), "{}", position);
            let bounded = last_ply(beta).unwrap();
            prop_assert!(bounded == exact || (bounded >= beta && bounded < exact));
        }
    }
}

/// The reference data's boards on which the value hangs on one rule.
#[test]
fn tables_and_moves_agree_where_rules_are_subtle() {
    let text = include_str!("../vectors/pentago/positions.json");
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut checked = 0;
    for (_, entries) in file["sets"].as_object().unwrap() {
        for entry in entries.as_array().unwrap() {
            for win_before_rotation in [true, false] {
                let rules = Pentago::rules(win_before_rotation);
                let position = Pentago::parse(&rules, entry["board"].as_str().unwrap()).unwrap();
                let is_won = moves_of(&position).into_iter().any(|mv| wins(&position, mv));
                assert_eq!(position.winning_move().is_some(), is_won, "{position}");
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked}");
}
