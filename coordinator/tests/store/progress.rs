//! What `watch` and `run` ask again and again: the work left, and the cells that are settled.

use spelrum_coordinator::store::{SqlValue, questions};
use spelrum_tournament::CellId;
use spelrum_tournament::forecast::{Backlog, CellWork, GameSpread};

use crate::fixture::{Store, add_cell, alpha_beta, empty_plan, game, genetic, rows, text};

/// The answer's one row, by column.
async fn progress(store: &Store) -> impl Fn(&str) -> f64 {
    let question = questions::PROGRESS.of(store.submitted.experiment);
    let table = store.writer.readers().query(&question, 10).await.unwrap();
    assert_eq!(table.rows.len(), 1);
    move |column| {
        let index = table.columns.iter().position(|name| name == column).unwrap();
        // All are numbers.
        text(&table.rows[0][index]).parse().unwrap()
    }
}

/// The same from every cell's and every game's row.
async fn recounted(store: &Store) -> (Backlog, GameSpread) {
    let mut backlog = Backlog::default();
    let mut spread = GameSpread::default();
    let cells = "SELECT cell_id, games_planned FROM cells ORDER BY cell_id";
    for row in store.rows(cells).await {
        let [SqlValue::Integer(cell), SqlValue::Integer(planned)] = row[..] else { panic!() };
        let games = format!("SELECT wall_us FROM games WHERE counted = 1 AND cell_id = {cell}");
        let times: Vec<f64> =
            store.texts(&games).await.iter().map(|wall_us| wall_us.parse().unwrap()).collect();
        let (games, wall_us) = (times.len() as u64, times.iter().sum::<f64>());
        let games_left = u64::try_from(planned).unwrap() - games;
        backlog.add(CellWork { games_left, games, wall_us });
        for time in times {
            spread.add(time, games, wall_us / games as f64);
        }
    }
    (backlog, spread)
}

fn assert_near(name: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{name}: {found}, not {expected}");
}

async fn assert_as_recounted(store: &Store) {
    let found = progress(store).await;
    let (backlog, spread) = recounted(store).await;
    assert_near("games_left", found("games_left"), backlog.games_left as f64);
    assert_near("unseen", found("unseen_games_left"), backlog.unseen_games_left as f64);
    assert_near("seen_us", found("seen_us"), backlog.seen_us);
    assert_near("seen_squares", found("seen_squares"), backlog.seen_squares);
    assert_near("longest_us", found("longest_us"), backlog.longest_us);
    assert_near("seen_cells", found("seen_cells"), backlog.seen_cells as f64);
    assert_near("means_us", found("means_us"), backlog.means_us);
    assert_near("mean_squares", found("mean_squares"), backlog.mean_squares);
    assert_near("spread_squares", found("spread_squares"), spread.squares);
    assert_near("spread_weight", found("spread_weight"), spread.weight);
}

#[tokio::test]
async fn the_work_left_is_the_sum_over_the_cells() {
    let mut store = Store::new().await;
    assert_as_recounted(&store).await;
    let steps: [&[(usize, u64)]; 4] =
        [&[(0, 0)], &[(0, 1), (0, 2), (0, 5)], &[(1, 3)], &[(1, 0), (1, 1), (0, 3), (0, 4)]];
    for games in steps {
        let games: Vec<_> = games
            .iter()
            .map(|&(cell, number)| {
                let mut game = game(store.cell(cell), number, number);
                game.record.wall_us = 1_000 * (number + 1) * (1 + 50 * cell as u64);
                game
            })
            .collect();
        store.store(&games).await;
        assert_as_recounted(&store).await;
    }
    let all: Vec<_> = (6..20).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&all).await;
    assert_as_recounted(&store).await;
    let found = progress(&store).await;
    assert_eq!((found("cells"), found("cells_settled")), (2.0, 1.0));
    assert_eq!((found("games_planned"), found("games_settled")), (40.0, 23.0));
    assert_eq!((found("games_failed"), found("slots"), found("last_game_id")), (0.0, 0.0, 23.0));
}

async fn settled_since(store: &Store, last_game_id: i64) -> Vec<(CellId, i64)> {
    let question = questions::settled_since(store.submitted.experiment, last_game_id);
    let pair = |row: &Vec<SqlValue>| match row[..2] {
        [SqlValue::Integer(last_game_id), SqlValue::Integer(cell)] => (CellId(cell), last_game_id),
        ref other => panic!("{other:?}"),
    };
    rows(&store.writer.readers(), &question).await.iter().map(pair).collect()
}

#[tokio::test]
async fn a_cell_is_told_with_its_last_game() {
    let mut store = Store::new().await;
    let [first, second] = [store.cell(0), store.cell(1)];
    let games: Vec<_> = (0..19).map(|number| game(first, number, number)).collect();
    store.store(&games).await;
    assert_eq!(settled_since(&store, 0).await, []);
    store.store(&[game(second, 0, 0), game(first, 19, 19), game(second, 1, 1)]).await;
    assert_eq!(settled_since(&store, 0).await, [(first, 21)]);
    assert_eq!(settled_since(&store, 20).await, [(first, 21)]);
    assert_eq!(settled_since(&store, 21).await, []);
    let games: Vec<_> = (2..20).map(|number| game(second, number, number)).collect();
    store.store(&games).await;
    assert_eq!(settled_since(&store, 21).await, [(second, 40)]);
    assert_eq!(settled_since(&store, 0).await, [(first, 21), (second, 40)]);
    let other = questions::settled_since(spelrum_tournament::ExperimentId(99), 0);
    assert!(store.rows(&other).await.is_empty());
    let told = questions::settled_since(store.submitted.experiment, 21);
    let told: Vec<_> = store.rows(&told).await[0][2..].iter().map(text).collect();
    assert_eq!(told[..4], ["depth=2", "ab", "gm", "7"], "{told:?}");
}

/// More cells than one answer holds are told in several, each once.
#[tokio::test]
async fn many_cells_are_told_in_parts() {
    let cells = questions::SETTLED_CELLS_MAX + 10;
    let mut plan = empty_plan("many");
    for depth in 1..=i64::try_from(cells).unwrap() {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 1);
    }
    let mut store = Store::with(&plan).await;
    let games: Vec<_> = (0..cells).map(|index| game(store.cell(index), 0, 1)).collect();
    store.store(&games).await;
    let mut told = Vec::new();
    let mut last_game_id = 0;
    loop {
        let part = settled_since(&store, last_game_id).await;
        let Some((_, last)) = part.last() else { break };
        last_game_id = *last;
        told.extend(part.into_iter().map(|(cell, _)| cell));
    }
    let all: Vec<_> = (0..cells).map(|index| store.cell(index)).collect();
    assert_eq!(told, all);
}
