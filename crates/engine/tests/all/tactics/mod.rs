//! Alpha-beta in games with tactics and repetition: invented games, against slow references.

mod chess;
mod repetition;
mod skirmish;
mod twin;
mod walk;

use crate::common::brute_force::{minimax, minimax_of_move};
use crate::common::{key, player};
use proptest::prelude::*;
use spelrum_engine::search::alpha_beta::{AlphaBeta, Options};
use spelrum_engine::search::{Budget, Found, Limits, Search, WIN_MIN};
use spelrum_engine::{
    Analysis, EndedBy, Game, Knowledge as _, Line, Position, Random, Rules, Timeless, analyze,
    parameters_of, with_game,
};

use skirmish::{Hunch, Skirmish};
use twin::Twin;

/// Any combination of the switches that promise the value that the search has without them.
fn preserving() -> impl Strategy<Value = Options> {
    (any::<[bool; 13]>(), 0..6_u32).prop_map(|(on, half_width)| {
        let [
            iterative,
            order,
            shuffle,
            pvs,
            table,
            killers,
            history,
            combined,
            distinct,
            rest @ ..,
        ] = on;
        let [distance, captures, history_malus, countermoves] = rest;
        Options {
            iterative,
            order,
            shuffle,
            pvs,
            aspiration: if iterative { half_width } else { 0 },
            table_mib: table.then_some(1),
            killers,
            history,
            combined,
            distinct,
            distance,
            captures,
            history_malus: history && history_malus,
            countermoves,
            ..Options::default()
        }
    })
}

/// Any combination of those that see further than the depth, but for the table's.
fn extending() -> impl Strategy<Value = Options> {
    (0..5_u32, any::<bool>(), any::<bool>()).prop_map(|(plies, exchange, check_extension)| {
        Options {
            quiescence_plies: plies,
            exchange: plies > 0 && exchange,
            check_extension,
            ..Options::default()
        }
    })
}

/// With those that are heuristic.
fn selective() -> impl Strategy<Value = Options> {
    (extending(), 0..4_u32, any::<[bool; 5]>(), [0..3_u32, 0..3, 0..3]).prop_map(
        |(options, null_reduction, on, margins)| {
            let [reductions, log_reductions, null_adaptive, late_move_pruning, exchange_pruning] =
                on;
            let [futility, reverse_futility, delta] = margins;
            Options {
                null_reduction,
                reductions,
                log_reductions: reductions && log_reductions,
                null_adaptive: null_reduction > 0 && null_adaptive,
                late_move_pruning,
                exchange_pruning,
                futility,
                reverse_futility,
                delta: if options.quiescence_plies > 0 { 100 * delta } else { 0 },
                ..options
            }
        },
    )
}

/// The switches of both: what orders and remembers of the first, what is seen of the second.
fn joined(preserving: Options, seeing: Options) -> Options {
    Options {
        quiescence_plies: seeing.quiescence_plies,
        exchange: seeing.exchange,
        check_extension: seeing.check_extension,
        null_reduction: seeing.null_reduction,
        reductions: seeing.reductions,
        log_reductions: seeing.log_reductions,
        null_adaptive: seeing.null_adaptive,
        late_move_pruning: seeing.late_move_pruning,
        exchange_pruning: seeing.exchange_pruning,
        futility: seeing.futility,
        reverse_futility: seeing.reverse_futility,
        delta: seeing.delta,
        ..preserving
    }
}

/// What it finds, its nodes and its evaluations.
fn find(options: Options, root: &Skirmish, limits: &Limits) -> (Found<u8>, u64, u64) {
    found_again(&mut AlphaBeta::new(options, Hunch), root, limits)
}

fn found_again(
    search: &mut AlphaBeta<Skirmish, Hunch>,
    root: &Skirmish,
    limits: &Limits,
) -> (Found<u8>, u64, u64) {
    let mut budget = Budget::new(limits, &Timeless);
    let mut random = Random::from_key(key(1));
    let found = search.search(Line::from_start(root), &mut budget, &mut random).unwrap();
    (found, budget.nodes(), budget.evaluations())
}

const UNLIMITED: Limits =
    Limits { depth: None, nodes: None, evaluations: None, generations: None, move_time_us: None };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Tactical moves first: another order, and no other value.
    #[test]
    fn what_preserves_the_value_finds_minimaxs(
        seed: u64,
        (plies, width_max) in (1..=7_u32, 2..=7_u64),
        depth in 1..=6_u32,
        options in preserving(),
    ) {
        let root = Skirmish::new(seed, plies, width_max);
        let options = Options { depth: Some(depth), ..options };
        let found = find(options, &root, &UNLIMITED).0;
        let value = minimax(&root, depth, 0, &Hunch);
        prop_assert_eq!(found.score, Some(value));
        prop_assert_eq!(minimax_of_move(&root, found.mv, depth, &Hunch), value);
    }

    /// Quiescence and extensions find what they find without bounds and in any order, with every
    /// switch that preserves the value: what the line to a position decides about it, its extension,
    /// no table knows.
    #[test]
    fn what_sees_further_finds_the_twins_value(
        seed: u64,
        (plies, width_max) in (1..=9_u32, 2..=5_u64),
        depth in 1..=4_u32,
        options in preserving(),
        seeing in extending(),
    ) {
        let root = Skirmish::new(seed, plies, width_max);
        let mut options = Options { depth: Some(depth), ..joined(options, seeing) };
        if options.check_extension {
            options.table_mib = None;
        }
        let mut search = AlphaBeta::new(options, Hunch);
        let mut twin = Twin::new(options, &Hunch, &[]);
        let value = twin.minimax(&root, depth, 0);
        // A search that has run before finds the same again: nothing is left over in it.
        for _ in 0..2 {
            let found = found_again(&mut search, &root, &UNLIMITED).0;
            prop_assert_eq!(found.score, Some(value));
            prop_assert_eq!(twin.minimax_of_root_move(&root, found.mv), value);
        }
    }

    /// With passes and reductions a value depends on the window and on the order: the twin has the same
    /// of both, and so they agree to the node.
    #[test]
    fn what_is_heuristic_does_as_the_twin_does(
        seed: u64,
        (plies, width_max) in (1..=10_u32, 2..=9_u64),
        depth in 1..=5_u32,
        (pvs, captures) in any::<(bool, bool)>(),
        seeing in selective(),
    ) {
        let root = Skirmish::new(seed, plies, width_max);
        let options = Options { depth: Some(depth), pvs, captures, ..seeing };
        let (found, nodes, evaluations) = find(options, &root, &UNLIMITED);
        let mut twin = Twin::new(options, &Hunch, &[]);
        let (value, mv) = twin.search(&root);
        prop_assert_eq!((found.score, found.mv), (Some(value), mv));
        prop_assert_eq!((nodes, evaluations), (twin.nodes, twin.evaluations));
    }

    /// Whatever is left out or seen in addition: what is called won or lost is, and what is called
    /// proven has the game's value.
    #[test]
    fn wins_and_losses_are_true(
        seed: u64,
        (plies, width_max) in (1..=8_u32, 2..=5_u64),
        depth in prop::option::of(1..=6_u32),
        nodes in prop::option::of(1..2_000_u64),
        options in preserving(),
        seeing in selective(),
        (table_deeper, internal_reduction) in any::<(bool, bool)>(),
    ) {
        let root = Skirmish::new(seed, plies, width_max);
        let table_deeper = table_deeper && options.table_mib.is_some();
        let internal_reduction = internal_reduction && options.table_mib.is_some();
        let options =
            Options { depth, table_deeper, internal_reduction, ..joined(options, seeing) };
        let (found, ..) = find(options, &root, &Limits { nodes, ..UNLIMITED });
        let Some(score) = found.score else { return Ok(()) };
        let exact = minimax(&root, plies, 0, &Hunch);
        if score.abs() >= WIN_MIN {
            let of_move = minimax_of_move(&root, found.mv, plies, &Hunch);
            prop_assert_eq!(of_move.signum(), score.signum());
            prop_assert!(of_move.abs() >= WIN_MIN);
            // A search that was cut off knows of the moves that it has finished.
            if score > 0 || found.ended_by != EndedBy::Nodes {
                prop_assert_eq!(exact.signum(), score.signum());
            }
        } else if found.ended_by == EndedBy::Proven {
            prop_assert_eq!(exact, 0);
        }
    }

    /// Iterative deepening does not end with a win or loss behind the horizon, while there may be a
    /// sooner one.
    #[test]
    fn a_win_seen_behind_the_horizon_is_looked_into(
        seed: u64,
        width_max in 2..=5_u64,
        seeing in extending(),
    ) {
        let root = Skirmish::new(seed, 9, width_max);
        let options = Options { iterative: true, ..seeing };
        let (found, ..) = find(options, &root, &UNLIMITED);
        prop_assert_eq!(found.ended_by, EndedBy::Proven);
        prop_assert_eq!(found.score, Some(minimax(&root, 9, 0, &Hunch)));
    }

    /// A search that was cut off at any place leaves nothing behind that changes what the next one
    /// finds.
    #[test]
    fn a_search_that_was_cut_off_can_be_used_again(
        seed: u64,
        nodes in 0..300_u64,
        pvs: bool,
        captures: bool,
        seeing in selective(),
    ) {
        let root = Skirmish::new(seed, 9, 6);
        let options = Options { depth: Some(4), iterative: true, pvs, captures, ..seeing };
        let mut used = AlphaBeta::new(options, Hunch);
        found_again(&mut used, &root, &Limits { nodes: Some(nodes), ..UNLIMITED });
        prop_assert_eq!(
            found_again(&mut used, &root, &UNLIMITED),
            find(options, &root, &UNLIMITED)
        );
    }
}

/// The made-up game is not so made up that nothing happens in it: each switch changes what a search
/// finds, or at least what it costs.
#[test]
fn every_switch_does_something() {
    let base = Options { depth: Some(5), ..Options::default() };
    let quiet = Options { quiescence_plies: 4, ..base };
    let reduced = Options { reductions: true, ..base };
    let learning = Options { history: true, ..base };
    let kept = Options { table_mib: Some(1), ..base };
    let pairs = [
        (base, Options { captures: true, ..base }, false),
        (base, quiet, true),
        (quiet, Options { quiescence_plies: 1, ..quiet }, true),
        (quiet, Options { exchange: true, ..quiet }, true),
        (base, Options { check_extension: true, ..base }, true),
        (base, Options { null_reduction: 2, ..base }, true),
        (base, Options { null_reduction: 1, ..base }, true),
        (base, reduced, true),
        (reduced, Options { log_reductions: true, ..reduced }, true),
        (quiet, Options { delta: 100, ..quiet }, true),
        (learning, Options { history_malus: true, ..learning }, false),
        (base, Options { countermoves: true, ..base }, false),
        (kept, Options { internal_reduction: true, ..kept }, true),
    ];
    for (without, with, changes_value) in pairs {
        let (values, costs) = differences(without, with, 100);
        assert!(costs > 50, "{costs} of 100 by {with:?}");
        assert_eq!(values > 0, changes_value, "{values} of 100 by {with:?}");
    }
}

/// Pruning needs null windows far from wins and losses, which are fewer.
#[test]
fn every_way_of_pruning_does_something() {
    let base = Options { depth: Some(6), ..Options::default() };
    let passing = Options { null_reduction: 1, ..base };
    let pairs = [
        (passing, Options { null_adaptive: true, ..passing }),
        (base, Options { late_move_pruning: true, ..base }),
        (base, Options { exchange_pruning: true, ..base }),
        (base, Options { futility: 1, ..base }),
        (base, Options { reverse_futility: 1, ..base }),
    ];
    for (without, with) in pairs {
        let (values, costs) = differences(without, with, 400);
        assert!(costs > 150, "{costs} of 400 by {with:?}");
        assert!(values > 0, "no value of 400 by {with:?}");
    }
}

/// In how many of so many positions the options change the value, and in how many the cost.
fn differences(without: Options, with: Options, roots: u64) -> (u32, u32) {
    let (mut values, mut costs) = (0, 0);
    for seed in 0..roots {
        let root = Skirmish::new(1_000 * seed, 9, 9);
        let [plain, optioned] = [without, with].map(|options| find(options, &root, &UNLIMITED));
        values += u32::from(plain.0.score != optioned.0.score);
        costs += u32::from((plain.1, plain.2) != (optioned.1, optioned.2));
    }
    (values, costs)
}

/// In a game that knows nothing of tactics, checks, passes or repetition, the switches for them change
/// nothing at all.
#[test]
fn games_without_tactics_are_searched_as_before() {
    let added = r#", "captures": true, "quiescence": true, "exchange": true, "check_extension": true,
        "null_move": true, "null_adaptive": true, "repetition": true, "late_move_pruning": true,
        "exchange_pruning": true, "futility": 1, "reverse_futility": 1, "delta": 1"#;
    for rules in crate::common::all_rules() {
        if with_game!(&rules, G => G::HISTORY_MATTERS || G::HAS_TACTICS) {
            continue;
        }
        for preset in ["plain", "full"] {
            let analysed = |added: &str| -> Option<Analysis> {
                let json = format!(
                    r#"{{"algorithm": "alpha-beta", "preset": "{preset}", "depth": 3, "nodes": 20000{added}}}"#
                );
                let position = crate::common::start(&rules);
                analyze(&rules, &position, &player(&rules, &json), key(7), &Timeless).ok()
            };
            let (without, with) = (analysed(""), analysed(added));
            assert!(without.is_some());
            assert_eq!(without, with, "{}", rules.name());
        }
    }
}

/// The preset for chess is a player of every game, and finds the moves that win at once.
#[test]
fn the_preset_for_chess_plays_every_game() {
    for rules in crate::common::all_rules() {
        let json = r#"{"algorithm": "alpha-beta", "preset": "chess", "nodes": 3000}"#;
        let position = crate::common::start(&rules);
        let found = analyze(&rules, &position, &player(&rules, json), key(3), &Timeless).unwrap();
        with_game!(&rules, G => {
            let start = G::start(&rules).unwrap();
            assert!(start.is_legal(start.parse_move(&found.best_move).unwrap()));
        });
    }
}

/// What is declared is what is tested here.
#[test]
fn promises_are_declared() {
    use spelrum_engine::Promise::{DepthExtending, Heuristic, ValuePreserving};
    let promise = |name: &str| {
        let info = parameters_of("alpha-beta").iter().find(|info| info.name == name).unwrap();
        assert!(info.added_later, "{name}");
        (info.promise, info.unless_history_matters)
    };
    assert_eq!(promise("captures"), (Some(ValuePreserving), false));
    for name in ["quiescence", "quiescence_plies", "exchange", "table_deeper"] {
        assert_eq!(promise(name), (Some(DepthExtending), true), "{name}");
    }
    assert_eq!(promise("check_extension"), (Some(DepthExtending), false));
    for name in ["history_malus", "countermoves"] {
        assert_eq!(promise(name), (Some(ValuePreserving), false), "{name}");
    }
    for name in ["null_move", "null_reduction", "null_adaptive", "reductions", "log_reductions"] {
        assert_eq!(promise(name), (Some(Heuristic), false), "{name}");
    }
    for name in ["futility", "reverse_futility", "delta", "late_move_pruning", "exchange_pruning"] {
        assert_eq!(promise(name), (Some(Heuristic), false), "{name}");
    }
    for name in ["internal_reduction", "repetition"] {
        assert_eq!(promise(name), (Some(Heuristic), false), "{name}");
    }
}

/// Definitions of before keep their bytes: what is off is not written.
#[test]
fn old_definitions_keep_their_bytes() {
    let rules = Rules::usual::<spelrum_engine::games::TicTacToe>();
    let json = r#"{"algorithm": "alpha-beta", "evaluation": "none", "depth": 3}"#;
    let written = serde_json::to_string(player(&rules, json).parameters()).unwrap();
    assert_eq!(
        written,
        r#"{"algorithm":"alpha-beta","depth":3,"evaluation":"none","iterative":false,"order":false,"shuffle":true}"#
    );
    let explicit = r#"{"algorithm": "alpha-beta", "evaluation": "none", "depth": 3,
        "quiescence": false, "null_move": false,
        "reductions": false, "captures": false, "check_extension": false, "repetition": false}"#;
    assert_eq!(player(&rules, explicit), player(&rules, json));
}
