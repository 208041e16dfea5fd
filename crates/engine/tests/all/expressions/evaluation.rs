//! The evaluation `expression` of a player.

use spelrum_engine::evaluation::{ExpressionEvaluation, View, score};
use spelrum_engine::expression::Expression;
use spelrum_engine::games::{ConnectFour, Pentago};
use spelrum_engine::search::Evaluate;
use spelrum_engine::{Game, KeyProblem, Player, Position, Random, Rules, Value};

use crate::common::{key, random_position};

fn player(formula: &str) -> Result<Player, KeyProblem> {
    let given = serde_json::json!({
        "algorithm": "alpha-beta", "depth": 1, "evaluation": "expression", "formula": formula,
    });
    Player::from_parameters(&ConnectFour::rules(), &serde_json::from_value(given).unwrap())
}

fn evaluation(formula: &str, view: View) -> ExpressionEvaluation<ConnectFour> {
    let features = ConnectFour::rules().features();
    ExpressionEvaluation::new(&Expression::parse(formula, features).unwrap(), view)
}

#[test]
fn the_mover_looks_at_what_they_have_made() {
    let rules = ConnectFour::rules();
    let position = ConnectFour::parse(&rules, "").unwrap_or_else(|_| ConnectFour::empty());
    let mut after = position;
    after.play_unchecked(position.parse_move("d").unwrap());
    // Who has just moved has one disc, and the only one in the middle column.
    let formula = "(+ (* 10 own_middle) (* 3 opp_discs))";
    assert_eq!(evaluation(formula, View::Mover).evaluate(&after), -score(10.0));
    assert_eq!(evaluation(formula, View::Difference).evaluate(&after), score(3.0 - 10.0));
    assert!(!evaluation(formula, View::Mover).is_antisymmetric());
    assert!(evaluation(formula, View::Difference).is_antisymmetric());
}

#[test]
fn both_views_are_those_of_the_formula() {
    let formula = "(/ (+ own_line2 (* 3 own_line3)) (- empty opp_discs))";
    let expression = Expression::parse(formula, ConnectFour::rules().features()).unwrap();
    for seed in 0..200 {
        let mut random = Random::from_key(key(seed));
        let plies = random.below(40);
        let position: ConnectFour = random_position(&ConnectFour::rules(), plies, &mut random);
        let side = position.to_move();
        let value = |side| evaluation(formula, View::Mover).value(&position, side);
        let all: Vec<u16> = (0..ConnectFour::rules().features().len() as u16).collect();
        for side in [side, side.other()] {
            let mut features = vec![0.0; all.len()];
            spelrum_engine::evaluation::Features::features(&position, side, &all, &mut features);
            assert_eq!(value(side), expression.evaluate(&features));
        }
        let [mover, difference] = [View::Mover, View::Difference]
            .map(|view| evaluation(formula, view).evaluate(&position));
        assert_eq!(mover, -score(value(side.other())));
        assert_eq!(difference, score(value(side) - value(side.other())));
    }
}

/// One formula has one hash, however it is written.
#[test]
fn players_have_the_formula_in_its_one_form() {
    let player = player(" (+ own_discs\n ( *  2.0 empty ) )").unwrap();
    let parameters = player.parameters();
    assert_eq!(parameters["formula"], Value::Text("(+ own_discs (* 2 empty))".to_owned()));
    assert_eq!(parameters["view"], Value::Text("mover".to_owned()));
    let again = Player::from_parameters(&ConnectFour::rules(), parameters).unwrap();
    assert_eq!(again, player);
}

#[test]
fn what_is_wrong_with_a_formula_is_said_of_its_key() {
    let long = format!("(+ 1 {})", " ".repeat(16_384));
    let refusals = ["(+ own_disc 1)", "(+ 1)", "", &long].map(|formula| {
        let error = player(formula).unwrap_err();
        assert_eq!(error.place.as_deref(), Some("formula"));
        error.to_string().replace(&" ".repeat(100), "")
    });
    let missing = serde_json::json!({
        "algorithm": "alpha-beta", "depth": 1, "evaluation": "expression",
    });
    let missing = serde_json::from_value(missing).unwrap();
    let missing = Player::from_parameters(&ConnectFour::rules(), &missing).unwrap_err();
    insta::assert_snapshot!(format!("{}\n{missing}", refusals.join("\n")));
}

#[test]
fn games_without_formulas_have_no_features() {
    assert!(Rules::from_name("nim").unwrap().features().is_empty());
    assert!(Pentago::rules(true).features().iter().any(|info| info.name == "own_run3"));
}
