use std::sync::Arc;

use spelrum_engine::ENGINE_REVISION;

use super::*;
use crate::labels::Label;
use crate::scheduler::ExperimentState;
use crate::{Task, WorkerId};

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
        engine_revision: ENGINE_REVISION,
        silent_ms: 0,
        leased_games: 0,
        playing_games: 0,
        reported_games: 0,
        memory_bytes: None,
        engines: Arc::default(),
        engines_total: 0,
        labels: labels.iter().map(|text| Label::parse(text).unwrap()).collect(),
    }
}

fn wanted(cell: i64, cells: u64, labels: &[&str]) -> Wanted {
    let require = labels.iter().map(|text| WantedLabel::parse(text).unwrap()).collect();
    let demands = Arc::new(Demands { require, ..Demands::default() });
    Wanted { experiment: ExperimentId(1), cell: CellId(cell), cells, demands, memory_bytes: 0 }
}

fn told(wanted: &[Wanted], workers: &[WorkerSummary]) -> Vec<(u64, String, String)> {
    let experiments = [experiment()];
    let found = unplaced(&experiments, wanted, workers, Duration::from_secs(5));
    let named = |it: &Unplaced| NamedCell {
        cell: it.cell,
        experiment: "e".to_owned(),
        players: ["a", "b"].map(str::to_owned),
    };
    let cells: Vec<NamedCell> = found.iter().map(named).collect();
    let mut attention = Vec::new();
    attention_of_placement(&experiments, &found, &cells, &mut attention);
    attention.into_iter().map(|it| (it.count, it.problem, it.remedy)).collect()
}

#[test]
fn what_no_worker_may_play_is_told_with_what_to_do() {
    let waits = [wanted(3, 2, &["site=a"]), wanted(2, 1, &["site=a"]), wanted(5, 1, &[])];
    let [(count, problem, remedy)] = &told(&waits, &[worker(&["site=b"]), worker(&["gpu"])])[..]
    else {
        panic!("one")
    };
    assert_eq!(*count, 3);
    assert_eq!(
        problem,
        "3 cells, such as cell 2 (a against b), are for workers with the label site=a, which none that is here has"
    );
    assert!(remedy.contains("spelrum worker --coordinator URL --label site=a;"), "{remedy}");
    assert_eq!(told(&waits, &[worker(&["site=b"]), worker(&["site=a"])]), []);
    // That nobody is here at all is told as that.
    assert_eq!(told(&waits, &[]), []);
    let silent = WorkerSummary { silent_ms: 60_000, ..worker(&["site=a"]) };
    assert_eq!(told(&waits, &[silent, worker(&[])]).len(), 1);
}

#[test]
fn labels_that_no_worker_has_together_are_told() {
    let waits = [wanted(3, 1, &["gpu", "site=a"])];
    let [(_, problem, remedy)] = &told(&waits, &[worker(&["site=a"]), worker(&["gpu"])])[..] else {
        panic!("one")
    };
    assert_eq!(
        problem,
        "cell 3 (a against b) is for workers with the labels gpu and site=a, which none that is here has together"
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
