//! Games under way that people follow.

use serde_json::{Value, json};
use spelrum_proto::v1;
use spelrum_test_support::{HandWorker, Served, Site, quick_sweep};

use crate::pages::get;

/// A heartbeat of a worker that plays a game and has made these moves; the followed games that the answer names.
pub(crate) async fn heartbeat(
    worker: &mut HandWorker,
    lease: i64,
    game: v1::GameId,
    moves: &[&str],
) -> Vec<v1::GameId> {
    let moves = moves.iter().map(|text| v1::MoveSoFar {
        text: (*text).to_owned(),
        depth: 3,
        score: Some(-7),
    });
    let v1::GameId { cell_id, number } = game;
    let request = v1::HeartbeatRequest {
        worker_id: worker.id,
        coordinator_epoch: worker.epoch,
        lease_ids: vec![lease],
        playing: vec![game],
        worker_secret: worker.secret.clone(),
        followed: vec![v1::GameUnderWay { cell_id, number, moves: moves.collect() }],
    };
    worker.client.heartbeat(request).await.unwrap().into_inner().followed
}

async fn ask(served: &Served, path: &str) -> (u16, Value) {
    let answer = get(served, &format!("/api/v1/{path}"), "").await;
    (answer.status(), serde_json::from_str(&answer.body).unwrap())
}

#[tokio::test]
async fn a_game_under_way_is_followed_to_its_end() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("watched", 2)).await;
    let (mut worker, mut other) = (HandWorker::new(&served).await, HandWorker::new(&served).await);
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    let Some(v1::result::What::Game(played)) = &results[0].what else { panic!("{results:?}") };
    let moves: Vec<&str> = played.moves.iter().map(|record| record.r#move.as_str()).collect();
    let game = v1::GameId { cell_id: played.cell_id, number: played.number };
    let place = format!("cells/{}/games/{}", game.cell_id, game.number);
    let api = format!("{place}/under-way");

    // What is leased and not begun is not under way, and nothing else is.
    let (status, list) = ask(&served, "experiments/watched/games-under-way").await;
    assert_eq!((status, &list["games"]), (200, &json!([])), "{list}");
    for path in [&*api, "cells/999/games/0/under-way"] {
        assert_eq!(ask(&served, path).await.0, 404, "{path}");
    }
    for path in ["cells/x/games/0/under-way", "cells/1/games/-1/under-way"] {
        assert_eq!(ask(&served, path).await.0, 400, "{path}");
    }
    let missing = format!("/cells/{}/games/1", game.cell_id);
    assert_eq!(get(&served, &missing, "").await.status(), 404);
    assert_eq!(heartbeat(&mut worker, grant.lease_id, game, &moves[..1]).await, []);

    // It is listed, also on pages, and the worker is asked for its moves once a person has asked.
    let (_, list) = ask(&served, "experiments/watched/games-under-way").await;
    let listed = &list["games"][0];
    assert_eq!((&listed["game"]["cell"], &list["games_total"]), (&json!(game.cell_id), &json!(1)));
    assert_eq!(listed["worker"], worker.id);
    let of_cell = format!("/experiments/watched/games?cell={}", game.cell_id);
    for page in ["/experiments/watched", "/experiments/watched/games", &of_cell] {
        let page = get(&served, page, "").await.body;
        assert!(page.contains(&format!("href=\"/{place}\"")), "{page}");
    }
    let (status, followed) = ask(&served, &api).await;
    assert_eq!((status, &followed["moves"]), (200, &Value::Null), "{followed}");
    assert_eq!(followed["game"], *listed);
    assert_eq!(
        (&followed["experiment"], &followed["rules"]),
        (&json!("watched"), &json!("tic-tac-toe"))
    );
    assert_eq!(heartbeat(&mut worker, grant.lease_id, game, &[]).await, [game]);
    assert_eq!(heartbeat(&mut other, grant.lease_id, game, &moves[..3]).await, []);
    let (_, followed) = ask(&served, &api).await;
    assert_eq!(followed["moves"], json!([]), "and nothing of a worker that does not play it");

    heartbeat(&mut worker, grant.lease_id, game, &moves[..2]).await;
    let (_, followed) = ask(&served, &api).await;
    let mv = |text| json!({ "mv": text, "depth": 3, "score": -7 });
    assert_eq!(followed["moves"], json!([mv(moves[0]), mv(moves[1])]));
    let many = vec![moves[0]; 1_001];
    for wrong in [&["<script>"][..], &[moves[0], moves[0]], &many] {
        assert_eq!(heartbeat(&mut worker, grant.lease_id, game, wrong).await, [game]);
        assert_eq!(ask(&served, &api).await.1, followed, "{}", wrong.len());
    }
    let page = get(&served, &format!("/{place}"), "").await;
    assert_eq!(page.status(), 200, "{}", page.body);
    for part in ["data-follows", "<svg", &format!("2. {}", moves[1]), "is thinking"] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }

    // At its end its page leads to the ordinary one.
    worker.report(results.clone()).await.unwrap();
    served.wait_for_state("watched", "finished").await;
    assert_eq!(ask(&served, &api).await.0, 404);
    // A page is made at most once a second.
    let begun = std::time::Instant::now();
    let ended = loop {
        let page = get(&served, &format!("/{place}"), "").await;
        if page.status() == 303 {
            break page;
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{}", page.body);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let settled = get(&served, ended.header("location").unwrap(), "").await;
    assert!(settled.body.contains("id=\"game\""), "{}", settled.body);
}
