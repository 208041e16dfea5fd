//! Single positions searched for people, over the API and as a game in the browser.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use spelrum_answers::ListCells;
use spelrum_engine::Rules;
use spelrum_test_support::{HandWorker, Served, Site, eventually, quick_sweep};

use crate::pages::{get, send_json};

/// The answer to an analysis: its status and its body.
async fn analyze(served: &Served, question: &Value) -> (u16, Value) {
    let answer = send_json(served.address, "/api/v1/analyses", &question.to_string()).await;
    (answer.status(), serde_json::from_str(&answer.body).unwrap())
}

async fn refused(served: &Served, question: &Value) -> String {
    let (status, body) = analyze(served, question).await;
    format!("{status} {}", body["detail"].as_str().unwrap())
}

#[tokio::test]
async fn a_position_is_read_and_searched() {
    let site = Site::new();
    let served = site.serve_with_play().await;
    let minimax = json!({ "algorithm": "minimax", "depth": 9 });
    let question = json!({
        "game": "tic-tac-toe", "moves": ["b2", "a1", "c3", "c1"], "player": minimax, "line_plies": 16,
    });
    let (status, answer) = analyze(&served, &question).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["position"], "o.o.x...x");
    assert_eq!(
        (&answer["to_move"], answer["legal_moves"].as_array().unwrap().len()),
        (&json!("first"), 5)
    );
    let analysis = &answer["analysis"];
    assert_eq!((&analysis["best_move"], &analysis["value"]), (&json!("b1"), &json!(0)), "{answer}");
    assert_eq!(analysis["line"].as_array().unwrap().len(), 5, "to the game's end: {analysis}");
    assert_eq!(answer["player"]["depth"], 9);

    // Without a player nothing is searched; after the end neither.
    let (_, read) = analyze(&served, &json!({ "game": "nim", "rules": { "heaps": [1, 2] } })).await;
    assert_eq!(read["legal_moves"], json!(["a1", "b1", "b2"]));
    assert_eq!((&read["analysis"], &read["player"]), (&Value::Null, &Value::Null));
    let over =
        json!({ "game": "nim", "rules": { "heaps": [1] }, "moves": ["a1"], "player": minimax });
    let (_, over) = analyze(&served, &over).await;
    assert_eq!(over["ending"]["winner"], "first", "{over}");
    assert_eq!((&over["legal_moves"], &over["analysis"]), (&json!([]), &Value::Null));

    // A search without an end of its own has one here, and so has a large table.
    let endless = json!({
        "game": "pentago", "time_ms": 50,
        "player": { "algorithm": "alpha-beta", "depth": 20, "preset": "full", "table_mib": 60_000 },
    });
    let (status, endless) = analyze(&served, &endless).await;
    assert_eq!((status, &endless["analysis"]["ended_by"]), (200, &json!("time")), "{endless}");
    assert!(endless["analysis"]["wall_us"].as_u64().unwrap() < 4_000_000, "{endless}");
    assert_eq!(endless["player"].get("table_mib"), None, "16, which is usual: {endless}");

    // A player of an experiment, with the parameters that it plays by.
    served.submit(&quick_sweep("stored", 2)).await;
    HandWorker::new(&served).await.work_until_done().await;
    let question =
        json!({ "game": "tic-tac-toe", "stored_player": { "experiment": "stored", "name": "x" } });
    assert_eq!(refused(&served, &question).await, "404 \"stored\" has no games of a player \"x\"");
    let experiment = served.summary("stored").await.uuid;
    let cells = ListCells { experiment, after: None, limit: None };
    let name = served.api().await.call(&cells).await.unwrap().cells.remove(0).player;
    let stored =
        json!({ "game": "tic-tac-toe", "stored_player": { "experiment": "stored", "name": name } });
    let (status, stored) = analyze(&served, &stored).await;
    assert_eq!(status, 200, "{stored}");
    assert!(
        stored["analysis"]["best_move"].is_string() && stored["player"]["algorithm"].is_string()
    );
}

#[tokio::test]
async fn what_cannot_be_searched_is_refused() {
    let site = Site::new();
    let served = site.serve_with_play().await;
    let random = json!({ "algorithm": "random" });
    let ttt = |more: Value| {
        let mut question = json!({ "game": "tic-tac-toe", "player": random });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        question
    };
    let mut said = BTreeMap::new();
    for (name, question) in [
        ("illegal move", ttt(json!({ "moves": ["b2", "b2"] }))),
        ("markup", ttt(json!({ "moves": ["<script>alert(1)</script>"] }))),
        ("after the end", ttt(json!({ "moves": ["a1", "a2", "b1", "b2", "c1", "c2"] }))),
        ("another game's position", ttt(json!({ "opening": "3,4,5/w" }))),
        ("another game's rule", ttt(json!({ "rules": { "heaps": [1] } }))),
        ("no game", json!({ "game": "go" })),
        ("no bound", ttt(json!({ "player": { "algorithm": "alpha-beta" } }))),
        (
            "external",
            json!({ "game": "chess", "player": { "algorithm": "uci", "engine": "stockfish", "move_time": "1s" } }),
        ),
        (
            "tables",
            json!({ "game": "chess", "opening": "8/8/8/8/8/4k3/8/R3K3 w - - 0 1", "player": { "algorithm": "table" } }),
        ),
        ("two players", ttt(json!({ "stored_player": { "experiment": "x", "name": "y" } }))),
        (
            "no experiment",
            json!({ "game": "nim", "stored_player": { "experiment": "x", "name": "y" } }),
        ),
        ("a million moves", ttt(json!({ "moves": vec!["a"; 1_000_000] }))),
        ("too many moves", ttt(json!({ "moves": vec!["b2"; 2_001] }))),
        ("a long line", ttt(json!({ "line_plies": 17 }))),
        ("a long move", ttt(json!({ "moves": ["a".repeat(40)] }))),
        ("a large player", ttt(json!({ "player": { "algorithm": "a".repeat(20_000) } }))),
        ("unknown field", ttt(json!({ "whole": true }))),
    ] {
        said.insert(name, refused(&served, &question).await);
    }
    let said: String = said.iter().map(|(name, words)| format!("{name}: {words}\n")).collect();
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn three_searches_at_once_are_too_many_and_off_means_off() {
    let site = Site::new();
    let served = site.serve_with_play().await;
    let long = json!({
        "game": "pentago", "time_ms": 1_500, "player": { "algorithm": "alpha-beta", "depth": 20 },
    });
    let answers = tokio::join!(
        analyze(&served, &long),
        analyze(&served, &long),
        analyze(&served, &long),
        analyze(&served, &long)
    );
    let mut statuses = [answers.0.0, answers.1.0, answers.2.0, answers.3.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 503, 503]);

    let quiet = Site::new();
    let off = quiet.serve().await;
    let refused = refused(&off, &json!({ "game": "nim" })).await;
    assert_eq!(refused, "409 this coordinator does not search positions for people");
    let page = get(&off, "/play", "").await;
    assert!(page.status() == 409 && page.body.contains("--play"), "{}", page.body);
    assert!(!get(&off, "/", "").await.body.contains("href=\"/play\""));
    assert!(get(&served, "/", "").await.body.contains("href=\"/play\""));
}

/// A caller that goes away ends its search: else each round would take the five seconds that a search may.
#[tokio::test]
async fn a_caller_that_goes_away_makes_room() {
    let site = Site::new();
    let served = site.serve_with_play().await;
    let long = json!({ "game": "pentago", "player": { "algorithm": "alpha-beta", "depth": 20 } });
    let short = json!({ "game": "nim", "player": { "algorithm": "minimax", "depth": 2 } });
    let begun = Instant::now();
    for _ in 0..6 {
        let asking = join_all([analyze(&served, &long), analyze(&served, &long)]);
        assert!(tokio::time::timeout(Duration::from_millis(200), asking).await.is_err());
        eventually("two places", async || {
            let asking = join_all([analyze(&served, &short), analyze(&served, &short)]);
            asking.await.iter().all(|(status, _)| *status == 200).then_some(())
        })
        .await;
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// From the list of games to the end of one, by the links of the pages alone.
#[tokio::test]
async fn a_game_is_played_by_links() {
    let site = Site::new();
    let served = site.serve_with_play().await;
    let games = get(&served, "/play", "").await.body;
    for game in Rules::games().iter().map(|game| game.name) {
        assert!(games.contains(&format!("href=\"/play?game={game}\"")), "{games}");
        let setup = get(&served, &format!("/play?game={game}"), "").await;
        assert!(setup.status() == 200 && setup.body.contains("value=\"random\""), "{}", setup.body);
        // The player moves first, and the address has its move.
        let begun = get(&served, &format!("/play?game={game}&player=random&side=second"), "").await;
        assert_eq!(begun.status(), 303, "{}", begun.body);
        let page = get(&served, begun.header("location").unwrap(), "").await;
        assert!(page.body.contains("Your move, "), "{game}: {}", page.body);
        for inline in ["<style", " style=", "<script>", " onclick=", "javascript:"] {
            assert!(!page.body.contains(inline), "{game}: {inline}");
        }
        assert!(page.body.len() < 60_000, "{game}: {}", page.body.len());
    }
    let mut address = "/play?game=nim&rule.heaps=%5B2%2C3%5D&player=minimax+depth%3D9".to_owned();
    let mut pages = 0;
    let last = loop {
        let page = get(&served, &address, "").await;
        if page.status() == 303 {
            address = page.header("location").unwrap().to_owned();
            continue;
        }
        assert_eq!(page.status(), 200, "{}", page.body);
        pages += 1;
        // The first place of the board, or the end.
        let Some((_, link)) = page.body.split_once("<a href=\"/play?") else { break page.body };
        if page.body.contains("You lose") || page.body.contains("You win") {
            break page.body;
        }
        address = format!("/play?{}", link.split('"').next().unwrap().replace("&amp;", "&"));
    };
    assert!(pages > 2 && last.contains("the last object is taken"), "{last}");

    // A move of chess takes two links, a promotion three.
    let chess =
        "/play?game=chess&opening=8%2F4P3%2F8%2F8%2F8%2F8%2Fk7%2F4K3+w+-+-+0+1&player=random";
    let from = get(&served, chess, "").await.body;
    assert!(
        from.contains("half=e7\" aria-label=\"e7\"") && from.contains("aria-label=\"e1\""),
        "{from}"
    );
    let to = get(&served, &format!("{chess}&half=e7"), "").await.body;
    assert!(to.contains("aria-label=\"e7 to e8\"") && !to.contains("aria-label=\"e1\""), "{to}");
    let becomes = get(&served, &format!("{chess}&half=e7e8"), "").await.body;
    assert!(becomes.contains("moves=e7e8q\">e7e8q</a>"), "{becomes}");
    let pentago = get(&served, "/play?game=pentago&player=random&half=a1", "").await.body;
    assert!(pentago.contains("aria-label=\"turn quadrant 4 counter-clockwise\""), "{pentago}");

    // What it thinks, and the exact value.
    let asked =
        get(&served, "/play?game=tic-tac-toe&player=minimax+depth%3D9&think=1&exact=1", "").await;
    assert!(
        asked.body.contains("What the player thinks") && asked.body.contains("draws"),
        "{}",
        asked.body
    );

    // Texts of strangers are shown, and not obeyed.
    for path in [
        "/play?game=%3Cscript%3E",
        "/play?game=nim&player=%3Cscript%3E",
        "/play?game=nim&player=random&moves=%3Cscript%3E",
        "/play?game=nim&player=random&half=%3Cscript%3E",
        "/play?game=nim&player=random&side=%3Cscript%3E",
        "/play?game=nim&player=random&rule.%3Cscript%3E=1",
        "/play?game=nim&opening=%22%3E%3Cscript%3E",
        "/play?game=nim&experiment=%3Cscript%3E&name=%3Cscript%3E",
    ] {
        let page = get(&served, path, "").await;
        assert!(matches!(page.status(), 200 | 400 | 404), "{path}: {}", page.head);
        assert!(!page.body.contains("<script>"), "{path}: {}", page.body);
    }
    // More moves than a game may have.
    let many = format!("/play?game=nim&player=random&moves={}", "a1+".repeat(4_000));
    assert_eq!(get(&served, &many, "").await.status(), 400);
}
