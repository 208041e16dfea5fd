//! Repetition: all searches end a line where the arbiter would.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use spelrum_engine::search::alpha_beta::{AlphaBeta, Options};
use spelrum_engine::search::genetic::{GeneticMinimax, GeneticParameters};
use spelrum_engine::search::mcts::{Mcts, MctsParameters};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{Budget, Found, Limits, Search, WIN_MIN};
use spelrum_engine::{Before, EndedBy, Line, Random, Timeless};

use super::preserving;
use super::twin::Twin;
use super::walk::{Hunch, Map, Played, Walk, played};
use crate::common::key;

/// Some way into a game on a small map.
fn games() -> impl Strategy<Value = Played> {
    games_until(2..=3)
}

/// The same, where a position ends the game when it appears so often.
fn games_until(last: RangeInclusive<u8>) -> impl Strategy<Value = Played> {
    let map = (any::<u64>(), 2..6_u8, 1..4_u8, last);
    (map, 0..12_u32, any::<u64>()).prop_map(|((seed, cells, levels, last), plies, moves)| {
        played(Walk::on(Map { seed, cells, levels, last }), plies, moves)
    })
}

fn search(search: &mut impl Search<Walk>, position: &Walk, before: &[Before<u8>]) -> Found<u8> {
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let line = Line { position, before };
    search.search(line, &mut budget, &mut Random::from_key(key(1))).unwrap()
}

/// Minimax's value of a position with its history, and of a move.
fn values(options: Options, (position, before): &Played, mv: Option<u8>) -> (i32, Option<i32>) {
    let mut twin = Twin::new(options, &Hunch, before);
    let value = twin.minimax(position, options.depth.unwrap(), 0);
    (value, mv.map(|mv| twin.minimax_of_root_move(position, mv)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn minimax_and_alpha_beta_agree_on_what_comes_again(
        game in games(),
        depth in 1..=7_u32,
        options in preserving(),
    ) {
        // The table's promise is lost here.
        let options = Options { depth: Some(depth), table_mib: None, ..options };
        let (position, before) = &game;
        let plain = minimax::Options { depth: Some(depth), shuffle: options.shuffle };
        let mut alpha_beta = AlphaBeta::new(options, Hunch);
        for found in [
            search(&mut Minimax::new(plain, Hunch), position, before),
            search(&mut alpha_beta, position, before),
            search(&mut alpha_beta, position, before),
        ] {
            let (value, of_move) = values(options, &game, Some(found.mv));
            prop_assert_eq!(found.score, Some(value));
            prop_assert_eq!(of_move, Some(value));
        }
    }

    /// Switches that need tables of what wins at once, or of the last ply, ask nothing of what came
    /// before: they keep still here.
    #[test]
    fn what_knows_positions_only_keeps_still(game in games(), depth in 1..=6_u32) {
        let options = Options {
            depth: Some(depth),
            threats: true,
            last_ply: true,
            distance: true,
            ..Options::default()
        };
        let found = search(&mut AlphaBeta::new(options, Hunch), &game.0, &game.1);
        prop_assert_eq!(found.score, Some(values(options, &game, None).0));
    }

    /// A position that comes again for the first time is a draw, if that is asked for.
    #[test]
    fn a_first_repetition_counts_as_the_twin_says(
        game in games(),
        depth in 1..=7_u32,
        options in preserving(),
    ) {
        let options =
            Options { depth: Some(depth), repetition: true, table_mib: None, ..options };
        let found = search(&mut AlphaBeta::new(options, Hunch), &game.0, &game.1);
        let (value, of_move) = values(options, &game, Some(found.mv));
        prop_assert_eq!((found.score, of_move), (Some(value), Some(value)));
    }

    /// A table keeps no value that rests on what came before a search's root: after a search of a
    /// position that has come up before, the same position without that is worth what it is worth.
    /// (So few plies hold no third appearance by themselves.)
    #[test]
    fn a_table_keeps_no_value_that_rests_on_the_line(
        game in games_until(3..=3),
        depth in 1..=3_u32,
        options in preserving(),
    ) {
        let options = Options { depth: Some(depth), table_mib: Some(1), ..options };
        let mut used = AlphaBeta::new(options, Hunch);
        search(&mut used, &game.0, &game.1);
        let found = search(&mut used, &game.0, &[]);
        let without_line = (game.0, Vec::new());
        prop_assert_eq!(found.score, Some(values(options, &without_line, None).0));
    }

    /// Lines of a move and a reply, and whole trees of longer ones, end where the rules end them.
    #[test]
    fn genetic_minimax_agrees(
        game in games(),
        depth in 1..=4_u32,
        line_plies in 0..=2_u32,
        seed in any::<[u8; 32]>(),
    ) {
        let strong = GeneticParameters::strong(depth);
        let parameters = GeneticParameters { line_plies, max_tree_nodes: 1 << 14, ..strong };
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let line = Line { position: &game.0, before: &game.1 };
        let found = GeneticMinimax::new(parameters, Hunch)
            .search(line, &mut budget, &mut Random::from_key(seed))
            .unwrap();
        let options = Options { depth: Some(depth), ..Options::default() };
        prop_assert!(matches!(found.ended_by, EndedBy::Depth | EndedBy::Proven), "{:?}", found);
        let (value, of_move) = values(options, &game, Some(found.mv));
        prop_assert_eq!((found.score, of_move), (Some(value), Some(value)));
    }

    /// What Monte Carlo tree search proves is so, with the history that the position has.
    #[test]
    fn monte_carlo_tree_search_proves_what_is_so(
        seed: u64,
        (cells, levels) in (1..=2_u8, 1..=2_u8),
        (plies, moves) in (0..4_u32, any::<u64>()),
    ) {
        let game = played(Walk::on(Map { seed, cells, levels, last: 2 }), plies, moves);
        let parameters =
            MctsParameters { simulations: Some(3_000), playout_plies: 20, ..MctsParameters::DEFAULT };
        let found = search(&mut Mcts::new(parameters, Hunch), &game.0, &game.1);
        // There are not more positions than that on such a map, and none comes twice.
        let options = Options { depth: Some(10), ..Options::default() };
        let value = values(options, &game, None).0;
        prop_assert!(value == 0 || value.abs() >= WIN_MIN);
        if found.ended_by == EndedBy::Proven {
            prop_assert_eq!(found.score.unwrap().signum(), value.signum());
        }
    }
}

/// Repetition happens on these maps, within the depth that is searched and by what came before.
#[test]
fn positions_do_come_again() {
    let (mut changed, mut by_history) = (0, 0);
    for seed in 0..200 {
        let map = Map { seed: 1_000 * seed, cells: 3, levels: 2, last: 2 };
        let game = played(Walk::on(map), 8, seed);
        let options = Options { depth: Some(5), ..Options::default() };
        let value = values(options, &game, None).0;
        by_history += u32::from(value != values(options, &(game.0, Vec::new()), None).0);
        let patient = game.0.waiting_for(100);
        changed += u32::from(value != values(options, &(patient, game.1), None).0);
    }
    assert!(changed > 30 && by_history > 10, "{changed} {by_history}");
}
