//! The same in positions of chess, with the games that led to them.

use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::games::Chess;
use spelrum_engine::search::alpha_beta::{AlphaBeta, Options};
use spelrum_engine::search::genetic::{GeneticMinimax, GeneticParameters};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{Budget, Evaluate, Found, Limits, Search};
use spelrum_engine::{
    Before, EndedBy, EvaluationInfo, Game, Knowledge, Line, Position, Random, Rules, Side,
    Timeless, with_evaluation,
};

use super::twin::Twin;
use crate::common::brute_force::{after, moves_of};
use crate::common::{chosen, evaluations_of_parameters, key, play, player};

type Move = <Chess as Position>::Move;

/// A middle game with tactics, one with a pin and promotions, and endings in which positions come
/// again, each with how many random moves are played from it at most.
const STARTS: &[(&str, u32)] = &[
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 80),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 12),
    ("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", 6),
    ("8/8/8/4k3/8/8/3R4/3K4 w - - 0 1", 30),
    ("8/8/3k4/1b6/8/4K3/6B1/1R5r b - - 0 1", 30),
];

/// A position, and the game that led to it.
struct Played {
    position: Chess,
    before: Vec<Before<Move>>,
}

fn played(seed: u64) -> Played {
    let (start, plies_max) = STARTS[(seed % STARTS.len() as u64) as usize];
    let mut random = Random::from_key(key(seed));
    let mut position = Chess::parse(&Rules::usual::<Chess>(), start).unwrap();
    let mut before: Vec<Before<Move>> = Vec::new();
    for _ in 0..random.below(plies_max + 1) {
        // Every third move goes back, if it can: kings and rooks that stay where they are.
        let moves = moves_of(&position);
        let back = before.len().checked_sub(2).map(|place| before[place].mv.to_string());
        let is_back = |mv: &&Move| {
            let text = mv.to_string();
            back.as_deref().is_some_and(|back| text == format!("{}{}", &back[2..4], &back[..2]))
        };
        let drawn = &moves[random.below(moves.len() as u32) as usize];
        let mv = *moves.iter().find(is_back).filter(|_| random.below(3) > 0).unwrap_or(drawn);
        let next = after(&position, mv);
        let longer = [before.as_slice(), &[Before { mv, key: position.canonical_key() }]].concat();
        let line = Line { position: &next, before: &longer };
        if next.legal_move_count() < 2 || Chess::adjudicate(line).is_some() {
            break;
        }
        (position, before) = (next, longer);
    }
    Played { position, before }
}

fn find(search: &mut impl Search<Chess>, game: &Played) -> (Found<Move>, u64, u64) {
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let line = Line { position: &game.position, before: &game.before };
    let found = search.search(line, &mut budget, &mut Random::from_key(key(1))).unwrap();
    (found, budget.nodes(), budget.evaluations())
}

/// Does it with each evaluation of chess but formulas and networks of an ending: with one that nobody made for
/// whole games, the slow twin's quiescence goes through every exchange there is, for minutes.
fn with_each_evaluation(check: impl Check) {
    let is_for_all_pieces =
        |info: &&EvaluationInfo| !["expression", "network"].contains(&info.name);
    for info in evaluations_of_parameters::<Chess>().filter(is_for_all_pieces) {
        with_evaluation(&chosen(info), Visit(&check)).unwrap();
    }
}

/// What is done with an evaluation.
trait Check {
    fn check<E: GameEvaluation<Chess>>(&self, evaluation: &E);
}

struct Visit<'a, C>(&'a C);

impl<C: Check> EvaluationVisitor<Chess> for Visit<'_, C> {
    type Output = ();

    fn visit<E: GameEvaluation<Chess>>(self, evaluation: E) {
        self.0.check(&evaluation);
    }
}

/// Two plies in a middle game, up to four in an ending.
fn depth_of(position: &Chess) -> u32 {
    match position.legal_move_count() {
        0..=8 => 4,
        9..=16 => 3,
        _ => 2,
    }
}

struct EverySearchAgrees;

impl Check for EverySearchAgrees {
    fn check<E: GameEvaluation<Chess>>(&self, evaluation: &E) {
        for seed in 0..60 {
            let game = played(seed);
            let depth = depth_of(&game.position);
            let base = Options { depth: Some(depth), ..Options::default() };
            let all = Options {
                iterative: true,
                pvs: true,
                aspiration: 20,
                killers: true,
                history: true,
                history_malus: true,
                countermoves: true,
                combined: true,
                distinct: true,
                threats: true,
                distance: true,
                last_ply: true,
                captures: true,
                ..base
            };
            let mut twin = Twin::new(base, evaluation, &game.before);
            let value = twin.minimax(&game.position, depth, 0);
            let mut check = |(found, ..): (Found<Move>, u64, u64), name: &str| {
                let about = || format!("{} to depth {depth} by {name}", game.position);
                assert_eq!(found.score, Some(value), "{}", about());
                let of_move = twin.minimax_of_root_move(&game.position, found.mv);
                assert_eq!(of_move, value, "{}", about());
            };
            let plain = minimax::Options { depth: Some(depth), shuffle: true };
            check(find(&mut Minimax::new(plain, evaluation.clone()), &game), "minimax");
            let strong =
                GeneticParameters { max_tree_nodes: 1 << 16, ..GeneticParameters::strong(depth) };
            check(find(&mut GeneticMinimax::new(strong, evaluation.clone()), &game), "genetic");
            for options in [
                base,
                Options { order: true, ..base },
                Options { pvs: true, captures: true, ..base },
                Options { captures: true, history: true, killers: true, ..base },
                Options { captures: true, combined: true, ..base },
                Options { combined: false, ..all },
                all,
            ] {
                let mut search = AlphaBeta::new(options, evaluation.clone());
                check(find(&mut search, &game), &format!("{options:?}"));
            }
        }
    }
}

#[test]
fn every_search_finds_minimaxs_value_with_the_games_history() {
    with_each_evaluation(EverySearchAgrees);
}

struct QuiescenceIsExact;

impl Check for QuiescenceIsExact {
    fn check<E: GameEvaluation<Chess>>(&self, evaluation: &E) {
        for seed in 0..60 {
            let game = played(seed);
            let depth = if game.position.legal_move_count() > 20 { 1 } else { 2 };
            let options = Options {
                depth: Some(depth),
                quiescence_plies: 2 + (seed % 2) as u32,
                exchange: seed % 4 < 2,
                check_extension: seed % 8 < 4,
                pvs: seed % 3 == 0,
                captures: seed % 5 > 0,
                killers: seed % 7 > 3,
                history: seed % 6 > 3,
                ..Options::default()
            };
            let value =
                Twin::new(options, evaluation, &game.before).minimax(&game.position, depth, 0);
            let found = find(&mut AlphaBeta::new(options, evaluation.clone()), &game).0;
            assert_eq!(found.score, Some(value), "{} by {options:?}", game.position);
        }
    }
}

#[test]
fn quiescence_and_extensions_find_what_they_find_without_bounds() {
    with_each_evaluation(QuiescenceIsExact);
}

struct HeuristicsAgree;

impl Check for HeuristicsAgree {
    fn check<E: GameEvaluation<Chess>>(&self, evaluation: &E) {
        for seed in 0..60 {
            let game = played(seed);
            let depth = depth_of(&game.position) + 2;
            let options = Options {
                depth: Some(depth),
                quiescence_plies: 32,
                exchange: true,
                check_extension: seed % 2 == 0,
                null_reduction: (seed % 4) as u32,
                reductions: seed % 3 > 0,
                repetition: seed % 5 > 1,
                pvs: seed % 7 > 1,
                captures: true,
                null_adaptive: seed % 4 > 0 && seed % 8 < 4,
                log_reductions: seed % 3 > 1,
                late_move_pruning: seed % 5 < 3,
                exchange_pruning: seed % 7 < 3,
                futility: 50 * (seed % 3) as u32,
                reverse_futility: 40 * (seed % 4) as u32,
                delta: 60 * (seed % 5) as u32,
                ..Options::default()
            };
            let (found, nodes, evaluations) =
                find(&mut AlphaBeta::new(options, evaluation.clone()), &game);
            let mut twin = Twin::new(options, evaluation, &game.before);
            let (value, mv) = twin.search(&game.position);
            let about = || format!("{} to depth {depth} by {options:?}", game.position);
            assert_eq!((found.score, found.mv), (Some(value), mv), "{}", about());
            assert_eq!((nodes, evaluations), (twin.nodes, twin.evaluations), "{}", about());
        }
    }
}

#[test]
fn passes_reductions_and_repetitions_are_the_twins_node_for_node() {
    with_each_evaluation(HeuristicsAgree);
}

/// Mates, with everything that the preset has: found, called by their length, and proven.
#[test]
fn mates_are_found_and_proven() {
    let rules = Rules::usual::<Chess>();
    let preset = r#"{"algorithm": "alpha-beta", "preset": "chess", "nodes": 2000000}"#;
    for (position, plies) in [
        // A smothered mate: queen to g8, knight to f7.
        ("r4r1k/6pp/7N/8/8/1Q6/6PP/6K1 w - - 0 1", 3),
        // Two rooks drive the king back.
        ("8/8/8/8/4k3/R7/1R6/6K1 w - - 0 1", 0),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1),
        ("k7/8/1K6/8/8/8/8/7R w - - 0 1", 1),
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1", 1),
    ] {
        let analysis =
            spelrum_engine::analyze(&rules, position, &player(&rules, preset), key(1), &Timeless)
                .unwrap();
        if plies > 0 {
            assert_eq!(analysis.search.score, Some(1_000_000 - plies), "{position}");
            assert_eq!(analysis.search.ended_by, EndedBy::Proven, "{position}");
        } else {
            assert!(analysis.search.score.unwrap() > 300, "{position}");
        }
    }
}

/// Who is behind checks for ever rather than lose: seen in the tree, although no position has come up
/// before it.
#[test]
fn a_perpetual_check_is_seen() {
    let rules = Rules::usual::<Chess>();
    // The queen checks on e8 and h5; black has a rook more, and wins as soon as the checks end.
    let position = "6k1/6p1/8/7Q/8/8/1rq3PP/6K1 w - - 0 1";
    let score = |repetition: bool| {
        let json = format!(
            r#"{{"algorithm": "alpha-beta", "preset": "chess", "depth": 6, "repetition": {repetition}}}"#
        );
        let player = player(&rules, &json);
        let found = spelrum_engine::analyze(&rules, position, &player, key(1), &Timeless);
        found.unwrap().search.score.unwrap()
    };
    assert_eq!(score(true), 0);
    assert!(score(false) < -200, "{}", score(false));
}

/// Every algorithm plays whole games of chess: long ones, without any bound on plies that is near.
#[test]
fn every_algorithm_plays_whole_games() {
    let rules = Rules::usual::<Chess>();
    let players = [
        r#"{"algorithm": "random"}"#,
        r#"{"algorithm": "minimax", "depth": 1}"#,
        r#"{"algorithm": "alpha-beta", "preset": "chess", "nodes": 300}"#,
        r#"{"algorithm": "alpha-beta", "preset": "full", "nodes": 300}"#,
        r#"{"algorithm": "genetic-minimax", "preset": "strong", "depth": 3, "nodes": 300}"#,
        r#"{"algorithm": "genetic-minimax", "depth": 2, "nodes": 300}"#,
        r#"{"algorithm": "mcts", "nodes": 2000, "playout_plies": 20}"#,
    ];
    let players = players.map(|json| player(&rules, json));
    for (seed, pair) in (0..).zip(players.windows(2)) {
        let record = play(&rules, [&pair[0], &pair[1]], seed, &Timeless);
        assert!(!record.moves.is_empty());
        assert_eq!(record.first_side, Side::First);
    }
}

/// What loses an exchange is known without playing it out, where it is known.
#[test]
fn what_loses_an_exchange_is_what_the_exchange_says() {
    let mut losing = 0;
    for seed in 0..300 {
        let Played { position, .. } = played(seed);
        for mv in moves_of(&position) {
            let loses = position.loses_exchange(mv);
            assert_eq!(loses, position.exchange(mv) < 0, "{mv} in {position}");
            losing += u32::from(loses && position.is_tactical(mv));
        }
    }
    assert!(losing > 100, "{losing}");
}

/// [`Evaluate`] is asked of positions that go on only.
#[test]
fn no_position_is_evaluated_that_is_over() {
    struct Asserting;
    impl Evaluate<Chess> for Asserting {
        fn evaluate(&self, position: &Chess) -> i32 {
            assert!(!position.is_over(), "{position}");
            0
        }
        fn is_symmetric(&self) -> bool {
            true
        }
    }
    let options = Options {
        depth: Some(4),
        quiescence_plies: 8,
        check_extension: true,
        null_reduction: 2,
        reductions: true,
        captures: true,
        ..Options::default()
    };
    for seed in 0..30 {
        find(&mut AlphaBeta::new(options, Asserting), &played(seed));
    }
}
