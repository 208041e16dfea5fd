//! Verifications: ordered once, found after a restart, and of one verdict each.

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{
    CellId, DefinitionHash, Difference, DifferentField, GameId, GameRange, LeaseId, Plan,
    PlayedGame, PlayedVerification, WorkerId,
};
use spelrum_scheduling::scheduler::{Changes, LeaseEnd, LeaseState, Tasks};
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Removed, Removing, ToVerify};

use crate::fixture::{Store, add_cell, alpha_beta, empty_plan, game, plan, timed};

/// A store with two games of its first cell, both of its worker, as they would be verified.
async fn with_games() -> (Store, Vec<ToVerify>) {
    with_games_of(&plan("small")).await
}

async fn with_games_of(plan: &Plan) -> (Store, Vec<ToVerify>) {
    let mut store = Store::with(plan).await;
    let cell = store.submitted.cells[0].cell;
    store.store(&[game(cell, 0, 1), game(cell, 1, 1)]).await;
    let definition_json = store.writer.readers().definition_of(cell).await.unwrap().unwrap();
    let to_verify = |number: u64| ToVerify {
        game_id: 1 + number.cast_signed(),
        game: GameId { cell, number },
        definition_json: definition_json.clone(),
        stops: vec![7, 1],
        played_by: Some(store.worker),
    };
    let games = vec![to_verify(0), to_verify(1)];
    (store, games)
}

async fn order(store: &mut Store, games: &[ToVerify]) -> Vec<CellId> {
    let experiment = store.submitted.experiment;
    let mut transaction = store.writer.begin().await.unwrap();
    let ordered = transaction.order_verifications(experiment, games).await.unwrap();
    transaction.commit().await.unwrap();
    let not_by = Some(store.worker);
    assert!(ordered.iter().all(|state| state.tasks == Tasks::Verifications { not_by }));
    ordered.into_iter().map(|state| state.cell).collect()
}

async fn verdict(store: &mut Store, cell: CellId, ply: Option<u32>) -> usize {
    let difference = ply.map(|ply| Difference {
        ply: Some(ply),
        fields: vec![DifferentField { name: "nodes".into(), recorded: 7.into(), played: 8.into() }],
    });
    let played = PlayedGame { engine_revision: ENGINE_REVISION, ..game(cell, 0, 1) };
    let verified = PlayedVerification { played, difference };
    let worker = store.worker;
    let mut transaction = store.writer.begin().await.unwrap();
    let found = transaction.store_verifications(&[(worker, verified)]).await.unwrap();
    transaction.commit().await.unwrap();
    found.len()
}

/// A game with a time limit is verified by the nodes that its moves took: that needs no quiet slot.
#[tokio::test]
async fn the_verification_of_a_timed_game_is_not_timed() {
    let mut plan = empty_plan("timed");
    add_cell(&mut plan, ["timed", "ab"], [timed(200), alpha_beta(2)], 1, 2).timed = true;
    let (mut store, games) = with_games_of(&plan).await;
    let cells = order(&mut store, &games).await;
    let snapshot = store.writer.snapshot().await.unwrap();
    let states = &snapshot.experiments[0].cells;
    assert_eq!(states.len(), 3);
    assert!(states.iter().all(|state| state.timed != cells.contains(&state.cell)));
    let all: Vec<_> = states.iter().map(|state| state.cell).collect();
    let leased = store.writer.begin().await.unwrap().leased_cells(&all).await.unwrap();
    assert!(all.iter().zip(leased).all(|(cell, leased)| leased.timed != cells.contains(cell)));
}

/// Its definition has the hash that names it, and the scheduler finds it as it was.
#[tokio::test]
async fn a_verification_is_ordered_once_and_found_again() {
    let (mut store, games) = with_games().await;
    let cells = order(&mut store, &games).await;
    assert_eq!(cells.len(), 2);
    assert_eq!(order(&mut store, &games).await, [], "they wait already");
    let readers = store.writer.readers();
    let mut transaction = store.writer.begin().await.unwrap();
    let leased = transaction.leased_cells(&cells).await.unwrap();
    drop(transaction);
    for (cell, leased) in cells.iter().zip(leased) {
        let json = readers.definition_of(*cell).await.unwrap().unwrap();
        assert_eq!(DefinitionHash::from_json(&json), leased.definition);
        assert_eq!(readers.definition(leased.definition).await.unwrap(), Some(json));
    }
    let snapshot = store.writer.snapshot().await.unwrap();
    let its = snapshot.experiments[0].cells.iter().filter(|state| cells.contains(&state.cell));
    let not_by = Some(store.worker);
    assert!(its.clone().all(|state| state.in_sweep && state.games == 1 && state.after.is_none()));
    assert!(its.clone().all(|state| state.tasks == Tasks::Verifications { not_by }));
    assert_eq!(its.count(), 2);
    // No report knows them.
    assert_eq!(store.integer("SELECT count(*) FROM results WHERE cell_number < 0").await, 0);
    store.assert_recount().await;
}

#[tokio::test]
async fn the_first_verdict_stays_and_a_game_is_verified_again_only_without_one() {
    let (mut store, games) = with_games().await;
    let cells = order(&mut store, &games).await;
    assert_eq!(verdict(&mut store, cells[0], Some(2)).await, 1);
    assert_eq!(verdict(&mut store, cells[0], None).await, 0);
    assert_eq!(verdict(&mut store, cells[1], None).await, 0);
    let readers = store.writer.readers();
    let experiment = store.submitted.experiment;
    let answer = readers.verifications(experiment).await.unwrap();
    let [pair] = &answer.pairs[..] else { panic!("{answer:?}") };
    assert_eq!((pair.same, pair.different, answer.different_total), (1, 1, 1));
    assert_eq!(answer.different[0].difference.fields[0].name, "nodes");
    assert!(answer.waiting.is_empty());
    let ids = [games[0].game_id, games[1].game_id, 77];
    let mut known = readers.known_verifications(&ids).await.unwrap();
    known.sort_unstable();
    assert_eq!(known, &ids[..2]);
    let experiments = readers.experiments(None, 9).await.unwrap().experiments;
    assert_eq!(readers.findings(&experiments).await.unwrap().deviating[0].games, 1);
}

/// A lease is ended by a worker that goes away; the game then waits for another.
#[tokio::test]
async fn a_waiting_verification_counts_as_leased_until_its_lease_ends() {
    let (mut store, games) = with_games().await;
    let cells = order(&mut store, &games).await;
    let granted = vec![GameRange { cell: cells[0], first: 0, count: 1 }];
    let (lease, worker) = (LeaseId(1), store.worker);
    let lease_state = LeaseState { lease, worker, outstanding: granted.clone(), granted };
    let granted = Changes { granted: vec![lease_state], ..Changes::default() };
    let ended = Changes { ended: vec![(lease, LeaseEnd::Expired)], ..Changes::default() };
    for (changes, leased) in [(Changes::default(), 0), (granted, 1), (ended, 0)] {
        let mut transaction = store.writer.begin().await.unwrap();
        transaction.apply(&changes).await.unwrap();
        transaction.commit().await.unwrap();
        let readers = store.writer.readers();
        let answer = readers.verifications(store.submitted.experiment).await.unwrap();
        let [waiting] = &answer.waiting[..] else { panic!("{answer:?}") };
        assert_eq!((waiting.games, waiting.leased), (2, leased));
    }
}

/// What has failed for good has no verdict, and may be ordered again: it is another verification then.
#[tokio::test]
async fn what_was_not_played_is_ordered_again() {
    let (mut store, games) = with_games().await;
    let cells = order(&mut store, &games[..1]).await;
    let task = GameId { cell: cells[0], number: 0 };
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.settle_failed(&[(task, "it broke".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    let readers = store.writer.readers();
    let answer = readers.verifications(store.submitted.experiment).await.unwrap();
    assert_eq!((answer.not_played, answer.not_played_because.as_deref()), (1, Some("it broke")));
    assert!(readers.known_verifications(&[games[0].game_id]).await.unwrap().is_empty());
    assert_eq!(store.integer("SELECT count(*) FROM games").await, 2, "no game has failed");
    assert_ne!(order(&mut store, &games[..1]).await, cells);
    store.assert_recount().await;
}

/// A result that is taken out, and an experiment that is removed, leave nothing that points nowhere.
#[tokio::test]
async fn what_is_taken_out_has_no_verdict() {
    let (mut store, games) = with_games().await;
    let cells = order(&mut store, &games).await;
    assert_eq!(verdict(&mut store, cells[0], Some(2)).await, 1);
    let worker: WorkerId = store.worker;
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_exclusion(worker, None, None).await.unwrap();
    while transaction.exclude_some().await.unwrap().is_some() {}
    transaction.commit().await.unwrap();
    let readers = store.writer.readers();
    assert!(readers.verified_game(cells[1]).await.unwrap().is_none());
    assert_eq!(verdict(&mut store, cells[1], None).await, 0);
    let verdicts =
        "SELECT group_concat(verdict || ' ' || coalesce(failure, ''), '; ') FROM verifications";
    assert_eq!(
        store.texts(verdicts).await,
        ["different ; not played the result that it was to be compared with was taken out"]
    );
    assert_eq!(order(&mut store, &games).await, [], "there is nothing to compare with");
    let experiments = readers.experiments(None, 9).await.unwrap().experiments;
    let findings = readers.findings(&experiments).await.unwrap();
    assert!(findings.deviating.is_empty(), "a discarded result needs no attention: {findings:?}");
    let experiment = store.submitted.experiment;
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_removal(experiment, Removing::Everything, 0).await.unwrap();
    while transaction.remove_some().await.unwrap() == Removed::Some {}
    transaction.commit().await.unwrap();
    assert_eq!(store.integer("SELECT count(*) FROM verifications").await, 0);
    assert_eq!(store.integer("SELECT count(*) FROM cells").await, 0);
}
