//! What `watch` and `run` ask again and again: the work left, and the cells that are settled.

use spelrum_answers::{Progress, SettledCells, places_text};
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, ExperimentId};
use spelrum_statistics::StopRule;
use spelrum_statistics::forecast::{Backlog, CellWork, GameSpread};
use spelrum_store::SqlValue;

use crate::fixture::{Store, add_cell, alpha_beta, empty_plan, game, genetic};

async fn progress(store: &Store) -> Progress {
    let progress = store.writer.readers().progress(store.submitted.experiment).await.unwrap();
    progress.expect("the experiment is there")
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
    assert_eq!(found.backlog.games_left, backlog.games_left);
    assert_eq!(found.backlog.unseen_games_left, backlog.unseen_games_left);
    assert_eq!(found.backlog.seen_cells, backlog.seen_cells);
    assert_near("seen_us", found.backlog.seen_us, backlog.seen_us);
    assert_near("seen_squares", found.backlog.seen_squares, backlog.seen_squares);
    assert_near("longest_us", found.backlog.longest_us, backlog.longest_us);
    assert_near("means_us", found.backlog.means_us, backlog.means_us);
    assert_near("mean_squares", found.backlog.mean_squares, backlog.mean_squares);
    assert_near("spread squares", found.spread.squares, spread.squares);
    assert_near("spread weight", found.spread.weight, spread.weight);
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
    assert_eq!((found.cells, found.cells_settled), (2, 1));
    assert_eq!((found.games_planned, found.games_settled), (40, 23));
    assert_eq!((found.games_failed, found.slots, found.last_game_id), (0, 0, 23));
    assert_eq!(found.state, ExperimentState::Running);
    assert_eq!(store.writer.readers().progress(ExperimentId(99)).await.unwrap(), None);
}

/// Where a rule ends cells, the work left is that of the games expected, and not of the most.
#[tokio::test]
async fn a_stop_rule_leaves_fewer_games_than_the_most() {
    let mut plan = empty_plan("stopping");
    for depth in 1..=2 {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 4_000);
    }
    plan.stop = StopRule::from_precision(0.1);
    let mut store = Store::with(&plan).await;
    let before = progress(&store).await;
    // Nothing is known yet.
    let expected = before.games_expected.unwrap();
    assert_eq!((expected.games, expected.low, expected.high), (8_000, 8_000, 8_000));
    let games: Vec<_> = (0..20).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    let found = progress(&store).await;
    let expected = found.games_expected.unwrap();
    assert!(expected.low <= expected.games && expected.games <= expected.high, "{expected:?}");
    assert!(expected.games < 1_000, "{expected:?}");
    assert_eq!(found.backlog.games_left, expected.games);
    assert!(found.backlog.unseen_games_left < 500, "{:?}", found.backlog);
    assert_eq!(progress(&Store::new().await).await.games_expected, None);
}

const PAGE: u32 = 1_000;

async fn settled_cells(store: &Store, after_game_id: i64) -> SettledCells {
    let readers = store.writer.readers();
    readers.settled_cells(store.submitted.experiment, after_game_id, PAGE).await.unwrap()
}

/// The cells that are told after this game, and the last game of the last of them.
async fn settled_since(store: &Store, after_game_id: i64) -> (Vec<CellId>, i64) {
    let settled = settled_cells(store, after_game_id).await;
    (settled.cells.iter().map(|cell| cell.cell).collect(), settled.last_game_id)
}

#[tokio::test]
async fn a_cell_is_told_with_its_last_game() {
    let mut store = Store::new().await;
    let [first, second] = [store.cell(0), store.cell(1)];
    let games: Vec<_> = (0..19).map(|number| game(first, number, number)).collect();
    store.store(&games).await;
    assert_eq!(settled_since(&store, 0).await, (vec![], 0));
    store.store(&[game(second, 0, 0), game(first, 19, 19), game(second, 1, 1)]).await;
    assert_eq!(settled_since(&store, 0).await, (vec![first], 21));
    assert_eq!(settled_since(&store, 20).await, (vec![first], 21));
    assert_eq!(settled_since(&store, 21).await, (vec![], 21));
    let games: Vec<_> = (2..20).map(|number| game(second, number, number)).collect();
    store.store(&games).await;
    assert_eq!(settled_since(&store, 21).await, (vec![second], 40));
    assert_eq!(settled_since(&store, 0).await, (vec![first, second], 40));
    let readers = store.writer.readers();
    let other = readers.settled_cells(ExperimentId(99), 0, PAGE).await.unwrap();
    assert_eq!((other.cells.len(), other.last_game_id), (0, 0));
    let settled = settled_cells(&store, 21).await;
    let cell = &settled.cells[0];
    assert_eq!(places_text(&settled.axes, &cell.axes).as_deref(), Some("depth=2"));
    assert_eq!((&*cell.player, &*cell.opponent, cell.wins), ("ab", "gm", 7));
}

/// More cells than one answer holds are told in several, each once.
#[tokio::test]
async fn many_cells_are_told_in_parts() {
    let cells = PAGE as usize + 10;
    let mut plan = empty_plan("many");
    for depth in 1..=i64::try_from(cells).unwrap() {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 1);
    }
    let mut store = Store::with(&plan).await;
    let games: Vec<_> = (0..cells).map(|index| game(store.cell(index), 0, 1)).collect();
    store.store(&games).await;
    let mut seen = Vec::new();
    let mut last_game_id = 0;
    loop {
        let (part, last) = settled_since(&store, last_game_id).await;
        if part.is_empty() {
            assert_eq!(last, last_game_id, "there is nothing to go on from");
            break;
        }
        assert!(part.len() <= PAGE as usize);
        last_game_id = last;
        seen.extend(part);
    }
    let all: Vec<_> = (0..cells).map(|index| store.cell(index)).collect();
    assert_eq!(seen, all);
}
