//! What the machine took from players: kept with each move, and what follows of it.

use crate::twin::InMemory;
use spelrum_answers::DisturbedGames;
use spelrum_engine::Outcome;
use spelrum_model::{CellId, GameId, LeaseId, PlayedGame};
use spelrum_store::Writer;
use spelrum_store::contract::{self, WriteTransaction as _};

use crate::fixture::{
    Store, add_cell, alpha_beta, empty_plan, engine, fish, game, introduction, rows, sweep, text,
    timed, with_engines,
};

#[tokio::test]
async fn overruns_are_what_moves_took_beyond_their_limit() {
    let mut plan = empty_plan("limited");
    add_cell(&mut plan, ["quick", "shallow"], [timed(150), alpha_beta(1)], 1, 4);
    let mut store = Store::with(&plan).await;
    let games = [game(store.cell(0), 0, 4), game(store.cell(0), 1, 5)];
    store.store(&games).await;
    // Of each game the moves of the one that has a limit: first in game 0, second in game 1.
    let mut expected = Vec::new();
    for (number, played) in games.iter().enumerate() {
        for (ply, mv) in played.record.moves.iter().enumerate() {
            if usize::from(mv.mover) == number {
                let overrun = i128::from(mv.wall_us) - 150;
                let switches =
                    mv.involuntary_switches.map_or("-".to_owned(), |switches| switches.to_string());
                expected.push(format!("{number} {ply} quick 150 {overrun} {switches}"));
            }
        }
    }
    assert!(expected.iter().any(|row| row.contains(" -50 ")), "{expected:?}");
    let rows = store
        .texts(
            "SELECT printf('%d %d %s %d %d %s', number, ply, player, move_time_us, overrun_us,
                coalesce(involuntary_switches, '-'))
            FROM limited_moves ORDER BY number, ply",
        )
        .await;
    assert_eq!(rows, expected);
}

/// A game whose every move took 10 ms, of which its players thought so many microseconds: who moved first, and the
/// other.
fn thought(mut game: PlayedGame, cpu_us: [u64; 2]) -> PlayedGame {
    for mv in &mut game.record.moves {
        mv.wall_us = 10_000;
        mv.cpu_us = cpu_us[usize::from(mv.mover)];
    }
    game
}

/// What is kept of each game: its share, rounded, and the mark.
const MARKS: &str = "SELECT printf('%d %s %s', number, coalesce(round(robbed_share, 4), '-'),
    coalesce(disturbed, '-')) FROM games ORDER BY cell_id, number";

#[tokio::test]
async fn timed_games_are_marked_by_what_their_players_were_robbed_of() {
    let mut plan = empty_plan("disturbed");
    plan.settings.timing.disturbed_above = 0.25;
    add_cell(&mut plan, ["quick", "shallow"], [timed(10_000), alpha_beta(1)], 1, 20).timed = true;
    add_cell(&mut plan, ["deep", "shallow"], [alpha_beta(2), alpha_beta(1)], 2, 20);
    add_cell(&mut plan, ["quick", "fish"], [timed(10_000), fish(&[])], 3, 20).timed = true;
    add_cell(&mut plan, ["bird", "fish"], [engine("bird"), fish(&[])], 4, 20).timed = true;
    let mut store = Store::with(&plan).await;
    let [limited, untimed, with_fish, outside] = [0, 1, 2, 3].map(|index| store.cell(index));
    let theirs = |cell, number, engines| with_engines(game(cell, number, 4), engines, None);
    store
        .store(&[
            thought(game(limited, 0, 4), [10_000, 9_950]),
            thought(game(limited, 1, 4), [7_500, 9_000]),
            thought(game(limited, 2, 4), [9_000, 7_499]),
            thought(game(limited, 3, 4), [0, 12_000]),
            thought(game(untimed, 0, 4), [0, 0]),
            // What waits for an external engine uses no processor time.
            thought(theirs(with_fish, 0, [None, Some(1)]), [9_000, 3]),
            thought(theirs(with_fish, 1, [Some(1), None]), [3, 6_000]),
            thought(theirs(outside, 0, [Some(1), Some(1)]), [3, 3]),
        ])
        .await;
    let expected =
        ["0 0.0 0", "1 0.25 0", "2 0.2501 1", "3 1.0 1", "0 - -", "0 0.1 0", "1 0.4 1", "0 - -"];
    assert_eq!(store.texts(MARKS).await, expected);
    let readers = store.writer.readers();
    let report = readers.report("disturbed", <_>::default()).await.unwrap().unwrap();
    let disturbed = [(limited, 2), (with_fish, 1)].map(|(cell, games)| DisturbedGames {
        cell,
        games,
        replayed: 0,
        half_points_before: 0,
    });
    assert_eq!(report.disturbed, disturbed);
    store.assert_recount().await;

    // Another share is for the games that come after it.
    plan.settings.timing.disturbed_above = 0.0;
    let mut transaction = store.writer.begin().await.unwrap();
    let toml = "another";
    let submitted = transaction.submit(sweep("another", toml, &plan)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(submitted.change.unwrap().settings_changed, ["timing"]);
    store.store(&[thought(game(limited, 4, 4), [9_000, 9_000])]).await;
    let marks = store.texts(MARKS).await;
    assert_eq!(marks[..5], ["0 0.0 0", "1 0.25 0", "2 0.2501 1", "3 1.0 1", "4 0.1 1"]);
}

/// A disturbed result of a cell whose disturbed games are played again, twice at most.
fn disturbed(cell: CellId, number: u64, outcome: Outcome) -> PlayedGame {
    let mut game = thought(game(cell, number, 4), [1_000, 10_000]);
    game.record.outcome = outcome;
    game.started_unix_us += number.cast_signed();
    game
}

/// The same in either store: what is kept, and what is looked up of it.
async fn results_are_kept_while_their_games_are_played_again<S: contract::Store>(
    store: &mut S,
) -> Vec<String> {
    let mut plan = empty_plan("again");
    plan.settings.timing.replays_max = 2;
    add_cell(&mut plan, ["quick", "shallow"], [timed(10_000), alpha_beta(1)], 1, 20).timed = true;
    add_cell(&mut plan, ["deep", "shallow"], [alpha_beta(2), alpha_beta(1)], 2, 20);
    let mut lines = Vec::new();
    let mut transaction = store.begin().await.unwrap();
    let submitted = transaction.submit(sweep("again", "again", &plan)).await.unwrap();
    let worker = transaction.introduce(&introduction("worker")).await.unwrap();
    let [cell, untimed] = [0, 1].map(|index| submitted.cells[index].cell);
    transaction.commit().await.unwrap();
    let kept = [
        (LeaseId(1), disturbed(cell, 0, Outcome::Win)),
        (LeaseId(1), disturbed(cell, 1, Outcome::Win)),
        // The reply was lost.
        (LeaseId(1), disturbed(cell, 0, Outcome::Win)),
        (LeaseId(2), disturbed(cell, 0, Outcome::Draw)),
    ];
    for (lease, game) in kept {
        let mut transaction = store.begin().await.unwrap();
        transaction.store_disturbed(&[(worker, lease, game)]).await.unwrap();
        transaction.commit().await.unwrap();
    }
    let mut transaction = store.begin().await.unwrap();
    let asked = |lease, cell, number| (worker, LeaseId(lease), GameId { cell, number });
    let asked = [
        asked(1, cell, 0),
        asked(2, cell, 0),
        asked(3, cell, 0),
        asked(2, cell, 1),
        asked(1, untimed, 0),
    ];
    for facts in transaction.facts(&asked).await.unwrap() {
        let replays_max = facts.timed.map(|timed| timed.timing.replays_max);
        lines.push(format!("{} {} {replays_max:?}", facts.disturbed, facts.is_kept));
    }
    // The last result counts: undisturbed, or with its mark.
    let calm = thought(game(cell, 0, 4), [10_000; 2]);
    let last = [(worker, calm), (worker, disturbed(cell, 1, Outcome::Loss))];
    transaction.store_games(&last).await.unwrap();
    transaction.commit().await.unwrap();
    lines
}

#[tokio::test]
async fn both_stores_keep_results_while_their_games_are_played_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut sqlite = Writer::open(&directory.path().join("again.db")).await.unwrap();
    let readers = sqlite.readers();
    let ours = results_are_kept_while_their_games_are_played_again(&mut sqlite).await;
    let mut memory = InMemory::new();
    let theirs = results_are_kept_while_their_games_are_played_again(&mut memory).await;
    assert_eq!(ours, theirs);
    assert_eq!(
        ours,
        ["2 true Some(2)", "2 true Some(2)", "2 false Some(2)", "1 false Some(2)", "0 false None"]
    );
    let report = readers.report("again", <_>::default()).await.unwrap().unwrap();
    insta::assert_snapshot!(format!("{:?} {:?}", report.disturbed, report.cells[0].games));
    let kept = memory.uncounted().into_iter().map(|(game, reason)| (game.number, reason));
    let expected = [(0, "disturbed"), (1, "disturbed"), (0, "disturbed")];
    assert_eq!(kept.collect::<Vec<_>>(), expected);
    let sql = "SELECT number || ' ' || reason || ' ' || lease_id FROM uncounted_games
        ORDER BY uncounted_game_id";
    let rows = rows(&readers, sql).await;
    let rows: Vec<String> = rows.iter().map(|row| text(&row[0])).collect();
    assert_eq!(rows, ["0 disturbed 1", "1 disturbed 1", "0 disturbed 2"]);
    sqlite.close().await.unwrap();
}

/// The database itself takes no share that is none.
#[tokio::test]
async fn shares_are_bounded() {
    let mut plan = empty_plan("bounds");
    add_cell(&mut plan, ["a", "b"], [alpha_beta(1), alpha_beta(2)], 1, 2);
    plan.settings.timing.disturbed_above = 1.5;
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    assert!(transaction.submit(sweep("bounds", "bounds", &plan)).await.is_err());
}
