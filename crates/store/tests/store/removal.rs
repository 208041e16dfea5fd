//! Throwing away: exactly what was asked goes, whenever the coordinator is killed.

use std::collections::BTreeMap;

use proptest::prelude::{Strategy as _, any, prop_assert_eq};
use spelrum_model::ExperimentState;
use spelrum_model::course::{Ended, Note, Noted};
use spelrum_model::{
    CellId, ExperimentId, GameId, GameRange, LeaseId, Plan, PlayedGame, Role, WorkerId,
};
use spelrum_scheduling::scheduler::{Attempts, CellProgress, Changes, LeaseEnd, LeaseState};
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Refused, Removed, Removing, Submitted, ToVerify, Writer};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use crate::fixture::{
    Store, add_cell, alpha_beta, claim, game, introduction, of_worker, plan, rows, sweep, text,
    with_engines,
};

/// An experiment beside the first that shares its players, openings and workers.
fn other_plan() -> Plan {
    let mut plan = plan("other");
    // The first cell is defined as the first one of the other experiment.
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 3, 20);
    plan.claims.push(claim("the other's", [0], Role::Player));
    plan
}

/// Two experiments, in every table that knows experiments or cells.
async fn two_experiments() -> (Store, Submitted) {
    let mut plan = plan("small");
    plan.anchors.push("gm".to_owned());
    plan.claims.push(claim("its own", [0, 1], Role::Opponent));
    let mut store = Store::with(&plan).await;
    let mut transaction = store.writer.begin().await.unwrap();
    let other = transaction.submit(sweep("uuid-2", "other text", &other_plan())).await.unwrap();
    let second = transaction.introduce(&introduction("worker-2")).await.unwrap();
    transaction.commit().await.unwrap();
    let mut lease = 0;
    for submitted in [store.submitted.clone(), other.clone()] {
        for (cell, state) in (0..).zip(&submitted.cells) {
            let id = state.cell;
            let mut transaction = store.writer.begin().await.unwrap();
            let mut games: Vec<_> = (0..12).map(|number| game(id, number, number + cell)).collect();
            let forfeited = games[5].clone();
            games[5] = with_engines(forfeited, [Some(1), Some(cell as u8)], Some("it went away"));
            transaction.store_games(&of_worker(store.worker, &games[..7])).await.unwrap();
            transaction.store_games(&of_worker(second, &games[7..])).await.unwrap();
            // Results beside the settled ones, one of them a conflict.
            let again = [game(id, 3, 3 + cell), game(id, 4, 77)];
            transaction.store_uncounted(&of_worker(second, &again), false).await.unwrap();
            let failed = (GameId { cell: id, number: 13 }, "boom".to_owned());
            let refused = Refused {
                worker: second,
                lease: LeaseId(1 + i64::try_from(cell).unwrap()),
                game: GameId { cell: id, number: 15 },
                record: vec![7; 100_000],
                problem: "no game".to_owned(),
            };
            // Twice: it is kept once.
            let refused = [refused.clone(), refused];
            assert_eq!(transaction.keep_refused(&refused).await.unwrap(), [true, false]);
            transaction.settle_failed(std::slice::from_ref(&failed)).await.unwrap();
            transaction.note_failures(&[failed]).await.unwrap();
            transaction.apply(&changes(id, &mut lease, store.worker)).await.unwrap();
            transaction.commit().await.unwrap();
        }
    }
    store.assert_recount().await;
    (store, other)
}

/// Two leases of a cell, ended; games returned; attempts.
fn changes(cell: CellId, last_lease: &mut i64, worker: WorkerId) -> Changes {
    let mut changes = Changes::default();
    for first in [0, 10] {
        *last_lease += 1;
        let lease = LeaseId(*last_lease);
        let granted = vec![GameRange { cell, first, count: 10 }];
        changes.granted.push(LeaseState {
            lease,
            worker,
            granted: granted.clone(),
            outstanding: granted,
        });
        changes.ended.push((lease, LeaseEnd::Expired));
    }
    let returned =
        vec![GameRange { cell, first: 14, count: 2 }, GameRange { cell, first: 17, count: 1 }];
    changes.cells.push(CellProgress {
        cell,
        next_number: 20,
        returned,
        decided_number: 0,
        stop_number: None,
    });
    let game = GameId { cell, number: 13 };
    changes.attempts.push(Attempts { game, lost: 1, lost_alone: 0, failed: 3 });
    changes
}

/// Every row of every table that belongs to an experiment, by table.
async fn rows_of(store: &Store, experiment: i64) -> BTreeMap<String, Vec<String>> {
    let readers = store.writer.readers();
    let tables = store
        .texts(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                AND name <> '_sqlx_migrations' ORDER BY name",
        )
        .await;
    let cells = format!("SELECT cell_id FROM cells WHERE experiment_id = {experiment}");
    let games = format!("SELECT game_id FROM games WHERE cell_id IN ({cells})");
    let uncounted =
        format!("SELECT uncounted_game_id FROM uncounted_games WHERE cell_id IN ({cells})");
    let leases = format!("SELECT lease_id FROM lease_ranges WHERE cell_id IN ({cells})");
    let mut found = BTreeMap::new();
    for table in tables {
        let columns = store.texts(&format!("SELECT name FROM pragma_table_info('{table}')")).await;
        let has = |column: &str| columns.iter().any(|name| name == column);
        let only = if has("experiment_id") {
            format!("experiment_id = {experiment}")
        } else if has("cell_id") {
            format!("cell_id IN ({cells})")
        } else if has("game_id") {
            format!("game_id IN ({games})")
        } else if has("uncounted_game_id") {
            format!("uncounted_game_id IN ({uncounted})")
        } else if has("lease_id") {
            format!("lease_id IN ({leases})")
        } else {
            continue;
        };
        let all = rows(&readers, &format!("SELECT * FROM {table} WHERE {only}")).await;
        let all: Vec<String> =
            all.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect();
        found.insert(table, all);
    }
    found
}

/// The number of rows of tables, whoever they belong to.
async fn counts(store: &Store, tables: &[&str]) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in tables {
        counts.push(store.integer(&format!("SELECT count(*) FROM {table}")).await);
    }
    counts
}

async fn begin(writer: &mut Writer, submitted: &Submitted, what: Removing) {
    let mut transaction = writer.begin().await.unwrap();
    transaction.set_state(submitted.experiment, ExperimentState::Cancelled).await.unwrap();
    transaction.begin_removal(submitted.experiment, what, 36).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Removes all there is, step by step; in a step that `dies` says the coordinator is killed.
async fn remove_all(store: &mut Store, mut dies: impl FnMut() -> bool) {
    loop {
        let mut transaction = store.writer.begin().await.unwrap();
        let removed = transaction.remove_some().await.unwrap();
        if dies() {
            drop(transaction);
            // Another process begins with what is on disk.
            let path = store.path();
            let directory = std::mem::replace(&mut store.directory, tempfile::tempdir().unwrap());
            let copy = store.directory.path().join("results.db");
            for suffix in ["", "-wal"] {
                let name = |database: &std::path::Path| format!("{}{suffix}", database.display());
                std::fs::copy(name(&path), name(&copy)).unwrap();
            }
            store.writer = Writer::open(&copy).await.unwrap();
            drop(directory);
            assert!(store.writer.is_removing().await.unwrap());
            continue;
        }
        transaction.commit().await.unwrap();
        if removed == Removed::Nothing {
            break;
        }
    }
    while store.writer.shrink().await.unwrap() {}
    assert!(!store.writer.is_removing().await.unwrap());
}

const SHARED: [&str; 6] =
    ["players", "conditions", "condition_rules", "openings", "workers", "time_buckets"];

#[tokio::test]
async fn a_deleted_experiment_leaves_nothing_behind_and_others_as_they_were() {
    let (mut store, other) = two_experiments().await;
    let (first, second) = (store.submitted.experiment.0, other.experiment.0);
    // As if its moves were being dropped.
    let mut shell = SqliteConnectOptions::new().filename(store.path()).connect().await.unwrap();
    let searches = "INSERT INTO game_depths SELECT game_id, 0, 1, 0, 0, 0, 0, 0, 0, 0, '{}' FROM games
        WHERE outcome IS NOT NULL AND cell_id IN (SELECT cell_id FROM cells WHERE experiment_id = ?)";
    sqlx::query(searches).bind(first).execute(&mut shell).await.unwrap();
    drop(shell);
    let cell = store.cell(0);
    let its_first = format!("SELECT game_id FROM games WHERE cell_id = {cell} AND number = 0");
    let verified = ToVerify {
        game_id: store.integer(&its_first).await,
        game: GameId { cell, number: 0 },
        definition_json: store.writer.readers().definition_of(cell).await.unwrap().unwrap(),
        stops: vec![7],
        played_by: Some(store.worker),
    };
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.order_verifications(ExperimentId(first), &[verified]).await.unwrap();
    transaction.tell(cell).await.unwrap();
    let noted = Noted { run: 0, note: Note::Ended(Ended::default()) };
    transaction.note(ExperimentId(first), &[noted]).await.unwrap();
    let from = Some(ExperimentId(first));
    transaction.begin_exclusion(store.worker, from, None).await.unwrap();
    transaction.commit().await.unwrap();
    let before = rows_of(&store, first).await;
    let empty: Vec<_> =
        before.iter().filter(|(_, rows)| rows.is_empty()).map(|table| table.0).collect();
    assert_eq!(empty, ["removals"], "every table is put to the test");
    let others = rows_of(&store, second).await;
    let shared = counts(&store, &SHARED).await;
    let views = "SELECT count(*) FROM sqlite_schema WHERE type = 'view'";
    let views_before = store.integer(views).await;

    let submitted = store.submitted.clone();
    begin(&mut store.writer, &submitted, Removing::Everything).await;
    // Gone at once for everybody who asks.
    let readers = store.writer.readers();
    let listed = readers.experiments(None, 10).await.unwrap().experiments;
    assert_eq!(listed.iter().map(|listed| &*listed.name).collect::<Vec<_>>(), ["other"]);
    assert!(readers.experiment("small").await.unwrap().is_none());
    assert!(readers.experiment("uuid-1").await.unwrap().is_none());
    assert_eq!(store.integer(views).await, views_before - 2);
    let mut transaction = store.writer.begin().await.unwrap();
    assert_eq!(transaction.experiment("small").await.unwrap(), None);
    let late = GameId { cell: submitted.cells[0].cell, number: 3 };
    let facts = transaction.facts(&[(store.worker, LeaseId(1), late)]).await.unwrap();
    assert!(!facts[0].leased, "a late report is rejected");
    drop(transaction);

    remove_all(&mut store, || false).await;
    for (table, rows) in rows_of(&store, first).await {
        assert_eq!(rows, Vec::<String>::new(), "{table}");
    }
    assert_eq!(rows_of(&store, second).await, others);
    assert_eq!(counts(&store, &SHARED).await, shared);
    assert_eq!(store.integer("SELECT count(*) FROM pragma_foreign_key_check").await, 0);
    // By the ranges of the first one; those of the second are all there.
    assert_eq!(store.integer("SELECT min(lease_id) FROM leases").await, 5);
    store.assert_recount().await;

    // The name is free again.
    let mut transaction = store.writer.begin().await.unwrap();
    let again = transaction.submit(sweep("uuid-3", "text", &plan("small"))).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(!again.existed);
    let games: Vec<_> = (0..6).map(|number| game(again.cells[0].cell, number, 5)).collect();
    store.store(&games).await;
    store.assert_recount().await;
    assert_eq!(store.integer("SELECT count(*) FROM results_small WHERE games = 6").await, 1);
}

/// Lease ids only grow, also across a restart after the newest leases were deleted (invariant 6).
#[tokio::test]
async fn the_newest_lease_id_is_never_given_again() {
    let (mut store, other) = two_experiments().await;
    let last = store.writer.snapshot().await.unwrap().last_lease;
    assert_eq!(last, store.integer("SELECT max(lease_id) FROM lease_ranges").await);
    begin(&mut store.writer, &other, Removing::Everything).await;
    remove_all(&mut store, || false).await;
    assert_eq!(store.writer.snapshot().await.unwrap().last_lease, last);
    let mut transaction = store.writer.begin().await.unwrap();
    let again = transaction.submit(sweep("uuid-3", "text", &plan("again"))).await.unwrap();
    assert!(again.cells[0].cell > other.cells[1].cell, "no cell id comes back");
    let late = GameId { cell: again.cells[0].cell, number: 3 };
    let facts = transaction.facts(&[(store.worker, LeaseId(last), late)]).await.unwrap();
    assert!(!facts[0].leased);
    transaction.store_games(&[(store.worker, game(late.cell, 0, 1))]).await.unwrap();
    transaction.commit().await.unwrap();
    store.assert_recount().await;
}

#[tokio::test]
async fn a_pruned_experiment_loses_its_moves_and_nothing_else() {
    let (mut store, other) = two_experiments().await;
    let first = store.submitted.experiment.0;
    let before = rows_of(&store, first).await;
    let others = rows_of(&store, other.experiment.0).await;
    let times = "SELECT group_concat(wall_us_mean || ' ' || wall_us_p90) FROM time_per_depth";
    let times_before = store.texts(times).await;
    let submitted = store.submitted.clone();
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_removal(submitted.experiment, Removing::Moves, 24).await.unwrap();
    transaction.commit().await.unwrap();
    // While it is at work, new games come, also for cells that it has been through, and a repeat
    // of one that has lost its moves and of one that has them still.
    let mut number = 14;
    loop {
        let mut transaction = store.writer.begin().await.unwrap();
        let removed = transaction.remove_some().await.unwrap();
        if number < 20 {
            let games: Vec<PlayedGame> =
                submitted.cells.iter().map(|state| game(state.cell, number, number)).collect();
            transaction.store_games(&of_worker(store.worker, &games)).await.unwrap();
            number += 1;
        }
        let again =
            [game(store.submitted.cells[0].cell, 2, 2), game(store.submitted.cells[1].cell, 2, 3)];
        transaction.store_uncounted(&of_worker(store.worker, &again), false).await.unwrap();
        transaction.commit().await.unwrap();
        if removed == Removed::Nothing {
            break;
        }
    }
    while store.writer.shrink().await.unwrap() {}
    let moves = format!(
        "SELECT count(*) FROM moves JOIN games USING (game_id) JOIN cells USING (cell_id)
        WHERE experiment_id = {first}"
    );
    assert_eq!(store.integer(&moves).await, 0);
    let conflicts = "SELECT count(*) FROM uncounted_games WHERE reason = 'conflict'";
    assert_eq!(store.integer(conflicts).await, 5, "one of each cell, as before");
    let after = rows_of(&store, first).await;
    for table in ["cell_axes", "experiment_axes", "attempts", "lease_ranges"] {
        assert_eq!(after[table], before[table], "{table}");
    }
    assert!(before["games"].iter().all(|row| after["games"].contains(row)));
    assert!(before["game_sides"].iter().all(|row| after["game_sides"].contains(row)));
    assert!(before["uncounted_moves"].iter().all(|row| after["uncounted_moves"].contains(row)));
    assert_eq!(rows_of(&store, other.experiment.0).await, others);
    assert_ne!(store.texts(times).await, times_before, "new games are in the rollups");
    assert_eq!(
        store
            .texts("SELECT record || (pruned_unix_us > 0) FROM experiments WHERE name = 'small'")
            .await,
        ["games1"]
    );
    store.assert_recount().await;
}

/// A prune that becomes a deletion half-way.
#[tokio::test]
async fn what_is_being_pruned_can_be_deleted() {
    let (mut store, _other) = two_experiments().await;
    let submitted = store.submitted.clone();
    begin(&mut store.writer, &submitted, Removing::Moves).await;
    for _ in 0..2 {
        let mut transaction = store.writer.begin().await.unwrap();
        assert_eq!(transaction.remove_some().await.unwrap(), Removed::Some);
        transaction.commit().await.unwrap();
    }
    begin(&mut store.writer, &submitted, Removing::Everything).await;
    assert_eq!(store.integer("SELECT count(*) FROM removals").await, 1);
    // Whatever is left of it at any moment, nobody counts it.
    for _ in 0..12 {
        let mut transaction = store.writer.begin().await.unwrap();
        assert_eq!(transaction.remove_some().await.unwrap(), Removed::Some);
        transaction.commit().await.unwrap();
        store.assert_recount().await;
        if store.integer("SELECT count(*) FROM experiments").await == 1 {
            break;
        }
    }
    remove_all(&mut store, || false).await;
    assert!(rows_of(&store, submitted.experiment.0).await.values().all(Vec::is_empty));
    store.assert_recount().await;
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(12))]

    /// Wherever the coordinator is killed, the end is the same.
    #[test]
    fn a_removal_survives_every_kill(
        deaths in proptest::collection::vec(0..8u32, 0..4).prop_map(|deaths| deaths),
        everything in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut store, other) = two_experiments().await;
            let others = rows_of(&store, other.experiment.0).await;
            let submitted = store.submitted.clone();
            let what = if everything { Removing::Everything } else { Removing::Moves };
            begin(&mut store.writer, &submitted, what).await;
            let mut deaths = deaths.into_iter();
            let mut left = deaths.next();
            remove_all(&mut store, || match &mut left {
                Some(0) => {
                    left = deaths.next();
                    true
                }
                Some(steps) => {
                    *steps -= 1;
                    false
                }
                None => false,
            })
            .await;
            let rest = rows_of(&store, submitted.experiment.0).await;
            prop_assert_eq!(rest.values().all(Vec::is_empty), everything);
            prop_assert_eq!(rest["moves"].len(), 0);
            prop_assert_eq!(rows_of(&store, other.experiment.0).await, others);
            store.assert_recount().await;
            Ok(())
        })?;
    }
}

/// Names are not unique: the newest that is not over is meant, or else the newest.
#[tokio::test]
async fn of_several_with_a_name_the_newest_that_is_not_over_is_meant() {
    let mut store = Store::new().await;
    let first = store.submitted.experiment;
    let mut transaction = store.writer.begin().await.unwrap();
    let second = transaction.submit(sweep("uuid-2", "text", &plan("2"))).await.unwrap().experiment;
    let third = transaction.submit(sweep("uuid-3", "text", &plan("3"))).await.unwrap().experiment;
    transaction.commit().await.unwrap();
    let mut shell = SqliteConnectOptions::new().filename(store.path()).connect().await.unwrap();
    shell.execute("UPDATE experiments SET name = 'small'").await.unwrap();
    drop(shell);
    let mut transaction = store.writer.begin().await.unwrap();
    for (over, meant) in [(None, third), (Some(third), second), (Some(first), second)] {
        if let Some(over) = over {
            transaction.set_state(over, ExperimentState::Finished).await.unwrap();
        }
        let found = transaction.experiment("small").await.unwrap().unwrap();
        assert_eq!(found.experiment, meant);
    }
    transaction.set_state(second, ExperimentState::Cancelled).await.unwrap();
    assert_eq!(transaction.experiment("small").await.unwrap().unwrap().experiment, third);
    assert_eq!(transaction.experiment("uuid-1").await.unwrap().unwrap().experiment, first);
}

/// The file really becomes smaller, by about what was foretold.
#[tokio::test]
async fn the_file_shrinks_by_about_what_was_foretold() {
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    let cell = store.submitted.cells[0].cell;
    for some in 0..20 {
        let games: Vec<_> = (0..500).map(|number| game(cell, 500 * some + number, 3)).collect();
        transaction.store_games(&of_worker(store.worker, &games)).await.unwrap();
    }
    transaction.commit().await.unwrap();
    let readers = store.writer.readers();
    let size = async |store: &mut Store| {
        store.writer.checkpoint().await.unwrap();
        std::fs::metadata(store.path()).unwrap().len()
    };
    let full = size(&mut store).await;
    let moves = readers.removable("uuid-1", Removing::Moves).await.unwrap();
    assert_eq!((moves.cells, moves.games, moves.moves), (1, 10_000, 50_000));
    let everything = readers.removable("uuid-1", Removing::Everything).await.unwrap();
    assert_eq!((everything.cells, everything.games, everything.moves), (2, 10_000, 50_000));
    let experiment = store.submitted.experiment;
    let about = |freed: u64, foretold: u64| freed < 2 * foretold && foretold < 2 * freed;

    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_removal(experiment, Removing::Moves, moves.games).await.unwrap();
    transaction.commit().await.unwrap();
    remove_all(&mut store, || false).await;
    let pruned = size(&mut store).await;
    assert!(about(full - pruned, moves.bytes), "{full} {pruned} {moves:?}");
    assert_eq!(readers.removable("uuid-1", Removing::Moves).await.unwrap().moves, 0);
    store.assert_recount().await;

    begin(&mut store.writer, &store.submitted.clone(), Removing::Everything).await;
    remove_all(&mut store, || false).await;
    let deleted = size(&mut store).await;
    assert!(about(full - deleted, everything.bytes), "{full} {deleted} {everything:?}");
    assert_eq!(store.integer("SELECT freelist_count FROM pragma_freelist_count").await, 0);
}

/// Sums of what is being removed are no faults, at any step.
#[tokio::test]
async fn a_recount_beside_a_removal_finds_nothing() {
    let mut plan = plan("small");
    for conditions in &mut plan.conditions {
        conditions.openings_count = Some(3);
    }
    for what in [Removing::Moves, Removing::Everything] {
        let mut store = Store::with(&plan).await;
        for index in 0..2 {
            let cell = store.cell(index);
            let games: Vec<_> = (0..20).map(|number| game(cell, number, number % 7)).collect();
            store.store(&games).await;
        }
        let submitted = store.submitted.clone();
        begin(&mut store.writer, &submitted, what).await;
        let mut steps = 0;
        loop {
            let mut transaction = store.writer.begin().await.unwrap();
            let removed = transaction.remove_some().await.unwrap();
            transaction.commit().await.unwrap();
            store.assert_recount().await;
            steps += 1;
            if removed == Removed::Nothing {
                break;
            }
        }
        assert!(steps > 4, "{steps}");
    }
}
