//! Claims of sweeps about their results.

use spelrum_model::claims::{ClaimedCell, Statement, Than, cells_of_definition, claim_hash};
use spelrum_model::{Plan, Role};
use spelrum_statistics::claims::{About, Bound, Quantifier};

use super::{SweepText, plan_sweep, planned, render, tic_tac_toe};

const TABLES: &str = r#"
[axes]
time = ["1s", "2s", "3s"]
budget = [{ ab = 1, order = true }, { ab = 2, order = true }]

[players.ab]
algorithm = "alpha-beta"
depth = "$budget.ab"
order = "$budget.order"
move_time = "$time"
shuffle = true

[players.mm]
algorithm = "minimax"
vary = { depth = [1, 2] }

[players.random]
algorithm = "random"
"#;

fn with(head: &str, claims: &str) -> String {
    tic_tac_toe(head, &format!("{TABLES}{claims}"))
}

fn claim(lines: &str) -> String {
    with("", &format!("[[claims]]\ntext = \"It is so\"\n{lines}\n"))
}

/// The places of a claim's cells, each with its first player, its second, and the claim's player.
fn cells(plan: &Plan, claim: usize) -> Vec<String> {
    let shown = |&ClaimedCell { cell, player }: &ClaimedCell| {
        let cell = &plan.cells[cell];
        let place: Vec<&str> = plan
            .place(cell)
            .filter(|(axis, _)| !axis.contains("er."))
            .map(|(_, value)| value.text.as_str())
            .collect();
        let names = cell.player_names.each_ref().map(|name| &**name).join("-");
        let whose = if player == Role::Player { "" } else { " (second)" };
        format!("{} {names}{whose}", place.join(" "))
    };
    plan.claims[claim].cells.iter().map(shown).collect()
}

#[test]
fn a_claim_is_about_all_cells_of_its_pairing() {
    let plan = planned(&claim("player = \"ab\"\nopponent = \"random\"\nscore_above = 0.5"));
    assert_eq!(plan.claims.len(), 1);
    assert_eq!(plan.claims[0].text, "It is so");
    assert_eq!(
        plan.claims[0].statement,
        Statement {
            player: "ab".to_owned(),
            opponent: Some("random".to_owned()),
            at: Vec::new(),
            about: About::Score(Bound::Above(0.5)),
            than: None,
            over: None,
            quantifier: Quantifier::Every,
            error_rate: 0.05,
        }
    );
    let covered = cells(&plan, 0);
    assert_eq!(covered.len(), 3 * 2, "{covered:?}");
    assert!(covered.iter().all(|cell| cell.ends_with("ab-random")), "{covered:?}");
}

#[test]
fn a_claim_names_values_by_meaning_and_either_side() {
    let lines = "player = \"random\"\nopponent = \"ab\"\nat = { budget = { ab = 2 }, time = [\"2000ms\", \"1s\"] }\n\
                 score_below = 0.25\nin = \"some\"";
    let plan = planned(&with("error_rate = 0.01", &format!("[[claims]]\ntext = \"x\"\n{lines}")));
    let Statement { at, about, quantifier, error_rate, .. } = &plan.claims[0].statement;
    assert_eq!(
        *at,
        [
            ("time".to_owned(), vec!["1s".to_owned(), "2s".to_owned()]),
            ("budget".to_owned(), vec!["ab = 2, order = true".to_owned()]),
        ]
    );
    let below = About::Score(Bound::Below(0.25));
    assert_eq!((*about, *quantifier, *error_rate), (below, Quantifier::Some, 0.01));
    assert_eq!(cells(&plan, 0), ["1s 2 true ab-random (second)", "2s 2 true ab-random (second)"]);
}

#[test]
fn equivalence_has_a_margin_or_two_bounds() {
    for (written, ends) in [
        ("0.05", [0.45, 0.55]),
        ("0.07", [0.43, 0.57]),
        ("[0.45, 0.6]", [0.45, 0.6]),
        ("[0.6, 0.7]", [0.6, 0.7]),
    ] {
        let plan = planned(&claim(&format!("player = \"ab\"\nscore_within = {written}")));
        assert_eq!(plan.claims[0].statement.about, About::Score(Bound::Within(ends)));
    }
}

#[test]
fn a_gain_along_an_axis_compares_each_value_with_the_one_before() {
    let lines = "player = \"ab\"\nopponent = \"random\"\nalong = \"time\"\ngain_above = 0";
    let plan = planned(&claim(lines));
    assert_eq!(plan.claims[0].statement.about, About::Gain(Bound::Above(0.0)));
    assert_eq!(plan.claims[0].statement.than, Some(Than::Before("time".to_owned())));
    assert_eq!(
        cells(&plan, 0),
        [
            "2s 1 true ab-random",
            "1s 1 true ab-random",
            "3s 1 true ab-random",
            "2s 1 true ab-random",
            "2s 2 true ab-random",
            "1s 2 true ab-random",
            "3s 2 true ab-random",
            "2s 2 true ab-random",
        ]
    );
    // Of either side, and among the values named.
    let lines = "player = \"random\"\nopponent = \"ab\"\nat = { budget = { ab = 2 }, time = [\"1s\", \"3s\"] }\n\
                 along = \"time\"\ngain_within = 0.05";
    let plan = planned(&claim(lines));
    assert_eq!(cells(&plan, 0), ["3s 2 true ab-random (second)", "1s 2 true ab-random (second)"]);
}

/// Where sides are fixed, a player that moves first is compared with itself moving first, and never with itself moving
/// second.
#[test]
fn a_gain_compares_cells_of_the_same_side() {
    let both = "swap_sides = false\npairing = { pairs = [[\"mm(depth=1)\", \"random\"], [\"random\", \"mm(depth=1)\"], \
                [\"ab\", \"random\"], [\"random\", \"ab\"], [\"mm(depth=2)\", \"random\"]] }";
    let gain = |lines: &str| {
        let lines =
            format!("[[claims]]\ntext = \"x\"\nopponent = \"random\"\n{lines}\ngain_above = 0\n");
        cells(&planned(&with(both, &lines)), 0)
    };
    let along = gain("player = \"ab\"\nalong = \"time\"\nat = { budget = { ab = 1 } }");
    assert_eq!(
        along,
        [
            "2s 1 true ab-random",
            "1s 1 true ab-random",
            "3s 1 true ab-random",
            "2s 1 true ab-random",
            "2s 1 true random-ab (second)",
            "1s 1 true random-ab (second)",
            "3s 1 true random-ab (second)",
            "2s 1 true random-ab (second)",
        ]
    );
    let than = gain("player = \"mm(depth=2)\"\nthan = { player = \"mm(depth=1)\" }");
    assert_eq!(
        than,
        ["mm(depth=2)-random", "mm(depth=1)-random"].map(|pair| format!("true {pair}"))
    );
}

#[test]
fn a_gain_over_other_cells_has_all_else_the_same() {
    let than = |lines: &str| {
        let lines = format!("player = \"ab\"\nopponent = \"random\"\n{lines}\ngain_below = 0");
        let plan = planned(&claim(&lines));
        let statement = plan.claims[0].statement.clone();
        (cells(&plan, 0), statement.predicate(plan.claims[0].cells.len() / 2))
    };
    let (compared, words) = than("than = { budget = { ab = 1 } }\nat = { budget = { ab = 2 } }");
    assert_eq!(compared.len(), 2 * 3, "{compared:?}");
    assert_eq!(compared[..2], ["1s 2 true ab-random", "1s 1 true ab-random"]);
    assert_eq!(
        words,
        "gain below 0 over that at budget=ab = 1, order = true in every one of 3 comparisons"
    );
    // The same value is no other cell.
    let (compared, _) = than("than = { time = \"1s\" }\nat = { budget = { ab = 2 } }");
    assert_eq!(
        compared,
        [
            "2s 2 true ab-random",
            "1s 2 true ab-random",
            "3s 2 true ab-random",
            "1s 2 true ab-random"
        ]
    );
    // Against another opponent, on the other side there.
    let lines = "player = \"mm(depth=2)\"\nopponent = \"random\"\nthan = { player = \"mm(depth=1)\" }\ngain_above = 0";
    let plan = planned(&claim(lines));
    assert_eq!(cells(&plan, 0), ["true mm(depth=2)-random", "true mm(depth=1)-random"]);
    let (compared, words) =
        than("than = { opponent = \"mm(depth=1)\" }\nat = { time = \"1s\", budget = { ab = 2 } }");
    assert_eq!(compared, ["1s 2 true ab-random", "1s 2 true 1 ab-mm(depth=1)"]);
    assert_eq!(words, "gain below 0 over that against mm(depth=1) in its one comparison");
}

#[test]
fn a_claim_may_be_about_times() {
    let lines = "player = \"ab\"\nopponent = \"random\"\ntime_ratio_above = 2";
    let plan = planned(&claim(lines));
    assert_eq!(plan.claims[0].statement.about, About::TimeRatio(Bound::Above(2.0)));
    assert_eq!(plan.claims[0].cells.len(), 6);
}

#[test]
fn a_variant_may_be_named() {
    let plan = planned(&claim("player = \"mm(depth=2)\"\nscore_above = 0.5"));
    // It meets alpha-beta at six points, and its fellow and `random` in a cell that no axis affects.
    let covered = cells(&plan, 0);
    assert_eq!(covered.len(), 6 + 2, "{covered:?}");
    let plan = planned(&claim("player = \"mm\"\nopponent = \"random\"\nscore_above = 0.5"));
    assert_eq!(cells(&plan, 0), ["true mm(depth=1)-random", "true mm(depth=2)-random"]);
}

/// Pairings that turn out to be one cell are found under either name.
#[test]
fn a_claim_finds_a_cell_that_is_played_under_other_names() {
    let text = tic_tac_toe(
        "",
        "[players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"minimax\"\ndepth = 1\n\
         [players.c]\nalgorithm = \"minimax\"\ndepth = 1\nshuffle = true\n\
         [[claims]]\ntext = \"c is better\"\nplayer = \"c\"\nopponent = \"a\"\nscore_above = 0.5\n\
         [[claims]]\ntext = \"b is better\"\nplayer = \"b\"\nopponent = \"a\"\nscore_above = 0.5\n",
    );
    let plan = planned(&text);
    assert_eq!(plan.claims[0].cells, plan.claims[1].cells);
    assert_eq!(cells(&plan, 0), [" a-b (second)"]);
}

#[test]
fn claims_are_no_part_of_a_cell() {
    let with_claim = planned(&claim("player = \"ab\"\nscore_above = 0.5"));
    assert_eq!(with_claim.plan.cells, planned(&with("", "")).plan.cells);
}

#[test]
fn a_claims_hash_is_of_all_that_it_says() {
    let hash_with = |head: &str, lines: &str| {
        let plan = planned(&with(head, &format!("[[claims]]\n{lines}"))).plan;
        let json = plan.claims[0].definition_json(&plan.cells);
        assert_eq!(Statement::from_definition(&json).as_ref(), Some(&plan.claims[0].statement));
        let cells = cells_of_definition(&json).unwrap();
        let of_plan = plan.claims[0].cells.iter().map(|claimed_cell| {
            (plan.cells[claimed_cell.cell].definition_hash.to_string(), claimed_cell.player)
        });
        assert!(cells.into_iter().eq(of_plan));
        claim_hash(&plan.claims[0].text, &json)
    };
    let base = "text = \"x\"\nplayer = \"ab\"\nopponent = \"random\"\nscore_above = 0.5";
    let hash = hash_with("", base);
    // The same claim in other words.
    assert_eq!(hash_with("error_rate = 0.05", base), hash);
    assert_eq!(hash_with("", &format!("{base}\nin = \"every\"")), hash);
    assert_eq!(hash.to_string().len(), 64);
    for (head, other) in [
        ("", base.replace("\"x\"", "\"y\"")),
        ("", base.replace("above", "below")),
        ("", base.replace("0.5", "0.6")),
        ("", base.replace("opponent = \"random\"", "opponent = \"mm\"")),
        ("", format!("{base}\nin = \"some\"")),
        ("", format!("{base}\nat = {{ time = \"1s\" }}")),
        ("error_rate = 0.1", base.to_owned()),
        ("seed = 2", base.to_owned()),
    ] {
        assert_ne!(hash_with(head, &other), hash, "{head} {other}");
    }
}

/// One snapshot for each error.
macro_rules! errors {
    ($($name:ident: $text:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let text: String = $text.into();
                let error = plan_sweep(&SweepText::new("sweep.toml", text)).expect_err("this is an error");
                insta::assert_snapshot!(render(&error));
            }
        )*
    };
}

errors! {
    claim_of_nothing: claim("");
    claim_without_a_bound: claim("player = \"ab\"");
    claim_with_both_bounds: claim("player = \"ab\"\nscore_above = 0.5\nscore_below = 0.5");
    claim_of_a_gain_over_nothing: claim("player = \"ab\"\ngain_above = 0");
    claim_of_a_score_over_another: claim("player = \"ab\"\nscore_above = 0.5\nalong = \"time\"");
    claim_of_a_gain_along_and_over: claim("player = \"ab\"\ngain_above = 0\nalong = \"time\"\nthan = { time = \"1s\" }");
    claim_of_a_gain_along_descending_values: claim("player = \"ab\"\nopponent = \"random\"\ngain_above = 0\nalong = \"time\"")
        .replace("[\"1s\", \"2s\", \"3s\"]", "[\"3s\", \"1s\", \"2s\"]");
    claim_of_a_gain_along_no_axis: claim("player = \"ab\"\ngain_above = 0\nalong = \"depth\"");
    claim_of_a_gain_over_several_values: claim("player = \"ab\"\ngain_above = 0\nthan = { time = [\"1s\", \"2s\"] }");
    claim_of_a_gain_over_several_players: claim("player = \"ab\"\nopponent = \"random\"\ngain_above = 0\nthan = { opponent = \"mm\" }");
    claim_of_a_gain_over_itself: claim("player = \"mm\"\nopponent = \"random\"\ngain_above = 0\nalong = \"time\"");
    claim_of_a_gain_over_the_opponent: claim("player = \"ab\"\nopponent = \"random\"\ngain_above = 0\nthan = { player = \"random\" }");
    claim_of_a_gain_over_nothing_named: claim("player = \"ab\"\ngain_above = 0\nthan = {}");
    claim_of_equivalence_upside_down: claim("player = \"ab\"\nscore_within = [0.55, 0.45]");
    claim_of_equivalence_with_any_score: claim("player = \"ab\"\nscore_within = 0.5");
    claim_of_equivalence_in_words: claim("player = \"ab\"\nscore_within = \"5%\"");
    claim_beyond_all_scores: claim("player = \"ab\"\nscore_above = 1");
    claim_in_elo: claim("player = \"ab\"\nscore_below = -20");
    claim_of_a_player_that_is_not_there: claim("player = \"alphabeta\"\nscore_above = 0.5");
    claim_of_several_players: claim("player = [\"ab\", \"mm\"]\nscore_above = 0.5");
    claim_of_self_play: claim("player = \"ab\"\nopponent = \"ab\"\nscore_above = 0.5");
    claim_of_nothing_but_self_play: tic_tac_toe(
        "pairing = \"self-play\"",
        "[players.a]\nalgorithm = \"random\"\n\n[[claims]]\ntext = \"a is good\"\nplayer = \"a\"\nscore_above = 0.5"
    );
    claim_of_both_sides: claim("player = \"mm\"\nscore_above = 0.5");
    claim_at_no_axis: claim("player = \"ab\"\nat = { tmie = 1 }\nscore_above = 0.5");
    claim_at_no_value: claim("player = \"ab\"\nat = { time = [\"1s\", \"4s\"] }\nscore_above = 0.5");
    claim_at_nothing: claim("player = \"ab\"\nat = {}\nscore_above = 0.5");
    claim_at_what_a_player_varies: claim("player = \"ab\"\nat = { depth = 1 }\nscore_above = 0.5");
    claim_of_no_cell: with(
        "pairing = { gauntlet = \"ab\" }",
        "[[claims]]\ntext = \"they differ\"\nplayer = \"mm\"\nopponent = \"random\"\nscore_above = 0.5"
    );
    claim_in_most_cells: claim("player = \"ab\"\nscore_above = 0.5\nin = \"most\"");
    claim_of_an_unknown_key: claim("player = \"ab\"\nscore_over = 0.5");
    claim_twice: claim(
        "player = \"ab\"\nscore_above = 0.5\n[[claims]]\ntext = \"It is so\"\nplayer = \"ab\"\nscore_above = 0.6"
    );
    claim_that_says_nothing: with("", "[[claims]]\ntext = \" \"\nplayer = \"ab\"\nscore_above = 0.5");
    claim_of_two_lines: with("", "[[claims]]\ntext = \"a\\nb\"\nplayer = \"ab\"\nscore_above = 0.5");
    claim_that_is_no_table: with("claims = [1]", "");
    claims_that_are_none: with("claims = []", "");
    claims_that_are_one_table: with("", "[claims]\ntext = \"x\"");
    claims_judged_at_a_coin: with("error_rate = 0.5", "[[claims]]\ntext = \"x\"\nplayer = \"ab\"\nscore_above = 0.5");
    error_rate_of_no_claims: with("error_rate = 0.05", "");
}

#[test]
fn claims_that_are_too_many_are_refused() {
    let numbered = |number: usize| {
        format!("[[claims]]\ntext = \"{number}\"\nplayer = \"ab\"\nscore_above = 0.5\n")
    };
    let too_many: String = (0..101).map(numbered).collect();
    let error = plan_sweep(&SweepText::new("sweep.toml", with("", &too_many))).unwrap_err();
    assert_eq!(error.problem, "101 claims are too many");
    let axes = "[axes]\nx = { from = 1, to = 200, step = 1 }\n[players.ab]\nalgorithm = \"alpha-beta\"\n\
                shuffle = true\ndepth = \"$x\"\n[players.random]\nalgorithm = \"random\"\n";
    let claims: String = (0..51).map(numbered).collect();
    let error =
        plan_sweep(&SweepText::new("sweep.toml", tic_tac_toe("", &format!("{axes}{claims}"))));
    assert!(error.unwrap_err().problem.contains("more than 10000 cells"));
}
