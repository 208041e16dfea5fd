//! `game_timeout`: the time after which a game fails.

use super::{RANDOM_PLAYERS, planned, tic_tac_toe};

#[test]
fn a_game_timeout_is_no_part_of_a_cell() {
    let plan = |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    let without = plan("");
    assert_eq!(without.settings.game_timeout_us, None);
    for (text, us) in [
        ("1ms", 1_000),
        ("1500ms", 1_500_000),
        ("90s", 90_000_000),
        ("10m", 600_000_000),
        ("10 m", 600_000_000),
        ("1.5h", 5_400_000_000),
        ("10000h", 36_000_000_000_000),
    ] {
        let with = plan(&format!("game_timeout = \"{text}\""));
        assert_eq!(with.settings.game_timeout_us, Some(us), "{text}");
        assert_eq!(with.plan.cells, without.plan.cells, "{text}");
    }
    assert_eq!(plan("game_timeout = \"unlimited\"").settings.game_timeout_us, None);
}
