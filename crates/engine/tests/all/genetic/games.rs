//! Genetic minimax in the real games, and as a player of a sweep.

use std::sync::LazyLock;

use insta::assert_snapshot;
use proptest::prelude::*;
use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::games::pentago::evaluation::PentagoRuns;
use spelrum_engine::games::tic_tac_toe::evaluation::TicTacToeLines;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::search::genetic::{GeneticMinimax, GeneticParameters};
use spelrum_engine::search::{Budget, Evaluate, Limits, Search, WIN};
use spelrum_engine::{
    EndedBy, Game, Knowledge, Line, Parameters, Player, Random, Rules, Timeless, with_evaluation,
    with_game,
};

use crate::common::{
    Irregular, all_rules, key, play, player, random_position, replay, start, stops, without_times,
};
use crate::genetic::minimax::{minimax_of_moves, rank};
use crate::genetic::twin::Twin;

static PENTAGO: LazyLock<Rules> = LazyLock::new(|| Pentago::rules(true));

/// The mean rank of the moves it plays (how many first moves minimax of equal depth values higher)
/// in some positions, after so many generations.
fn mean_ranks<P: Game, E: Evaluate<P> + Copy>(
    roots: &[P],
    parameters: GeneticParameters,
    evaluation: E,
    generations: [u64; 5],
) -> [f64; 5] {
    let values: Vec<_> =
        roots.iter().map(|root| minimax_of_moves(root, parameters.depth, &evaluation).0).collect();
    generations.map(|generations| {
        let parameters = GeneticParameters { generations: Some(generations), ..parameters };
        let ranks = roots.iter().zip(&values).zip(0..).map(|((root, values), seed)| {
            let mut search = GeneticMinimax::new(parameters, evaluation);
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            let found = search.search(
                Line::from_start(root),
                &mut budget,
                &mut Random::from_key(key(seed)),
            );
            rank(values, found.unwrap().mv)
        });
        ranks.sum::<usize>() as f64 / roots.len() as f64
    })
}

/// Positions after so many random moves.
fn positions<P: Game>(rules: &Rules, plies: u32, count: usize) -> Vec<P> {
    let mut random = Random::from_key(key(plies.into()));
    let all = std::iter::repeat_with(|| random_position::<P>(rules, plies, &mut random));
    all.filter(|position| position.legal_move_count() > 1).take(count).collect()
}

/// The rank falls towards the best as generations grow: `tuned` reaches it, and the others come
/// nearer, though at first they may lose ground, when their few replies refute good moves and bad.
#[track_caller]
fn check_falling(preset: &str, ranks: [f64; 5]) {
    if preset == "tuned" {
        assert!(ranks.is_sorted_by(|few, many| few >= many), "{preset}: {ranks:?}");
        assert!(ranks[0] > 1.0 && ranks[4] < 0.05, "{preset}: {ranks:?}");
    } else {
        assert!(ranks[4] < 0.7 * ranks[0], "{preset}: {ranks:?}");
    }
}

/// The presets whose search generations bound.
const OF_GENERATIONS: [&str; 3] = ["study", "simple", "tuned"];

#[test]
fn more_generations_choose_better_moves_in_pentago() {
    // About 140 moves and 17,000 leaves each.
    let roots: Vec<Pentago> = positions(&PENTAGO, 18, 40);
    for preset in OF_GENERATIONS {
        let parameters =
            GeneticParameters { seed_root: true, ..GeneticParameters::preset(preset, 2).unwrap() };
        let generations = [1, 10, 50, 250, 1_500];
        check_falling(preset, mean_ranks(&roots, parameters, PentagoRuns::default(), generations));
    }
}

#[test]
fn more_generations_choose_better_moves_in_tic_tac_toe() {
    let roots: Vec<TicTacToe> = positions(&TicTacToe::rules(), 2, 60);
    for preset in OF_GENERATIONS {
        let parameters = GeneticParameters {
            population: 20,
            seed_root: true,
            ..GeneticParameters::preset(preset, 4).unwrap()
        };
        let generations = [1, 4, 16, 64, 256];
        check_falling(
            preset,
            mean_ranks(&roots, parameters, TicTacToeLines::default(), generations),
        );
    }
}

/// Against the twin where moves are many and, under a winning placement, of another kind.
#[test]
fn equals_its_slow_twin_in_pentago() {
    for (seed, root) in (0..).zip(positions::<Pentago>(&PENTAGO, 14, 3)) {
        for preset in GeneticParameters::PRESETS {
            let parameters = GeneticParameters {
                population: 15,
                generations: Some(12),
                ..GeneticParameters::preset(preset, 3).unwrap()
            };
            let limits = Limits { nodes: Some(20_000), ..Limits::default() };
            let mut budget = Budget::new(&limits, &Timeless);
            let mut twin_budget = Budget::new(&limits, &Timeless);
            let found = GeneticMinimax::new(parameters, PentagoRuns::default()).search(
                Line::from_start(&root),
                &mut budget,
                &mut Random::from_key(key(seed)),
            );
            let twin_found = Twin::new(parameters, PentagoRuns::default()).search(
                Line::from_start(&root),
                &mut twin_budget,
                &mut Random::from_key(key(seed)),
            );
            assert_eq!(found, twin_found);
            assert_eq!(budget.nodes(), twin_budget.nodes());
            assert_eq!(budget.evaluations(), twin_budget.evaluations());
        }
    }
}

/// Nim is small enough to be searched to the end: the values of theory (Bouton 1901), whoever
/// takes the last object.
#[test]
fn nim_is_played_perfectly() {
    for (heaps, misere, first_wins) in [
        (vec![2], false, true),
        (vec![1, 1], false, false),
        (vec![1, 2, 3], false, false),
        (vec![1, 2], false, true),
        (vec![2, 2], true, false),
        (vec![1, 1, 1], true, false),
        (vec![2, 1], true, true),
    ] {
        let rules = Nim::rules(&heaps, misere).unwrap();
        let tuned =
            player(&rules, r#"{"algorithm": "genetic-minimax", "depth": 10, "generations": 5000}"#);
        let position = start(&rules);
        let found = spelrum_engine::analyze(&rules, &position, &tuned, key(1), &Timeless).unwrap();
        if found.legal_moves > 1 {
            assert_eq!(found.search.ended_by, EndedBy::Proven, "{position}");
            assert_eq!(found.search.score.unwrap() > 0, first_wins, "{position}");
            assert!(found.search.score.unwrap().abs() >= WIN - 10);
        }
    }
}

/// A root and what a seeded search, one ply deep, finds there.
struct OnePlyDeep<'a, P> {
    root: &'a P,
    seed: u64,
}

impl<P: Game> EvaluationVisitor<P> for OnePlyDeep<'_, P> {
    type Output = ();

    fn visit<E: GameEvaluation<P>>(self, evaluation: E) {
        let Self { root, seed } = self;
        if root.legal_move_count() < 2 {
            return;
        }
        let (values, best) = minimax_of_moves(root, 1, &evaluation);
        let mut search = GeneticMinimax::new(GeneticParameters::tuned(1), evaluation);
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let random = &mut Random::from_key(key(seed));
        let found = search.search(Line::from_start(root), &mut budget, random).unwrap();
        assert_eq!(found.score, Some(best), "{root}");
        assert_eq!(rank(&values, found.mv), 0, "{root}");
        assert_eq!(budget.nodes(), values.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// With `seed_root`, one ply deep is minimax, in every game.
    #[test]
    fn one_ply_deep_it_is_minimax_in_every_game(plies in 0..30u32, seed in any::<u64>()) {
        for rules in all_rules() {
            let checked = with_game!(&rules, G => {
                let mut random = Random::from_key(key(seed));
                let plies_max = G::start(&rules).unwrap().plies_left() * 4 / 5;
                let root: G = random_position(&rules, plies % (plies_max + 1), &mut random);
                with_evaluation(&Parameters::new(), OnePlyDeep { root: &root, seed })
            });
            prop_assert_eq!(checked, Ok(()));
        }
    }

    /// Invariant 3, in whole games: whatever the clock did, the recorded node counts give the same
    /// game again.
    #[test]
    fn a_timed_game_replays_from_its_record(
        rules in prop::sample::select(all_rules()),
        presets in prop::array::uniform2(prop::sample::select(GeneticParameters::PRESETS)),
        depth in 1..6u32,
        move_time_us in 1..3_000u64,
        step_us_max in 1..400u32,
        seed in 0..1_000_000u64,
    ) {
        let [first, second] = presets.map(|preset| player(&rules, &format!(
            r#"{{"algorithm": "genetic-minimax", "preset": "{preset}", "depth": {depth},
                "move_time_us": {move_time_us}}}"#
        )));
        let recorded = play(&rules, [&first, &second], seed, &Irregular::new(seed, step_us_max));
        let host = Irregular::new(seed + 1, 100_000);
        let replayed = replay(&rules, [&first, &second], seed, &stops(&recorded), &host);
        prop_assert_eq!(without_times(&replayed), without_times(&recorded));
        for record in &recorded.moves {
            prop_assert!(record.search.depth <= depth);
        }
    }
}

fn canonical(json: &str) -> String {
    serde_json::to_string(player(&PENTAGO, json).parameters()).unwrap()
}

fn error(json: &str) -> String {
    let given = serde_json::from_str(json).unwrap();
    Player::from_parameters(&PENTAGO, &given).unwrap_err().to_string()
}

/// These maps are hashed: a change here makes every stored player another one.
#[test]
fn canonical_parameters_stay() {
    assert_snapshot!(canonical(
        r#"{"algorithm": "genetic-minimax", "preset": "simple", "depth": 4}"#
    ), @r#"{"algorithm":"genetic-minimax","crossover_rate":0.8,"depth":4,"elites":2,"evaluation":"runs","generations":100,"max_tree_nodes":4194304,"min_visits":0,"mutation_rate":0.1,"population":100,"refute":0.0,"reject_duplicates":false,"seed_root":false,"selection":"roulette","weight_centre":1,"weight_run3":3,"weight_run4":9}"#);
    assert_snapshot!(canonical(
        r#"{"algorithm": "genetic-minimax", "preset": "simple", "depth": "unlimited",
            "generations": "unlimited", "nodes": 100, "selection": "tournament", "refute": 1}"#
    ), @r#"{"algorithm":"genetic-minimax","crossover_rate":0.8,"depth":"unlimited","elites":2,"evaluation":"runs","generations":"unlimited","max_tree_nodes":4194304,"min_visits":0,"mutation_rate":0.1,"nodes":100,"population":100,"refute":1.0,"reject_duplicates":false,"seed_root":false,"selection":"tournament","tournament_size":2,"weight_centre":1,"weight_run3":3,"weight_run4":9}"#);
    assert_snapshot!(canonical(
        r#"{"algorithm": "genetic-minimax", "preset": "study", "depth": 4}"#
    ), @r#"{"algorithm":"genetic-minimax","crossover":"two-point","crossover_rate":0.8,"depth":4,"elites":2,"encoding":"branches","evaluation":"runs","generations":100,"max_tree_nodes":4194304,"min_visits":0,"mutation":"each-gene","mutation_rate":0.1,"population":100,"refute":0.0,"reject_duplicates":false,"seed_root":false,"selection":"stochastic-tournament","tournament_chance":0.75,"weight_centre":1,"weight_run3":3,"weight_run4":9}"#);
}

/// What is not named is `tuned`, and each parameter can be set alone on top of a preset.
#[test]
fn presets_are_a_way_of_writing() {
    let tuned = r#"{"algorithm": "genetic-minimax", "preset": "tuned", "depth": 4}"#;
    assert_eq!(canonical(tuned), canonical(r#"{"algorithm": "genetic-minimax", "depth": 4}"#));
    let study = r#"{"algorithm": "genetic-minimax", "preset": "study", "depth": 4}"#;
    let seeded =
        r#"{"algorithm": "genetic-minimax", "preset": "study", "depth": 4, "seed_root": true}"#;
    assert_eq!(
        canonical(study).replace(r#""seed_root":false"#, r#""seed_root":true"#),
        canonical(seeded)
    );
    for json in [tuned, study, seeded] {
        let player = player(&PENTAGO, json);
        assert_eq!(Player::from_parameters(&PENTAGO, player.parameters()).unwrap(), player);
        assert!(player.draws_random_numbers() && !player.is_timed());
    }
}

#[test]
fn errors_name_the_key_and_the_remedy() {
    assert_snapshot!(error(r#"{"algorithm": "genetic-minimax"}"#), @r#"`depth` is missing; write an integer from 1 to 1000, or "unlimited""#);
    assert_snapshot!(error(
        r#"{"algorithm": "genetic-minimax", "depth": 3, "generations": "unlimited"}"#
    ), @"nothing bounds the search of `genetic-minimax`; limit at least one of `generations`, `nodes`, `evaluations`, `move_time`, `clock`");
    assert_snapshot!(error(r#"{"algorithm": "genetic-minimax", "depth": 3, "preset": "best"}"#), @r#"`preset` cannot be "best"; write "tuned", "study", "simple" or "strong""#);
    assert_snapshot!(error(
        r#"{"algorithm": "genetic-minimax", "depth": 3, "mutation_rate": 1.5}"#
    ), @"`mutation_rate` cannot be 1.5; write a number from 0 to 1");
    assert_snapshot!(error(r#"{"algorithm": "genetic-minimax", "depth": 3, "population": 0}"#), @"`population` cannot be 0; write an integer from 1 to 16384");
    assert_snapshot!(error(
        r#"{"algorithm": "genetic-minimax", "depth": 3, "selection": "rank", "tournament_size": 3}"#
    ), @r#"`tournament_size` has no effect here; leave it out, or set `selection` to "tournament""#);
}
