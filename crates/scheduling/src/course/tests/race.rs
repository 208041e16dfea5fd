//! Runs of `[race]`, as a sweep plans them, played with invented outcomes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use spelrum_engine::Random;
use spelrum_model::course::{Note, RaceStandings};
use spelrum_model::{CellId, Plan};
use spelrum_statistics::PairCounts;
use spelrum_sweep::{SweepText, plan_sweep};

use crate::course::{CellOutcome, LedCourse, NewCell, Step, StoredCell, course_from_plan};

const HEAD: &str = "name = \"best\"
game = \"connect-four\"
seed = 3
games = 10
openings = { kind = \"random\", plies = 4 }
";

const PLAYERS: &str = "
[players.mcts]
algorithm = \"mcts\"
vary = { simulations = [10, 20, 40, 80] }

[players.random]
algorithm = \"random\"

[players.minimax]
algorithm = \"alpha-beta\"
depth = 1
";

/// Four players against two that are not compared.
fn gauntlet(race: &str) -> Plan {
    let pairing = "pairing = { gauntlet = [\"random\", \"minimax\"] }\n";
    let race = format!("[race]\nplayers = \"mcts\"\n{race}");
    plan(&format!("{HEAD}{pairing}{PLAYERS}{race}"))
}

/// Six players against each other.
fn round_robin(race: &str) -> Plan {
    plan(&format!("{HEAD}{PLAYERS}[race]\n{race}"))
}

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// How strong each player is, in points of a game against another without any.
fn strength(name: &str, step: f64) -> f64 {
    let names = ["mcts(simulations=10)", "mcts(simulations=20)", "mcts(simulations=40)"];
    let names = [&names[..], &["mcts(simulations=80)"]].concat();
    names.iter().position(|player| *player == name).map_or(0.0, |place| step * place as f64)
}

/// What comes of a cell, whenever and wherever it is played. Some games fail.
fn outcome(number: u64, cell: &NewCell, step: f64, failures: f64) -> CellOutcome {
    let mut random = Random::from_key(cell.definition.hash().0);
    let [first, second] = cell.player_names.each_ref().map(|name| strength(name, step));
    let share = (0.5 + first - second).clamp(0.02, 0.98);
    let mut outcome = CellOutcome { number, ..CellOutcome::default() };
    for _ in 0..cell.games / 2 {
        if random.unit() < failures {
            outcome.games_failed += 2;
            continue;
        }
        let won = (0..2).filter(|_| random.unit() < share).count();
        outcome.games += 2;
        outcome.wins += won as u64;
        outcome.losses += 2 - won as u64;
        outcome.pairs.0[2 * won] += 1;
    }
    outcome
}

/// The cells that a race was given, and its standings after each round.
#[derive(Debug, PartialEq)]
struct Raced {
    cells: Vec<NewCell>,
    standings: Vec<RaceStandings>,
}

/// Plays a race to its end. Its cells settle in an order of this key; a coordinator starts again now and then.
fn play(plan: &Plan, step: f64, failures: f64, disturbed: Option<u8>) -> Raced {
    let mut random = Random::from_key([disturbed.unwrap_or(0); 32]);
    let course = || course_from_plan(plan).unwrap();
    let mut led = LedCourse::begin(course(), plan, Vec::new());
    let mut stored = Vec::<StoredCell>::new();
    let mut settled = BTreeSet::<CellId>::new();
    let mut notes = Vec::new();
    let mut is_over = false;
    while !is_over {
        match led.next(|cell| settled.contains(&cell)) {
            Step::Add(new) => {
                let outcomes = led.outcome_count() as u64;
                let ids = stored.len()..stored.len() + new.cells.len();
                let ids = ids.map(|id| CellId(i64::try_from(id).unwrap()));
                led.added(ids.clone());
                stored.extend(ids.zip(&new.cells).map(|(cell, planned)| StoredCell {
                    cell,
                    added: Some((outcomes, NewCell::from_planned(&new, planned))),
                    outcome: None,
                }));
            }
            Step::Tell(cell) => {
                let number = led.outcome_count();
                let heard = &mut stored[number];
                assert_eq!(heard.cell, cell);
                let (_, new) = heard.added.as_ref().unwrap();
                let outcome = outcome(number as u64, new, step, failures);
                led.tell(&outcome);
                heard.outcome = Some(outcome);
            }
            Step::Close(fault) => {
                assert_eq!(fault, None);
                is_over = true;
            }
            Step::Wait => {
                // What follows from an outcome is stored with it.
                if disturbed.is_some() && random.unit() < 0.1 {
                    led = LedCourse::restore(course(), plan, stored.clone());
                    assert_eq!(led.fault(), None);
                }
                let open =
                    stored.iter().map(|cell| cell.cell).filter(|cell| !settled.contains(cell));
                let open: Vec<CellId> = open.collect();
                let next = match disturbed {
                    Some(_) => (random.unit() * open.len() as f64) as usize,
                    None => 0,
                };
                settled.insert(open[next]);
            }
        }
        notes.extend(led.take_notes().into_iter().map(|noted| noted.note));
    }
    let standings = notes.into_iter().filter_map(|note| match note {
        Note::Estimated(_, estimated) => estimated.race,
        Note::Begun(_)
        | Note::Tried(..)
        | Note::Confirmed(_)
        | Note::Individual(..)
        | Note::Scored(..)
        | Note::Generation(..)
        | Note::Ended(_) => None,
    });
    let cells = stored.into_iter().map(|cell| cell.added.unwrap().1).collect();
    Raced { cells, standings: standings.collect() }
}

/// By round, the names of the players of each of its cells.
fn rounds(raced: &Raced) -> BTreeMap<u64, Vec<&NewCell>> {
    let mut rounds = BTreeMap::<u64, Vec<&NewCell>>::new();
    for cell in &raced.cells {
        let step = cell.axes.iter().find(|(axis, _)| axis == "step").unwrap();
        rounds.entry(step.1.number.unwrap() as u64).or_default().push(cell);
    }
    rounds
}

/// In each round exactly those play that may be first, as much as each other, from the same openings.
#[test]
fn players_that_are_out_play_no_more() {
    let raced = play(&gauntlet(""), 0.1, 0.0, None);
    let rounds = rounds(&raced);
    let mut seeds = BTreeSet::new();
    let mut still_in: BTreeSet<&str> =
        raced.standings[0].players.iter().map(|runner| &*runner.player).collect();
    assert_eq!(still_in.len(), 4);
    assert_eq!(rounds.len(), raced.standings.len());
    for (cells, standings) in rounds.values().zip(&raced.standings) {
        let pairings: BTreeSet<_> = cells.iter().map(|cell| cell.player_names.clone()).collect();
        assert_eq!(pairings.len(), cells.len());
        let names = cells.iter().flat_map(|cell| &cell.player_names).map(|name| &**name);
        let playing: BTreeSet<&str> = names.filter(|name| name.starts_with("mcts")).collect();
        assert_eq!((&playing, cells.len()), (&still_in, 2 * still_in.len()));
        assert!(cells.iter().all(|cell| cell.games == 10));
        let seed = cells[0].definition.seed;
        assert!(cells.iter().all(|cell| cell.definition.seed == seed) && seeds.insert(seed));
        let left = standings.players.iter().filter(|runner| runner.out_after.is_none());
        still_in = left.map(|runner| &*runner.player).collect();
    }
    let last = raced.standings.last().unwrap();
    assert_eq!(last.first.as_deref(), Some("mcts(simulations=80)"));
    let games: Vec<u64> = last.players.iter().map(|runner| runner.games).collect();
    assert!(games.is_sorted() && games[0] < games[2], "{games:?}");
    assert_eq!(games[3], 20 * raced.standings.len() as u64);
    let out = &last.players[0];
    assert_eq!(out.games, 20 * out.out_after.unwrap());
    assert!(out.behind.unwrap().low > 0.0);
}

/// In a round robin, players that are out play on against those that are not: all are measured by the same opponents.
#[test]
fn opponents_stay_the_same() {
    let raced = play(&round_robin("rounds = 300"), 0.06, 0.0, None);
    let rounds = rounds(&raced);
    let mut still_in = 6;
    for (cells, standings) in rounds.values().zip(&raced.standings) {
        let out: usize = 6 - still_in;
        assert_eq!(cells.len(), 15 - out * out.saturating_sub(1) / 2);
        still_in = standings.players.iter().filter(|runner| runner.out_after.is_none()).count();
    }
    let last = raced.standings.last().unwrap();
    assert_eq!(last.first.as_deref(), Some("mcts(simulations=80)"));
    let first = last.players.iter().find(|runner| runner.out_after.is_none()).unwrap();
    assert_eq!(first.games, 50 * raced.standings.len() as u64);
}

#[test]
fn a_race_ends_without_a_first_or_with_one_that_is_near_enough() {
    let unknown = play(&gauntlet("rounds = 8"), 0.0, 0.0, None);
    assert_eq!(unknown.standings.len(), 8);
    assert_eq!(unknown.standings[7].first, None);
    let near = play(&gauntlet("within = 0.2\nrounds = 100"), 0.0, 0.0, None);
    let last = near.standings.last().unwrap();
    assert!(last.first.is_some() && near.standings.len() < 100, "{last:?}");
    let left = last.players.iter().filter(|runner| runner.out_after.is_none());
    assert!(left.filter_map(|runner| runner.behind).all(|behind| behind.low >= -0.2));
}

/// A player whose games all fail is not compared, and is neither first nor out.
#[test]
fn failed_games_decide_nothing() {
    let raced = play(&gauntlet("rounds = 5"), 0.1, 1.0, None);
    let last = raced.standings.last().unwrap();
    assert_eq!((raced.standings.len(), &last.first), (5, &None));
    assert!(last.players.iter().all(|runner| runner.out_after.is_none() && runner.games == 0));
    assert_eq!(PairCounts::default().pairs(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The same cells and the same standings, in whatever order games come in, and through restarts.
    #[test]
    fn a_race_takes_the_same_course_everywhere(
        step in 0.0..0.15_f64,
        failures in prop_oneof![Just(0.0), 0.0..0.5_f64],
        disturbed: u8,
        all_meet in any::<bool>(),
    ) {
        let race = "rounds = 12\nwithin = 0.03";
        let plan = if all_meet { round_robin(race) } else { gauntlet(race) };
        let expected = play(&plan, step, failures, None);
        prop_assert_eq!(play(&plan, step, failures, Some(disturbed)), expected);
    }
}
