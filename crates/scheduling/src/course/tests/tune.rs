//! Runs of `[tune]`, as a sweep plans them, with players whose best settings are known.

use spelrum_engine::{Random, Value};
use spelrum_model::Plan;
use spelrum_model::course::{Confirmed, Ended, Note};
use spelrum_sweep::{SweepText, plan_sweep};

use crate::course::{CellOutcome, Decision, NewCell, course_from_plan};

const TUNE: &str = "name = \"tuning\"
game = \"pentago\"
seed = 3
games = 20
openings = { kind = \"random\", plies = 4 }
pairing = { gauntlet = \"genetic\" }

[players.ab]
algorithm = \"alpha-beta\"
depth = 2

[players.random]
algorithm = \"random\"

[players.genetic]
algorithm = \"genetic-minimax\"
preset = \"simple\"
selection = \"tournament\"
depth = 4
nodes = 500

[tune]
player = \"genetic\"
steps = 150
confirm = 200

[tune.parameters]
crossover_rate = { from = 0.0, to = 1.0, start = 0.9 }
population = { from = 10, to = 200, scale = \"log\" }
weight_run3 = { from = 0, to = 8 }
selection = { choices = [\"roulette\", \"tournament\"] }
";

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// The same against itself, by another method.
fn against_itself(method: &str) -> String {
    let (before, rest) = TUNE.split_once("pairing").unwrap();
    let (_, rest) = rest.split_once("[players.genetic]").unwrap();
    format!("{before}pairing = \"self-play\"\n[players.genetic]{rest}")
        .replace("steps = 150", &format!("method = \"{method}\"\nsteps = 150"))
}

/// The player's strength with these parameters, on a logistic scale: it is best at 0.3, 40 and 6, and with rank.
fn strength(parameters: &spelrum_engine::Parameters) -> f64 {
    let number = |key: &str| match parameters.get(key) {
        Some(Value::Integer(integer)) => *integer as f64,
        Some(Value::Number(number)) => *number,
        Some(_) | None => 0.0,
    };
    let square = |number: f64| number * number;
    let roulette = parameters.get("selection") == Some(&Value::Text("roulette".to_owned()));
    // Parameters without effect are absent.
    assert_eq!(parameters.contains_key("tournament_size"), !roulette);
    -2.0 * square(number("crossover_rate") - 0.3)
        - 0.3 * square(libm::log(number("population") / 40.0))
        - 0.03 * square(number("weight_run3") - 6.0)
        + if roulette { 0.6 } else { 0.0 }
}

fn match_of(number: u64, cell: &NewCell, itself: bool, random: &mut Random) -> CellOutcome {
    let parameters = |place: usize| &*cell.definition.players[place];
    let is_led = |place: usize| cell.player_names[place] == "genetic";
    let strengths =
        [0, 1].map(|place| if is_led(place) { strength(parameters(place)) } else { -0.5 });
    assert_eq!(itself, is_led(0) && is_led(1));
    let won = 1.0 / (1.0 + libm::exp(strengths[1] - strengths[0]));
    let mut outcome = CellOutcome { number, games: cell.games, ..CellOutcome::default() };
    for _ in 0..cell.games / 2 {
        let mut half_points = 0;
        for _ in 0..2 {
            let drawn = random.unit();
            let draws = 0.4 * won.min(1.0 - won);
            half_points += match (drawn < won - draws / 2.0, drawn < won + draws / 2.0) {
                (true, _) => 2,
                (false, true) => 1,
                (false, false) => 0,
            };
        }
        outcome.pairs.0[half_points] += 1;
    }
    outcome
}

/// Plays a course by itself: its requests, and all its notes.
fn play(plan: &Plan, itself: bool) -> (Vec<NewCell>, Vec<Note>) {
    let mut course = course_from_plan(plan).unwrap();
    let mut random = Random::from_key([7; 32]);
    let (mut asked, mut notes) = (Vec::new(), Vec::new());
    for number in 0.. {
        match course.decide() {
            Decision::Add(cells) => asked.extend(cells),
            Decision::Wait => {}
            Decision::End => break,
            Decision::Fail(fault) => panic!("{fault}"),
        }
        notes.extend(course.take_notes().into_iter().map(|noted| noted.note));
        course.tell(&match_of(number, &asked[number as usize], itself, &mut random));
    }
    notes.extend(course.take_notes().into_iter().map(|noted| noted.note));
    (asked, notes)
}

fn confirmed(notes: &[Note]) -> &Confirmed {
    let confirmed = notes.iter().find_map(|note| {
        let Note::Confirmed(confirmed) = note else { return None };
        Some(confirmed)
    });
    confirmed.unwrap()
}

/// Whether a run finds better settings, and reports them.
fn finds(text: &str, itself: bool) {
    let plan = plan(text);
    let (asked, notes) = play(&plan, itself);
    let games: u64 = asked.iter().map(|cell| cell.games).sum();
    assert_eq!(games, plan.games());
    let mut hashes: Vec<_> = asked.iter().map(|cell| cell.definition.hash().to_string()).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), asked.len());
    let last = notes.iter().rev().find_map(|note| {
        let Note::Estimated(149, estimated) = note else { return None };
        Some(&estimated.estimates)
    });
    let values: Vec<_> =
        last.unwrap().iter().map(|estimate| estimate.value.text.as_str()).collect();
    let [gain, low, high] = confirmed(&notes).gain();
    println!("{values:?} {gain} {low} {high}");
    assert_eq!(values[3], "roulette");
    assert!(low > 0.0 && gain > 0.1 && high < 1.0, "{gain} {low} {high}");
    // The confirmed player, without the parameters that have no effect beside a roulette.
    let ended: Vec<_> = notes
        .iter()
        .filter_map(|note| if let Note::Ended(ended) = note { Some(ended) } else { None })
        .collect();
    let [Ended { player: Some(player) }] = ended[..] else { panic!("{ended:?}") };
    assert!(!player.contains_key("tournament_size"), "{player:?}");
    let plays =
        |cell: &NewCell| cell.definition.players.iter().any(|parameters| **parameters == *player);
    assert!(asked.iter().any(plays), "{player:?}");
    let tried = notes.iter().filter(|note| matches!(note, Note::Tried(..))).count();
    assert!(tried >= 300, "{tried}");
    // A second run is identical.
    assert_eq!(play(&plan, itself), (asked, notes));
}

#[test]
fn spsa_finds_better_settings_against_opponents() {
    finds(TUNE, false);
}

#[test]
fn spsa_finds_better_settings_against_itself() {
    finds(&against_itself("spsa"), true);
}

#[test]
fn cma_es_finds_better_settings_against_itself() {
    finds(&against_itself("cma-es"), true);
}

#[test]
fn cma_es_finds_better_settings_against_opponents() {
    finds(&TUNE.replace("steps = 150", "method = \"cma-es\"\nsteps = 150"), false);
}

/// After a restart a course makes the same requests, and repeats no notes.
#[test]
fn a_course_is_taken_up() {
    let plan = plan(TUNE);
    let mut course = course_from_plan(&plan).unwrap();
    let Decision::Add(cells) = course.decide() else { panic!() };
    // Two iterations of two sides against two opponents; both sides from the same openings.
    assert_eq!(cells.len(), 8);
    assert_eq!(cells[0].definition.seed, cells[2].definition.seed);
    assert_ne!(cells[0].definition.seed, cells[1].definition.seed);
    assert_ne!(cells[0].definition.seed, cells[4].definition.seed);
    let mut again = course_from_plan(&plan).unwrap();
    again.adopt(&cells);
    assert_eq!(again.take_notes(), []);
    let mut random = Random::from_key([1; 32]);
    for number in 0..4 {
        let outcome = match_of(number, &cells[number as usize], false, &mut random);
        course.tell(&outcome);
        again.tell(&outcome);
        assert_eq!(course.decide(), again.decide());
    }
}

/// Failed games carry no information, and the run reaches its end.
#[test]
fn failed_games_say_nothing() {
    for text in [TUNE.to_owned(), against_itself("cma-es")] {
        let plan = plan(&text.replace("steps = 150", "steps = 5"));
        let mut course = course_from_plan(&plan).unwrap();
        let mut asked = 0;
        for number in 0.. {
            match course.decide() {
                Decision::Add(cells) => asked += cells.len() as u64,
                Decision::Wait => {}
                Decision::End => break,
                Decision::Fail(fault) => panic!("{fault}"),
            }
            assert!(number < asked);
            let games_failed = 20;
            course.tell(&CellOutcome { number, games_failed, ..CellOutcome::default() });
        }
        let notes = course.take_notes();
        // The settings found are the initial ones: there is nothing to confirm.
        assert!(!notes.iter().any(|noted| matches!(noted.note, Note::Confirmed(_))), "{notes:?}");
    }
}
