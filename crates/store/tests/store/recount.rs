//! Invariant 8: the rollups equal a recount, whatever arrives in whatever order.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Strategy as _, any, prop_assert_eq};
use spelrum_answers::Detail;
use spelrum_model::GameId;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

use crate::fixture::{
    Store, add_cell, add_cell_of, alpha_beta, game, genetic, introduction, of_worker, plan,
};
use spelrum_store::contract::WriteTransaction as _;

/// What happens to the store.
#[derive(Clone, Debug)]
enum Step {
    /// Games (cell, number, variety) arrive in one transaction from one of two workers.
    Games { games: Vec<(usize, u64, u64)>, second_worker: bool },
    /// The same, but the coordinator dies before the commit.
    Lost { games: Vec<(usize, u64, u64)> },
    /// A game finally fails.
    Failed { cell: usize, number: u64 },
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    let games = || vec((0..4usize, 0..12u64, 0..6u64), 0..10);
    vec(
        proptest::prop_oneof![
            6 => (games(), any::<bool>())
                .prop_map(|(games, second_worker)| Step::Games { games, second_worker }),
            1 => games().prop_map(|games| Step::Lost { games }),
            1 => (0..4usize, 0..12u64).prop_map(|(cell, number)| Step::Failed { cell, number }),
        ],
        1..12,
    )
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

    #[test]
    fn rollups_equal_a_recount(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(steps))?;
    }
}

async fn run(steps: Vec<Step>) -> Result<(), proptest::test_runner::TestCaseError> {
    let mut plan = plan("random");
    // Openings that come again, and one alone.
    plan.conditions[0].openings_count = Some(3);
    // One cell of self-play among them, and one of fixed sides.
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 3, 20);
    add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(3), genetic(3)], 4, 19);
    plan.conditions[1].openings_count = Some(4);
    let mut store = Store::with(&plan).await;
    let mut transaction = store.writer.begin().await.unwrap();
    let second = transaction.introduce(&introduction("worker-2")).await.unwrap();
    transaction.commit().await.unwrap();
    // The slow and obvious twin: what settles first stays.
    let mut settled: BTreeMap<(i64, u64), Option<u64>> = BTreeMap::new();
    for step in steps {
        let mut transaction = store.writer.begin().await.unwrap();
        let cells: Vec<_> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
        let played = |games: &[(usize, u64, u64)]| -> Vec<_> {
            games.iter().map(|&(at, number, variety)| game(cells[at], number, variety)).collect()
        };
        match step {
            Step::Games { games, second_worker } => {
                let worker = if second_worker { second } else { store.worker };
                transaction.store_games(&of_worker(worker, &played(&games))).await.unwrap();
                transaction.commit().await.unwrap();
                for (at, number, variety) in games {
                    settled.entry((cells[at].0, number)).or_insert(Some(variety));
                }
            }
            Step::Lost { games } => {
                transaction.store_games(&of_worker(store.worker, &played(&games))).await.unwrap();
            }
            Step::Failed { cell, number } => {
                let failed = GameId { cell: cells[cell], number };
                transaction.settle_failed(&[(failed, "failed".to_owned())]).await.unwrap();
                transaction.commit().await.unwrap();
                settled.entry((failed.cell.0, number)).or_insert(None);
            }
        }
    }
    let stored = store
        .texts(
            "SELECT printf('%d %d %s', cell_id, number, coalesce(moves_hash - (1 << 52), failure))
            FROM games ORDER BY cell_id, number",
        )
        .await;
    let expected: Vec<String> = settled
        .iter()
        .map(|((cell, number), variety)| match variety {
            Some(variety) => format!("{cell} {number} {variety}"),
            None => format!("{cell} {number} failed"),
        })
        .collect();
    prop_assert_eq!(stored, expected);
    store.assert_recount().await;
    Ok(())
}

/// The recount finds what it should: every rollup, spoilt in every way.
#[tokio::test]
async fn a_recount_finds_every_difference() {
    let mut plan = plan("spoilt");
    plan.conditions[0].openings_count = Some(3);
    add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(3), genetic(3)], 4, 19);
    let mut store = Store::with(&plan).await;
    for cell in [0, 2] {
        let games: Vec<_> = (0..10).map(|number| game(store.cell(cell), number, number)).collect();
        store.store(&games).await;
    }
    store.assert_recount().await;
    let path = store.path();
    for (table, spoil) in [
        ("game_sides", "UPDATE game_sides SET nodes = nodes + 1 WHERE game_id = 3 AND side = 1"),
        ("game_sides", "UPDATE game_sides SET wall_us_squared = wall_us_squared * 1.001"),
        ("game_sides", "DELETE FROM game_sides WHERE game_id = 4"),
        ("cell_depths", "UPDATE cell_depths SET searched_moves = searched_moves - 1"),
        ("cell_depths", "UPDATE cell_depths SET evaluations = evaluations + 1"),
        ("cell_depths", "DELETE FROM cell_depths WHERE depth = 1"),
        ("cell_depths", "UPDATE cell_depths SET depth = 77 WHERE depth = 1"),
        ("cell_move_times", "UPDATE OR REPLACE cell_move_times SET time_bucket_id = 9"),
        ("cell_move_times", "UPDATE cell_move_times SET searched_moves = 1000"),
        ("cell_results", "UPDATE cell_results SET wins = wins + 1"),
        ("cell_results", "UPDATE cell_results SET pairs_0 = pairs_0 + 1"),
        ("cell_results", "UPDATE cell_results SET distinct_games = 1"),
        ("cell_results", "UPDATE cell_results SET score_low = 0.123"),
        ("cell_results", "UPDATE cell_results SET pairs_won_by_first_mover = 7"),
        ("cell_results", "UPDATE cell_results SET openings_effective = 3.0 WHERE cell_id = 1"),
        ("cell_results", "UPDATE cell_results SET margin_sum = margin_sum + 1"),
        ("cell_results", "UPDATE cell_results SET margin_squares = margin_squares + 1"),
        ("cell_results", "UPDATE cell_results SET margin_products = margin_products - 1"),
        ("cell_results", "UPDATE cell_results SET margin_low = NULL WHERE cell_id = 1"),
        ("cell_results", "UPDATE cell_results SET margin_high = 0.5 WHERE cell_id = 3"),
        ("cell_results", "UPDATE games SET margin = margin + 1 WHERE cell_id = 3"),
        ("cell_openings", "UPDATE cell_openings SET wins = wins + 1"),
        ("cell_openings", "UPDATE cell_openings SET margin_sum = margin_sum + 1"),
        ("cell_openings", "UPDATE cell_openings SET first_player_wall_us_mean_sum = 1.0"),
        ("cell_openings", "UPDATE cell_openings SET second_player_wall_us_mean_log_sum = 1.0"),
        ("cell_openings", "DELETE FROM cell_openings WHERE opening_number = 2"),
        ("cell_openings", "UPDATE conditions SET openings_count = 1"),
        // As if the cell of fixed sides had pairs, and the other one had none.
        ("cell_results", "UPDATE cell_results SET pairs_1 = 5 WHERE cell_id = 3"),
        ("cell_results", "UPDATE cells SET swap_sides = 1 WHERE cell_id = 3"),
        ("cell_results", "UPDATE cells SET swap_sides = 0 WHERE cell_id = 1"),
        ("games", "UPDATE cells SET stop_number = 4 WHERE cell_id = 1"),
        ("cells", "UPDATE cells SET stop_number = 20 WHERE cell_id = 1"),
        ("cells", "UPDATE cells SET decided_number = 2 WHERE cell_id = 1"),
        ("cells", "UPDATE cells SET decided_number = -2 WHERE cell_id = 1"),
        ("cell_results", "UPDATE cell_results SET wins = -1"),
        ("cell_openings", "UPDATE cell_openings SET wins = -1"),
        ("game_depths", "DELETE FROM moves WHERE game_id = 3"),
        ("worker_results", "UPDATE worker_results SET plies = 0"),
        ("worker_results", "DELETE FROM worker_results"),
    ] {
        let mut spoiler = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
        let copy = store.directory.path().join("spoilt.db");
        let _ = std::fs::remove_file(&copy);
        let into = format!("VACUUM INTO '{}'", copy.display());
        spoiler.execute(AssertSqlSafe(into)).await.unwrap();
        let mut spoiler = SqliteConnectOptions::new().filename(&copy).connect().await.unwrap();
        spoiler.execute(spoil).await.unwrap();
        drop(spoiler);
        let readers = spelrum_store::Readers::open(&copy).await.unwrap();
        let found = readers.recount().await.unwrap();
        assert!(found.iter().any(|difference| difference.table == table), "{spoil}: {found:?}");
        let compared = readers.compare_digests().unwrap();
        assert_eq!(readers.recount_after(&compared).await.unwrap(), found, "{spoil}");
    }
}

/// A count below zero is an error wherever it is read, not another number.
#[tokio::test]
async fn a_count_below_zero_is_refused() {
    let mut store = Store::with(&plan("spoilt")).await;
    let games: Vec<_> = (0..4).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    let readers = store.writer.readers();
    assert!(readers.report("spoilt", Detail::Cells).await.is_ok());
    let mut shell =
        SqliteConnectOptions::new().filename(store.writer.path()).connect().await.unwrap();
    shell.execute("UPDATE cell_results SET wins = -1").await.unwrap();
    let error = readers.report("spoilt", Detail::Cells).await.unwrap_err();
    assert!(error.to_string().contains("out of range"), "{error}");
    assert!(error.remedy().contains("`spelrum check`"), "{}", error.remedy());
    assert!(!error.is_transient() && !error.is_damage(), "{error:?}");
    let found = readers.recount().await.unwrap();
    assert!(found[0].stored.as_ref().is_some_and(|stored| stored.contains("wins -1")), "{found:?}");
}

/// What is wrong with the file itself is told apart from sums that are wrong.
#[tokio::test]
async fn rows_that_refer_to_nothing_are_damage() {
    let mut store = Store::new().await;
    let games: Vec<_> = (0..4).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    let readers = store.writer.readers();
    assert_eq!(readers.damage().await.unwrap(), Vec::<String>::new());
    assert_eq!(readers.games_settled().await.unwrap(), 4);
    let mut shell = SqliteConnectOptions::new()
        .filename(store.writer.path())
        .foreign_keys(false)
        .connect()
        .await
        .unwrap();
    shell.execute("DELETE FROM openings").await.unwrap();
    let damage = readers.damage().await.unwrap();
    assert_eq!(damage.len(), 4, "{damage:?}");
    assert!(damage[0].starts_with("games: row 1 refers to what is not in openings"), "{damage:?}");
}
