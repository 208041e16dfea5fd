//! Sweeps of chess endings: their plans, and which players may play where.

use spelrum_engine::Timeless;
use spelrum_engine::tables::TableValue;
use spelrum_model::{Openings, OpeningsRule, PlayableCell, Task, ToMove};

use super::{SweepText, plan_sweep, planned};

const SWEEP: &str = r#"
name = "endings"
game = "chess"
seed = 9
games = 20
swap_sides = false
openings = { kind = "ending", ending = "$ending", distance = [2, 16], to_move = "black" }

[axes]
ending = ["KRK", "kqk"]

[players.table]
algorithm = "table"

[players.random]
algorithm = "random"
"#;

fn openings(text: &str) -> Vec<OpeningsRule> {
    planned(text).cells.iter().map(|cell| cell.definition.openings.clone()).collect()
}

#[test]
fn endings_are_planned_by_their_names() {
    let ending = |ending: &str| OpeningsRule::Ending {
        ending: ending.to_owned(),
        to_move: ToMove::Black,
        distance: Some([2, 16]),
        stratified: true,
    };
    // In any spelling, and with defaults spelt out.
    assert_eq!(openings(SWEEP), [ending("KRK"), ending("KQK")]);
    assert_eq!(openings(&SWEEP.replace("kqk", "KQK")), openings(SWEEP));
    assert_eq!(openings(&SWEEP.replace("[2, 16]", "[2, 16], stratified = true")), openings(SWEEP));
    let white = SWEEP.replace(", distance = [2, 16], to_move = \"black\"", "");
    assert_eq!(
        openings(&white),
        openings(&white.replace("\"$ending\"", "\"$ending\", to_move = \"white\""))
    );
    assert_ne!(openings(&white), openings(SWEEP));
}

/// The plan has the number of openings before they repeat.
#[test]
fn plans_know_how_many_openings_there_are() {
    let spelt = planned(SWEEP);
    for cell in &spelt.plan.cells {
        let conditions = &spelt.plan.conditions[cell.conditions];
        let openings =
            Openings::new(conditions.seed, &conditions.rules, &conditions.openings).unwrap();
        assert_eq!(conditions.openings_count, openings.count());
        assert!(openings.count().unwrap() > 10_000);
    }
}

/// With fixed sides the first of a pairing moves first: with black to move, the second has white's pieces.
#[test]
fn who_has_the_pieces_follows_from_the_sides() {
    for (to_move, seats) in [("white", [true, false]), ("black", [false, true])] {
        let spelt = planned(&SWEEP.replace("\"black\"", &format!("\"{to_move}\"")));
        let cell = PlayableCell::new(spelt.cells[0].definition.clone()).unwrap();
        assert_eq!(spelt.cells[0].player_names, ["table", "random"]);
        let game = cell.derive(3);
        let [first, _] = cell.players_of(&game);
        assert!(!first.begins_anywhere(), "the table moves first");
        let is_white = game.opening.contains(" w ");
        assert_eq!([is_white, !is_white], seats, "{to_move}");
    }
}

/// Positions to choose in are drawn like openings, and valued by tables in plies.
#[test]
fn choices_in_endings_are_valued_in_plies() {
    let text = "name = \"t\"\nkind = \"accuracy\"\ngame = \"chess\"\nchoices = 40\n\
                positions = { kind = \"ending\", ending = \"KQK\" }\n\
                [reference]\nalgorithm = \"table\"\n[players.a]\nalgorithm = \"random\"\n\
                [players.b]\nalgorithm = \"table\"";
    let spelt = planned(text);
    assert_eq!(spelt.cells.len(), 2);
    for cell in &spelt.cells {
        assert_eq!(cell.definition.task, Task::Choice);
        let is_table = cell.player_names[0] == "b";
        let cell = PlayableCell::new(cell.definition.clone()).unwrap();
        let mut lost = 0;
        for number in 0..40 {
            let (game, record) = cell.play(number, None, &Timeless).unwrap();
            let values = cell.values(&game.opening, &Timeless).unwrap();
            assert_eq!(cell.referee_values(&game.opening, &values), Ok(()));
            let best = values.iter().map(|move_value| move_value.value).max().unwrap();
            let plies = cell.plies_to_mate(number).unwrap();
            assert_eq!(best, i64::from(TableValue::Win { plies }.on_scale()), "{}", game.opening);
            let chosen =
                values.iter().find(|move_value| move_value.mv == record.moves[0].mv).unwrap();
            lost += best - chosen.value;
            let mut beyond = values.clone();
            beyond[0].value = i64::from(TableValue::SCALE) + 1;
            assert!(cell.referee_values(&game.opening, &beyond).is_err());
        }
        assert_eq!(lost == 0, is_table, "{lost}");
    }
}

/// Players of tables begin only in positions with a table; other players begin anywhere.
#[test]
fn lists_that_tables_have_are_taken() {
    let listed =
        "openings = [\"8/8/8/8/8/2k5/1R6/K7 w - - 0 1\", \"8/8/8/nn6/8/2K5/8/k7 w - - 0 1\"]";
    let line = SWEEP.lines().find(|line| line.starts_with("openings")).unwrap();
    let text = SWEEP.replace(line, listed).replace("[axes]\nending = [\"KRK\", \"kqk\"]\n", "");
    assert_eq!(planned(&text).cells.len(), 1);
    let elsewhere = text.replace(listed, "openings = \"start\"");
    assert!(plan_sweep(&SweepText::new("x", &*elsewhere)).is_err());
    let without = elsewhere.replace("\"table\"", "\"random\"");
    assert_eq!(planned(&without).cells.len(), 1);
}
