//! `stop`: when a cell has enough games.

use spelrum_statistics::{EloModel, Precision, Sprt, StopRule};

use super::{RANDOM_PLAYERS, planned, tic_tac_toe};

#[test]
fn a_stop_rule_is_no_part_of_a_cell() {
    let plan = |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    let without = plan("");
    assert_eq!(without.stop, None);
    for (text, precision) in [("0.03", 0.03), ("1e-9", 1e-9), ("0.4999", 0.4999)] {
        let with = plan(&format!("stop = {{ precision = {text} }}"));
        assert_eq!(with.stop, StopRule::from_precision(precision), "{text}");
        assert_eq!(with.plan.cells, without.plan.cells, "{text}");
    }
}

#[test]
fn a_sequential_test_has_usual_errors_unless_told() {
    let stop = |text: &str| {
        let head = format!("stop = {{ sprt = {{ {text} }} }}");
        planned(&tic_tac_toe(&head, RANDOM_PLAYERS)).stop
    };
    let sprt = |elo0, elo1, alpha, beta, model| {
        Some(StopRule::Sprt(Sprt::new(elo0, elo1, alpha, beta, model).unwrap()))
    };
    assert_eq!(stop("elo0 = 0, elo1 = 20"), sprt(0.0, 20.0, 0.05, 0.05, EloModel::Normalized));
    assert_eq!(
        stop("elo0 = -2.5, elo1 = 2.5, alpha = 0.01, beta = 0.1, model = \"logistic\""),
        sprt(-2.5, 2.5, 0.01, 0.1, EloModel::Logistic)
    );
}

/// With twelve openings even equal results leave some doubt about a thirteenth.
#[test]
fn a_precision_that_openings_do_not_give_is_known() {
    let with = |head: &str| {
        let text = tic_tac_toe(head, RANDOM_PLAYERS).replace("games = 2", "games = 100");
        planned(&text).plan.precision_out_of_reach()
    };
    let all = "openings = { kind = \"all\", plies = 2 }\n";
    let fine = "stop = { precision = 0.03 }";
    let (openings, finest) = with(&format!("{all}{fine}")).unwrap();
    assert_eq!(openings, 12);
    let just = (finest * 1e6).ceil() / 1e6;
    assert_eq!(with(&format!("{all}stop = {{ precision = {just} }}")), None);
    // Without repeating openings, or without a precision.
    assert_eq!(with(&format!("openings = {{ kind = \"random\", plies = 4 }}\n{fine}")), None);
    assert_eq!(with(fine), None);
    assert_eq!(with(all), None);
    // The figures of docs/statistics.md.
    for (openings, above) in [(5, 0.22), (12, 0.08), (30, 0.03), (100, 0.009)] {
        let finest = Precision::finest_over(openings);
        assert!((above..1.15 * above).contains(&finest), "{openings}: {finest}");
    }
}
