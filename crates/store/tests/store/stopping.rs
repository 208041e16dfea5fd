//! Where cells end: which games count by it, and what the rollups lose and win (invariants 7 and 8).

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert_eq};
use spelrum_answers::Detail;
use spelrum_model::{GameId, Plan, Record};
use spelrum_scheduling::scheduler::{CellProgress, Changes};
use spelrum_scheduling::stopping::Prefix;
use spelrum_statistics::{OpeningTally, StopRule};
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Difference, Removed, Removing};

use crate::fixture::{
    Store, add_cell, add_cell_of, alpha_beta, game, genetic, introduction, of_worker, plan, sweep,
};

/// What happens to the store.
#[derive(Clone, Debug)]
enum Step {
    /// Games (cell, number, variety) arrive from one of two workers.
    Games { games: Vec<(usize, u64, u64)>, second_worker: bool },
    /// A game finally fails.
    Failed { cell: usize, number: u64 },
    /// A cell ends elsewhere.
    Stop { cell: usize, pairs: Option<u64> },
    /// Moves are dropped, so many steps of it.
    Prune { steps: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let games = vec((0..4usize, 0..16u64, 0..6u64), 0..14);
    let stop = proptest::option::weighted(0.7, 1..8u64);
    vec(
        proptest::prop_oneof![
            6 => (games, any::<bool>())
                .prop_map(|(games, second_worker)| Step::Games { games, second_worker }),
            1 => (0..4usize, 0..16u64).prop_map(|(cell, number)| Step::Failed { cell, number }),
            5 => (0..4usize, stop).prop_map(|(cell, pairs)| Step::Stop { cell, pairs }),
            1 => (0..6usize).prop_map(|steps| Step::Prune { steps }),
        ],
        1..16,
    )
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    /// Stored, stopped, un-stopped, failed, with moves and without: what counts is what lies below the
    /// end, and the rollups are its.
    #[test]
    fn rollups_lose_and_win_games(
        steps in steps(),
        record in proptest::prop_oneof![Just(Record::Moves), Just(Record::Full), Just(Record::Games)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(steps, record))?;
    }
}

async fn run(steps: Vec<Step>, record: Record) -> Result<(), proptest::test_runner::TestCaseError> {
    let mut plan = plan("random");
    plan.settings.record = record;
    // One cell of self-play among them, and one of fixed sides.
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 3, 20);
    add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(3), genetic(3)], 4, 19);
    plan.conditions[0].openings_count = Some(3);
    let mut store = Store::with(&plan).await;
    let mut transaction = store.writer.begin().await.unwrap();
    let second = transaction.introduce(&introduction("worker-2")).await.unwrap();
    transaction.commit().await.unwrap();
    let cells: Vec<_> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
    let mut settled: BTreeMap<(i64, u64), bool> = BTreeMap::new();
    let mut stops: BTreeMap<i64, u64> = BTreeMap::new();
    for step in steps {
        let mut transaction = store.writer.begin().await.unwrap();
        match step {
            Step::Games { games, second_worker } => {
                let worker = if second_worker { second } else { store.worker };
                let game =
                    |&(at, number, variety): &(usize, u64, u64)| game(cells[at], number, variety);
                let played: Vec<_> = games.iter().map(game).collect();
                transaction.store_games(&of_worker(worker, &played)).await.unwrap();
                for (at, number, _) in games {
                    settled.entry((cells[at].0, number)).or_insert(true);
                }
            }
            Step::Failed { cell, number } => {
                let failed = GameId { cell: cells[cell], number };
                transaction.settle_failed(&[(failed, "failed".to_owned())]).await.unwrap();
                settled.entry((failed.cell.0, number)).or_insert(false);
            }
            Step::Stop { cell, pairs } => {
                let stop_number = pairs.map(|pairs| 2 * pairs);
                let progress = CellProgress {
                    cell: cells[cell],
                    next_number: 16,
                    returned: Vec::new(),
                    decided_number: 0,
                    stop_number,
                };
                let changes = Changes { cells: vec![progress], ..Changes::default() };
                transaction.apply(&changes).await.unwrap();
                stops.remove(&cells[cell].0);
                stops.extend(stop_number.map(|stop| (cells[cell].0, stop)));
            }
            Step::Prune { steps } => {
                let experiment = store.submitted.experiment;
                transaction.begin_removal(experiment, Removing::Moves, 9).await.unwrap();
                for _ in 0..steps {
                    transaction.remove_some().await.unwrap();
                }
            }
        }
        transaction.commit().await.unwrap();
    }
    let stored = store
        .texts(
            "SELECT printf('%d %d %s', cell_id, number, coalesce(not_counted_reason, counted))
            FROM games ORDER BY cell_id, number",
        )
        .await;
    let expected: Vec<String> = settled
        .iter()
        .map(|((cell, number), played)| {
            let is_beyond = stops.get(cell).is_some_and(|stop| number >= stop);
            let why = match (played, is_beyond) {
                (false, _) => "failed",
                (true, true) => "beyond_stop",
                (true, false) => "1",
            };
            format!("{cell} {number} {why}")
        })
        .collect();
    prop_assert_eq!(stored, expected);
    prop_assert_eq!(differences(&store).await, Vec::new());
    Ok(())
}

/// All that a recount finds, but where cells end: no rule says that here.
async fn differences(store: &Store) -> Vec<Difference> {
    let mut found = store.writer.readers().recount().await.unwrap();
    found.retain(|difference| difference.table != "cells");
    found
}

async fn stop(store: &mut Store, decided_number: u64, stop_number: Option<u64>) {
    let cell = store.cell(0);
    let progress =
        CellProgress { cell, next_number: 20, returned: Vec::new(), decided_number, stop_number };
    let mut transaction = store.writer.begin().await.unwrap();
    let changes = Changes { cells: vec![progress], ..Changes::default() };
    transaction.apply(&changes).await.unwrap();
    transaction.commit().await.unwrap();
}

/// One search of an hour beside many of microseconds: taken from their sum of squares, it would leave
/// nothing but rounding.
#[tokio::test]
async fn a_sum_that_lost_its_digits_is_summed_up_again() {
    for record in [Record::Moves, Record::Games] {
        let mut plan = plan("digits");
        plan.settings.record = record;
        let mut store = Store::with(&plan).await;
        let mut games: Vec<_> = (0..20).map(|number| game(store.cell(0), number, 1)).collect();
        games[19].record.moves[0].wall_us = 3_600_000_000;
        store.store(&games).await;
        stop(&mut store, 0, Some(18)).await;
        assert_eq!(differences(&store).await, []);
        stop(&mut store, 0, None).await;
        assert_eq!(differences(&store).await, []);
    }
}

/// A recount reads the rules: what they do not say is found.
#[tokio::test]
async fn a_recount_finds_cells_that_end_where_no_rule_says_so() {
    let mut plan = Plan { stop: StopRule::from_precision(0.2), ..plan("small") };
    plan.cells[0].games = 60;
    let mut store = Store::with(&plan).await;
    let games: Vec<_> = (0..60).map(|number| game(store.cell(0), number, 1)).collect();
    store.store(&games).await;
    stop(&mut store, 50, Some(50)).await;
    store.assert_recount().await;
    assert_eq!(store.integer("SELECT count(*) FROM games WHERE counted = 1").await, 50);
    assert_eq!(store.integer("SELECT stopped_after FROM results WHERE cell_number = 0").await, 50);
    let progress = "SELECT games_planned - games_settled FROM experiment_progress";
    assert_eq!(store.integer(progress).await, 20, "the other cell's");
    for (decided_number, stop_number) in [(50, None), (56, Some(56)), (48, None)] {
        stop(&mut store, decided_number, stop_number).await;
        let found = store.writer.readers().recount().await.unwrap();
        assert!(found.iter().any(|difference| difference.table == "cells"), "{found:?}");
    }
}

/// A precision is over openings where they come again: what is found after a restart is what a recount reads
/// from the first game.
#[tokio::test]
async fn a_precision_is_read_over_openings() {
    let with = |precision| {
        let mut plan = Plan { stop: StopRule::from_precision(precision), ..plan("small") };
        plan.cells[0].games = 60;
        plan.conditions[0].openings_count = Some(5);
        plan
    };
    // 25 pairs: over pairs all of them are even, and half the width would be 0.12.
    let mut store = Store::with(&with(0.2)).await;
    let games: Vec<_> = (0..55).map(|number| game(store.cell(0), number, 1)).collect();
    store.store(&games).await;
    stop(&mut store, 54, None).await;
    store.assert_recount().await;
    let snapshot = store.writer.snapshot().await.unwrap();
    let reading = *snapshot.experiments[0].cells[0].reading.clone().unwrap();
    assert_eq!((reading.decided_number, reading.beyond.len()), (54, 1));
    let mut openings = OpeningTally::new(Some(5)).unwrap();
    (0..27).for_each(|pair| openings.add(pair, 1, 2));
    assert_eq!(reading.openings, Some(openings));
    let interval = reading.tally.interval_over(reading.openings.as_ref());
    assert!(interval.high - interval.low > 2.0 * 0.2, "{interval:?}");
    let shown = store.texts("SELECT score_low FROM results WHERE cell_number = 0").await;
    assert_eq!(shown, [interval.low.to_string()]);
    stop(&mut store, 50, Some(50)).await;
    let found = store.writer.readers().recount().await.unwrap();
    assert!(found.iter().any(|difference| difference.table == "cells"), "{found:?}");
}

/// Of players that repeat themselves a restart finds the hashes of the first games, and those beyond a stop that told
/// it; a recount reads the same.
#[tokio::test]
async fn a_round_is_found_again() {
    let mut plan = plan("small");
    plan.cells[0].games = 60;
    plan.cells[0].repeats = true;
    plan.conditions[0].openings_count = Some(5);
    let mut store = Store::with(&plan).await;
    let looked = 10 + 2 * 8;
    let played: Vec<_> =
        (0..looked).map(|number| game(store.cell(0), number, number % 10)).collect();
    store.store(&played[..25]).await;
    stop(&mut store, 10, None).await;
    store.assert_recount().await;
    let read = async |store: &mut Store| {
        let snapshot = store.writer.snapshot().await.unwrap();
        snapshot.experiments[0].cells[0].reading.clone().unwrap()
    };
    let reading = read(&mut store).await;
    assert_eq!((reading.rule, reading.decided_number, reading.beyond.len()), (None, 10, 15));
    let prefix = Prefix::from(*reading);
    assert_eq!((prefix.stop_number(), prefix.end(60)), (None, looked));

    store.store(&played[25..]).await;
    let found = store.writer.readers().recount().await.unwrap();
    assert!(found.iter().any(|difference| difference.table == "cells"), "{found:?}");
    stop(&mut store, 10, Some(10)).await;
    store.assert_recount().await;
    let prefix = Prefix::from(*read(&mut store).await);
    assert_eq!((prefix.stop_number(), prefix.decided_number()), (Some(10), 10));
    let report = store.writer.readers().report("small", Detail::Cells).await.unwrap().unwrap();
    let is_one_round = [0, 1].map(|cell| report.cells[cell].is_one_round);
    assert_eq!((is_one_round, report.cells[0].games), ([true, false], 10));
}

/// What the scheduler is told of cells after a restart and of a rule that has changed.
#[tokio::test]
async fn a_changed_rule_is_read_from_the_first_game() {
    let with = |precision| {
        let mut plan = Plan { stop: StopRule::from_precision(precision), ..plan("small") };
        plan.cells[0].games = 60;
        plan
    };
    let mut store = Store::with(&with(0.2)).await;
    let games: Vec<_> = (0..55).map(|number| game(store.cell(0), number, 1)).collect();
    store.store(&games).await;
    stop(&mut store, 50, Some(50)).await;
    let snapshot = store.writer.snapshot().await.unwrap();
    let reading = snapshot.experiments[0].cells[0].reading.clone().unwrap();
    assert_eq!((reading.decided_number, reading.beyond.len()), (50, 0));
    assert_eq!(reading.tally.interval().score, 0.5);

    let other = with(0.01);
    let mut transaction = store.writer.begin().await.unwrap();
    let submitted = transaction.submit(sweep("uuid-2", "other", &other)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(submitted.change.unwrap().settings_changed, ["stop"]);
    let state = &submitted.cells[0];
    let reading = state.reading.clone().unwrap();
    assert_eq!((state.decided_number, state.stop_number), (0, Some(50)));
    assert_eq!((reading.decided_number, reading.beyond.len()), (0, 55));

    // The scheduler reads on: 27 pairs, and one half.
    stop(&mut store, 54, None).await;
    store.assert_recount().await;
    let snapshot = store.writer.snapshot().await.unwrap();
    let reading = snapshot.experiments[0].cells[0].reading.clone().unwrap();
    assert_eq!((reading.decided_number, reading.beyond.len()), (54, 1));

    let none = with(0.0);
    let mut transaction = store.writer.begin().await.unwrap();
    let submitted = transaction.submit(sweep("uuid-3", "none", &none)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(submitted.cells[0].reading, None);
}

/// Dropping moves in the middle of a cell leaves every game with its searches.
#[tokio::test]
async fn pruned_games_can_be_taken_away() {
    let mut store = Store::new().await;
    let games: Vec<_> = (0..20).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    let mut transaction = store.writer.begin().await.unwrap();
    let experiment = store.submitted.experiment;
    transaction.begin_removal(experiment, Removing::Moves, 20).await.unwrap();
    while transaction.remove_some().await.unwrap() == Removed::Some {}
    transaction.commit().await.unwrap();
    assert_eq!(store.integer("SELECT count(*) FROM moves").await, 0);
    assert!(store.integer("SELECT count(*) FROM game_depths").await > 0);
    stop(&mut store, 0, Some(4)).await;
    assert_eq!(differences(&store).await, []);
}

/// When a worker began to play does not depend on where cells end; what it has had counted does.
#[tokio::test]
async fn a_worker_none_of_whose_games_counts_has_played_all_the_same() {
    let mut store = Store::new().await;
    let first: Vec<_> = (0..4).map(|number| game(store.cell(0), number, 1)).collect();
    store.store(&first).await;
    let mut transaction = store.writer.begin().await.unwrap();
    store.worker = transaction.introduce(&introduction("worker-2")).await.unwrap();
    transaction.commit().await.unwrap();
    let played = "SELECT printf('%s %d %s %d', worker, games, coalesce(game_wall_us_mean, 'NULL'),
            last_started_unix_us - first_started_unix_us)
        FROM worker_productivity ORDER BY worker_id";
    stop(&mut store, 0, Some(2)).await;
    let beyond: Vec<_> = (4..7).map(|number| game(store.cell(0), number, 1)).collect();
    store.store(&beyond).await;
    let of_both = ["name of worker-1 2 5001.0 3", "name of worker-2 0 NULL 2"];
    assert_eq!(store.texts(played).await, of_both);
    assert_eq!(differences(&store).await, []);
    stop(&mut store, 0, None).await;
    let of_both = ["name of worker-1 4 5001.0 3", "name of worker-2 3 5001.0 2"];
    assert_eq!(store.texts(played).await, of_both);
    stop(&mut store, 0, Some(2)).await;
    let of_both = ["name of worker-1 2 5001.0 3", "name of worker-2 0 NULL 2"];
    assert_eq!(store.texts(played).await, of_both);
    assert_eq!(differences(&store).await, []);
}
