//! Every answer read from JSON equals the one that was written, to the last bit of its figures.

use std::fmt::Debug;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use spelrum_answers::{CellsPage, Detail, ExperimentsPage, SettledCells, SqlValue};
use spelrum_model::ExperimentId;

use crate::arbitrary::changes::change;
use crate::arbitrary::comparisons::comparisons;
use crate::arbitrary::openings::{cell_cursor, openings_page};
use crate::arbitrary::overview::overview;
use crate::arbitrary::phases::phases;
use crate::arbitrary::progress::progress;
use crate::arbitrary::ratings::ratings;
use crate::arbitrary::report::report;
use crate::arbitrary::status::status;
use crate::arbitrary::{cells, experiment, games, runs, stated};

fn check_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    answer: &T,
) -> Result<(), TestCaseError> {
    let json = serde_json::to_string(answer).unwrap();
    let read: T = serde_json::from_str(&json)
        .map_err(|error| TestCaseError::fail(format!("{error} in {json}")))?;
    prop_assert_eq!(&read, answer);
    // Zeros differ in their signs alone.
    prop_assert_eq!(serde_json::to_string(&read).unwrap(), json);
    Ok(())
}

fn sql_value() -> impl Strategy<Value = SqlValue> {
    prop_oneof![
        Just(SqlValue::Null),
        any::<i64>().prop_map(SqlValue::Integer),
        any::<f64>()
            .prop_filter("NaN differs from itself", |real| !real.is_nan())
            .prop_map(SqlValue::Real),
        select(vec![f64::INFINITY, f64::NEG_INFINITY, -0.0, 1.0, 1e300]).prop_map(SqlValue::Real),
        any::<String>().prop_map(SqlValue::Text),
        vec(any::<u8>(), 0..9).prop_map(SqlValue::Blob),
    ]
}

proptest! {
    #[test]
    fn a_report_round_trips(report in report()) {
        check_trip(&report)?;
    }

    #[test]
    fn ratings_round_trip(ratings in ratings()) {
        check_trip(&ratings)?;
    }

    #[test]
    fn comparisons_round_trip(comparisons in comparisons()) {
        check_trip(&comparisons)?;
    }

    #[test]
    fn phases_round_trip(phases in phases()) {
        check_trip(&phases)?;
    }

    #[test]
    fn an_overview_round_trips(overview in overview()) {
        check_trip(&overview)?;
    }

    #[test]
    fn progress_round_trips(progress in progress()) {
        check_trip(&progress)?;
    }

    #[test]
    fn runs_round_trip(runs in vec(runs::run(), 0..3)) {
        check_trip(&runs)?;
    }

    #[test]
    fn a_status_round_trips(status in status()) {
        check_trip(&status)?;
    }

    #[test]
    fn pages_of_experiments_and_cells_round_trip(
        experiments in vec(experiment(), 0..3),
        cells in vec(cells::cell(2), 0..3),
        next in option::of(cell_cursor()),
        last_game_id in 0..1_000_i64,
    ) {
        let axes = vec!["depth".to_owned(), "nodes".to_owned()];
        let next_experiment = next.map(|cursor| ExperimentId(cursor.cell.0));
        check_trip(&ExperimentsPage { experiments, next: next_experiment })?;
        check_trip(&CellsPage { axes: axes.clone(), cells: cells.clone(), next })?;
        check_trip(&SettledCells { axes, cells, last_game_id })?;
        check_trip(&next)?;
    }

    #[test]
    fn openings_round_trip(page in openings_page()) {
        check_trip(&page)?;
        check_trip(&page.next)?;
    }

    #[test]
    fn games_round_trip(
        page in games::games_page(),
        whole_games in games::whole_games(),
    ) {
        check_trip(&page)?;
        check_trip(&whole_games)?;
    }

    #[test]
    fn requests_round_trip(
        cursor in games::game_cursor(),
    ) {
        check_trip(&cursor)?;
        check_trip(&[Detail::Cells, Detail::Depths])?;
    }

    #[test]
    fn a_change_and_claims_round_trip(
        change in change(),
        claims in vec(stated::claim_of(), 0..3),
    ) {
        check_trip(&change)?;
        check_trip(&claims)?;
    }

    #[test]
    fn rows_round_trip(rows in vec(vec(sql_value(), 0..4), 0..4)) {
        check_trip(&rows)?;
    }
}

/// Consecutive games of a cell share its definition, which may be long.
#[test]
fn a_definition_is_written_once() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut page = games::whole_games().new_tree(&mut runner).unwrap().current();
    let game = games::settled_game().new_tree(&mut runner).unwrap().current();
    let whole = spelrum_answers::WholeGame {
        game: spelrum_answers::SettledGame { definition_json: "defined".to_owned(), ..game },
        worker_name: None,
        started_unix_us: None,
        time_factor: None,
    };
    page.games = vec![whole; 3];
    let json = serde_json::to_string(&page).unwrap();
    assert_eq!(json.matches("defined").count(), 1, "{json}");
    assert_eq!(serde_json::from_str::<spelrum_answers::WholeGames>(&json).unwrap(), page);
}
