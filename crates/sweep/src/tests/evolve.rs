//! Sweeps with `evolve`: their grid, and errors.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one kind of many")]

use spelrum_model::Plan;
use spelrum_model::course::{EvolveSettings, Fitness, Meet, Reevaluate, RunSettings};
use spelrum_optimize::genetic_programming::selection::{Parsimony, Selection};
use spelrum_optimize::genetic_programming::trees::Initial;
use spelrum_optimize::genetic_programming::variation::Mutation;

use super::{plan_sweep, render};
use crate::SweepText;

const EVOLVE: &str = "name = \"bred\"
game = \"othello\"
seed = 3
games = 20
pairing = { gauntlet = \"evolved\" }

[axes]
wish = [{}, { fitness = \"margin\", population = 10 }]

[players.evolved]
algorithm = \"alpha-beta\"
depth = 1
ties = \"random\"
evaluation = \"expression\"

[players.random]
algorithm = \"random\"

[evolve]
use = \"$wish\"
player = \"evolved\"
";

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text))
        .unwrap_or_else(|error| panic!("{}", render(&error)))
}

fn settings(text: &str) -> Vec<EvolveSettings> {
    let plan = plan(text);
    let evolve = |settings: &RunSettings| match settings {
        RunSettings::Evolve(evolve) => (**evolve).clone(),
        other => panic!("{other:?}"),
    };
    plan.course.as_ref().unwrap().runs.iter().map(|run| evolve(&run.settings)).collect()
}

/// The error when this line follows, with its line.
fn refused(line: &str) -> String {
    let text = format!("{EVOLVE}{line}\n");
    let error = plan_sweep(&SweepText::new("test.toml", &text)).unwrap_err();
    let there = error.line.unwrap_or(0) as usize;
    let place = text.lines().nth(there.saturating_sub(1)).unwrap_or_default();
    format!("{error}; {}; at: {place}", error.remedy)
}

/// The defaults are the study's settings, as far as every game has them.
#[test]
fn settings_have_the_defaults_that_are_documented() {
    let all = settings(EVOLVE);
    assert_eq!(all.len(), 2);
    let EvolveSettings { breeding, .. } = &all[0];
    assert_eq!((breeding.population, breeding.elite, breeding.limits.depth), (25, 5, 5));
    assert_eq!((all[0].generations, all[0].meet, all[0].hall_of_fame), (50, Meet::Opponents, 0));
    assert_eq!((breeding.mutation, breeding.mutation_rate), (Mutation::Label, 0.05));
    assert_eq!((breeding.initial, breeding.selection), (Initial::Ramped, Selection::Study));
    assert_eq!((all[0].parsimony, all[0].reevaluate), (Parsimony::Free, Reevaluate::Children));
    assert!(breeding.duplicates);
    assert_eq!(breeding.primitives.leaves.len(), 25);
    assert_eq!(all[0].fitness, Fitness::Score);
    // The axis overrides it.
    assert_eq!((all[1].fitness, all[1].breeding.population), (Fitness::Margin, 10));
}

#[test]
fn settings_are_read() {
    let text = format!(
        "{EVOLVE}runs = 3\ngenerations = 4\nselection = \"tournament\"\ntournament_size = 4\n\
         parsimony = 0.5\nfeatures = [\"own_bricks\", \"empty\"]\nconstants = [10, -0.5]\n\
         functions = [\"+\"]\nmeet = \"league\"\ngames = 2\nelite = 2\nduplicates = false\n\
         mutation = \"subtree\"\nmutation_rate = 1\nnodes = 31\ninitial_depth = 3\n"
    );
    let all = settings(&text);
    assert_eq!(all.len(), 6, "three at each point");
    let first = &all[0];
    assert_eq!(first.breeding.selection, Selection::Tournament(4));
    assert_eq!(first.parsimony, Parsimony::PerNode(0.5));
    assert_eq!(first.breeding.primitives.leaves.len(), 4);
    assert_eq!((first.reevaluate, first.games), (Reevaluate::Always, Some(2)));
    // Each meets every other of 25, or of 10, twice.
    let games = 3 * 4 * (25 * 24 / 2 + 10 * 9 / 2) * 2;
    assert_eq!(plan(&text).games(), games);
}

#[test]
fn what_cannot_be_bred_is_refused() {
    for (line, expected) in [
        (
            "elite = 25",
            "an elite of 25 leaves no room in a population of 25; choose an elite of at most 24, or more \
             individuals; at: elite = 25",
        ),
        ("population = 1", "`population` cannot be 1; choose 2 to 10000; at: population = 1"),
        ("generations = 0", "`generations` cannot be 0; choose 1 to 10000; at: generations = 0"),
        (
            "generations = \"unlimited\"",
            "`generations` must be a whole number, not a text; write, for example, generations = 50; at: \
             generations = \"unlimited\"",
        ),
        ("depth = 65", "`depth` cannot be 65; choose 0 to 64; at: depth = 65"),
        (
            "initial_depth = 6",
            "`initial_depth` cannot be 6; choose 0 to 5: no tree is deeper than `depth`; at: initial_depth = 6",
        ),
        (
            "features = [\"own_brick\"]",
            "othello has no feature `own_brick`; did you mean `own_bricks`?; at: features = [\"own_brick\"]",
        ),
        (
            "features = []",
            "trees have no leaves: there are no features and no constants; name features of the game, or \
             evolve formulas of another game; at: features = []",
        ),
        (
            "mutation_rate = 1.5",
            "`mutation_rate` cannot be 1.5; choose a number from 0 up to 1; it is a probability; at: mutation_rate = 1.5",
        ),
        (
            "hall_of_fame = 1\nreevaluate = \"new\"",
            "whom individuals meet changes from generation to generation, so none can keep what it came to; \
             write reevaluate = \"always\", or remove it; at: reevaluate = \"new\"",
        ),
        (
            "parameter = \"depth\"",
            "`depth` of `evolved` is what `evolve` decides; remove it from the player; at: depth = 1",
        ),
        (
            "generations = 10000",
            "the 2 runs of `evolve` would have 250010 cells; choose fewer runs, generations or individuals: at \
             most 100000 in all; at: [evolve]",
        ),
    ] {
        assert_eq!(refused(line), expected, "{line}");
    }
    // Games that do not end by their own rules have no margin.
    for (line, key) in [
        ("adjudication = { resign = { score = 600 } }", "adjudication"),
        ("max_plies = 50", "max_plies"),
    ] {
        let text = EVOLVE.replace("seed = 3", &format!("seed = 3\n{line}"));
        let error = plan_sweep(&SweepText::new("test.toml", &text)).unwrap_err();
        let expected = format!("games that `{key}` ends have no margin, and would count as even");
        assert_eq!(error.to_string(), expected);
        plan(
            &text
                .replace("fitness = \"margin\"", "fitness = \"score\"")
                .replace("[evolve]", "[evolve]\nfitness = \"score\""),
        );
    }
    plan(&EVOLVE.replace("seed = 3", "seed = 3\nmax_plies = \"unlimited\""));
    // Individuals that repeat their games: among themselves, and in more games than the sweep's cells have.
    let sure = EVOLVE.replace("ties = \"random\"", "shuffle = false");
    plan(&sure);
    for more in ["meet = \"league\"", "hall_of_fame = 1"] {
        let error =
            plan_sweep(&SweepText::new("test.toml", format!("{sure}{more}\n"))).unwrap_err();
        let expected = "an individual would repeat its games: 20 games are 10 pairs, there is 1 distinct opening, and \
                    `evolved` draws no random numbers";
        assert_eq!(error.to_string(), expected);
        plan(&format!("{EVOLVE}{more}\n"));
    }
    let surely = sure
        .replace("algorithm = \"random\"", "algorithm = \"minimax\"\ndepth = 1\nshuffle = false");
    plan(&surely.replace("games = 20", "games = 2"));
    let more = surely.replace("games = 20", "games = 2") + "games = 200\n";
    let error = plan_sweep(&SweepText::new("test.toml", &more)).unwrap_err();
    assert!(error.to_string().contains("200 games are 100 pairs"), "{error}");
    // A game without margins, one without features, and no opponent.
    let no_margin = EVOLVE.replace("othello", "tic-tac-toe");
    let error = plan_sweep(&SweepText::new("test.toml", &no_margin)).unwrap_err();
    assert_eq!(error.to_string(), "games of tic-tac-toe have no margin");
    let alone = EVOLVE
        .replace("{ gauntlet = \"evolved\" }", "\"self-play\"")
        .replace("[players.random]\nalgorithm = \"random\"\n", "");
    let error = plan_sweep(&SweepText::new("test.toml", &alone)).unwrap_err();
    assert!(error.to_string().contains("individuals have no opponent to meet"), "{error}");
}

/// With fixed sides individuals meet opponents in any number of games, all from one side.
#[test]
fn individuals_may_all_have_one_side() {
    let fixed = EVOLVE.replace("games = 20", "games = 5\nswap_sides = false");
    let planned = plan(&fixed);
    assert!(!planned.conditions[0].swap_sides);
    // Each of 25, and 20 new ones in 49 generations; at the second point 10, and 5.
    assert_eq!(planned.games(), 5 * (25 + 49 * 20 + 10 + 49 * 5));
    assert_eq!(settings(&format!("{fixed}games = 3\n"))[0].games, Some(3));
    for more in ["meet = \"league\"", "meet = \"knock-out\"", "hall_of_fame = 1"] {
        let error =
            plan_sweep(&SweepText::new("test.toml", format!("{fixed}{more}\n"))).unwrap_err();
        let expected = "individuals that meet each other need pairs of games";
        assert_eq!(error.to_string(), expected, "{more}");
    }
    assert!(refused("games = 3").starts_with("games come in colour-swapped pairs: 3 is odd"));
}

/// Sums of other features are bred from only where a sweep lists them.
#[test]
fn sums_of_features_are_bred_by_name() {
    let named = format!("{EVOLVE}features = [\"own_edges\", \"opp_near_corners\"]\n");
    assert_eq!(settings(&named)[0].breeding.primitives.leaves.len(), 2);
    let usual = settings(EVOLVE)[0].features.iter().filter(|feature| feature.is_usual).count();
    assert_eq!(usual, 25);
}
