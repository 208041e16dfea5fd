//! The key `forfeits`.

use super::{RANDOM_PLAYERS, SweepText, plan_sweep, planned, render, tic_tac_toe};

#[test]
fn what_becomes_of_forfeits_is_no_part_of_a_cell() {
    let plan = |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    let without = plan("");
    for (head, forfeits_max) in [
        ("", None),
        ("forfeits = \"lose\"", None),
        ("forfeits = \"stop\"", Some(3)),
        ("forfeits = \"stop\"\nforfeits_max = 0", Some(0)),
        ("forfeits = \"stop\"\nforfeits_max = 50", Some(50)),
    ] {
        let with = plan(head);
        assert_eq!(with.settings.forfeits_max, forfeits_max, "{head}");
        assert_eq!(with.plan.cells, without.plan.cells, "{head}");
    }
}

#[test]
fn a_bound_of_forfeits_needs_something_that_it_bounds() {
    let heads =
        ["forfeits_max = 3", "forfeits = \"stop\"\nforfeits_max = -1", "forfeits = \"pause\""];
    let problems = [
        "forfeits are losses here, however many there are",
        "`forfeits_max` cannot be -1",
        "`forfeits` cannot be \"pause\"",
    ];
    for (head, problem) in heads.into_iter().zip(problems) {
        let text = tic_tac_toe(head, RANDOM_PLAYERS);
        let error = plan_sweep(&SweepText::new("sweep.toml", text)).expect_err("this is an error");
        let text = render(&error);
        assert!(text.contains(problem), "{text}");
    }
}
