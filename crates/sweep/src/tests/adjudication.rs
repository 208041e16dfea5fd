//! Games that end early by their players' scores, or by exact tables.

use std::num::NonZeroU32;

use spelrum_engine::{Adjudication, DrawRule, ResignRule, SyzygyResults, SyzygyRule};

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
            draw: Some(DrawRule { score: 10, moves: some(8), after: 0, restart: false }),
            ..Adjudication::default()
        })
    );
}

#[test]
fn everything_can_be_said_within_bounds() {
    let resign = ResignRule { score: some(1), moves: some(5_000), both: false };
    let draw = DrawRule { score: 1_000_000, moves: some(1), after: 5_000, restart: false };
    assert_eq!(
        adjudication("adjudication.resign = { score = 1, moves = 5000, both = false }"),
        Some(Adjudication { resign: Some(resign), ..Adjudication::default() })
    );
    assert_eq!(
        adjudication("adjudication.draw = { score = 1_000_000, moves = 1, after = 5000 }"),
        Some(Adjudication { draw: Some(draw), ..Adjudication::default() })
    );
    // The rule affects games: another rule gives another cell.
    let hash =
        |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS)).plan.cells[0].definition_hash;
    let rules = ["", "adjudication.draw = { score = 1 }", "adjudication.draw = { score = 2 }"];
    let [none, draw_rule, both_rules] = rules.map(hash);
    assert!(none != draw_rule && draw_rule != both_rules && none != both_rules);
    // A default gives the same cell as the same value spelt out.
    assert_eq!(hash("adjudication.draw = { score = 1, moves = 8, after = 0 }"), draw_rule);
    assert_eq!(hash("adjudication.draw = { score = 1, restart = false }"), draw_rule);
}

/// Chess between random players, with these lines about openings and the ends of games.
fn chess(adjudication: &str) -> String {
    format!(
        "name = \"t\"\ngame = \"chess\"\ngames = 2\n{adjudication}\n\
         [players.random]\nalgorithm = \"random\"\n[players.other]\nalgorithm = \"random\"\n"
    )
}

#[test]
fn tables_end_games_beside_scores_or_alone() {
    let adjudication = |text: &str| planned(&chess(text)).cells[0].definition.adjudication;
    let with = Adjudication { tables: true, ..Adjudication::default() };
    assert_eq!(adjudication("adjudication = { tables = true }"), Some(with));
    assert_eq!(adjudication("adjudication = { tables = false }"), Some(Adjudication::default()));
    let draw = Some(DrawRule { score: 10, moves: some(8), after: 0, restart: false });
    let both = adjudication("adjudication = { tables = true, draw = { score = 10 } }");
    assert_eq!(both, Some(Adjudication { draw, ..with }));
}

#[test]
fn syzygy_tables_end_games_and_are_demanded_of_workers() {
    let rule = |text: &str| {
        let planned = planned(&chess(&format!("adjudication.syzygy = {text}")));
        let require = planned.plan.settings.placement.require.iter().map(ToString::to_string);
        (
            planned.cells[0].definition.adjudication.unwrap().syzygy.unwrap(),
            require.collect::<Vec<_>>(),
        )
    };
    let six = SyzygyRule { pieces: 6, fifty_moves: true, results: SyzygyResults::All };
    let demand = || vec!["syzygy=6".to_owned()];
    for text in ["6", "{ pieces = 6 }", "{ pieces = 6, fifty_moves = true, results = \"all\" }"] {
        assert_eq!(rule(text), (six, demand()), "{text}");
    }
    let other = SyzygyRule { fifty_moves: false, results: SyzygyResults::Draw, ..six };
    assert_eq!(rule("{ pieces = 6, fifty_moves = false, results = \"draw\" }"), (other, demand()));
}

#[test]
fn counting_restarts_in_chess_alone_and_only_where_it_says_so() {
    let definition = |text: &str| planned(&chess(text)).cells[0].definition.clone();
    let [plain, restarting] = ["", ", restart = true"]
        .map(|restart| definition(&format!("adjudication.draw = {{ score = 10{restart} }}")));
    assert!(!plain.canonical_json().contains("restart"));
    assert!(restarting.canonical_json().contains(r#""restart":true"#));
    assert!(restarting.adjudication.unwrap().draw.unwrap().restart);
}
