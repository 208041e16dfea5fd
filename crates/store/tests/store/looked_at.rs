//! Cells that are looked at before a planned end: their intervals are confidence sequences.

use spelrum_answers::{CellResult, IntervalKind};
use spelrum_engine::Parameters;
use spelrum_model::{CellId, Plan};
use spelrum_statistics::{Sprt, StopRule};
use spelrum_store::contract::WriteTransaction as _;

use crate::fixture::{Store, add_cell, alpha_beta, empty_plan, game, genetic, sweep};

const FIRST: &str = "SELECT coalesce(games_planned_first, '-') FROM cells ORDER BY cell_id";

/// A plan with these cells: depth and games.
fn with_cells(cells: &[(i64, u64)]) -> Plan {
    let mut plan = empty_plan("small");
    for &(depth, games) in cells {
        let players: [Parameters; 2] = [alpha_beta(depth), genetic(depth)];
        add_cell(&mut plan, ["ab", "gm"], players, depth, games);
    }
    plan
}

async fn submit(store: &mut Store, uuid: &str, plan: &Plan) {
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.submit(sweep(uuid, uuid, plan)).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn play(store: &mut Store, cell: CellId, numbers: std::ops::Range<u64>) {
    let games: Vec<_> = numbers.map(|number| game(cell, number, number)).collect();
    store.store(&games).await;
}

async fn cells(store: &Store) -> Vec<CellResult> {
    let readers = store.writer.readers();
    readers.cells(store.submitted.experiment, None, 100).await.unwrap().cells
}

fn kinds(cells: &[CellResult]) -> Vec<Option<IntervalKind>> {
    cells.iter().map(CellResult::interval_kind).collect()
}

#[tokio::test]
async fn a_cell_that_is_grown_after_a_look_has_a_sequence_for_good() {
    let (fixed, sequence) = (Some(IntervalKind::Fixed), Some(IntervalKind::Sequence));
    let mut store = Store::with(&with_cells(&[(1, 8), (2, 8), (3, 8)])).await;
    let [first, second, third] = [store.cell(0), store.cell(1), store.cell(2)];
    play(&mut store, first, 0..8).await;
    play(&mut store, second, 0..4).await;
    let before = cells(&store).await;
    assert_eq!(kinds(&before), [fixed, sequence, None]);
    assert_eq!(before[0].score, Some(before[0].tally().interval()));
    assert_eq!(before[1].score, Some(before[1].tally().sequence(4.0).interval()));
    // The view of SQL keeps the fixed interval.
    let of_view = store.texts("SELECT score_low FROM results WHERE games = 4").await;
    assert_eq!(of_view, [before[1].tally().interval().low.to_string()]);

    // More games for all; the third cell had none, so that there was nothing to look at.
    submit(&mut store, "uuid-2", &with_cells(&[(1, 12), (2, 12), (3, 12)])).await;
    assert_eq!(store.texts(FIRST).await, ["8", "8", "-"]);
    play(&mut store, first, 8..12).await;
    play(&mut store, second, 4..12).await;
    play(&mut store, third, 0..12).await;
    let after = cells(&store).await;
    assert_eq!(kinds(&after), [sequence, sequence, fixed]);
    assert!(after.iter().all(CellResult::is_complete));
    assert_eq!(after[0].sequence_units, Some(4.0), "tuned to the first plan");

    // Once more, and back: the first plan stays, and the third cell gets one.
    submit(&mut store, "uuid-3", &with_cells(&[(1, 20), (2, 12), (3, 20)])).await;
    assert_eq!(store.texts(FIRST).await, ["8", "8", "12"]);
    submit(&mut store, "uuid-4", &with_cells(&[(1, 12), (2, 12), (3, 12)])).await;
    assert_eq!(store.texts(FIRST).await, ["8", "8", "12"]);
    assert_eq!(kinds(&cells(&store).await), [sequence; 3]);
    store.assert_recount().await;
}

#[tokio::test]
async fn a_cell_that_gets_another_rule_after_a_look_has_a_sequence() {
    let plan = with_cells(&[(1, 8), (2, 8)]);
    let mut store = Store::with(&plan).await;
    let first = store.cell(0);
    play(&mut store, first, 0..8).await;
    let precision = StopRule::from_precision(0.4);
    submit(&mut store, "uuid-2", &Plan { stop: precision, ..plan.clone() }).await;
    assert_eq!(store.texts(FIRST).await, ["8", "-"]);
    let shown = &cells(&store).await[0];
    assert_eq!(shown.interval_kind(), Some(IntervalKind::Sequence));
    // Nothing but the text: the same end.
    submit(&mut store, "uuid-3", &Plan { stop: precision, ..plan }).await;
    assert_eq!(store.texts(FIRST).await, ["8", "-"]);
}

/// An SPRT looks at every checkpoint.
#[tokio::test]
async fn a_cell_under_a_test_has_a_sequence() {
    let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, Default::default()).unwrap();
    let plan = Plan { stop: Some(StopRule::Sprt(sprt)), ..with_cells(&[(1, 8)]) };
    let mut store = Store::with(&plan).await;
    let first = store.cell(0);
    play(&mut store, first, 0..8).await;
    let shown = &cells(&store).await[0];
    assert!(shown.is_complete());
    assert_eq!(shown.interval_kind(), Some(IntervalKind::Sequence));
    assert_eq!(shown.score, Some(shown.tally().sequence(4.0).interval()));
}
