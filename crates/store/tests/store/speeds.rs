//! How fast workers are, and limits that are scaled by it.

use crate::twin::InMemory;
use spelrum_answers::{Scaled, ScaledGames};
use spelrum_model::PlayedGame;
use spelrum_model::speed::{ScaledTime, Scaling, Speed};
use spelrum_store::contract::{self, WriteTransaction as _};
use spelrum_store::{Readers, Writer};

use crate::fixture::{Store, add_cell, alpha_beta, empty_plan, game, introduction, sweep, timed};

const SCALING: Scaling = Scaling { reference: 2_000_000, factor_max_permille: 4_000 };

/// The same with how its players' time limits were scaled.
fn scaled(game: PlayedGame, factor_permille: u32) -> PlayedGame {
    game.with_scaled(Some(ScaledTime { factor_permille, nodes_per_second: 1_600_000 }))
}

#[tokio::test]
async fn overruns_are_those_of_the_limit_that_a_game_had() {
    let mut plan = empty_plan("scaled");
    plan.settings.timing.scaling = Some(SCALING);
    add_cell(&mut plan, ["quick", "shallow"], [timed(150), alpha_beta(1)], 1, 4).timed = true;
    let mut store = Store::with(&plan).await;
    let cell = store.cell(0);
    store.store(&[scaled(game(cell, 0, 4), 1_250), game(cell, 2, 4)]).await;
    let limits = store
        .texts(
            "SELECT DISTINCT printf('%d %d %s %d %d', number, move_time_us, coalesce(time_factor, '-'), limit_us,
                overrun_us = wall_us - limit_us)
            FROM limited_moves ORDER BY number",
        )
        .await;
    assert_eq!(limits, ["0 150 1.25 188 1", "2 150 - 150 1"]);
    let kept = store
        .texts("SELECT printf('%s %s', coalesce(time_factor, '-'), coalesce(speed, '-')) FROM games ORDER BY number")
        .await;
    assert_eq!(kept, ["1.25 1600000", "- -"]);
    store.assert_recount().await;
}

/// The same in either store: what is leased of a cell, and what is kept of speeds; of the file also what a report says.
async fn limits_are_scaled_as_the_sweep_says<S: contract::Store>(
    store: &mut S,
    readers: Option<&Readers>,
) -> Vec<String> {
    let mut plan = empty_plan("scaled");
    plan.settings.timing.scaling = Some(SCALING);
    add_cell(&mut plan, ["quick", "shallow"], [timed(10_000), alpha_beta(1)], 1, 20).timed = true;
    // Timed, and nothing to scale.
    add_cell(&mut plan, ["deep", "shallow"], [alpha_beta(2), alpha_beta(1)], 2, 20).timed = true;
    let mut transaction = store.begin().await.unwrap();
    let submitted = transaction.submit(sweep("scaled", "scaled", &plan)).await.unwrap();
    let worker = transaction.introduce(&introduction("worker")).await.unwrap();
    let [limited, other] = [0, 1].map(|index| submitted.cells[index].cell);
    let leased = transaction.leased_cells(&[limited, other]).await.unwrap();
    let mut lines =
        vec![format!("{:?}", leased.iter().map(|leased| leased.scaling).collect::<Vec<_>>())];

    let speed = |game: &str, nodes_per_second, age_ms| {
        let (noise_permille, slots) = (12, 2);
        Speed { game: game.to_owned(), nodes_per_second, noise_permille, slots, age_ms }
    };
    for (speeds, what) in [
        (vec![speed("pentago", 1_500_000, 60_000), speed("chess", 700_000, 9_000)], "two"),
        (vec![speed("pentago", 1_500_000, 60_000)], "told again"),
        (vec![speed("pentago", 1_500_000, 10_000)], "told again by a slow network"),
        (vec![speed("pentago", 1_500_001, 60_100)], "too soon after the last"),
        (vec![speed("pentago", 1_600_000, 0)], "another"),
        (vec![speed("pentago", 1_500_000, 30_000)], "an older one"),
        (vec![speed("draughts", 1, 0)], "a game that nobody knows"),
    ] {
        transaction.store_speeds(worker, &speeds).await.unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    let games = [
        (worker, scaled(game(limited, 0, 4), 1_250)),
        (worker, scaled(game(limited, 1, 4), 4_000)),
        (worker, game(limited, 2, 4)),
        (worker, scaled(game(limited, 3, 4), 980)),
        (worker, game(other, 0, 4)),
    ];
    transaction.store_games(&games).await.unwrap();
    transaction.commit().await.unwrap();
    if let Some(readers) = readers {
        let report = readers.report("scaled", <_>::default()).await.unwrap().unwrap();
        let expected = ScaledGames {
            cell: limited,
            games: 3,
            games_at_bound: 1,
            factor_permille_min: 980,
            factor_permille_max: 4_000,
        };
        assert_eq!(report.scaled, Scaled { scaling: Some(SCALING), cells: vec![expected] });
        assert!(
            report.moves.iter().all(|cost| cost.costs.overruns.is_none()),
            "each has its own limit"
        );
    }

    // What a changed sweep says is for the next lease.
    plan.settings.timing.scaling = None;
    let mut transaction = store.begin().await.unwrap();
    let submitted = transaction.submit(sweep("not", "not", &plan)).await.unwrap();
    lines.push(format!("{:?}", submitted.change.unwrap().settings_changed));
    let leased = transaction.leased_cells(&[limited]).await.unwrap();
    lines.push(format!("{:?}", leased[0].scaling));
    transaction.commit().await.unwrap();
    if let Some(readers) = readers {
        let report = readers.report("scaled", <_>::default()).await.unwrap().unwrap();
        let [games] = &report.scaled.cells[..] else { panic!("{:?}", report.scaled) };
        assert_eq!((games.cell, games.games, games.games_at_bound), (limited, 3, 0));
        assert_eq!(report.scaled.scaling, None);
    }
    lines
}

#[tokio::test]
async fn both_stores_scale_alike() {
    let mut store = Store::new().await;
    let readers = store.writer.readers();
    let in_file =
        limits_are_scaled_as_the_sweep_says::<Writer>(&mut store.writer, Some(&readers)).await;
    let mut in_memory = InMemory::new();
    assert_eq!(in_file, limits_are_scaled_as_the_sweep_says(&mut in_memory, None).await);
    let speeds = store
        .texts(
            "SELECT printf('%s %d %.3f %d', game, nodes_per_second, noise, slots) FROM worker_speeds
            ORDER BY game, measured_unix_us",
        )
        .await;
    assert_eq!(
        speeds,
        ["chess 700000 0.012 2", "pentago 1500000 0.012 2", "pentago 1600000 0.012 2"]
    );
    insta::assert_snapshot!(in_file.join("\n"));
}
