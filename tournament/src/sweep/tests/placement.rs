//! Which workers play a sweep.

use super::{RANDOM_PLAYERS, planned, tic_tac_toe};
use crate::placement::Placement;

#[test]
fn what_is_asked_of_workers_is_no_part_of_a_cell() {
    let plan = |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    let without = plan("");
    assert_eq!(without.placement, Placement::default());
    assert_eq!(plan("placement = {}").placement, Placement::default());
    let with =
        plan("placement = { require = [\"site=lab2\", \"gpu\", \"gpu\"], prefer = [\"fast\"] }");
    let texts = |labels: &[crate::labels::WantedLabel]| -> Vec<String> {
        labels.iter().map(ToString::to_string).collect()
    };
    assert_eq!(texts(&with.placement.require), ["gpu", "site=lab2"]);
    assert_eq!(texts(&with.placement.prefer), ["fast"]);
    assert_eq!(with.plan.cells, without.plan.cells);
}

#[test]
fn what_is_asked_of_workers_is_kept_as_a_text() {
    let head = "placement = { require = [\"site=lab2\", \"gpu=\"] }";
    let placement = planned(&tic_tac_toe(head, RANDOM_PLAYERS)).placement.clone();
    let json = placement.to_json().unwrap();
    assert_eq!(json, r#"{"require":["gpu=","site=lab2"]}"#);
    assert_eq!(Placement::from_json(Some(&json)), placement);
    assert_eq!(Placement::default().to_json(), None);
    for json in [None, Some("{}"), Some("nonsense"), Some(r#"{"require":["a b"]}"#)] {
        assert_eq!(Placement::from_json(json), Placement::default());
    }
}
