//! Answers that have no end that is known beforehand: events, and games as lines.

use http_body_util::BodyExt as _;
use serde_json::Value;
use spelrum_answers::{Action, GameSummary, GetReport, WholeGame};
use spelrum_proto::Reason;
use spelrum_proto::api::AnswerBody;
use spelrum_test_support::{DEADLINE, HandWorker, Served, Site, quick_sweep, reason};
use tonic::Status;

async fn open(served: &Served, path: &str) -> Result<AnswerBody, Status> {
    let target = format!("/api/v1/experiments/{path}");
    Ok(served.api().await.send("GET", &target, None).await?.into_body())
}

async fn text(body: AnswerBody) -> Result<String, Status> {
    Ok(String::from_utf8(body.collect().await?.to_bytes().to_vec()).unwrap())
}

/// Each event's name and data.
fn events(text: &str) -> Vec<(String, Value)> {
    let event = |event: &str| {
        let part = |key: &str| event.lines().find_map(|line| line.strip_prefix(key));
        Some((part("event: ")?.to_owned(), serde_json::from_str(part("data: ")?).unwrap()))
    };
    text.split("\n\n").filter_map(event).collect()
}

#[tokio::test]
async fn events_lead_through_an_experiment_and_end_with_it() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = quick_sweep("followed", 6).replace("depth = 1", "depth = \"$depth\"")
        + "\n[axes]\ndepth = [1, 2]\n";
    served.submit(&sweep).await;
    let following = open(&served, "followed/events").await.unwrap();
    let mut worker = HandWorker::new(&served).await;
    let ((), followed) = tokio::join!(worker.work_until_done(), text(following));
    let followed = followed.unwrap();
    let seen = events(&followed);
    let (last, before) = seen.split_last().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("over", Some("finished")));
    let cells = before.iter().filter(|(name, _)| name == "cells");
    let cells: usize = cells.map(|(_, data)| data["cells"].as_array().unwrap().len()).sum();
    assert_eq!(cells, 2, "each cell once: {followed}");
    let (_, progress) = before.iter().rev().find(|(name, _)| name == "progress").unwrap();
    assert_eq!(progress["games_settled"], 12);

    // Who follows what is over hears of it at once, and who has the cells not of those.
    let again = text(open(&served, "followed/events").await.unwrap()).await.unwrap();
    let names: Vec<String> = events(&again).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["cells", "progress", "over"]);
    served.steer("followed", Action::Pause).await.unwrap_err();
    assert_eq!(reason(open(&served, "nobody/events").await), Reason::UnknownExperiment);
    assert_eq!(reason(open(&served, "followed/events?x=1").await), Reason::Malformed);
    served.stop().await.unwrap();
}

/// Nobody waits for those who follow.
#[tokio::test]
async fn a_coordinator_ends_while_it_is_followed() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("endless", 6)).await;
    let mut following = open(&served, "endless/events").await.unwrap();
    assert!(following.frame().await.unwrap().unwrap().is_data());
    let stopping = tokio::time::timeout(DEADLINE, served.stop());
    let (stopped, ()) =
        tokio::join!(stopping, async { while let Some(Ok(_)) = following.frame().await {} });
    stopped.unwrap().unwrap();
}

#[tokio::test]
async fn games_come_as_lines_each_once() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("lines", 2_100)).await;
    HandWorker::new(&served).await.work_until_done().await;
    for order in ["newest", "number", "settled"] {
        let path = format!("lines/games.jsonl?order={order}&filter=counted");
        let lines = text(open(&served, &path).await.unwrap()).await.unwrap();
        let games: Vec<GameSummary> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut ids: Vec<i64> = games.iter().map(|game| game.game_id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..=2_100).collect::<Vec<_>>(), "{order}");
    }
    let whole = text(open(&served, "lines/games.jsonl?moves=true").await.unwrap()).await.unwrap();
    let whole: Vec<WholeGame> =
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(whole.len(), 2_100);
    assert!(whole.iter().all(|whole| whole.game.moves.is_some()));
    assert!(whole.iter().all(|whole| whole.game.definition().is_ok()), "each by itself");
    let failed = text(open(&served, "lines/games.jsonl?filter=failed").await.unwrap()).await;
    assert_eq!(failed.unwrap(), "");
    for wrong in ["moves=1", "order=oldest", "limit=3", "after=x"] {
        let refused = open(&served, &format!("lines/games.jsonl?{wrong}")).await;
        assert_eq!(reason(refused), Reason::Malformed, "{wrong}");
    }
    let report = GetReport { experiment: "lines".to_owned(), detail: Default::default() };
    assert_eq!(served.call(&report).await.unwrap().cells[0].games, 2_100);
}
