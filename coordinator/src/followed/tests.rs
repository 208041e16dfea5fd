use spelrum_engine::Timeless;
use spelrum_model::CellDefinition;

use super::*;

const WORKER: WorkerId = WorkerId(1);
const GAME: GameId = GameId { cell: CellId(3), number: 1 };

fn cell() -> Arc<PlayableCell> {
    let definition: CellDefinition = serde_json::from_value(serde_json::json!({
        "format": CellDefinition::FORMAT, "seed": 7, "rules": { "name": "tic-tac-toe" },
        "openings": { "kind": "start" }, "max_plies": null,
        "players": [{ "algorithm": "random" }, { "algorithm": "random" }],
    }))
    .unwrap();
    Arc::new(PlayableCell::new(definition).unwrap())
}

fn report(game: GameId, moves: &[&str]) -> Vec<v1::GameUnderWay> {
    let moves =
        moves.iter().map(|mv| v1::MoveSoFar { text: (*mv).to_owned(), depth: 2, score: Some(5) });
    vec![v1::GameUnderWay { cell_id: game.cell.0, number: game.number, moves: moves.collect() }]
}

/// Moves as a person sees them, after a report.
async fn seen(followed: &Followed, worker: WorkerId, moves: &[&str]) -> Option<Vec<String>> {
    let now = Instant::now();
    followed.heartbeat(worker, report(GAME, moves), now).await;
    let played = followed.follow(GAME, WORKER, &cell(), now).unwrap();
    played.map(|played| played.moves.iter().map(|mv| mv.mv.clone()).collect())
}

#[tokio::test]
async fn only_legal_moves_of_the_worker_that_plays_are_taken() {
    let followed = Followed::default();
    assert_eq!(seen(&followed, WORKER, &["b2"]).await, None, "it was not followed");
    assert_eq!(seen(&followed, WORKER, &["b2"]).await.unwrap(), ["b2"]);
    assert_eq!(seen(&followed, WorkerId(2), &["b2", "a1"]).await.unwrap(), ["b2"]);
    let long = "b".repeat(1 << 20);
    let many = vec!["b2"; FOLLOWED_MOVES_MAX + 1];
    let over = ["a1", "b1", "a2", "b2", "a3", "b3"];
    for wrong in [&["b2", "b2"][..], &["z9"], &["<b>"], &[long.as_str()], &many, &over] {
        assert_eq!(seen(&followed, WORKER, wrong).await.unwrap(), ["b2"]);
    }
    assert_eq!(seen(&followed, WORKER, &["b2", "c3"]).await.unwrap(), ["b2", "c3"]);
    // From what is known on, or played again.
    for moves in [&["b2", "c3", "a1"][..], &["a1", "b2"], &["a1"]] {
        assert_eq!(seen(&followed, WORKER, moves).await.unwrap(), moves);
        let played = followed.follow(GAME, WORKER, &cell(), Instant::now()).unwrap().unwrap();
        let anew = legal_moves(&cell(), GAME.number, None, report(GAME, moves).remove(0).moves);
        assert_eq!(played.position.position(), anew.unwrap().position.position());
    }
    // The game was lost with its worker, and begins again.
    let moves = followed.follow(GAME, WorkerId(2), &cell(), Instant::now());
    assert!(moves.unwrap().is_none());
    assert_eq!(seen(&followed, WorkerId(3), &["b2"]).await, None);
}

#[tokio::test]
async fn one_report_of_a_worker_is_checked_at_a_time() {
    let followed = Followed::default();
    assert_eq!(seen(&followed, WORKER, &[]).await, None);
    assert!(followed.lock().checking.insert(WORKER));
    let checking = Checking { followed: followed.clone(), worker: WORKER };
    assert_eq!(seen(&followed, WORKER, &["b2"]).await, None);
    drop(checking);
    for moves in [&["b2"][..], &["b2", "b2"], &["b2", "c3"]] {
        seen(&followed, WORKER, moves).await;
        assert!(followed.lock().checking.is_empty(), "{moves:?}");
    }
    assert_eq!(seen(&followed, WORKER, &["b2", "c3"]).await.unwrap(), ["b2", "c3"]);
}

#[tokio::test]
async fn a_game_is_followed_while_it_is_asked_for() {
    let (followed, start, cell) = (Followed::default(), Instant::now(), cell());
    let after = |seconds: f64| start + Duration::from_secs_f64(seconds);
    followed.follow(GAME, WORKER, &cell, start).unwrap();
    let named =
        async |worker, seconds| followed.heartbeat(worker, Vec::new(), after(seconds)).await;
    let names = [v1::GameId { cell_id: 3, number: 1 }];
    assert_eq!(named(WORKER, 9.9).await, names);
    assert_eq!(named(WorkerId(2), 9.9).await, [], "another worker");
    followed.follow(GAME, WORKER, &cell, after(9.9)).unwrap();
    assert_eq!(named(WORKER, 19.8).await, names);
    assert_eq!(named(WORKER, 20.0).await, [], "its time is over");

    // At most so many at once.
    let game = |number| GameId { number, ..GAME };
    let follow = |number, seconds| followed.follow(game(number), WORKER, &cell, after(seconds));
    for number in 0..FOLLOWED_MAX as u64 {
        follow(number, 30.0).unwrap();
    }
    assert!(follow(99, 31.0).is_err());
    follow(0, 31.0).unwrap();
    follow(99, 40.5).unwrap();
}

/// A whole game, as players play it.
#[test]
fn the_moves_of_a_game_are_legal() {
    let cell = cell();
    let (_, record) = cell.play(5, None, &Timeless).unwrap();
    let mut texts: Vec<_> = record.moves.iter().map(|record| record.mv.as_str()).collect();
    let legal = |texts: &[&str]| legal_moves(&cell, 5, None, report(GAME, texts).remove(0).moves);
    assert!(legal(&texts).unwrap().position.ending().is_some());
    texts.push("a1");
    assert!(legal(&texts).is_none());
}
