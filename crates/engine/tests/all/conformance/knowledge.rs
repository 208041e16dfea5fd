//! A game's knowledge of its positions, against making every move.

use spelrum_engine::{Game, Knowledge, Losing, PlayoutRandom, Position, Sifted};

use super::Sample;
use crate::common::brute_force::{after, first_win, moves_of, wins};

/// Positions made at most where all lines of some plies are tried.
const TRIED_MAX: usize = 60_000;
/// Games straight for the win from each position.
const DECISIVE_GAMES: u64 = 20;

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    wins_at_once_are_known(sample);
    losing_moves_are_removed(sample);
    nobody_wins_sooner_than_the_bounds_say(sample);
    of_moves_with_equal_results_the_first_is_listed(sample);
}

fn wins_at_once_are_known<G: Game>(sample: &Sample<'_, G>) {
    let going = || sample.positions().filter(|position| !position.is_over());
    let knows = going().any(Knowledge::can_win_at_once);
    for position in going() {
        let win = first_win(position);
        assert_eq!(position.winning_move(), win, "{position:?}");
        // A game that never says so does not know.
        assert_eq!(position.can_win_at_once(), knows && win.is_some(), "{position:?}");
    }
    for position in sample.positions().filter(|position| position.is_over()) {
        assert_eq!(position.winning_move(), None, "{position:?}");
    }
}

/// How a move loses at once or to a reply, if it does.
fn loses<P: Position>(position: &P, mv: P::Move) -> Option<Losing> {
    let child = after(position, mv);
    match child.ending() {
        Some(ending) => {
            (ending.winner == Some(position.to_move().other())).then_some(Losing::AtOnce)
        }
        None if child.to_move() == position.to_move() => None,
        None => {
            moves_of(&child).into_iter().any(|mv| wins(&child, mv)).then_some(Losing::ToTheReply)
        }
    }
}

fn losing_moves_are_removed<G: Game>(sample: &Sample<'_, G>) {
    let positions =
        sample.some_affordable(400, |position| u64::from(position.legal_move_count()).pow(2));
    for position in positions.filter(|position| first_win(*position).is_none()) {
        let all = moves_of(position);
        // What lies before the first is none of its business.
        let before = &all[..all.len().min(3)];
        let mut listed = [before, &all].concat();
        let sifted = position.remove_losing(&mut listed, before.len());
        let (others, kept) = listed.split_at(before.len());
        assert_eq!(others, before, "{position:?}");
        let losing: Vec<Losing> = all.iter().filter_map(|&mv| loses(position, mv)).collect();
        match sifted {
            Sifted::Unknown => assert_eq!(kept, all, "{position:?}"),
            // After the last ply there is no reply: a search sees every ending itself.
            Sifted::AllSafe => {
                assert_eq!(kept, all, "{position:?}");
                let is_last = position.plies_left() == 1;
                assert!(losing.is_empty() || is_last, "{position:?}: {losing:?}");
                assert!(!losing.contains(&Losing::ToTheReply), "{position:?}");
            }
            Sifted::Removed(best) => {
                let safe = all.into_iter().filter(|&mv| loses(position, mv).is_none());
                assert_eq!(kept, safe.collect::<Vec<G::Move>>(), "{position:?}");
                let latest = if losing.contains(&Losing::ToTheReply) {
                    Losing::ToTheReply
                } else {
                    Losing::AtOnce
                };
                assert_eq!(best, latest, "{position:?}");
            }
        }
    }
}

/// The fewest plies in which the side to move, and the other, can have won, both sides helping:
/// as far as this can be tried.
fn soonest_wins<P: Position>(position: &P) -> ([Option<u32>; 2], u32) {
    let mut soonest = [None; 2];
    let mut level = vec![position.clone()];
    for plies in 1..=3 {
        let moves: usize = level.iter().map(|parent| parent.legal_move_count() as usize).sum();
        if moves > TRIED_MAX {
            return (soonest, plies - 1);
        }
        let children = level.iter().flat_map(|parent| {
            moves_of(parent).into_iter().map(|mv| after(parent, mv)).collect::<Vec<P>>()
        });
        let (over, going): (Vec<P>, Vec<P>) = children.partition(P::is_over);
        for winner in over.iter().filter_map(|child| child.ending()?.winner) {
            soonest[usize::from(winner != position.to_move())].get_or_insert(plies);
        }
        level = going;
    }
    (soonest, 3)
}

fn nobody_wins_sooner_than_the_bounds_say<G: Game>(sample: &Sample<'_, G>) {
    // The rest of a game, half of it on average.
    let cost = |_: &G| DECISIVE_GAMES * sample.moves_of_a_game / 2;
    for (seed, position) in (0..).zip(sample.some_affordable(150, cost)) {
        let bounds = position.plies_to_win();
        assert!(bounds.iter().all(|&bound| bound >= 1), "{position:?}: {bounds:?}");
        let (soonest, tried) = soonest_wins(position);
        for (bound, soonest) in bounds.into_iter().zip(soonest) {
            let is_bound = soonest.is_none_or(|plies| bound <= plies);
            assert!(is_bound, "{position:?}: {bound} of {soonest:?} in {tried} plies");
        }
        // Further away: in games straight for the win.
        let mut random = PlayoutRandom::from_seed(seed);
        for _ in 0..DECISIVE_GAMES {
            let mut game = position.clone();
            let plies = game.play_decisively(&mut random, u32::MAX);
            if let Some(winner) = game.ending().and_then(|ending| ending.winner) {
                let bound = bounds[usize::from(winner != position.to_move())];
                assert!(bound <= plies, "{position:?}: {bound} of {plies} plies");
            }
        }
    }
}

fn of_moves_with_equal_results_the_first_is_listed<G: Game>(sample: &Sample<'_, G>) {
    // Nearly empty boards have most of them.
    let early = sample.games.iter().flat_map(|game| game.positions.iter().take(4));
    for position in early.chain(sample.some_ongoing(100)) {
        let all = moves_of(position);
        let mut results = Vec::new();
        let mut first_of_each = Vec::new();
        for &mv in &all {
            let result = after(position, mv).to_string();
            if let Err(place) = results.binary_search(&result) {
                results.insert(place, result);
                first_of_each.push(mv);
            }
        }
        let before = &all[..all.len().min(2)];
        let mut distinct = before.to_vec();
        position.distinct_moves(&mut distinct);
        assert_eq!(distinct, [before, &first_of_each].concat(), "{position:?}");
    }
}
