//! When a cell has been played enough.

use super::{RANDOM_PLAYERS, planned, tic_tac_toe};
use crate::stopping::StopRule;

#[test]
fn a_stop_rule_is_no_part_of_a_cell() {
    let plan = |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    let without = plan("");
    assert_eq!(without.stop, None);
    for (text, precision) in [("0.03", 0.03), ("1e-9", 1e-9), ("0.4999", 0.4999)] {
        let with = plan(&format!("stop = {{ precision = {text} }}"));
        assert_eq!(with.stop, StopRule::of_precision(precision), "{text}");
        assert_eq!(with.plan.cells, without.plan.cells, "{text}");
    }
}
