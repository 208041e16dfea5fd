//! What nobody needs any more is forgotten, by SQLite and in memory, and nothing else is.

use std::collections::BTreeSet;

use crate::twin::InMemory;
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, GameId, GameRange, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::{CellProgress, Changes, LeaseEnd, LeaseState};
use spelrum_store::contract::{Store, WriteTransaction};
use spelrum_store::{GameFacts, Refused, WorkerIntroduction, Writer};

use crate::fixture::{self, game, introduction, of_worker, plan, sweep};

async fn commit<S: Store, T>(
    store: &mut S,
    what: impl AsyncFnOnce(&mut S::Transaction<'_>) -> T,
) -> T {
    let mut transaction = store.begin().await.unwrap();
    let answer = what(&mut transaction).await;
    transaction.commit().await.unwrap();
    answer
}

/// The cells of a new experiment in this state.
async fn experiment<S: Store>(store: &mut S, name: &str, state: ExperimentState) -> Vec<CellId> {
    commit(store, async |transaction| {
        let plan = plan(name);
        let submitted = transaction.submit(sweep(name, name, &plan)).await.unwrap();
        transaction.set_state(submitted.experiment, state).await.unwrap();
        submitted.cells.iter().map(|cell| cell.cell).collect()
    })
    .await
}

async fn hello<S: Store>(store: &mut S, uuid: &str) -> WorkerId {
    commit(store, async |transaction| transaction.introduce(&introduction(uuid)).await.unwrap())
        .await
}

/// Grants leases with the ids from 1, and ends those that end.
async fn grant<S: Store>(
    store: &mut S,
    worker: WorkerId,
    leases: &[(Vec<GameRange>, Option<LeaseEnd>)],
) {
    let numbered = || (1..).map(LeaseId).zip(leases);
    let granted = numbered().map(|(lease, (granted, _))| LeaseState {
        lease,
        worker,
        granted: granted.clone(),
        outstanding: granted.clone(),
    });
    let ended = numbered().filter_map(|(lease, &(_, end))| Some((lease, end?)));
    let changes =
        Changes { granted: granted.collect(), ended: ended.collect(), ..Changes::default() };
    commit(store, async |transaction| transaction.apply(&changes).await.unwrap()).await;
}

async fn forget<S: Store>(store: &mut S, after: i64, kept: u64) -> Option<LeaseId> {
    commit(store, async |transaction| {
        transaction.forget_leases(LeaseId(after), kept).await.unwrap()
    })
    .await
}

/// Which of these games are leased to the worker, as the scheduler is told.
async fn leased<S: Store>(
    store: &mut S,
    worker: WorkerId,
    games: &[(LeaseId, GameId)],
) -> Vec<i64> {
    let asked: Vec<_> = games.iter().map(|&(lease, game)| (worker, lease, game)).collect();
    let facts: Vec<GameFacts> =
        commit(store, async |transaction| transaction.facts(&asked).await.unwrap()).await;
    let leased = games.iter().zip(facts).filter(|(_, facts)| facts.leased);
    leased.map(|((lease, _), _)| lease.0).collect()
}

/// A lease goes once nobody can report for it any more, and the latest stay all the same.
async fn old_leases_go<S: Store>(store: &mut S) {
    let running = experiment(store, "running", ExperimentState::Running).await;
    let paused = experiment(store, "paused", ExperimentState::Paused).await;
    let cancelled = experiment(store, "cancelled", ExperimentState::Cancelled).await;
    let finished = experiment(store, "finished", ExperimentState::Finished).await;
    let worker = hello(store, "worker").await;
    let range = |cell, first| GameRange { cell, first, count: 2 };
    let ended = |ranges: &[GameRange], end| (ranges.to_vec(), Some(end));
    let leases = [
        // 1: its games have results.
        ended(&[range(running[0], 0)], LeaseEnd::Finished),
        // 2: one of them has none.
        ended(&[range(running[0], 2)], LeaseEnd::Expired),
        // 3, 4: nobody waits for results any more.
        ended(&[range(cancelled[0], 0)], LeaseEnd::Cancelled),
        ended(&[range(finished[0], 0)], LeaseEnd::Expired),
        // 5: it has not ended.
        (vec![range(running[0], 4)], None),
        // 6: one of its ranges is done, the other is not.
        ended(&[range(running[0], 6), range(running[1], 0)], LeaseEnd::Expired),
        // 7: a pause is not an end.
        ended(&[range(paused[0], 0)], LeaseEnd::GivenBack),
        // 8: a game that was given up has a result, too.
        ended(&[range(running[0], 8)], LeaseEnd::Expired),
        // 9: as 1, but it is among the latest.
        ended(&[range(running[0], 10)], LeaseEnd::Finished),
    ];
    grant(store, worker, &leases).await;
    let settled = [0, 1, 2, 4, 5, 6, 7, 8, 10, 11].map(|number| game(running[0], number, 1));
    let given_up = (GameId { cell: running[0], number: 9 }, "no".to_owned());
    commit(store, async |transaction| {
        transaction.store_games(&of_worker(worker, &settled)).await.unwrap();
        transaction.store_games(&of_worker(worker, &[game(running[1], 0, 1)])).await.unwrap();
        transaction.settle_failed(&[given_up]).await.unwrap();
    })
    .await;
    let games: Vec<(LeaseId, GameId)> = (1..)
        .map(LeaseId)
        .zip(&leases)
        .flat_map(|(lease, (ranges, _))| {
            let first = |range: &GameRange| GameId { cell: range.cell, number: range.first };
            ranges.iter().map(move |range| (lease, first(range)))
        })
        .collect();

    assert_eq!(leased(store, worker, &games).await, [1, 2, 3, 4, 5, 6, 6, 7, 8, 9]);
    assert_eq!(forget(store, 0, 9).await, None);
    assert_eq!(forget(store, 0, 100).await, None);
    assert_eq!(leased(store, worker, &games).await, [1, 2, 3, 4, 5, 6, 6, 7, 8, 9]);
    // Those after the first alone.
    assert_eq!(forget(store, 1, 6).await, Some(LeaseId(3)));
    assert_eq!(leased(store, worker, &games).await, [1, 2, 4, 5, 6, 6, 7, 8, 9]);
    assert_eq!(forget(store, 0, 1).await, Some(LeaseId(8)));
    assert_eq!(leased(store, worker, &games).await, [2, 5, 6, 6, 7, 9]);
    assert_eq!(forget(store, 8, 1).await, None);

    // What was missing comes, or is not waited for any more.
    commit(store, async |transaction| {
        transaction.store_games(&of_worker(worker, &[game(running[0], 3, 1)])).await.unwrap();
        let paused = transaction.experiment("paused").await.unwrap().unwrap().experiment;
        transaction.set_state(paused, ExperimentState::Cancelled).await.unwrap();
    })
    .await;
    assert_eq!(forget(store, 0, 0).await, Some(LeaseId(9)));
    assert_eq!(leased(store, worker, &games).await, [5, 6, 6]);
}

#[tokio::test]
async fn old_leases_are_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let mut sqlite = Writer::open(&directory.path().join("results.db")).await.unwrap();
    old_leases_go(&mut sqlite).await;
    let kept = "SELECT count(DISTINCT lease_id) || ' ' || count(*) FROM lease_ranges";
    let kept = fixture::rows(&sqlite.readers(), kept).await;
    assert_eq!(fixture::text(&kept[0][0]), "2 3");
    old_leases_go(&mut InMemory::new()).await;
}

async fn forget_workers<S: Store>(
    store: &mut S,
    after: i64,
    before_unix_us: i64,
    known: &[WorkerId],
) -> Option<WorkerId> {
    let known: BTreeSet<WorkerId> = known.iter().copied().collect();
    commit(store, async |transaction| {
        let after = WorkerId(after);
        transaction.forget_workers(after, before_unix_us, &known).await.unwrap()
    })
    .await
}

/// Whose row is there still: whoever says Hello again and has its id.
async fn there<S: Store>(store: &mut S, workers: &[(&'static str, WorkerId)]) -> Vec<&'static str> {
    let mut there = Vec::new();
    // Nothing of it stays.
    let mut transaction = store.begin().await.unwrap();
    for &(name, worker) in workers {
        if transaction.introduce(&introduction(name)).await.unwrap() == worker {
            there.push(name);
        }
    }
    there
}

/// A worker goes if nothing is known of it but that it came.
async fn workers_without_a_trace_go<S: Store>(store: &mut S) {
    const NEVER: i64 = 0;
    const EVER: i64 = i64::MAX;
    let cell = experiment(store, "running", ExperimentState::Running).await[0];
    let names =
        ["leases", "played", "beyond", "again", "refused", "silent", "known", "young", "last"];
    let mut workers = Vec::new();
    for name in names {
        workers.push((name, hello(store, name).await));
    }
    let id = |name: &str| workers.iter().find(|(worker, _)| *worker == name).unwrap().1;
    let leased = GameRange { cell, first: 0, count: 2 };
    grant(store, id("leases"), &[(vec![leased], Some(LeaseEnd::Finished))]).await;
    commit(store, async |transaction| {
        let stop = CellProgress {
            cell,
            next_number: 20,
            returned: Vec::new(),
            decided_number: 8,
            stop_number: Some(8),
        };
        let changes = Changes { cells: vec![stop], ..Changes::default() };
        transaction.apply(&changes).await.unwrap();
        let mut store = async |name, number| {
            let played = of_worker(id(name), &[game(cell, number, 1)]);
            transaction.store_games(&played).await.unwrap();
        };
        for (name, number) in [("played", 0), ("played", 1), ("beyond", 9), ("again", 1)] {
            store(name, number).await;
        }
        let refused = Refused {
            worker: id("refused"),
            lease: LeaseId(1),
            game: GameId { cell, number: 3 },
            record: vec![1],
            problem: "no".to_owned(),
        };
        transaction.keep_refused(&[refused]).await.unwrap();
    })
    .await;

    assert_eq!(forget_workers(store, 0, NEVER, &[]).await, Some(id("last")));
    assert_eq!(forget_workers(store, id("last").0, EVER, &[]).await, None);
    assert_eq!(there(store, &workers).await, names);
    let known = [id("known"), id("young"), id("last")];
    assert_eq!(forget_workers(store, id("leases").0, EVER, &known).await, Some(id("last")));
    let expected = ["leases", "played", "beyond", "again", "refused", "known", "young", "last"];
    assert_eq!(there(store, &workers).await, expected);
    // No id comes again, not even the greatest.
    forget_workers(store, 0, EVER, &[id("known")]).await;
    let expected = ["leases", "played", "beyond", "again", "refused", "known"];
    assert_eq!(there(store, &workers).await, expected);
    assert_eq!(hello(store, "last").await, WorkerId(id("last").0 + 1));
    // Once its lease is forgotten, nothing is left of this one.
    assert_eq!(forget(store, 0, 0).await, Some(LeaseId(1)));
    forget_workers(store, 0, EVER, &[]).await;
    let expected = ["played", "beyond", "again", "refused"];
    assert_eq!(there(store, &workers).await, expected);
}

#[tokio::test]
async fn workers_that_left_no_trace_are_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let mut sqlite = Writer::open(&directory.path().join("results.db")).await.unwrap();
    workers_without_a_trace_go(&mut sqlite).await;
    let damage = sqlite.readers().damage().await.unwrap();
    assert!(damage.is_empty(), "{damage:?}");
    workers_without_a_trace_go(&mut InMemory::new()).await;
}

/// However often an excluded machine starts anew, one of its workers is remembered.
async fn later_starts_of_an_excluded_worker_go<S: Store>(store: &mut S) {
    async fn start<S: Store>(store: &mut S, uuid: &str) -> (WorkerId, usize) {
        let machine = WorkerIntroduction { name: "machine".to_owned(), ..introduction(uuid) };
        commit(store, async |transaction| {
            let worker = transaction.introduce(&machine).await.unwrap();
            (worker, transaction.inherit_exclusions(worker).await.unwrap().len())
        })
        .await
    }
    let (first, _) = start(store, "first").await;
    commit(store, async |transaction| {
        transaction.begin_exclusion(first, None, None).await.unwrap();
    })
    .await;
    let mut workers = vec![("first", first)];
    for uuid in ["second", "third"] {
        let (worker, inherited) = start(store, uuid).await;
        assert_eq!(inherited, 1, "{uuid}");
        workers.push((uuid, worker));
    }
    forget_workers(store, 0, i64::MAX, &[workers[1].1]).await;
    assert_eq!(there(store, &workers).await, ["first", "second"]);
    while commit(store, async |transaction| transaction.exclude_some().await.unwrap())
        .await
        .is_some()
    {}
    forget_workers(store, 0, i64::MAX, &[]).await;
    assert_eq!(there(store, &workers).await, ["first"]);
    let (fourth, inherited) = start(store, "fourth").await;
    assert_eq!(inherited, 1, "it is remembered by the first");
    let readmitted =
        commit(store, async |transaction| transaction.readmit(&[fourth], None).await.unwrap());
    assert_eq!(readmitted.await, [first, fourth]);
    forget_workers(store, 0, i64::MAX, &[]).await;
    assert_eq!(there(store, &[("first", first), ("fourth", fourth)]).await, [""; 0]);
}

#[tokio::test]
async fn later_starts_of_an_excluded_worker_are_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let mut sqlite = Writer::open(&directory.path().join("results.db")).await.unwrap();
    later_starts_of_an_excluded_worker_go(&mut sqlite).await;
    let damage = sqlite.readers().damage().await.unwrap();
    assert!(damage.is_empty(), "{damage:?}");
    later_starts_of_an_excluded_worker_go(&mut InMemory::new()).await;
}

/// Forgetting a worker looks nowhere through all games, or through anything that grows with them.
#[tokio::test]
async fn workers_are_forgotten_without_a_look_at_all_games() {
    let store = fixture::Store::new().await;
    let references = "SELECT m.name || '.' || f.\"from\" FROM sqlite_master AS m
        JOIN pragma_foreign_key_list(m.name) AS f
        WHERE m.type = 'table' AND f.\"table\" = 'workers' ORDER BY 1";
    let references = store.texts(references).await;
    assert!(references.len() > 3, "{references:?}");
    for reference in references {
        let (table, column) = reference.split_once('.').unwrap();
        let plan = format!("EXPLAIN QUERY PLAN SELECT 1 FROM {table} WHERE {column} = 1");
        let plan = store.rows(&plan).await;
        let step = fixture::text(&plan[0][3]);
        assert!(step.starts_with("SEARCH "), "{reference}: {step}");
    }
}
