//! What the machine took from players: kept with each move, and what follows of it.

use crate::fixture::{Store, add_cell, alpha_beta, empty_plan, game, timed};

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
                let switches = mv.involuntary_switches.map_or("-".to_owned(), |it| it.to_string());
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
