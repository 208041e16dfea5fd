//! What docs/api.md shows is run as it stands there, and gives the figures of `spelrum report`.

use std::process::Stdio;

use serde_json::Value;
use spelrum_test_support::Tools;

use crate::sandbox::{Sandbox, root, tic_tac_toe};

const TOKEN: &str = "s3cret-s3cret";

/// The first block of shell commands of the page, for a coordinator at this address.
fn script(url: &str) -> String {
    let page = std::fs::read_to_string(root().join("docs/api.md")).unwrap();
    let script = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let address = "http://127.0.0.1:7878";
    assert!(script.contains(address));
    format!("set -eu\n{}", script.replace(address, url))
}

#[test]
fn the_page_says_what_happens() {
    let Some(tools) = Tools::find(&["sh", "curl", "jq", "wc"]) else { return };
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("tic-tac-toe", 40));
    sandbox.write("token", TOKEN);
    let start = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"];
    let coordinator = sandbox
        .coordinator_as(sandbox.spelrum(&start).env("SPELRUM_TOKEN", TOKEN).stderr(Stdio::null()));
    let url = coordinator.url.as_str();
    let mut worker = sandbox
        .spelrum(&["worker", "--coordinator", url, "--slots", "1"])
        .env("SPELRUM_TOKEN", TOKEN)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ran = tools
        .command("sh")
        .args(["-c", &script(url)])
        .current_dir(sandbox.path(""))
        .env("SPELRUM_TOKEN", TOKEN)
        .output()
        .unwrap();
    worker.kill().unwrap();
    worker.wait().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));

    let report = sandbox
        .spelrum(&["report", "tic-tac-toe", "--coordinator", url, "--json"])
        .env("SPELRUM_TOKEN", TOKEN)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let cells = report["cells"].as_array().unwrap();
    for cell in cells {
        let text = |key: &str| cell[key].as_str().unwrap().to_owned();
        let elo = if cell["elo"].is_null() { String::new() } else { cell["elo"].to_string() };
        let line = [
            text("player"),
            text("opponent"),
            cell["games"].to_string(),
            cell["score"].to_string(),
            elo,
            text("stronger"),
        ];
        let line = line.join("\t");
        assert!(printed.lines().any(|printed| printed == line), "{line}\n{printed}");
    }
    let games: u64 = cells.iter().map(|cell| cell["games"].as_u64().unwrap()).sum();
    assert!(printed.lines().any(|line| line.trim() == games.to_string()), "{games}\n{printed}");
    for part in ["event: progress\n", "event: cells\nid: ", "event: over\n", "\"columns\":["] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}
