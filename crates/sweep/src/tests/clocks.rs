//! Clocks of players of every kind.

use spelrum_engine::Value;

use super::{parameter, planned, tic_tac_toe};

/// A clock is an axis like any other, of our players as of external engines.
#[test]
fn a_clock_makes_a_cell_timed() {
    let tables = r#"
        [axes]
        control = ["8+0.08", "40/1m"]
        [players.a]
        algorithm = "mcts"
        clock = "$control"
        [players.b]
        algorithm = "lines"
        engine = "b"
        clock = "$control"
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    let facts = plan.cells.iter().map(|cell| {
        let clocks = [0, 1].map(|side| parameter(cell, side, "clock").cloned());
        let margins = [0, 1].map(|side| parameter(cell, side, "margin_us").cloned());
        assert_eq!(margins, [Some(Value::Integer(50_000)), Some(Value::Integer(50_000))]);
        (cell.timed, clocks)
    });
    let clock = |text: &str| Some(Value::Text(text.to_owned()));
    assert_eq!(
        facts.collect::<Vec<_>>(),
        [(true, [clock("8s+80ms"), clock("8s+80ms")]), (true, [clock("40/60s"), clock("40/60s")]),]
    );
}
