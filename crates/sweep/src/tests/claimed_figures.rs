//! Claims about other figures than scores: choices, values that are found, ratings, and means over replicates.

use spelrum_statistics::claims::{About, Bound};

use super::{SweepText, plan_sweep, render};
use crate::SweepError;

fn planned(text: &str) -> spelrum_model::Plan {
    plan_sweep(&SweepText::new("sweep.toml", text))
        .unwrap_or_else(|error| panic!("{}", render(&error)))
}

fn refused(text: &str) -> String {
    let error: SweepError = plan_sweep(&SweepText::new("sweep.toml", text)).unwrap_err();
    format!("{}: {error}: {}", error.line.unwrap_or(0), error.remedy)
}

fn claim(text: &str, lines: &str) -> String {
    format!("{text}\n[[claims]]\ntext = \"x\"\n{lines}\n")
}

/// The names and places of a claim's cells.
fn cells(plan: &spelrum_model::Plan) -> Vec<String> {
    let shown = |claimed: &spelrum_model::claims::ClaimedCell| {
        let cell = &plan.cells[claimed.cell];
        let place: Vec<&str> = plan.place(cell).map(|(_, value)| value.text.as_str()).collect();
        format!("{} {}", cell.player_names[0], place.join(" ")).trim().to_owned()
    };
    plan.claims[0].cells.iter().map(shown).collect()
}

const CHOICES: &str = "name = \"x\"\nkind = \"accuracy\"\ngame = \"tic-tac-toe\"\npositions = { kind = \"random\", plies = 4 }\n\
                       choices = 10\nerror_rate = 0.1\n[reference]\nalgorithm = \"exact\"\n[axes]\ndepth = [1, 2]\n\
                       [players.ab]\nalgorithm = \"alpha-beta\"\ndepth = \"$depth\"\n[players.random]\n\
                       algorithm = \"random\"\n";

#[test]
fn an_accuracy_experiment_has_claims_about_choices() {
    let plan = planned(&claim(CHOICES, "player = \"ab\"\naccuracy_above = 0.5"));
    assert_eq!(plan.claims[0].statement.about, About::Accuracy(Bound::Above(0.5)));
    assert_eq!(cells(&plan), ["ab 1", "ab 2"]);
    assert_eq!(plan.claims[0].statement.predicate(2), "accuracy above 0.5 in every one of 2 cells");
    let plan = planned(&claim(CHOICES, "player = \"ab\"\naccuracy_within = [0.6, 0.8]"));
    assert_eq!(plan.claims[0].statement.about, About::Accuracy(Bound::Within([0.6, 0.8])));
    let gain = "player = \"ab\"\nalong = \"depth\"\ngain_above = 0";
    assert_eq!(cells(&planned(&claim(CHOICES, gain))), ["ab 2", "ab 1"]);
    // A player with the settings of the reference chooses alone all the same.
    let alike =
        CHOICES.replace("algorithm = \"random\"", "algorithm = \"exact\"\nnodes = 10000000000");
    assert_eq!(
        cells(&planned(&claim(&alike, "player = \"random\"\naccuracy_above = 0.9"))),
        ["random"]
    );
}

const FIND: &str = "name = \"x\"\ngame = \"pentago\"\ngames = 20\npairing = { gauntlet = \"ab\" }\nopenings = { kind = \"random\", plies = 2 }\n[axes]\nwidth = [1, 2]\n\
                    [players.mm]\nalgorithm = \"minimax\"\ndepth = \"$width\"\n[players.random]\nalgorithm = \"random\"\n\
                    [players.ab]\nalgorithm = \"alpha-beta\"\n[find]\nplayer = \"ab\"\nparameter = \"nodes\"\nfrom = 10\n\
                    to = 1000\n";

#[test]
fn a_sweep_with_find_has_claims_about_the_value() {
    let plan = planned(&claim(
        FIND,
        "player = \"ab\"\nopponent = \"mm\"\nat = { width = 2 }\nvalue_above = 50",
    ));
    let claim_of_plan = &plan.claims[0];
    assert_eq!(claim_of_plan.statement.about, About::Value(Bound::Above(50.0)));
    // Which cells it will have is not known yet.
    assert_eq!((claim_of_plan.cells.len(), plan.cells.len()), (0, 0));
    assert_eq!(claim_of_plan.statement.subject(), "ab against mm at width=2");
    assert_eq!(claim_of_plan.statement.predicate(1), "value above 50 in its one run");
    let times = FIND
        .replace("\"nodes\"\nfrom = 10\nto = 1000", "\"move_time\"\nfrom = \"1ms\"\nto = \"1s\"");
    let plan = planned(&claim(&times, "player = \"ab\"\nvalue_within = [\"5ms\", \"0.02s\"]"));
    assert_eq!(plan.claims[0].statement.about, About::Value(Bound::Within([5.0, 20.0])));
}

const GAMES: &str = "name = \"x\"\ngame = \"tic-tac-toe\"\ngames = 8\nopenings = { kind = \"random\", plies = 2 }\nreplicates = \"seed\"\n\
                     seed = \"$seed\"\n[axes]\nseed = [1, 2, 3]\ndepth = [1, 2]\n[players.ab]\nalgorithm = \"alpha-beta\"\n\
                     shuffle = true\ndepth = \"$depth\"\n[players.mm]\nalgorithm = \"minimax\"\ndepth = 1\nshuffle = true\n\
                     [players.random]\nalgorithm = \"random\"\n";

#[test]
fn a_claim_about_ratings_has_all_cells_of_its_points() {
    let plan = planned(&claim(
        GAMES,
        "player = \"ab\"\nrating_lead_above = 0\nat = { depth = 2, seed = 1 }",
    ));
    assert_eq!(plan.claims[0].statement.about, About::RatingLead(Bound::Above(0.0)));
    let mut found = cells(&plan);
    found.sort();
    assert_eq!(found, ["ab 1 2", "ab 1 2", "mm 1"]);
    // It is no mean.
    assert_eq!(plan.claims[0].statement.over, None);
    let within = "player = \"ab\"\nopponent = \"mm\"\nrating_lead_within = 20";
    let plan = planned(&claim(GAMES, within));
    let statement = &plan.claims[0].statement;
    assert_eq!(statement.about.equivalence().unwrap(), "equal within ±20");
    assert_eq!(
        statement.predicate(2),
        "rating lead within -20 to 20 in every one of 2 differences"
    );
}

#[test]
fn claims_of_a_sweep_with_replicates_are_about_means() {
    let plan = planned(&claim(GAMES, "player = \"ab\"\nopponent = \"random\"\nscore_above = 0.5"));
    let statement = &plan.claims[0].statement;
    assert_eq!((statement.over.as_deref(), plan.claims[0].cells.len()), (Some("seed"), 6));
    assert_eq!(statement.predicate(2), "score above 0.5 in every one of 2 means over seed");
}

#[test]
fn slips_in_such_claims_are_refused() {
    let games = GAMES.replace("replicates = \"seed\"\n", "");
    let refusals = [
        refused(&claim(CHOICES, "player = \"ab\"\nscore_above = 0.5")),
        refused(&claim(CHOICES, "player = \"ab\"\naccuracy_within = 0.1")),
        refused(&claim(CHOICES, "player = \"ab\"\nopponent = \"random\"\naccuracy_above = 0.5")),
        refused(&claim(CHOICES, "player = \"reference\"\naccuracy_above = 0.5")),
        refused(&claim(CHOICES, "player = \"ab\"\naccuracy_above = 0.5\nalong = \"depth\"")),
        refused(&claim(FIND, "player = \"ab\"\nscore_above = 0.5")),
        refused(&claim(FIND, "player = \"mm\"\nvalue_above = 50")),
        refused(&claim(FIND, "player = \"ab\"\nopponent = \"ab\"\nvalue_above = 50")),
        refused(&claim(FIND, "player = \"ab\"\nvalue_above = \"50 nodes\"")),
        refused(&claim(FIND, "player = \"ab\"\nvalue_below = -1")),
        refused(&claim(GAMES, "player = \"ab\"\nvalue_above = 50")),
        refused(&claim(GAMES, "player = \"ab\"\naccuracy_above = 0.5")),
        refused(&claim(
            GAMES,
            "player = \"ab\"\nrating_lead_above = 0\nthan = { player = \"mm\" }",
        )),
        refused(&claim(GAMES, "player = \"ab\"\ngain_above = 0\nalong = \"seed\"")),
        refused(&claim(
            GAMES,
            "player = \"ab\"\nopponent = \"random\"\ngain_above = 0\nthan = { seed = 1 }",
        )),
        // Its games against `random` have no counterpart.
        refused(&claim(&games, "player = \"ab\"\ngain_above = 0\nthan = { player = \"random\" }")),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
}
