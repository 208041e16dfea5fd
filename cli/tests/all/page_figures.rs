//! Figures on a coordinator's pages: those of the command line.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::sandbox::{Sandbox, Service, tic_tac_toe, wait_until};

fn page(coordinator: &Service, path: &str) -> String {
    let mut stream = TcpStream::connect(coordinator.address()).unwrap();
    let host = coordinator.address();
    let request = format!(
        "GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.lines().next().unwrap().contains(" 200 "), "{path}: {answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The words of an element, without its markup.
fn words(html: &str) -> String {
    let parts = html.split('<').enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.split_once('>').map_or("", |(_, text)| text),
    });
    parts.collect()
}

/// The cells of the first table behind these words, without what groups digits.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, behind) = page.split_once(heading).unwrap_or_else(|| panic!("{heading}: {page}"));
    let body = behind.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let cells = |row: &str| -> Vec<String> {
        row.split("<td").skip(1).map(|cell| words(&format!("<td{cell}")).replace(',', "")).collect()
    };
    body.split("<tr>").skip(1).map(cells).collect()
}

/// The values of these keys, as a page shows them.
fn values(object: &Value, keys: &[&str]) -> Vec<String> {
    let text = |key: &&str| match object[*key].as_str() {
        Some(text) => text.to_owned(),
        None => object[*key].to_string(),
    };
    keys.iter().map(text).collect()
}

#[test]
fn every_figure_on_a_page_is_that_of_the_command_line() {
    let sandbox = Sandbox::new();
    for (name, games) in [("first", 600), ("second", 4)] {
        sandbox.write("sweep.toml", &tic_tac_toe(name, games));
        sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    }
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let at = ["--coordinator", &*coordinator.url];
    let _worker = sandbox.worker(&coordinator.url, "2", &[]);
    let json = |words: &[&str]| -> Value {
        let ran = sandbox.run(&[words, &at[..], &["--json"]].concat());
        serde_json::from_str(ran.expect_exit(0).stdout()).unwrap()
    };
    wait_until("the worker is there", || json(&["status"])["workers_total"] == 1);

    // The overview: what `list` and `status` say.
    let overview = page(&coordinator, "/");
    let mut shown = rows(&overview, "<h2>All</h2>");
    shown.reverse();
    let listed = json(&["list"]);
    let listed = listed.as_array().unwrap();
    assert_eq!(shown.len(), listed.len());
    let keys = ["name", "game", "state", "cells", "games_planned", "games_settled", "games_failed"];
    for (shown, listed) in shown.iter().zip(listed) {
        assert_eq!(shown[..7], values(listed, &keys));
    }
    let status = json(&["status"]);
    let about =
        words(overview.split_once("class=\"about\"").unwrap().1.split_once("</p>").unwrap().0);
    assert!(overview.contains("1 worker</a>, 2 slots"), "{about}");
    assert!(about.contains(&format!("{} experiments", status["experiments_total"])), "{about}");

    // The workers: what `status` says.
    let shown = rows(&page(&coordinator, "/workers"), "<h1>Workers</h1>");
    let workers = status["workers"].as_array().unwrap();
    assert_eq!(shown.len(), workers.len());
    let keys = ["worker_id", "name", "host", "slots", "playing_games", "leased_games"];
    for (shown, worker) in shown.iter().zip(workers) {
        let figures = [0, 1, 3, 5, 6, 7].map(|column| shown[column].clone());
        assert_eq!(figures[..], values(worker, &keys));
        let figures = [8, 12].map(|column| shown[column].clone());
        assert_eq!(figures[..], values(worker, &["reported_games", "lost_games"]));
    }

    // An experiment: all texts of `report --html`, which has no links, and the cells of `report --json`.
    let experiment = page(&coordinator, "/experiments/first");
    sandbox.run(&[&["report", "first", "--html", "first.html"], &at[..]].concat()).expect_exit(0);
    let file = std::fs::read_to_string(sandbox.path("first.html")).unwrap();
    let contents = file.split_once("<main>").unwrap().1.split_once("</main>").unwrap().0;
    let contents = words(contents);
    assert!(words(&experiment).contains(&contents), "{experiment}\n{contents}");
    let report = json(&["report", "first"]);
    let cells = report["cells"].as_array().unwrap();
    let shown = rows(&experiment, "Who is stronger");
    assert_eq!(shown.len(), cells.len());
    for (shown, cell) in shown.iter().zip(cells) {
        let of_report = values(cell, &["player", "opponent", "games", "wins", "draws", "losses"]);
        assert_eq!(shown[0], cell["axes"][0].as_str().unwrap());
        assert_eq!(shown[1..7], of_report);
        assert_eq!(shown[7], format!("{:.3}", cell["score"].as_f64().unwrap()));
        let elo = cell["elo"].as_f64().map(|elo| format!("{elo:.0}"));
        assert_eq!(shown[9].trim_start_matches('+'), elo.as_deref().unwrap_or("-"));
        // Its name, if it is clear which of them.
        let stronger = cell["stronger"].as_str().unwrap();
        assert_eq!(shown[10], cell[stronger].as_str().unwrap_or(stronger));
    }

    // A game: what `replay` says of it, in the list of games and on its page.
    let listed = rows(&experiment, "<h2>Last games</h2>");
    assert_eq!(listed.len(), 20);
    let id = &listed[0][0];
    let replayed = json(&["replay", id]);
    let game = &replayed["games"][0];
    let names = values(game, &["game_id", "first_player", "second_player"]);
    assert_eq!(listed[0][..3], names);
    assert_eq!(listed[0][4], game["plies"].to_string());
    let shown = rows(&page(&coordinator, &format!("/games/{id}")), "<h2>Moves</h2>");
    let moves = game["moves"].as_array().unwrap();
    assert_eq!(shown.len(), moves.len());
    for (shown, record) in shown.iter().zip(moves) {
        let ply = record["ply"].as_u64().unwrap() + 1;
        assert_eq!(shown[0], format!("{ply}. {}", record["move"].as_str().unwrap()));
        if record["nodes"] != 0 {
            assert_eq!(shown[2..4], values(record, &["depth", "nodes"]));
        }
        if let Some(score) = record["score"].as_i64().filter(|score| score.abs() < 900_000) {
            assert_eq!(shown[4], score.to_string());
        }
    }
}
