//! Trainings and networks: one for all experiments, and games that wait for it.

use std::collections::BTreeSet;

use spelrum_model::ExperimentState;
use spelrum_model::{CellId, GameId, Plan, WorkerId};
use spelrum_scheduling::scheduler::{CellState, Tasks};
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Removed, Removing, StoredNetwork, Writer};

use crate::fixture::{
    Store, add_cell, alpha_beta, empty_plan, genetic, introduction, networked, sweep, trained,
};

/// Two cells with one network, and one without.
fn plan(name: &str) -> Plan {
    let mut plan = empty_plan(name);
    plan.settings.game_timeout_us = Some(1_000_000);
    for depth in 1..=2 {
        add_cell(&mut plan, ["net", "gm"], [networked(depth), genetic(depth)], depth, 4);
    }
    add_cell(&mut plan, ["ab", "gm"], [alpha_beta(3), genetic(3)], 3, 4);
    plan
}

async fn submit(writer: &mut Writer, uuid: &str, plan: &Plan) -> Vec<CellState> {
    let mut transaction = writer.begin().await.unwrap();
    let submitted = transaction.submit(sweep(uuid, "text", plan)).await.unwrap();
    transaction.commit().await.unwrap();
    submitted.cells
}

/// The training of an experiment's cells.
fn training(cells: &[CellState]) -> CellId {
    let mut trainings = cells.iter().filter(|state| state.tasks == Tasks::Trainings);
    let (training, none) = (trainings.next().unwrap(), trainings.next());
    assert!(none.is_none() && training.in_sweep && training.games == 1, "{training:?}");
    training.cell
}

#[tokio::test]
async fn games_wait_for_one_training_of_each_network() {
    let mut store = Store::with(&plan("one")).await;
    let training = training(&store.submitted.cells);
    let waits = |state: &CellState| state.after.as_deref() == Some(&[training][..]);
    let waiting: Vec<bool> = store.submitted.cells.iter().map(waits).collect();
    assert_eq!(waiting, [true, true, false, false]);
    assert!(store.submitted.cells[3].memory_bytes > 0);

    // It is in no report, and takes as long as it takes.
    assert_eq!(store.integer("SELECT count(*) FROM results").await, 3);
    assert_eq!(store.integer("SELECT games_planned FROM experiment_progress").await, 12);
    let mut transaction = store.writer.begin().await.unwrap();
    let cells = [store.submitted.cells[0].cell, training];
    let leased = transaction.leased_cells(&cells).await.unwrap();
    let timeouts = leased.iter().map(|cell| cell.game_timeout.is_some());
    assert_eq!(timeouts.collect::<Vec<_>>(), [true, false]);
    drop(transaction);
    let definition = leased[1].definition;
    let readers = store.writer.readers();
    assert_eq!(readers.network(definition).await.unwrap(), None);
    assert_eq!(readers.network_sha256(definition).await.unwrap(), None);

    // Found after a restart as it was.
    let snapshot = store.writer.snapshot().await.unwrap();
    let mut states = snapshot.experiments[0].cells.clone();
    states.sort_by_key(|state| state.cell);
    assert_eq!(states, store.submitted.cells);

    let mut transaction = store.writer.begin().await.unwrap();
    let network = trained(training);
    let bytes = network.trained.as_ref().unwrap().bytes.clone();
    transaction.store_trainings(&[(store.worker, network)]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(readers.network(definition).await.unwrap(), Some(StoredNetwork::Trained(bytes)));
    assert_eq!(readers.network_sha256(definition).await.unwrap(), Some([7; 32]));
    let rows = store
        .texts(
            "SELECT n.ending || ' ' || n.bytes || ' ' || substr(n.sha256, 1, 4) || ' ' || r.best_epoch
                || ' ' || (SELECT count(*) FROM network_epochs) || ' ' || s.to_move || ' ' || d.nearer
                || ' ' || q.square || ' ' || (SELECT count(*) FROM players AS p
                    WHERE p.network_id = n.network_id)
            FROM networks AS n JOIN network_runs AS r USING (network_id)
            JOIN network_sides AS s USING (network_id) JOIN network_distances AS d USING (network_id)
            JOIN network_squares AS q USING (network_id)",
        )
        .await;
    assert_eq!(rows, ["KRK 64 0707 1 2 black -0.5 h8 2"]);
    let progress = readers.progress(store.submitted.experiment).await.unwrap().unwrap();
    assert_eq!((progress.networks, progress.networks_settled, progress.games_settled), (1, 1, 0));

    // Another experiment has it already.
    let cells = submit(&mut store.writer, "uuid-2", &plan("two")).await;
    assert!(cells.len() == 3 && cells.iter().all(|state| state.after.is_none()), "{cells:?}");
    store.assert_recount().await;
}

#[tokio::test]
async fn a_training_that_fails_lets_its_games_go_and_is_tried_again() {
    let mut store = Store::with(&plan("one")).await;
    let of_one = training(&store.submitted.cells);
    let definition = {
        let mut transaction = store.writer.begin().await.unwrap();
        transaction.leased_cells(&[of_one]).await.unwrap()[0].definition
    };
    // Another experiment that needs it before it is there trains it, too.
    let of_two = training(&submit(&mut store.writer, "uuid-2", &plan("two")).await);
    let task = |cell| GameId { cell, number: 0 };
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.settle_failed(&[(task(of_one), "it diverged".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    let readers = store.writer.readers();
    let failed = StoredNetwork::Failed("it diverged".to_owned());
    assert_eq!(readers.network(definition).await.unwrap(), Some(failed));
    assert_eq!(store.integer("SELECT count(*) FROM games").await, 0, "it is not a game");

    // A third gets a training of its own, and the first may try again.
    let of_three = training(&submit(&mut store.writer, "uuid-3", &plan("three")).await);
    assert_eq!(readers.network(definition).await.unwrap(), None);
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.settle_failed(&[(task(of_three), "again".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    let mut transaction = store.writer.begin().await.unwrap();
    let retried = transaction.retry_failed(store.submitted.experiment).await.unwrap();
    transaction.commit().await.unwrap();
    // It was never leased: nothing has to be taken back for it to be trained.
    assert!(retried.games.is_empty(), "{:?}", retried.games);
    assert_eq!(readers.network(definition).await.unwrap(), None);

    let mut transaction = store.writer.begin().await.unwrap();
    transaction.store_trainings(&[(store.worker, trained(of_two))]).await.unwrap();
    // What comes later changes nothing.
    transaction.settle_failed(&[(task(of_one), "late".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(matches!(readers.network(definition).await.unwrap(), Some(StoredNetwork::Trained(_))));
}

/// Whoever trained is not forgotten, and what was trained stays when its experiment goes.
#[tokio::test]
async fn networks_outlive_experiments() {
    let mut store = Store::with(&plan("one")).await;
    let training = training(&store.submitted.cells);
    let mut transaction = store.writer.begin().await.unwrap();
    let other = transaction.introduce(&introduction("worker-2")).await.unwrap();
    transaction.store_trainings(&[(store.worker, trained(training))]).await.unwrap();
    let experiment = store.submitted.experiment;
    transaction.set_state(experiment, ExperimentState::Cancelled).await.unwrap();
    let all = Removing::Everything;
    transaction.begin_removal(experiment, all, 0).await.unwrap();
    transaction.commit().await.unwrap();
    while {
        let mut transaction = store.writer.begin().await.unwrap();
        let removed = transaction.remove_some().await.unwrap();
        transaction.commit().await.unwrap();
        removed != Removed::Nothing
    } {}
    assert_eq!(store.integer("SELECT count(*) FROM cells").await, 0);
    assert_eq!(store.integer("SELECT count(*) FROM networks WHERE content IS NOT NULL").await, 1);
    let mut transaction = store.writer.begin().await.unwrap();
    let none = BTreeSet::new();
    let nobody = WorkerId(0);
    transaction.forget_workers(nobody, i64::MAX, &none).await.unwrap();
    transaction.commit().await.unwrap();
    let left = store.texts("SELECT worker_id FROM workers").await;
    assert_eq!(left, [store.worker.to_string()], "{other} has left no trace");
    let cells = submit(&mut store.writer, "uuid-9", &plan("nine")).await;
    assert_eq!(cells.len(), 3, "nothing is to be trained");
}
