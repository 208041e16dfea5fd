#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one kind of many")]

use std::collections::{BTreeMap, BTreeSet};

use spelrum_engine::Value;
use spelrum_model::Plan;
use spelrum_model::course::{
    EvolveSettings, Generation, Individual, Note, Noted, RunSettings, Scored,
};
use spelrum_statistics::PairCounts;
use spelrum_sweep::{SweepText, plan_sweep};

use super::super::{CellOutcome, CourseFault, Decision, NewCell, course_from_plan};

fn sweep(table: &str) -> String {
    format!(
        "name = \"evolved\"
game = \"connect-four\"
seed = 11
games = 4
pairing = {{ gauntlet = \"bred\" }}

[players.bred]
algorithm = \"alpha-beta\"
depth = 1
shuffle = true
evaluation = \"expression\"

[players.random]
algorithm = \"random\"

[evolve]
player = \"bred\"
population = 7
generations = 6
elite = 2
depth = 4
{table}
"
    )
}

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

fn settings(plan: &Plan) -> EvolveSettings {
    match &plan.course.as_ref().unwrap().runs[0].settings {
        RunSettings::Evolve(settings) => (**settings).clone(),
        settings => panic!("{settings:?}"),
    }
}

fn formulas(cell: &NewCell) -> [Option<String>; 2] {
    cell.definition.players.each_ref().map(|player| match player.get("formula") {
        Some(Value::Text(formula)) => Some(formula.clone()),
        _ => None,
    })
}

/// A score for a formula, out of this many games: arbitrary, but always the same.
fn deserved(formula: &str, games: u64) -> u64 {
    formula.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
        % (games + 1)
}

/// The outcome of a cell: by the formula's score against opponents, by the greater score among themselves.
fn outcome(number: u64, cell: &NewCell) -> CellOutcome {
    let games = cell.games;
    let wins = match formulas(cell) {
        [Some(first), Some(second)] => match deserved(&first, 99).cmp(&deserved(&second, 99)) {
            std::cmp::Ordering::Greater => games,
            std::cmp::Ordering::Equal => games / 2,
            std::cmp::Ordering::Less => 0,
        },
        [Some(first), None] => deserved(&first, games),
        [None, Some(second)] => games - deserved(&second, games),
        [None, None] => panic!("nobody has a formula"),
    };
    let margin_sum = 3 * wins as i64 - games as i64;
    let losses = games - wins;
    CellOutcome {
        number,
        games,
        wins,
        losses,
        margin_sum,
        pairs: PairCounts::default(),
        draws: 0,
        games_failed: 0,
    }
}

/// Runs a course to its end: the cells, those of each request, and the notes.
struct Played {
    cells: Vec<NewCell>,
    batches: Vec<usize>,
    notes: Vec<Noted>,
}

fn played(plan: &Plan, come_of: impl Fn(u64, &NewCell) -> CellOutcome) -> Played {
    let mut course = course_from_plan(plan).unwrap();
    let mut played = Played { cells: Vec::new(), batches: Vec::new(), notes: Vec::new() };
    let mut number = 0;
    loop {
        let decision = course.decide();
        played.notes.extend(course.take_notes());
        match decision {
            Decision::Add(new) => {
                played.batches.push(new.len());
                played.cells.extend(new);
            }
            Decision::Wait => {}
            Decision::End => break,
            Decision::Fail(fault) => panic!("{fault}"),
        }
        course.tell(&come_of(number, &played.cells[number as usize]));
        number += 1;
    }
    assert_eq!(number, played.cells.len() as u64, "it ended before it was told everything");
    played
}

impl Played {
    fn individuals(&self) -> BTreeMap<(u64, u64, u64), Individual> {
        let individual = |noted: &Noted| match &noted.note {
            Note::Individual(generation, index, individual) => {
                Some(((noted.run, *generation, *index), individual.clone()))
            }
            _ => None,
        };
        self.notes.iter().filter_map(individual).collect()
    }

    fn scored(&self) -> BTreeMap<(u64, u64, u64), Scored> {
        let scored = |noted: &Noted| match &noted.note {
            Note::Scored(generation, index, scored) => {
                Some(((noted.run, *generation, *index), scored.clone()))
            }
            _ => None,
        };
        self.notes.iter().filter_map(scored).collect()
    }

    fn generations(&self) -> Vec<Generation> {
        let generation = |noted: &Noted| match &noted.note {
            Note::Generation(_, generation) => Some(generation.clone()),
            _ => None,
        };
        self.notes.iter().filter_map(generation).collect()
    }
}

#[test]
fn every_individual_is_measured_and_noted() {
    let plan = plan(&sweep("runs = 2"));
    let settings = settings(&plan);
    let played = played(&plan, outcome);
    // Seven at first, and then five children; the elite keep their fitness.
    assert_eq!(settings.cells(1), 7 + 5 * 5);
    assert_eq!(played.cells.len() as u64, 2 * settings.cells(1));
    assert_eq!(plan.games(), 2 * settings.cells(1) * 4);
    assert_eq!(played.batches[..2], [14, 5], "both runs begin, and each goes on when it can");
    let (individuals, scored) = (played.individuals(), played.scored());
    assert_eq!(individuals.len(), 2 * 6 * 7);
    assert_eq!(scored.keys().collect::<Vec<_>>(), individuals.keys().collect::<Vec<_>>());
    for (&(run, generation, index), individual) in &individuals {
        let score = &scored[&(run, generation, index)];
        let deserves = deserved(&individual.formula, 4);
        assert_eq!((score.wins, score.losses), (deserves, 4 - deserves));
        assert_eq!(score.margin, 3 * deserves as i64 - 4);
        assert_eq!(score.fitness, Some(deserves as f64 / 4.0));
        assert_eq!(score.kept, generation > 0 && index < 2);
        if generation > 0 && index < 2 {
            assert_eq!(individual.operator, "elite");
            let parent = (run, generation - 1, individual.parents[0]);
            assert_eq!(individuals[&parent].formula, individual.formula);
            assert_eq!(scored[&parent].rank, index);
        }
        assert!(individual.depth <= 4 && individual.size <= 31);
    }
    // The runs differ, and the best never gets worse.
    assert_ne!(individuals[&(0, 0, 0)].formula, individuals[&(1, 0, 0)].formula);
    for (&(run, generation, _), score) in scored.iter().filter(|(_, score)| score.rank == 0) {
        let next = scored
            .iter()
            .find(|(key, score)| (key.0, key.1) == (run, generation + 1) && score.rank == 0);
        assert!(next.is_none_or(|(_, next)| next.fitness >= score.fitness));
    }
}

/// A generation shares its openings; equal formulas of a generation still play different games.
#[test]
fn cells_of_a_generation_share_their_openings() {
    let text = sweep("functions = []\nfeatures = [\"own_discs\", \"opp_discs\"]");
    let played = played(&plan(&text), outcome);
    let hashes: BTreeSet<_> = played.cells.iter().map(|cell| cell.definition.hash()).collect();
    assert_eq!(hashes.len(), played.cells.len());
    let mut seeds = BTreeMap::<(String, String), BTreeSet<u64>>::new();
    for cell in &played.cells {
        let place = |axis: &str| {
            cell.axes
                .iter()
                .find(|(name, _)| name == axis)
                .map(|(_, value)| value.text.clone())
                .unwrap()
        };
        let formula = formulas(cell).into_iter().flatten().next().unwrap();
        let seen = seeds.entry((place("generation"), formula)).or_default();
        seen.insert(cell.definition.seed);
    }
    let first: Vec<&u64> = seeds
        .iter()
        .filter(|((name, _), _)| name == "0")
        .filter_map(|(_, seeds)| seeds.first())
        .collect();
    assert!(first.len() == 2, "two formulas there are: {first:?}");
    let shared = |generation: &str| {
        let mut all =
            seeds.iter().filter(|((name, _), _)| name == generation).map(|(_, seeds)| seeds);
        let first = all.next().unwrap();
        all.all(|seeds| first.intersection(seeds).next().is_some())
    };
    assert!((0..6).all(|generation| shared(&generation.to_string())));
}

/// With its stored requests and the same outcomes it continues as if there had been no restart.
#[test]
fn a_restart_goes_on_where_it_was() {
    let plan = plan(&sweep("runs = 2\nmutation_rate = 0.5\nmutation = \"subtree\""));
    let all = played(&plan, outcome);
    for until in [0, 1, 13, 14, 15, 33, 63] {
        let mut course = course_from_plan(&plan).unwrap();
        // The batches that an undisturbed course requested.
        let mut undisturbed = course_from_plan(&plan).unwrap();
        let mut there = 0;
        for number in 0..=until {
            let new = match undisturbed.decide() {
                Decision::Add(new) => new,
                Decision::Wait | Decision::End => Vec::new(),
                Decision::Fail(fault) => panic!("{fault}"),
            };
            course.adopt(&new);
            assert!(course.take_notes().is_empty());
            there += new.len();
            if number < until {
                let cell = &all.cells[number as usize];
                undisturbed.tell(&outcome(number, cell));
                course.tell(&outcome(number, cell));
            }
        }
        let mut next = there;
        for number in until..all.cells.len() as u64 {
            course.tell(&outcome(number, &all.cells[number as usize]));
            match course.decide() {
                Decision::Add(new) => {
                    assert_eq!(new, &all.cells[next..next + new.len()], "after {number}");
                    next += new.len();
                }
                Decision::Wait | Decision::End => {}
                Decision::Fail(fault) => panic!("{fault}"),
            }
        }
        assert_eq!(next, all.cells.len());
        assert_eq!(course.decide(), Decision::End);
    }
    // Cells that it did not request are noticed.
    let mut course = course_from_plan(&plan).unwrap();
    course.adopt(&all.cells[..3]);
    assert_eq!(course.decide(), Decision::Fail(CourseFault::OtherThanBefore));
}

#[test]
fn a_failed_game_puts_an_individual_last() {
    let plan = plan(&sweep(""));
    let played = played(&plan, |number, cell| {
        let fails = number % 3 == 0;
        let outcome = outcome(number, cell);
        match fails {
            true => CellOutcome { games: 3, games_failed: 1, wins: 3, losses: 0, ..outcome },
            false => outcome,
        }
    });
    for ((_, generation, index), score) in played.scored().iter().take(7) {
        let failed = index % 3 == 0;
        assert_eq!((*generation, score.games_failed), (0, u64::from(failed)));
        assert_eq!(score.fitness.is_none(), failed);
        assert_eq!(score.rank >= 4, failed, "{index}: {score:?}");
    }
    let first = &played.generations()[0];
    assert_eq!((first.individuals, first.measured), (7, 4));
    // No individual has a fitness: the run continues.
    let nobody = self::played(&plan, |number, cell| CellOutcome {
        games: 0,
        games_failed: 4,
        ..outcome(number, cell)
    });
    let last = nobody.generations().pop().unwrap();
    assert_eq!((last.best, last.mean, last.least, last.sd), (None, None, None, None));
}

#[test]
fn all_meet_all_in_a_league() {
    let plan = plan(
        &sweep("meet = \"league\"")
            .replace("pairing = { gauntlet = \"bred\" }", "pairing = \"self-play\"")
            .replace("[players.random]\nalgorithm = \"random\"\n", ""),
    );
    let played = played(&plan, outcome);
    assert_eq!(played.cells.len(), 6 * 21);
    assert_eq!(settings(&plan).cells(1), 6 * 21);
    assert_eq!(played.batches, [21; 6]);
    assert!(played.cells.iter().all(|cell| cell.player_names == ["bred", "bred"]));
    for score in played.scored().values() {
        assert_eq!(score.games, 6 * 4);
        assert!(!score.kept);
    }
    // The individual with the greatest score has beaten all others.
    let individuals = played.individuals();
    let deserves = |index| deserved(&individuals[&(0, 0, index)].formula, 99);
    let best = (0..7).max_by_key(|index| (deserves(*index), 7 - index)).unwrap();
    assert_eq!(played.scored()[&(0, 0, best)].rank, 0);
}

#[test]
fn a_knock_out_has_as_many_rounds_as_it_needs() {
    for population in [2, 5, 7, 8] {
        let table = "meet = \"knock-out\"";
        let text = sweep(table)
            .replace("population = 7", &format!("population = {population}"))
            .replace("elite = 2", "elite = 1");
        let played = played(&plan(&text), outcome);
        assert_eq!(played.cells.len(), 6 * (population - 1));
        let rounds = population.next_power_of_two().trailing_zeros();
        for generation in 0..6 {
            let scored: Vec<Scored> = played
                .scored()
                .into_iter()
                .filter(|(key, _)| key.1 == generation)
                .map(|(_, scored)| scored)
                .collect();
            let champions: Vec<&Scored> =
                scored.iter().filter(|scored| scored.rounds == u64::from(rounds)).collect();
            assert_eq!(champions.len(), 1);
            assert_eq!(champions[0].rank, 0);
            // Every cell has one individual that goes on, and so has every bye.
            let byes = population.next_power_of_two() - population;
            let survived: u64 = scored.iter().map(|scored| scored.rounds).sum();
            assert_eq!(survived as usize, population - 1 + byes);
            assert!(scored.iter().all(|scored| scored.games >= 4));
        }
    }
}

#[test]
fn everybody_meets_the_hall_of_fame() {
    let plan = plan(&sweep("hall_of_fame = 2"));
    let settings = settings(&plan);
    let played = played(&plan, outcome);
    assert!(played.cells.len() as u64 <= settings.cells(1));
    let against_own: Vec<&NewCell> =
        played.cells.iter().filter(|cell| cell.player_names == ["bred", "bred"]).collect();
    assert!(!against_own.is_empty());
    let best = |generation: u64| {
        let scored = played.scored();
        let (key, _) =
            scored.iter().find(|(key, scored)| key.1 == generation && scored.rank == 0).unwrap();
        played.individuals()[key].formula.clone()
    };
    let met = |generation: &str| -> BTreeSet<String> {
        let is_of = |cell: &&&NewCell| {
            cell.axes.iter().any(|(axis, value)| axis == "generation" && value.text == generation)
        };
        let rival = |cell: &&NewCell| formulas(cell)[1].clone().unwrap();
        against_own.iter().filter(is_of).map(rival).collect()
    };
    assert_eq!(met("0"), BTreeSet::new());
    assert_eq!(met("1"), [best(0)].into());
    assert!(met("5").contains(&best(4)));
    assert!((0..6).all(|generation: u64| met(&generation.to_string()).len() <= 2));
}

#[test]
fn formulas_that_are_known_need_no_games() {
    let text = sweep("reevaluate = \"new\"\ndepth = 1").replacen("depth = 4\n", "", 1);
    let played = played(&plan(&text), outcome);
    let mut seen = BTreeSet::new();
    for cell in &played.cells {
        let formula = formulas(cell).into_iter().flatten().next().unwrap();
        assert!(seen.insert(formula.clone()), "{formula} is measured twice");
    }
    let scored = played.scored();
    let new = scored.values().filter(|scored| !scored.kept).count();
    assert_eq!(new, played.cells.len());
    for (key, individual) in played.individuals() {
        assert_eq!(scored[&key].wins, deserved(&individual.formula, 4));
    }
}

/// Several opponents: the sum of all games.
#[test]
fn a_run_meets_all_opponents() {
    let text = sweep("fitness = \"score\"").replace(
        "[players.random]",
        "[players.other]\nalgorithm = \"mcts\"\nsimulations = 5\n\n[players.random]",
    );
    let plan = plan(&text);
    assert_eq!(plan.course.as_ref().unwrap().runs.len(), 1);
    let played = played(&plan, outcome);
    assert_eq!(played.cells.len() as u64, settings(&plan).cells(2));
    assert!(played.scored().values().all(|score| score.games == 8));
    let begun = played.notes.iter().find_map(|noted| match &noted.note {
        Note::Begun(begun) => Some(begun.opponents.clone()),
        _ => None,
    });
    assert_eq!(begun.unwrap(), ["other", "random"]);
    let games: u64 = plan.foreseen().cells.iter().map(|cell| cell.games).sum();
    assert_eq!(games, plan.games());
}
