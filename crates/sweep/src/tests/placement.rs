//! `placement`: the workers that may play a sweep.

use spelrum_model::demands::{Demands, QuotaBound, SpeedBounds};
use spelrum_model::placement::Placement;

use super::{RANDOM_PLAYERS, planned, tic_tac_toe};

#[test]
fn what_is_asked_of_workers_is_no_part_of_a_cell() {
    let plan = |head: &str| planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    let without = plan("");
    assert_eq!(without.settings.placement, Placement::default());
    assert_eq!(plan("placement = {}").settings.placement, Placement::default());
    let with =
        plan("placement = { require = [\"site=lab2\", \"gpu\", \"gpu\"], prefer = [\"fast\"] }");
    let texts = |labels: &[spelrum_model::labels::WantedLabel]| -> Vec<String> {
        labels.iter().map(ToString::to_string).collect()
    };
    assert_eq!(texts(&with.settings.placement.require), ["gpu", "site=lab2"]);
    assert_eq!(texts(&with.settings.placement.prefer), ["fast"]);
    assert_eq!(with.plan.cells, without.plan.cells);
}

#[test]
fn what_is_asked_of_workers_is_kept_as_a_text() {
    let head = "placement = { require = [\"site=lab2\", \"gpu=\"] }";
    let placement = planned(&tic_tac_toe(head, RANDOM_PLAYERS)).settings.placement.clone();
    let json = placement.to_json().unwrap();
    assert_eq!(json, r#"{"require":["gpu=","site=lab2"]}"#);
    assert_eq!(Placement::from_json(Some(&json)), placement);
    assert_eq!(Placement::default().to_json(), None);
    for json in [None, Some("{}"), Some("nonsense"), Some(r#"{"require":["a b"]}"#)] {
        assert_eq!(Placement::from_json(json), Placement::default());
    }
}

const TIMED_PLAYERS: &str = "[players.a]\nalgorithm = \"alpha-beta\"\ndepth = 9\nmove_time = \"10ms\"\n\
    [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 9\nmove_time = \"4ms\"\n\
    [players.c]\nalgorithm = \"random\"\n[players.d]\nalgorithm = \"random\"\n";

#[test]
fn bounds_are_for_timed_cells_by_the_shortest_limit_of_each() {
    let head = "placement = { speed_min = 1_000, noise_max = 0.0214, quota_period_max = 0.25 }";
    let plan = planned(&tic_tac_toe(head, TIMED_PLAYERS));
    let placement = &plan.settings.placement;
    let json = placement.to_json().unwrap();
    let kept = r#"{"speed_min":1000,"noise_max_permille":21,"quota_period_max_permille":250}"#;
    assert_eq!(json, kept);
    assert_eq!(Placement::from_json(Some(&json)), *placement);

    let speed = Some(SpeedBounds {
        game: "tic-tac-toe".to_owned(),
        speed_min: Some(1_000),
        noise_max_permille: Some(21),
    });
    let with_quota = |period_max_us| Demands {
        speed: speed.clone(),
        quota: Some(QuotaBound { period_max_us, is_said: true }),
        ..Demands::default()
    };
    // 10 ms against others, 4 ms, and two without a limit.
    assert_eq!(plan.demands(), [Demands::default(), with_quota(1_000), with_quota(2_500)].into());
}

#[test]
fn a_quota_is_bounded_by_a_tenth_of_a_limit_and_else_by_nothing() {
    let plan = planned(&tic_tac_toe("", TIMED_PLAYERS));
    let quota = |demands: &Demands| demands.quota;
    let unsaid = |period_max_us| Some(QuotaBound { period_max_us, is_said: false });
    let quotas: Vec<_> = plan.demands().iter().map(quota).collect();
    assert_eq!(quotas, [None, unsaid(400), unsaid(1_000)]);
    assert!(plan.demands().iter().all(|demands| demands.speed.is_none()));
    let timed = planned(&tic_tac_toe("measure = \"time\"", RANDOM_PLAYERS));
    assert_eq!(timed.demands(), [Demands::default()].into());
}
