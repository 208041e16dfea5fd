use std::sync::Arc;

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::demands::{QuotaBound, SpeedBounds};
use spelrum_model::labels::Label;
use spelrum_model::speed::Speed;
use spelrum_model::{ExperimentState, Task, WorkerId};

use super::*;

fn experiment() -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: String::new(),
        name: "e".to_owned(),
        game: "nim".to_owned(),
        task: Task::Game,
        state: ExperimentState::Running,
        priority: 0,
        cells: 9,
        games_planned: 18,
        games_settled: 0,
        games_failed: 0,
        submitted_unix_us: 0,
    }
}

fn worker(labels: &[&str]) -> WorkerSummary {
    WorkerSummary {
        worker: WorkerId(1),
        name: "w".to_owned(),
        host: "h".to_owned(),
        slots: 1,
        quiet_slots: 0,
        engine_revision: ENGINE_REVISION,
        silent_ms: 0,
        leased_games: 0,
        playing_games: 0,
        reported_games: 0,
        lost_games: 0,
        memory_bytes: None,
        engines: Arc::default(),
        engines_total: 0,
        built: Arc::default(),
        labels: labels.iter().map(|text| Label::parse(text).unwrap()).collect(),
        credential: None,
        conduct: Default::default(),
    }
}

fn wanted(cell: i64, cells: u64, labels: &[&str]) -> Wanted {
    let require = labels.iter().map(|text| WantedLabel::parse(text).unwrap()).collect();
    let demands = Arc::new(Demands { require, ..Demands::default() });
    Wanted { experiment: ExperimentId(1), cell: CellId(cell), cells, demands, memory_bytes: 0 }
}

/// The problems with these workers, which have only labels.
fn reports(wanted: &[Wanted], workers: &[WorkerSummary]) -> Vec<(u64, String, String)> {
    let workers: Vec<WorkerSummary> = (1..)
        .zip(workers)
        .map(|(id, worker)| WorkerSummary { worker: WorkerId(id), ..worker.clone() })
        .collect();
    let offer =
        |worker: &WorkerSummary| Offer { labels: worker.labels.clone(), ..Offer::default() };
    let offers = workers.iter().map(|worker| (worker.worker, offer(worker))).collect();
    told_of(wanted, &workers, &offers)
}

fn told_of(
    wanted: &[Wanted],
    workers: &[WorkerSummary],
    offers: &BTreeMap<WorkerId, Offer>,
) -> Vec<(u64, String, String)> {
    let experiments = [experiment()];
    let reasons = unplaced(&experiments, wanted, workers, offers, Duration::from_secs(5));
    let named = |reason: &Unplaced| NamedCell {
        cell: reason.cell,
        experiment: "e".to_owned(),
        players: ["a", "b"].map(str::to_owned),
    };
    let cells: Vec<NamedCell> = reasons.iter().map(named).collect();
    let mut attention = Vec::new();
    attention_of_placement(&experiments, &reasons, &cells, &mut attention);
    attention.into_iter().map(|problem| (problem.count, problem.problem, problem.remedy)).collect()
}

#[test]
fn what_no_worker_may_play_is_told_with_what_to_do() {
    let waits = [wanted(3, 2, &["site=a"]), wanted(2, 1, &["site=a"]), wanted(5, 1, &[])];
    let [(count, problem, remedy)] = &reports(&waits, &[worker(&["site=b"]), worker(&["gpu"])])[..]
    else {
        panic!("one")
    };
    assert_eq!(*count, 3);
    assert_eq!(
        problem,
        "3 cells, such as cell 2 (a against b), are for workers with the label site=a, which no connected worker has"
    );
    assert!(remedy.contains("spelrum worker --coordinator URL --label site=a;"), "{remedy}");
    assert_eq!(reports(&waits, &[worker(&["site=b"]), worker(&["site=a"])]), []);
    // A lack of any worker is reported separately.
    assert_eq!(reports(&waits, &[]), []);
    let silent = WorkerSummary { silent_ms: 60_000, ..worker(&["site=a"]) };
    assert_eq!(reports(&waits, &[silent, worker(&[])]).len(), 1);
}

#[test]
fn labels_that_no_worker_has_together_are_told() {
    let waits = [wanted(3, 1, &["gpu", "site=a"])];
    let [(_, problem, remedy)] = &reports(&waits, &[worker(&["site=a"]), worker(&["gpu"])])[..]
    else {
        panic!("one")
    };
    assert_eq!(
        problem,
        "cell 3 (a against b) is for workers with the labels gpu and site=a, which no connected worker has together"
    );
    assert!(remedy.contains("--label gpu=VALUE --label site=a"), "{remedy}");
}

#[test]
fn workers_are_told_what_they_lack() {
    let lacks = |text| Unmet::Label(WantedLabel::parse(text).unwrap());
    assert_eq!(
        lacking_text(&[lacks("site=a")]),
        "the games that wait are for workers with the label site=a; if it is true of this machine, start it with \
         --label site=a"
    );
}

fn bounded(cell: i64, speed_min: u64, period_max_us: u64) -> Wanted {
    let demands = Demands {
        speed: Some(SpeedBounds {
            game: "nim".to_owned(),
            speed_min: Some(speed_min),
            noise_max_permille: None,
        }),
        quota: Some(QuotaBound { period_max_us, is_said: false }),
        ..Demands::default()
    };
    Wanted { demands: Arc::new(demands), ..wanted(cell, 1, &[]) }
}

fn offer(nodes_per_second: u64, quota_period_us: Option<u64>) -> Offer {
    let (game, noise_permille, slots, age_ms) = ("nim".to_owned(), 0, 1, 0);
    let speed = Speed { game, nodes_per_second, noise_permille, slots, age_ms };
    Offer { speeds: vec![speed], quota_period_us, ..Offer::default() }
}

#[test]
fn what_is_out_of_bounds_for_every_worker_is_told_by_bound() {
    let waits = [bounded(4, 1_000, 900), bounded(3, 1_000, 500), bounded(5, 2_000, 90_000)];
    let told_quota = |offer: Offer| told_of(&waits, &[worker(&[])], &[(WorkerId(1), offer)].into());
    let [quota, speed] = &told_quota(offer(1_500, Some(1_000)))[..] else { panic!("two") };
    assert_eq!(
        (quota.0, &*quota.1),
        (
            2,
            "2 cells, such as cell 3 (a against b), are for workers with exclusive slots, or whose CPU quota is \
             renewed at least every 0.5 ms, not every 1 ms: no connected worker qualifies"
        )
    );
    assert!(quota.2.contains("`quota_period_max`"), "{}", quota.2);
    assert_eq!(
        (speed.0, &*speed.1),
        (
            1,
            "cell 5 (a against b) is for workers that visit at least 2000 nodes of nim a second, not 1500: no \
             connected worker qualifies"
        )
    );
    assert!(
        speed.2.contains("`speed_min`") && speed.2.contains("spelrum speed nim"),
        "{}",
        speed.2
    );
    assert_eq!(told_quota(offer(2_000, None)), []);
    // Its speed is measured, and may turn out to suffice.
    let unmeasured = Offer { speeds: Vec::new(), ..offer(1, None) };
    assert_eq!(told_quota(unmeasured), []);
}

#[test]
fn workers_are_told_of_bounds_and_labels_together() {
    let lacks = [
        Unmet::Label(WantedLabel::parse("gpu").unwrap()),
        Unmet::Noise { game: "nim".to_owned(), most_permille: 50, noise_permille: 123 },
    ];
    assert_eq!(
        lacking_text(&lacks),
        "the games that wait are for workers with the label gpu; if it is true of this machine, start it with --label \
         gpu=VALUE; and for workers whose speed at nim differs by at most 5 % between short spells, not by 12.3 %: end \
         what else the machine does (spelrum speed nim), it is measured again within ten minutes; or change `noise_max` \
         in the sweep's [placement] and submit it again"
    );
}
