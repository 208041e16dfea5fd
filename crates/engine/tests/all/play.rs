//! Playing one game: its inputs, its record, and its replay.

use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use std::ops::ControlFlow;

use crate::common::{Irregular, all_rules, key, play, player, start, without_times};
use spelrum_engine::Position;
use spelrum_engine::{
    EndedBy, Game, GameRecord, GameSetup, MoveRecord, Outcome, PlayError, Player, Random, Rules,
    Side, Termination, Timeless, play_game, play_watched, replay_moves, with_game,
};

const PLAYERS: &[&str] = &[
    r#"{"algorithm": "random"}"#,
    r#"{"algorithm": "minimax", "depth": 1}"#,
    r#"{"algorithm": "alpha-beta", "nodes": 300, "iterative": true}"#,
    r#"{"algorithm": "alpha-beta", "nodes": 500, "depth": 2, "order": true}"#,
    r#"{"algorithm": "genetic-minimax", "nodes": 500, "depth": 3}"#,
];

fn players(rules: &Rules) -> Vec<Player> {
    PLAYERS.iter().map(|json| player(rules, json)).collect()
}

fn moves(record: &GameRecord) -> Vec<&str> {
    record.moves.iter().map(|record| record.mv.as_str()).collect()
}

/// Invariant 1: a game is a pure function of its setup.
#[test]
fn the_same_setup_gives_the_same_game() {
    for rules in all_rules() {
        let players = players(&rules);
        for (seed, first) in (0..).zip(&players) {
            for second in &players {
                let game = play(&rules, [first, second], seed, &Timeless);
                let again = play(&rules, [first, second], seed, &Irregular::new(seed, 1_000));
                assert_eq!(without_times(&game), without_times(&again));
            }
        }
    }
}

#[test]
fn a_record_agrees_with_a_replay_of_its_moves() {
    for rules in all_rules() {
        let players = players(&rules);
        for seed in 0..25 {
            let pair = [&players[seed % 5], &players[seed / 5]];
            let game = play(&rules, pair, seed as u64, &Timeless);
            let positions = replay_moves(&rules, &start(&rules), moves(&game)).unwrap();
            assert_eq!(positions.len(), game.moves.len() + 1);
            assert_eq!(positions.len(), game.plies() as usize + 1);
            for (position, record) in positions.iter().zip(&game.moves) {
                assert_eq!(position.legal_moves, record.legal_moves);
                assert_eq!(position.position_key, record.position_key);
                assert_eq!(position.ending, None);
                let first_colour = positions[0].to_move;
                assert_eq!(position.to_move == first_colour, record.mover == 0);
                let is_only_move = record.search.ended_by == EndedBy::OnlyMove;
                assert_eq!(record.legal_moves == 1, is_only_move);
            }
            let ending = positions.last().unwrap().ending;
            if game.termination == Termination::MAX_PLIES {
                // A long game is cut.
                assert_eq!((ending, game.outcome), (None, Outcome::Draw));
                continue;
            }
            let ending = ending.unwrap();
            assert_eq!(ending.termination, game.termination);
            let outcome = match ending.winner {
                None => Outcome::Draw,
                Some(winner) if winner == positions[0].to_move => Outcome::Win,
                Some(_) => Outcome::Loss,
            };
            assert_eq!(outcome, game.outcome);
        }
    }
}

#[test]
fn a_watcher_gets_each_move_and_can_end_the_game_there() {
    for rules in all_rules() {
        let players = players(&rules);
        for (seed, first) in (0..).zip(&players) {
            let opening = start(&rules);
            let setup = GameSetup {
                rules: &rules,
                opening: &opening,
                players: [first, &players[0]],
                keys: [key(seed), key(seed + 1)],
                max_plies: None,
                adjudication: None,
                stops: None,
            };
            let mut seen = Vec::new();
            let mut watch = |moves: &[MoveRecord]| {
                seen.extend(moves.last().cloned());
                assert_eq!(seen, moves);
                ControlFlow::Continue(())
            };
            let game = play_watched(&setup, &Timeless, &mut watch).unwrap();
            assert_eq!(seen, game.moves);

            for plies in [1, game.moves.len()] {
                seen.clear();
                let mut watch = |moves: &[MoveRecord]| {
                    seen.extend(moves.last().cloned());
                    if seen.len() < plies {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                };
                let ended = play_watched(&setup, &Timeless, &mut watch);
                assert_eq!(ended, Err(PlayError::Aborted));
                assert_eq!(seen, game.moves[..plies]);
            }
        }
    }
}

#[test]
fn an_only_move_is_not_searched() {
    let rules = Nim::rules(&[1, 1], false).unwrap();
    let minimax = player(&rules, r#"{"algorithm": "minimax", "depth": 5}"#);
    let game = play(&rules, [&minimax, &minimax], 0, &Timeless);
    assert_eq!((game.outcome, game.plies()), (Outcome::Loss, 2));
    assert_eq!(game.moves[0].search.ended_by, EndedBy::Depth);
    let only = game.moves[1].search;
    assert_eq!((only.depth, only.nodes, only.evaluations), (0, 0, 0));
    assert_eq!((only.score, only.full_tree_leaves), (None, 0));
    assert_eq!(only.ended_by, EndedBy::OnlyMove);
}

#[test]
fn a_long_game_is_adjudicated_a_draw() {
    let rules = Pentago::rules(true);
    let random = player(&rules, r#"{"algorithm": "random"}"#);
    let opening = start(&rules);
    let with_max = |max_plies| {
        let setup = GameSetup {
            rules: &rules,
            opening: &opening,
            players: [&random, &random],
            keys: [key(1), key(2)],
            max_plies,
            adjudication: None,
            stops: None,
        };
        play_game(&setup, &Timeless).unwrap()
    };
    let complete = with_max(None);
    assert_ne!(complete.termination, Termination::MAX_PLIES);
    for plies in 0..complete.plies() {
        let short = with_max(Some(plies));
        assert_eq!((short.outcome, short.termination), (Outcome::Draw, Termination::MAX_PLIES));
        assert_eq!(moves(&short), moves(&complete)[..plies as usize]);
    }
    // A game that ends with the last ply it may have has its own ending.
    assert_eq!(with_max(Some(complete.plies())), complete);
}

#[test]
fn the_first_mover_from_the_opening_is_the_first_player() {
    let rules = TicTacToe::rules();
    let perfect = player(&rules, r#"{"algorithm": "alpha-beta", "iterative": true, "depth": 9}"#);
    let setup = GameSetup {
        rules: &rules,
        opening: "x.ox.....", // black is to move and must stop the column
        players: [&perfect, &perfect],
        keys: [key(1), key(2)],
        max_plies: Some(1),
        adjudication: None,
        stops: None,
    };
    let game = play_game(&setup, &Timeless).unwrap();
    assert_eq!((game.moves[0].mover, game.moves[0].mv.as_str()), (0, "a3"));
}

#[test]
fn each_side_draws_from_its_own_key() {
    let rules = Pentago::rules(true);
    let random = player(&rules, r#"{"algorithm": "random"}"#);
    let opening = start(&rules);
    let with_keys = |keys| {
        let setup = GameSetup {
            rules: &rules,
            opening: &opening,
            players: [&random, &random],
            keys,
            max_plies: Some(2),
            adjudication: None,
            stops: None,
        };
        play_game(&setup, &Timeless).unwrap()
    };
    let game = with_keys([key(1), key(2)]);
    let other_second = with_keys([key(1), key(3)]);
    assert_eq!(moves(&game)[0], moves(&other_second)[0]);
    assert_ne!(moves(&game)[1], moves(&other_second)[1]);
}

/// A random player's moves are those of its stream, one number each.
#[test]
fn a_random_player_plays_every_move_equally_often() {
    let rules = TicTacToe::rules();
    let random = player(&rules, r#"{"algorithm": "random"}"#);
    let mut counts = [0_u32; 9];
    for seed in 0..9_000 {
        let game = play(&rules, [&random, &random], 2 * seed, &Timeless);
        let position = spelrum_engine::games::TicTacToe::empty();
        counts[position.parse_move(&game.moves[0].mv).unwrap().cell() as usize] += 1;
        let expected = Random::from_key(key(2 * seed)).below(9);
        assert_eq!(position.nth_legal_move(expected).to_string(), game.moves[0].mv);
    }
    // Chi-squared with 8 degrees of freedom is above 26.1 with probability 0.001.
    let deviation = |&count: &u32| f64::from(count) - 1_000.0;
    let squares: f64 = counts.iter().map(deviation).map(|deviation| deviation * deviation).sum();
    assert!(squares / 1_000.0 < 26.1, "{counts:?}");
}

#[test]
fn a_shuffled_search_repeats_no_game_and_an_unshuffled_one_does() {
    let rules = Pentago::rules(true);
    for (shuffle, distinct) in [(true, true), (false, false)] {
        let json = format!(r#"{{"algorithm": "alpha-beta", "depth": 1, "shuffle": {shuffle}}}"#);
        let player = player(&rules, &json);
        assert_eq!(player.draws_random_numbers(), shuffle);
        let hashes: std::collections::BTreeSet<u64> = (0..20)
            .map(|game| play(&rules, [&player, &player], 2 * game, &Timeless).moves_hash())
            .collect();
        assert_eq!(hashes.len(), if distinct { 20 } else { 1 });
    }
}

#[test]
fn the_hash_of_the_moves_is_fixed_for_all_time() {
    let mut game = GameRecord {
        first_side: Side::First,
        outcome: Outcome::Draw,
        margin: None,
        termination: Termination::FULL_BOARD,
        moves: Vec::new(),
        wall_us: 0,
    };
    // The first 53 bits of SHA-256 of nothing, e3b0c44298fc1c149afb…
    assert_eq!(game.moves_hash(), 0xe3b0_c442_98fc_1c14 >> 11);
    let rules = TicTacToe::rules();
    let random = player(&rules, r#"{"algorithm": "random"}"#);
    game = play(&rules, [&random, &random], 0, &Timeless);
    game.moves.truncate(2);
    game.moves[0].mv = "a1".to_owned();
    game.moves[1].mv = "b2".to_owned();
    // printf 'a1\nb2\n' | sha256sum
    assert_eq!(game.moves_hash(), MOVES_HASH_A1_B2 >> 11);
    assert!(game.moves_hash() < 1 << 53);
}

const MOVES_HASH_A1_B2: u64 = 0xdc67_0a7a_6993_f5f4;

#[test]
fn an_opening_that_cannot_be_played_is_an_error() {
    for (rules, opening) in [
        (TicTacToe::rules(), "xxx.oo..."),
        (TicTacToe::rules(), "nonsense"),
        (Nim::rules(&[2], false).unwrap(), "0/b"),
    ] {
        let random = player(&rules, r#"{"algorithm": "random"}"#);
        let setup = GameSetup {
            rules: &rules,
            opening,
            players: [&random, &random],
            keys: [key(1), key(2)],
            max_plies: None,
            adjudication: None,
            stops: None,
        };
        let error = play_game(&setup, &Timeless).unwrap_err();
        assert!(matches!(error, PlayError::Opening(_)), "{error}");
    }
}

/// The outcome is for who moved first from the opening, whichever side of the game that was.
#[test]
fn a_record_says_which_side_moved_first() {
    let rules = Nim::rules(&[2], false).unwrap();
    let random = player(&rules, r#"{"algorithm": "random"}"#);
    for (opening, first_side) in [("2/w", Side::First), ("1/b", Side::Second)] {
        let setup = GameSetup {
            rules: &rules,
            opening,
            players: [&random, &random],
            keys: [key(1), key(2)],
            max_plies: None,
            adjudication: None,
            stops: None,
        };
        let game = play_game(&setup, &Timeless).unwrap();
        assert_eq!(game.first_side, first_side, "{opening}");
        let won = game.moves.len() % 2 == 1;
        assert_eq!(game.outcome, if won { Outcome::Win } else { Outcome::Loss }, "{opening}");
    }
}

#[test]
fn a_player_of_another_game_is_an_error() {
    let pentago = Pentago::rules(true);
    let rules = TicTacToe::rules();
    let foreign = player(&pentago, r#"{"algorithm": "minimax", "depth": 1, "evaluation": "runs"}"#);
    let setup = GameSetup {
        rules: &rules,
        opening: ".........",
        players: [&foreign, &foreign],
        keys: [key(1), key(2)],
        max_plies: None,
        adjudication: None,
        stops: None,
    };
    assert_eq!(play_game(&setup, &Timeless), Err(PlayError::OtherGame));
}

#[test]
fn a_recorded_move_that_is_none_is_named() {
    let rules = TicTacToe::rules();
    let error = |moves: &[&str]| {
        replay_moves(&rules, ".........", moves.iter().copied()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(error(&["a1", "z9"]), @"move 2: `z9` is not a tic-tac-toe move; write a cell from a1 (top left) to c3");
    insta::assert_snapshot!(error(&["a1", "b1", "a1"]), @"move 3: `a1` is not legal in `xo.......`; a legal move is `c1`");
    insta::assert_snapshot!(error(&["a1", "b1", "a2", "b2", "a3", "b3"]), @"move 6: `b3` is not legal in `xo.xo.x..`; leave it out: the game is over (x wins: three in a row)");
    let positions = replay_moves(&rules, ".........", ["a1", "b2"]).unwrap();
    insta::assert_snapshot!(positions.last().unwrap().position, @"x...o....");
    let start: String = with_game!(&rules, G => G::start(&rules).unwrap().to_string());
    assert_eq!(positions[0].position, start);
}
