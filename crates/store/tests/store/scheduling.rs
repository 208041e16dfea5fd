//! What a restart finds again, and what the scheduler is told.

use std::sync::Arc;

use spelrum_engine::Protocol;
use spelrum_model::engines::NeededEngine;
use spelrum_model::{
    CellId, ExperimentId, ExperimentState, GameId, GameRange, LeaseId, SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::{
    Attempts, CellProgress, CellState, Changes, ExperimentSnapshot, LeaseEnd, LeaseState, Snapshot,
};
use spelrum_store::GameFacts;
use spelrum_store::contract::{Store as _, WriteTransaction as _};

use crate::fixture::{
    Store, add_cell, alpha_beta, empty_plan, engine, game, introduction, plan, sweep,
};

fn range(cell: CellId, first: u64, count: u64) -> GameRange {
    GameRange { cell, first, count }
}

async fn apply(store: &mut Store, changes: &Changes) {
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.apply(changes).await.unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn a_new_experiment_is_all_there_is() {
    let mut store = Store::new().await;
    assert_eq!(
        store.writer.snapshot().await.unwrap(),
        Snapshot {
            experiments: vec![ExperimentSnapshot {
                experiment: store.submitted.experiment,
                settings: SchedulingSettings { priority: 3, ..SchedulingSettings::default() },
                state: ExperimentState::Running,
                open: false,
                cells: store.submitted.cells.clone(),
            }],
            leases: vec![],
            attempts: vec![],
            last_lease: 0,
            excluded: Vec::new(),
            barred: Vec::new(),
        }
    );
    assert_eq!(store.submitted.games, 40);
    assert_eq!(
        store.submitted.cells[1],
        // Two players who keep next to nothing.
        CellState { memory_bytes: 2 << 20, ..CellState::new(store.cell(1), 20) }
    );
}

#[tokio::test]
async fn what_was_applied_is_found_again() {
    let mut store = Store::new().await;
    let (first, second) = (store.cell(0), store.cell(1));
    let worker = store.worker;
    let lease = |lease, granted: Vec<GameRange>| LeaseState {
        lease: LeaseId(lease),
        worker,
        outstanding: granted.clone(),
        granted,
    };
    let cell = |cell, next_number, returned| CellProgress {
        cell,
        next_number,
        returned,
        decided_number: 0,
        stop_number: None,
    };
    let state = |progress: &CellProgress| CellState {
        next_number: progress.next_number,
        returned: progress.returned.clone(),
        memory_bytes: 2 << 20,
        ..CellState::new(progress.cell, 20)
    };
    let attempts = |number, lost, lost_alone, failed| Attempts {
        game: GameId { cell: second, number },
        lost,
        lost_alone,
        failed,
    };
    let changes = Changes {
        cells: vec![
            cell(first, 12, vec![range(first, 2, 1), range(first, 6, 2)]),
            cell(second, 4, vec![]),
        ],
        granted: vec![
            lease(5, vec![range(first, 8, 4), range(second, 0, 4)]),
            lease(6, vec![range(first, 0, 2)]),
            lease(9, vec![range(first, 4, 2)]),
        ],
        ended: vec![(LeaseId(6), LeaseEnd::GivenBack)],
        attempts: vec![attempts(1, 2, 1, 0), attempts(3, 0, 0, 1)],
    };
    apply(&mut store, &changes).await;
    let settled = [
        game(first, 9, 1),
        game(first, 10, 1),
        game(second, 0, 1),
        game(second, 3, 1),
        game(first, 4, 1),
        game(first, 5, 1),
    ];
    store.store(&settled).await;

    let snapshot = store.writer.snapshot().await.unwrap();
    let states: Vec<_> = changes.cells.iter().map(state).collect();
    assert_eq!(snapshot.experiments[0].cells, states);
    let mut expected = vec![changes.granted[0].clone(), changes.granted[2].clone()];
    expected[0].outstanding = vec![range(first, 8, 1), range(first, 11, 1), range(second, 1, 2)];
    expected[1].outstanding = vec![];
    assert_eq!(snapshot.leases, expected);
    // Game 3 is settled: its attempts are history.
    assert_eq!(snapshot.attempts, [attempts(1, 2, 1, 0)]);
    // Lease ids only grow, whether or not the last is still alive.
    assert_eq!(snapshot.last_lease, 9);

    // New states replace old ones.
    let changes = Changes {
        cells: vec![cell(first, 14, vec![range(first, 6, 1)])],
        granted: vec![],
        ended: vec![(LeaseId(5), LeaseEnd::Finished), (LeaseId(9), LeaseEnd::Expired)],
        attempts: vec![attempts(1, 2, 2, 1)],
    };
    apply(&mut store, &changes).await;
    let snapshot = store.writer.snapshot().await.unwrap();
    assert_eq!(snapshot.experiments[0].cells[0], state(&changes.cells[0]));
    assert_eq!(snapshot.leases, []);
    assert_eq!(snapshot.attempts, changes.attempts);
    assert_eq!(snapshot.last_lease, 9);
    assert_eq!(
        store.texts("SELECT ended_by FROM leases ORDER BY lease_id").await,
        ["finished", "given_back", "expired"]
    );
}

/// Invariant 6: a result is taken only for a game that was leased to the worker reporting it.
#[tokio::test]
async fn facts_tell_whose_a_game_was() {
    let mut store = Store::new().await;
    let (first, second) = (store.cell(0), store.cell(1));
    let own = store.worker;
    let mut transaction = store.writer.begin().await.unwrap();
    let other = transaction.introduce(&introduction("other")).await.unwrap();
    transaction.commit().await.unwrap();
    let lease = |lease, worker, granted: Vec<GameRange>| LeaseState {
        lease: LeaseId(lease),
        worker,
        granted,
        outstanding: vec![],
    };
    let changes = Changes {
        granted: vec![
            lease(1, own, vec![range(first, 4, 2), range(second, 0, 1)]),
            lease(2, other, vec![range(first, 6, 2)]),
        ],
        ended: vec![(LeaseId(1), LeaseEnd::Expired)],
        ..Changes::default()
    };
    apply(&mut store, &changes).await;
    store.store(&[game(first, 5, 1), game(first, 19, 1)]).await;
    let cases = [
        // (lease, cell, number), (settled, leased)
        ((1, first, 4), (false, true)),
        ((1, first, 5), (true, true)),
        ((1, first, 3), (false, false)),
        ((1, first, 6), (false, false)),
        ((2, first, 6), (false, false)),
        ((1, second, 0), (false, true)),
        ((1, second, 1), (false, false)),
        ((7, first, 4), (false, false)),
        ((1, CellId(99), 4), (false, false)),
        ((1, first, 19), (true, false)),
        ((1, first, u64::MAX), (false, false)),
    ];
    let asked_by = |worker| -> Vec<_> {
        let games = cases
            .iter()
            .map(|&((lease, cell, number), _)| (worker, LeaseId(lease), GameId { cell, number }));
        games.collect()
    };
    let expected: Vec<_> = cases
        .iter()
        .map(|&(_, (settled, leased))| GameFacts { settled, leased, ..GameFacts::default() })
        .collect();
    let mut transaction = store.writer.begin().await.unwrap();
    let found = transaction.facts(&asked_by(own)).await.unwrap();
    let is_granted = |facts: &GameFacts| facts.granted_unix_us.is_some_and(|at| at > 0);
    assert!(found.iter().all(|facts| is_granted(facts) == facts.leased), "{found:?}");
    let untimed = |facts: GameFacts| GameFacts { granted_unix_us: None, ..facts };
    assert_eq!(found.into_iter().map(untimed).collect::<Vec<_>>(), expected);
    let of_other = transaction.facts(&asked_by(other)).await.unwrap();
    let leased: Vec<usize> = (0..cases.len()).filter(|&at| of_other[at].leased).collect();
    assert_eq!(leased, [4]);
    // Of several workers at once: each is asked for what it says itself.
    let both: Vec<_> = asked_by(own).into_iter().zip(asked_by(other)).collect();
    let both: Vec<_> = both.into_iter().flat_map(|(own, other)| [own, other]).collect();
    let facts = transaction.facts(&both).await.unwrap();
    for (at, facts) in facts.chunks(2).enumerate() {
        assert_eq!([untimed(facts[0]), facts[1]], [expected[at], of_other[at]]);
    }
    assert_eq!(transaction.facts(&[]).await.unwrap(), []);
}

#[tokio::test]
async fn states_are_kept() {
    let mut store = Store::new().await;
    let experiment = store.submitted.experiment;
    for (state, name, live) in [
        (ExperimentState::Paused, "paused", true),
        (ExperimentState::Running, "running", true),
        (ExperimentState::Finished, "finished", false),
        (ExperimentState::Cancelled, "cancelled", false),
    ] {
        let mut transaction = store.writer.begin().await.unwrap();
        transaction.set_state(experiment, state).await.unwrap();
        transaction.commit().await.unwrap();
        let summaries = store.writer.readers().experiments(None, 10).await.unwrap().experiments;
        assert_eq!(summaries[0].state.name(), name);
        let snapshot = store.writer.snapshot().await.unwrap();
        assert_eq!(snapshot.experiments.first().map(|found| found.state), live.then_some(state));
        assert_eq!(
            store.integer("SELECT finished_unix_us IS NULL FROM experiments").await,
            i64::from(live)
        );
    }
}

#[tokio::test]
async fn a_worker_is_known_by_its_uuid() {
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    let mut again = introduction("worker-1");
    again.slots = 64;
    assert_eq!(transaction.introduce(&again).await.unwrap(), store.worker);
    let WorkerId(other) = transaction.introduce(&introduction("worker-2")).await.unwrap();
    assert_ne!(other, store.worker.0);
    transaction.commit().await.unwrap();
    let workers = store.writer.readers().workers(10).await.unwrap();
    let found: Vec<_> = workers.iter().map(|worker| (&*worker.name, worker.slots)).collect();
    assert_eq!(found, [("name of worker-2", 2), ("name of worker-1", 64)]);
}

#[tokio::test]
async fn a_submit_is_a_no_op_the_second_time() {
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    // The same UUID; or the same name and text, under another UUID.
    for (uuid, text) in [("uuid-1", "text"), ("uuid-1", "other text"), ("uuid-2", "text")] {
        let again = transaction.submit(sweep(uuid, text, &plan("small"))).await.unwrap();
        assert!(again.existed && again.change.is_none() && !again.tell);
        assert_eq!(again.experiment, store.submitted.experiment);
        assert_eq!(again.uuid, "uuid-1");
        assert_eq!(again.games, 40);
        assert!(again.cells.is_empty());
    }
    let other = transaction.submit(sweep("uuid-2", "text", &plan("Small"))).await.unwrap();
    assert_eq!(other.experiment, ExperimentId(2));
    transaction.commit().await.unwrap();
    // One player in many cells, and in many experiments, is one row.
    assert_eq!(store.integer("SELECT count(*) FROM players").await, 4);
    assert_eq!(store.integer("SELECT count(*) FROM cells").await, 4);
    // Two names that give the same identifier have views of their own.
    assert_eq!(
        store.texts("SELECT results_view FROM experiments ORDER BY 1").await,
        ["results_small", "results_small_2"]
    );
    assert_eq!(store.integer("SELECT count(*) FROM results_small_2").await, 2);
}

#[tokio::test]
async fn a_definition_is_found_by_its_hash() {
    let store = Store::new().await;
    let readers = store.writer.readers();
    let plan = plan("small");
    for cell in &plan.cells {
        let json = readers.definition(cell.definition_hash).await.unwrap();
        assert_eq!(json, Some(plan.definition(cell).canonical_json()));
    }
    let none = spelrum_model::DefinitionHash([0; 32]);
    assert_eq!(readers.definition(none).await.unwrap(), None);
}

#[tokio::test]
async fn failures_keep_the_last_message() {
    let mut store = Store::new().await;
    let game = GameId { cell: store.cell(0), number: 7 };
    let mut transaction = store.writer.begin().await.unwrap();
    for message in ["first", "second"] {
        transaction.note_failures(&[(game, message.to_owned())]).await.unwrap();
    }
    let attempts = vec![Attempts { game, lost: 1, lost_alone: 0, failed: 2 }];
    transaction.apply(&Changes { attempts, ..Changes::default() }).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(
        store
            .texts("SELECT message || ' ' || failed || settled || finally_failed FROM failures")
            .await,
        ["second 200"]
    );
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.settle_failed(&[(game, "last".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(
        store
            .texts("SELECT message || ' ' || failed || settled || finally_failed FROM failures")
            .await,
        ["last 211"]
    );
}

fn need(engine: &str) -> NeededEngine {
    let engine = engine.to_owned();
    NeededEngine { engine, protocol: Protocol::Gtp, version: None, sha256: None, build: None }
}

fn needs(states: &[CellState]) -> Vec<Option<&[NeededEngine]>> {
    states.iter().map(|state| Some(state.demands.as_ref()?.engines.as_slice())).collect()
}

/// They follow from the players' parameters, and nothing of them is stored: wherever the scheduler is told of
/// cells, it is told what they need. Cells that need the same share it.
#[tokio::test]
async fn the_engines_that_cells_need_are_told() {
    let mut plan = empty_plan("engines");
    let [bird, fish] = [engine("bird"), engine("fish")];
    add_cell(&mut plan, ["ab", "fish"], [alpha_beta(1), fish.clone()], 1, 20);
    add_cell(&mut plan, ["fish", "ab"], [fish.clone(), alpha_beta(2)], 2, 20);
    add_cell(&mut plan, ["fish", "fish"], [fish.clone(), fish.clone()], 3, 20);
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(2)], 4, 20);
    let mut store = Store::with(&plan).await;
    let [one, two] = [vec![need("fish")], vec![need("fish"), need("fish")]];
    let all: [Option<&[NeededEngine]>; 4] = [Some(&one), Some(&one), Some(&two), None];
    assert_eq!(needs(&store.submitted.cells), all);
    let shared = store.submitted.cells[..2].iter().map(|state| state.demands.clone().unwrap());
    let shared: Vec<_> = shared.collect();
    assert!(Arc::ptr_eq(&shared[0], &shared[1]));
    assert_eq!(needs(&store.writer.snapshot().await.unwrap().experiments[0].cells), all);

    // In whatever order they sit at the board.
    add_cell(&mut plan, ["fish", "bird"], [fish, bird], 5, 20);
    let mut transaction = store.writer.begin().await.unwrap();
    let grown = transaction.submit(sweep("2", "grown", &plan)).await.unwrap();
    transaction.commit().await.unwrap();
    let new = grown.cells.last().unwrap();
    assert_eq!(
        new.demands.as_ref().map(|demands| &*demands.engines),
        Some(&[need("bird"), need("fish")][..])
    );
}
