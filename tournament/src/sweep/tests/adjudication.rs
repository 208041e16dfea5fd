//! Games that end early by their players' scores.

use std::num::NonZeroU32;

use spelrum_engine::{Adjudication, DrawRule, ResignRule};

use super::{RANDOM_PLAYERS, planned, tic_tac_toe};

fn some(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn adjudication(head: &str) -> Option<Adjudication> {
    let plan = planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    plan.cells[0].definition.adjudication
}

#[test]
fn without_the_key_the_definition_is_as_it_was() {
    assert_eq!(adjudication(""), None);
    let plan = planned(&tic_tac_toe("", RANDOM_PLAYERS));
    assert!(!plan.cells[0].definition.canonical_json().contains("adjudication"));
}

#[test]
fn what_is_not_said_is_as_in_match_runners() {
    assert_eq!(
        adjudication("adjudication = { resign = { score = 600 }, draw = { score = 10 } }"),
        Some(Adjudication {
            resign: Some(ResignRule { score: some(600), moves: some(3), both: true }),
            draw: Some(DrawRule { score: 10, moves: some(8), after: 0 }),
        })
    );
}

#[test]
fn everything_can_be_said_within_bounds() {
    let resign = ResignRule { score: some(1), moves: some(5_000), both: false };
    let draw = DrawRule { score: 1_000_000, moves: some(1), after: 5_000 };
    assert_eq!(
        adjudication("adjudication.resign = { score = 1, moves = 5000, both = false }"),
        Some(Adjudication { resign: Some(resign), draw: None })
    );
    assert_eq!(
        adjudication("adjudication.draw = { score = 1_000_000, moves = 1, after = 5000 }"),
        Some(Adjudication { resign: None, draw: Some(draw) })
    );
    // It decides games: a cell of another rule is another cell.
    let hash =
        |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS)).plan.cells[0].definition_hash;
    let rules = ["", "adjudication.draw = { score = 1 }", "adjudication.draw = { score = 2 }"];
    let [none, one, two] = rules.map(hash);
    assert!(none != one && one != two && none != two);
    // At its default or spelt out, it is the same.
    assert_eq!(hash("adjudication.draw = { score = 1, moves = 8, after = 0 }"), one);
}
