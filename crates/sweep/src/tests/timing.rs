//! `timing`: disturbed games.

use spelrum_model::speed::Scaling;

use super::{RANDOM_PLAYERS, planned, tic_tac_toe};

#[test]
fn what_is_said_of_timing_is_no_part_of_a_cell() {
    let plan = |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    let without = plan("");
    assert_eq!(without.settings.timing.disturbed_above, 0.05);
    assert_eq!(plan("timing = {}").settings.timing, without.settings.timing);
    for (text, share) in [("0", 0.0), ("0.125", 0.125), ("1", 1.0)] {
        let with = plan(&format!("timing = {{ disturbed_above = {text} }}"));
        assert_eq!(with.settings.timing.disturbed_above, share);
        assert_eq!(with.plan.cells, without.plan.cells, "{text}");
    }
    for (text, replays) in [
        ("disturbed = \"count\"", 0),
        ("disturbed = \"replay\"", 2),
        ("disturbed = \"replay\", replays_max = 10", 10),
    ] {
        let with = plan(&format!("timing = {{ {text} }}"));
        assert_eq!(with.settings.timing.replays_max, replays, "{text}");
        assert_eq!(with.plan.cells, without.plan.cells, "{text}");
    }
    for (text, reference, factor_max_permille) in [
        ("reference_speed = 2_500_000", 2_500_000, 4_000),
        ("reference_speed = 1, factor_max = 1", 1, 1_000),
        ("reference_speed = 1_000_000_000_000, factor_max = 99.9996", 1_000_000_000_000, 100_000),
    ] {
        let with = plan(&format!("timing = {{ {text} }}"));
        let scaling = Scaling { reference, factor_max_permille };
        assert_eq!(with.settings.timing.scaling, Some(scaling), "{text}");
        assert_eq!(with.plan.cells, without.plan.cells, "{text}");
    }
}
