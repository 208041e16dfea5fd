//! Runs of `[find]`, as a sweep plans them, played with invented outcomes.

use spelrum_model::Plan;
use spelrum_model::course::Note;
use spelrum_statistics::PairCounts;
use spelrum_sweep::{SweepText, plan_sweep};

use crate::course::{CellOutcome, Decision, NewCell, course_from_plan};

const FIND: &str = "name = \"handicap\"
game = \"pentago\"
seed = 3
games = 20
openings = { kind = \"random\", plies = 2 }

[axes]
depth = [1, 2]

[players.ab]
algorithm = \"alpha-beta\"
depth = \"$depth\"

[players.genetic]
algorithm = \"genetic-minimax\"
preset = \"study\"
depth = \"$depth\"

[find]
player = \"genetic\"
parameter = \"move_time\"
from = \"1ms\"
to = \"1s\"
";

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// A game in which the player with the greater parameter is stronger, by a step.
fn outcome(number: u64, plan: &Plan, value: f64, root: f64) -> CellOutcome {
    let games = plan.course.as_ref().unwrap().runs[0].meetings[0].cell.games;
    // The run decides about the second player.
    let pairs = games / 2;
    let (pairs, [wins, losses]) = match value < root {
        true => (PairCounts([0, 0, 0, 0, pairs]), [games, 0]),
        false => (PairCounts([pairs, 0, 0, 0, 0]), [0, games]),
    };
    CellOutcome { number, games, wins, losses, pairs, ..CellOutcome::default() }
}

/// Plays a course by itself: its requests, in order, and all its notes.
fn play(plan: &Plan, root: f64) -> (Vec<String>, Vec<Note>) {
    let mut course = course_from_plan(plan).unwrap();
    let (mut asked, mut notes) = (Vec::new(), Vec::new());
    let mut number = 0;
    loop {
        match course.decide() {
            Decision::Add(cells) => asked.extend(cells),
            Decision::Wait => {}
            Decision::End => break,
            Decision::Fail(fault) => panic!("{fault}"),
        }
        notes.extend(course.take_notes().into_iter().map(|noted| noted.note));
        let cell = &asked[number];
        let value = cell.definition.players[1].get("move_time_us");
        let Some(&spelrum_engine::Value::Integer(value)) = value else { panic!("{cell:?}") };
        course.tell(&outcome(number as u64, plan, value as f64, root));
        number += 1;
    }
    notes.extend(course.take_notes().into_iter().map(|noted| noted.note));
    assert_eq!(number, asked.len());
    let hash = |cell: &NewCell| cell.definition.hash().to_string();
    (asked.iter().map(hash).collect(), notes)
}

#[test]
fn a_run_finds_where_players_are_even() {
    let plan = plan(FIND);
    let (asked, notes) = play(&plan, 40_000.0);
    assert_eq!(asked.len(), 100);
    assert_eq!(asked.iter().collect::<std::collections::BTreeSet<_>>().len(), 100);
    let last = notes.iter().rev().find_map(|note| {
        let Note::Estimated(49, estimated) = note else { return None };
        Some(&estimated.estimates[0])
    });
    let last = last.unwrap();
    assert!((last.value.number.unwrap() - 40.0).abs() < 1.0, "{last:?}");
    assert_eq!(notes.iter().filter(|note| matches!(note, Note::Ended(_))).count(), 2);
    // A second run is identical.
    assert_eq!(play(&plan, 40_000.0), (asked, notes));
}

/// A release that requests other cells than the one that began an experiment does not continue it.
#[test]
fn another_course_is_not_taken_up() {
    let (plan, changed) = (plan(FIND), plan(&FIND.replace("\"1s\"", "\"2s\"")));
    let Decision::Add(cells) = course_from_plan(&plan).unwrap().decide() else { panic!() };
    let mut same = course_from_plan(&plan).unwrap();
    same.adopt(&cells);
    assert_eq!(same.decide(), Decision::Wait);
    assert_eq!(same.take_notes(), []);
    let mut course = course_from_plan(&changed).unwrap();
    course.adopt(&cells);
    assert!(matches!(course.decide(), Decision::Fail(_)));
    // Nor does one with the outcome of a cell that it did not request.
    same.tell(&outcome(9, &plan, 1.0, 2.0));
    assert!(matches!(same.decide(), Decision::Fail(_)));
}
