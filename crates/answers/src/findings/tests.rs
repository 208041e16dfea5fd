use std::sync::Arc;

use spelrum_model::withheld::Barred;
use spelrum_model::{ExperimentId, WorkerId};

use super::*;
use crate::PlayerForfeits;

const BEAT: Duration = Duration::from_secs(5);

fn experiment(name: &str, state: ExperimentState, settled: u64) -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: String::new(),
        name: name.to_owned(),
        game: "nim".to_owned(),
        task: spelrum_model::Task::Game,
        state,
        priority: 0,
        cells: 1,
        games_planned: 10,
        games_settled: settled,
        games_failed: 0,
        submitted_unix_us: 0,
    }
}

fn worker(name: &str, silent_ms: u64, leased_games: u64) -> WorkerSummary {
    WorkerSummary {
        worker: WorkerId(1),
        name: name.to_owned(),
        host: String::new(),
        slots: 1,
        quiet_slots: 0,
        engine_revision: ENGINE_REVISION,
        silent_ms,
        leased_games,
        playing_games: 0,
        reported_games: 0,
        lost_games: 0,
        memory_bytes: None,
        engines: std::sync::Arc::default(),
        engines_total: 0,
        built: Arc::default(),
        labels: std::sync::Arc::default(),
        credential: None,
        conduct: Default::default(),
    }
}

fn attention(
    experiments: &[ExperimentSummary],
    workers: &[WorkerSummary],
    largest: &[LargestCell],
) -> Vec<Attention> {
    let mut attention = Vec::new();
    let workforce = Workforce { workers, largest, heartbeat_interval: BEAT };
    attention_of_workers(experiments, workforce, &mut attention);
    attention
}

fn attention_of_workforce(
    experiments: &[ExperimentSummary],
    workers: &[WorkerSummary],
) -> Vec<(AttentionKind, u64, String)> {
    let attention = attention(experiments, workers, &[]);
    attention.into_iter().map(|problem| (problem.kind, problem.count, problem.problem)).collect()
}

#[test]
fn games_without_workers_are_named() {
    let running = ExperimentState::Running;
    let both = [experiment("a", running, 4), experiment("b", running, 9)];
    let [(AttentionKind::NoWorkers, 7, problem)] = &attention_of_workforce(&both, &[])[..] else {
        panic!("one")
    };
    assert_eq!(problem, "7 games wait to be played, and no worker is connected");
    let [(_, 1, problem)] = &attention_of_workforce(&[experiment("a", running, 9)], &[])[..] else {
        panic!("one")
    };
    assert_eq!(problem, "1 game waits to be played, and no worker is connected");
    // A long-silent worker does not count; a recently active one does.
    assert_eq!(attention_of_workforce(&both, &[worker("w", 60_000, 0)]).len(), 1);
    assert_eq!(attention_of_workforce(&both, &[worker("w", 1_000, 0)]), []);
    assert_eq!(attention_of_workforce(&[experiment("a", running, 10)], &[]), []);
    assert_eq!(attention_of_workforce(&[experiment("a", ExperimentState::Paused, 0)], &[]), []);
}

/// A slot has the worker's memory divided by its slots; a worker that reports none has no limit.
#[test]
fn a_cell_that_no_worker_can_hold_is_named() {
    let largest = [LargestCell {
        cell: NamedCell {
            cell: CellId(7),
            experiment: "a".to_owned(),
            players: ["big".to_owned(), "small".to_owned()],
        },
        memory_bytes: 600 << 20,
    }];
    let too_large = |name: &str, workers: &[WorkerSummary]| {
        let running = experiment(name, ExperimentState::Running, 4);
        let mut attention = attention(&[running], workers, &largest);
        attention.retain(|problem| problem.kind == AttentionKind::TooLarge);
        attention
    };
    let offering = |name: &str, mebibytes: u64, silent_ms| WorkerSummary {
        slots: 2,
        memory_bytes: Some(mebibytes << 20).filter(|&bytes| bytes > 0),
        ..worker(name, silent_ms, 0)
    };
    let workers = [offering("w", 1_199, 0), offering("v", 300, 0), offering("u", 0, 60_000)];
    let [too_large_problem] = &too_large("a", &workers)[..] else { panic!("one") };
    assert_eq!(
        (too_large_problem.experiment.as_deref(), too_large_problem.count),
        (Some("a"), 600 << 20)
    );
    assert_eq!(
        too_large_problem.problem,
        "a game of cell 7 (big against small) may take 600 MiB of memory, and no connected worker has that much for a \
         slot: w has most, 599 MiB"
    );
    assert_eq!(too_large("b", &workers), []);
    assert_eq!(too_large("a", &[offering("w", 1_200, 0)]), []);
    assert_eq!(too_large("a", &[offering("w", 1_199, 0), offering("u", 0, 0)]), []);
    assert_eq!(too_large("a", &[]), []);
}

#[test]
fn what_is_found_is_told_in_order() {
    let name = || "a".to_owned();
    let findings = Findings {
        conflicts: vec![Conflicts {
            experiment: name(),
            results: 1,
            workers: 1,
            parties: [(7, "bad", 3), (2, "good", 1)]
                .map(|(worker, name, conflicts)| ConflictParty {
                    worker: WorkerId(worker),
                    name: name.to_owned(),
                    host: "rack".to_owned(),
                    conflicts,
                })
                .into(),
        }],
        deviating: Vec::new(),
        refused: vec![RefusedResults {
            experiment: name(),
            results: 2,
            workers: 1,
            problem: "ply 3 is not legal".to_owned(),
        }],
        failed: vec![FailedGames {
            experiment: name(),
            games: 3,
            most: Some(MostFailed { message: "panic\nat line 7".to_owned(), games: 2 }),
        }],
        forfeits: Vec::new(),
        lost: vec![LostGames { experiment: name(), games: 1, suspects: 1 }],
        other_engine: vec![OtherEngine { experiment: name(), engine_revision: 99 }],
        removals: vec![Removal {
            experiment: name(),
            removing: Removing::Moves,
            games: 9,
            games_done: 4,
            is_shrinking: false,
        }],
        free_bytes: Some(300 << 20),
    };
    let paused = [experiment("a", ExperimentState::Paused, 9)];
    let attention = attention_of_results(&paused, &findings);
    let problems: Vec<_> = attention.iter().map(|problem| problem.problem.as_str()).collect();
    let revision = format!(
        "it was begun with revision 99 of the engine, and this program has {ENGINE_REVISION}: \
         its games are not handed out"
    );
    assert_eq!(
        problems,
        [
            "1 result of 1 worker differs from the settled one of the same game, which must not \
             happen: worker 7 (bad on rack) is part of 3, worker 2 (good on rack) is part of 1",
            "2 results of 1 worker was refused, since the rules do not allow them: ply 3 is not \
             legal",
            "3 games have finally failed, 2 of them: panic",
            "1 game was lost with a worker twice or more; 1 of them is suspected of ending its \
             workers",
            revision.as_str(),
            "it is paused, with 1 game to play",
            "its moves are being dropped: 5 of 9 games are left",
            "the database's file system has 300 MiB left",
        ]
    );
    for problem in &attention {
        assert_eq!(AttentionKind::named(problem.kind.name()), problem.kind);
        assert!(!problem.remedy.is_empty());
    }
}

#[test]
fn a_full_disk_is_said_before_it_is_full() {
    assert_eq!(little_space(FREE_BYTES_MIN), None);
    let problem = little_space((300 << 20) + 5).unwrap();
    assert_eq!(problem.problem, "the database's file system has 300 MiB left");
}

#[test]
fn messages_are_one_short_line() {
    assert_eq!(shortened("panic\nat line 7"), "panic");
    assert_eq!(shortened(&"é".repeat(300)), format!("{}…", "é".repeat(100)));
}

#[test]
fn a_kind_of_a_later_version_keeps_its_name() {
    let kind = AttentionKind::named("meteor");
    assert_eq!(kind, AttentionKind::Other("meteor".to_owned()));
    assert_eq!(kind.name(), "meteor");
    for kind in AttentionKind::ALL {
        assert_eq!(AttentionKind::named(kind.name()), kind);
    }
}

/// A few forfeits happen to any engine that plays by the clock.
#[test]
fn notable_forfeits_are_told_and_what_they_stop() {
    let forfeited = |player: &str, by_kind, is_stopped| ForfeitedGames {
        experiment: "a".to_owned(),
        forfeits: PlayerForfeits { player: player.to_owned(), games: 78, by_kind },
        is_stopped,
    };
    let findings = Findings {
        forfeits: vec![
            forfeited("dev", [64, 0, 0, 0], false),
            forfeited("base", [0, 1, 0, 0], false),
            forfeited("slow", [0, 3, 1, 0], true),
        ],
        ..Findings::default()
    };
    let attention = attention_of_results(&[experiment("a", ExperimentState::Paused, 1)], &findings);
    let problems: Vec<&str> = attention.iter().map(|problem| problem.problem.as_str()).collect();
    let expected = [
        "dev forfeited 64 of 78 games: 64 crashes",
        "it is paused, since slow forfeited 4 of 78 games: 3 time forfeits, 1 stall: more than its sweep allows",
    ];
    assert_eq!(problems, expected);
    assert!(
        attention.iter().all(|problem| problem.kind == AttentionKind::Forfeits
            && problem.remedy.contains("forfeited"))
    );
    assert!(attention[1].remedy.ends_with("spelrum resume a"), "{}", attention[1].remedy);
}

#[test]
fn a_worker_that_is_barred_from_an_engine_is_told_with_the_remedy() {
    let barred = Barred { engine: "dev".to_owned(), forfeits: 6, games: 7, of_others: [1, 40] };
    let mut attention = Vec::new();
    let workers = [worker("bad", 0, 0)];
    attention_of_withheld(
        &workers,
        &[(workers[0].worker, Withheld::Barred(barred))],
        &mut attention,
    );
    assert_eq!(attention[0].kind, AttentionKind::Barred);
    assert!(
        attention[0].problem.contains("it forfeited 6 of 7 there, and 1 of 40 at other workers")
    );
    assert!(attention[0].remedy.contains(" --engine dev"), "{}", attention[0].remedy);
}
