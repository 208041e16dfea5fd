//! Taking results out: what is left is what there would be if they had never come (invariants 7 and 8).

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Just, any, prop_assert_eq};
use proptest::test_runner::TestCaseError;
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, GameId, Plan, PlayedGame, Record, WorkerId};
use spelrum_statistics::StopRule;
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Removing, TakenOut, WorkerIntroduction};

use crate::fixture::{
    Store, add_cell, add_cell_of, alpha_beta, game, genetic, introduction, of_worker, plan, rounded,
};

/// Some cells: of pairs, of self-play, of fixed sides, with openings that come again.
fn cells(record: Record) -> Plan {
    let mut plan = plan("random");
    plan.settings.record = record;
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 3, 20);
    add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(3), genetic(3)], 4, 19);
    plan.conditions[0].openings_count = Some(3);
    plan
}

async fn second(store: &mut Store) -> WorkerId {
    let mut transaction = store.writer.begin().await.unwrap();
    let second = transaction.introduce(&introduction("worker-2")).await.unwrap();
    transaction.commit().await.unwrap();
    second
}

async fn store_of(store: &mut Store, worker: WorkerId, games: &[PlayedGame]) {
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.store_games(&of_worker(worker, games)).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Takes everything out, a step at a time. One in so many transactions dies before its commit.
async fn exclude(
    store: &mut Store,
    worker: WorkerId,
    since: Option<i64>,
    dies_one_in: usize,
) -> Vec<TakenOut> {
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_exclusion(worker, None, since).await.unwrap();
    transaction.commit().await.unwrap();
    let mut all = Vec::new();
    for step in 1.. {
        let mut transaction = store.writer.begin().await.unwrap();
        let Some(taken) = transaction.exclude_some().await.unwrap() else { break };
        if step % dies_one_in != 0 {
            transaction.commit().await.unwrap();
            all.extend(taken);
            // In the middle of it, too.
            if step % 7 == 1 {
                store.assert_recount().await;
            }
        }
        assert!(step < 10_000, "it ends");
    }
    assert!(!store.writer.is_excluding().await.unwrap());
    store.assert_recount().await;
    all
}

/// All sums that there are, and which games they are of.
async fn sums(store: &Store) -> Vec<String> {
    let mut sums = Vec::new();
    for sql in [
        "SELECT json_array(cell_id, number, moves_hash, counted, worker_id) FROM games
            ORDER BY cell_id, number",
        "SELECT json_array(cell_id, games, games_failed, wins, draws, losses, wins_moving_first,
                pairs_0, pairs_half, pairs_1, pairs_1_half, pairs_2, distinct_games, plies, wall_us,
                score, score_low, score_high, openings_effective, margin_sum, margin_products)
            FROM cell_results ORDER BY cell_id",
        "SELECT json_array(cell_id, opening_number, games, wins, draws, losses, pairs,
                first_player_wall_us_mean_sum, margin_sum)
            FROM cell_openings ORDER BY cell_id, opening_number",
        "SELECT json_array(cell_id, player_id, depth, searched_moves, wall_us, nodes)
            FROM cell_depths ORDER BY cell_id, player_id, depth",
        "SELECT json_array(cell_id, player_id, depth, time_bucket_id, searched_moves)
            FROM cell_move_times ORDER BY cell_id, player_id, depth, time_bucket_id",
        "SELECT json_array(worker_id, games, plies, wall_us, first_started_unix_us,
                last_started_unix_us)
            FROM worker_results ORDER BY worker_id",
    ] {
        sums.extend(store.texts(sql).await.iter().map(|text| rounded(text)));
    }
    sums
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(8))]

    /// Two stores: one in which a worker's results were taken out, and one that never had them.
    #[test]
    fn it_is_as_if_they_had_never_come(
        games in vec((0..4usize, 0..24u64, 0..6u64, any::<bool>()), 0..40),
        failed in vec((0..4usize, 0..24u64), 0..3),
        record in proptest::prop_oneof![Just(Record::Moves), Just(Record::Full), Just(Record::Games)],
        since in proptest::option::weighted(0.3, 0..24i64),
        dies_one_in in 2..6usize,
        prunes in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(games, failed, record, since, dies_one_in, prunes))?;
    }
}

async fn run(
    games: Vec<(usize, u64, u64, bool)>,
    failed: Vec<(usize, u64)>,
    record: Record,
    since: Option<i64>,
    dies_one_in: usize,
    prunes: bool,
) -> Result<(), TestCaseError> {
    let mut store = Store::with(&cells(record)).await;
    let mut twin = Store::with(&cells(record)).await;
    let bad = second(&mut store).await;
    prop_assert_eq!(second(&mut twin).await, bad);
    // Games begin at a time by their numbers.
    let since = since.map(|number| 1_700_000_000_000_000 + number);
    let mut settled: BTreeMap<GameId, bool> = BTreeMap::new();
    let mut out = Vec::new();
    for (at, number) in failed {
        let failed = GameId { cell: store.cell(at), number };
        for store in [&mut store, &mut twin] {
            let mut transaction = store.writer.begin().await.unwrap();
            transaction.settle_failed(&[(failed, "failed".to_owned())]).await.unwrap();
            transaction.commit().await.unwrap();
        }
        settled.insert(failed, false);
    }
    for (at, number, variety, is_bad) in games {
        let played = game(store.cell(at), number, variety);
        if settled.contains_key(&played.game) {
            continue;
        }
        let goes = is_bad && since.is_none_or(|since| played.started_unix_us >= since);
        settled.insert(played.game, goes);
        let worker = if is_bad { bad } else { store.worker };
        store_of(&mut store, worker, std::slice::from_ref(&played)).await;
        if goes {
            out.push(played);
        } else {
            store_of(&mut twin, worker, &[played]).await;
        }
    }
    if prunes {
        for store in [&mut store, &mut twin] {
            let experiment = store.submitted.experiment;
            let mut transaction = store.writer.begin().await.unwrap();
            transaction.begin_removal(experiment, Removing::Moves, 9).await.unwrap();
            for _ in 0..3 {
                transaction.remove_some().await.unwrap();
            }
            transaction.commit().await.unwrap();
        }
    }
    let taken = exclude(&mut store, bad, since, dies_one_in).await;
    let mut taken: Vec<GameId> = taken.into_iter().flat_map(|taken| taken.games).collect();
    taken.sort_unstable();
    let mut expected: Vec<GameId> = out.iter().map(|game| game.game).collect();
    expected.sort_unstable();
    prop_assert_eq!(&taken, &expected);
    prop_assert_eq!(sums(&store).await, sums(&twin).await);
    // Each is kept whole, and its game is to be played again.
    let kept = store
        .texts(
            "SELECT printf('%d %d %s', cell_id, number, reason) FROM uncounted_games
            ORDER BY cell_id, number",
        )
        .await;
    let as_kept = |game: &GameId| format!("{} {} excluded", game.cell, game.number);
    prop_assert_eq!(kept, expected.iter().map(as_kept).collect::<Vec<_>>());
    let returned =
        store.texts("SELECT printf('%d %d', cell_id, first_number) FROM returned_ranges").await;
    let mut as_returned: Vec<String> =
        expected.iter().map(|game| format!("{} {}", game.cell, game.number)).collect();
    as_returned.sort();
    let mut returned = returned;
    returned.sort();
    prop_assert_eq!(returned, as_returned);
    let moves = store.integer("SELECT count(*) FROM uncounted_moves").await;
    let plies: usize = out.iter().map(|game| game.record.moves.len()).sum();
    if record != Record::Games && !prunes {
        prop_assert_eq!(moves, i64::try_from(plies).unwrap());
    }
    Ok(())
}

/// A rule reads what is left from the first unit: a cell that had ended goes on, and what lay beyond its end
/// counts again.
#[tokio::test]
async fn a_stop_rule_reads_what_is_left() {
    let plan = Plan { stop: StopRule::from_precision(0.2), ..plan("stopped") };
    let mut store = Store::with(&plan).await;
    let bad = second(&mut store).await;
    let cell = store.cell(0);
    let draws = |numbers: std::ops::Range<u64>| {
        numbers.map(|number| game(cell, number, 1)).collect::<Vec<_>>()
    };
    let mut transaction = store.writer.begin().await.unwrap();
    let third = transaction.introduce(&introduction("worker-3")).await.unwrap();
    transaction.commit().await.unwrap();
    let good = store.worker;
    store_of(&mut store, good, &draws(0..20)).await;
    store_of(&mut store, third, &draws(20..22)).await;
    store_of(&mut store, good, &draws(22..90)).await;
    // What is taken out of a cell lets the store read its rule: nobody else does here.
    store_of(&mut store, bad, &draws(90..91)).await;
    let taken = exclude(&mut store, bad, None, 100).await;
    let [TakenOut { games, reading, state, .. }] = &taken[..] else { panic!("{taken:?}") };
    assert_eq!(games, &[GameId { cell, number: 90 }]);
    assert_eq!(*state, ExperimentState::Running);
    assert_eq!(reading.as_ref().unwrap().beyond.len(), 90);
    let ends = "SELECT json_array(decided_number, stop_number) FROM cells WHERE cell_id = 1";
    assert_eq!(store.texts(ends).await, ["[50,50]"]);
    let counted = "SELECT count(*) FROM games WHERE counted = 1";
    assert_eq!(store.integer(counted).await, 50);

    let taken = exclude(&mut store, third, None, 3).await;
    assert_eq!(taken.iter().map(|taken| taken.games.len()).sum::<usize>(), 2);
    assert_eq!(store.texts(ends).await, ["[20,null]"]);
    assert_eq!(store.integer(counted).await, 88, "what lay beyond the end counts");
}

/// What differed from a result that is taken out, and what of a worker that is excluded differed, alarms nobody.
#[tokio::test]
async fn conflicts_of_an_excluded_worker_are_settled() {
    let mut store = Store::new().await;
    let bad = second(&mut store).await;
    let (good, cell) = (store.worker, store.cell(0));
    store_of(&mut store, bad, &[game(cell, 0, 1)]).await;
    store_of(&mut store, good, &[game(cell, 0, 2), game(cell, 1, 1)]).await;
    store_of(&mut store, bad, &[game(cell, 1, 2)]).await;
    let reasons = "SELECT printf('%d %d %s', worker_id, number, reason) FROM uncounted_games
        ORDER BY uncounted_game_id";
    assert_eq!(store.texts(reasons).await, ["1 0 conflict", "2 1 conflict"]);
    exclude(&mut store, bad, None, 100).await;
    assert_eq!(store.texts(reasons).await, ["1 0 repeat", "2 1 excluded", "2 0 excluded"]);
    // What it reports from now on is no conflict.
    store_of(&mut store, bad, &[game(cell, 1, 3)]).await;
    assert_eq!(store.texts(reasons).await.last().unwrap(), "2 1 excluded");
    store.assert_recount().await;
}

/// What a course has decided by stays, and so does a claim's having been made too late.
#[tokio::test]
async fn what_a_course_was_told_stays() {
    let mut store = Store::new().await;
    let bad = second(&mut store).await;
    let cell: CellId = store.cell(0);
    store_of(&mut store, bad, &[game(cell, 0, 1)]).await;
    let experiment = store.submitted.experiment;
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.open_course(experiment).await.unwrap();
    let excludable = transaction.excludable("2", None).await.unwrap();
    assert_eq!((excludable.games, excludable.kept.len()), (0, 1));
    assert!(excludable.kept[0].has_course && excludable.kept[0].games == 1);
    assert_eq!(transaction.excludable("nobody", None).await.unwrap().workers, []);
    assert_eq!(transaction.excludable("99", None).await.unwrap().workers, []);
    transaction.commit().await.unwrap();
    assert_eq!(exclude(&mut store, bad, None, 100).await, []);
    assert_eq!(store.integer("SELECT count(*) FROM games WHERE counted = 1").await, 1);
    store.assert_recount().await;
}

/// Not the oldest alone, without a word.
#[tokio::test]
async fn more_workers_than_can_be_named_are_not_meant() {
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    let mut last = WorkerId(0);
    for number in 0..=1_000 {
        let uuid = format!("start {number}");
        let machine = WorkerIntroduction { name: "machine".to_owned(), ..introduction(&uuid) };
        last = transaction.introduce(&machine).await.unwrap();
        if number >= 999 {
            let found = transaction.excludable("machine", None).await.unwrap();
            assert_eq!((found.workers.len(), found.more), (1_000, number == 1_000));
        }
    }
    let found = transaction.excludable(&last.to_string(), None).await.unwrap();
    assert!(!found.more && found.workers[0].worker == last, "{found:?}");
}
