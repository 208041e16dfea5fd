//! Pages of `report --html` as a browser shows them: wide and narrow, in light and dark, and printed.

mod axe;
mod browser;
mod live;
mod play;
mod published;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use serde_json::{Value, json};

use self::browser::Browser;
use crate::sandbox::{Sandbox, tic_tac_toe};

/// Tells what is seen of a page.
const LOOK: &str = include_str!("look.js");

const WIDE: [u32; 2] = [1_100, 800];
const NARROW: [u32; 2] = [400, 800];

/// What does not happen in a page that does nothing but to be shown.
const UNWANTED: [&str; 9] = [
    "Audits.issueAdded",
    "Log.entryAdded",
    "Network.loadingFailed",
    "Network.webSocketCreated",
    "Page.frameRequestedNavigation",
    "Page.javascriptDialogOpening",
    "Page.windowOpen",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
];

/// A page, and how much there is to see in it.
struct Shown {
    name: &'static str,
    file: PathBuf,
    title: String,
    plots: u64,
}

#[test]
fn pages_are_readable_in_a_browser_and_do_nothing() {
    let Some(program) = browser::installed() else { return };
    let sandbox = Sandbox::new();
    let pages = [played(&sandbox), one_cell(&sandbox), no_games(&sandbox), hostile(&sandbox)];
    let mut browser = Browser::start(&program);
    faults_are_seen(&mut browser, &sandbox);
    for page in &pages {
        for scheme in ["light", "dark"] {
            for size in [WIDE, NARROW] {
                look_at(&mut browser, page, size, scheme);
            }
        }
        is_printed(&mut browser, page);
    }
    for name in ["played", "hostile"] {
        let db = format!("{name}.db");
        let drawn = sandbox.run(&["report", "--db", &db, "--figures", name]);
        let files: Vec<&str> = drawn.expect_exit(0).stdout().lines().collect();
        assert!(files.len() > 4, "{files:?}");
        for file in files {
            look_at_figure(&mut browser, &sandbox.path(file));
        }
    }
}

/// A page with every fault that others must not have.
const FAULTY: &str = "<!DOCTYPE html><title>x</title><h1>x</h1><p style='color:#999;font-size:8px'>pale</p>\
    <div style='width:900px'>wide</div><img src='http://127.0.0.1:9/x'><svg role=img viewBox='0 0 100 20'>\
    <text x=90 y=9>one beside</text><text x=92 y=9>another</text></svg>\
    <script>document.documentElement.dataset.ran = 1; console.log('said')</script>";

/// Whoever sees nothing finds no fault: here they are found.
fn faults_are_seen(browser: &mut Browser, sandbox: &Sandbox) {
    let file = sandbox.write("faulty.html", FAULTY);
    let events = browser.open(&file, NARROW, "light");
    let has = |name: &str| events.iter().any(|(event, _)| event == name);
    assert!(has("Runtime.consoleAPICalled") && has("Network.loadingFailed"), "{events:?}");
    let requests = events.iter().filter(|(event, _)| event == "Network.requestWillBeSent");
    assert_eq!(requests.count(), 2);
    let seen = browser.evaluate(LOOK);
    for faults in ["pale", "small", "overlaps"] {
        assert_ne!(seen[faults], json!([]), "{faults}");
    }
    assert!(seen["width"].as_u64() > Some(400) && seen["active"].as_u64() == Some(2), "{seen}");
    assert_eq!(seen["ran"], "1");
}

/// Nothing happens, and everything can be read: returns what is seen.
fn look_at_file(
    browser: &mut Browser,
    file: &Path,
    what: &str,
    size: [u32; 2],
    scheme: &str,
) -> Value {
    let events = browser.open(file, size, scheme);
    let own = format!("file://{}", file.display());
    for (event, details) in &events {
        assert!(!UNWANTED.contains(&&**event), "{what}: {event} {details}");
        if event == "Network.requestWillBeSent" {
            assert_eq!(details["request"]["url"], own, "{what}");
        }
    }
    let seen = browser.evaluate(LOOK);
    for faults in ["pale", "small", "overlaps"] {
        assert_eq!(seen[faults], json!([]), "{what}: {faults}");
    }
    assert_eq!((&seen["active"], &seen["ran"]), (&0.into(), &Value::Null), "{what}");
    let is_dark = seen["background"] != "rgb(255, 255, 255)";
    assert_eq!(is_dark, scheme == "dark", "{what}: {}", seen["background"]);
    seen
}

/// A plot that is a file of its own.
fn look_at_figure(browser: &mut Browser, file: &Path) {
    for scheme in ["light", "dark"] {
        let what = format!("{} in {scheme}", file.display());
        let seen = look_at_file(browser, file, &what, WIDE, scheme);
        assert_eq!(seen["plots"], 1, "{what}");
        assert_ne!(seen["title"], "", "{what}");
    }
    browser.media("print", "dark");
    let seen = browser.evaluate(LOOK);
    assert_eq!(seen["background"], "rgb(255, 255, 255)", "{}", file.display());
    assert_eq!(seen["pale"], json!([]), "{}", file.display());
}

/// Tables and plots together.
fn look_at(browser: &mut Browser, page: &Shown, size: [u32; 2], scheme: &str) {
    let what = format!("{} at {} in {scheme}", page.name, size[0]);
    let seen = look_at_file(browser, &page.file, &what, size, scheme);
    assert!(seen["width"].as_u64() <= Some(size[0].into()), "{what}: it is {} wide", seen["width"]);
    assert_eq!(seen["title"], page.title, "{what}");
    assert_eq!(seen["plots"], page.plots, "{what}");
    assert!(seen["headings"].as_u64() > Some(1) && seen["rows"].as_u64() > Some(0), "{what}");
}

/// On white paper, also for who likes it dark.
fn is_printed(browser: &mut Browser, page: &Shown) {
    browser.media("print", "dark");
    let seen = browser.evaluate(LOOK);
    assert_eq!(seen["background"], "rgb(255, 255, 255)", "{}", page.name);
    assert_eq!((&seen["pale"], &seen["plots"]), (&json!([]), &page.plots.into()), "{}", page.name);
    let printed = browser.ask("Page.printToPDF", &json!({ "printBackground": false }));
    let pdf = STANDARD.decode(printed["data"].as_str().unwrap()).unwrap();
    assert!(pdf.starts_with(b"%PDF-"), "{}", page.name);
    assert!(pdf.len() > 5_000, "{}: {} bytes", page.name, pdf.len());
}

fn written(sandbox: &Sandbox, name: &'static str, from: [&str; 2], plots: u64) -> Shown {
    let file = format!("{name}.html");
    sandbox.run(&["report", from[0], from[1], "--html", &file]).expect_exit(0);
    let text = std::fs::read_to_string(sandbox.path(&file)).unwrap();
    assert!(text.contains("Content-Security-Policy"));
    Shown { name, file: sandbox.path(&file), title: name.to_owned(), plots }
}

/// Two axes and three players, who have ratings.
fn played(sandbox: &Sandbox) -> Shown {
    let sweep = tic_tac_toe("played", 10)
        .replace("depth = [1, 2]", "depth = [1, 2, 3]\nnodes = [30, 300]")
        + "nodes = \"$nodes\"\n\n[players.perfect]\nalgorithm = \"exact\"\nnodes = 100000\n";
    sandbox.write("played.toml", &sweep);
    sandbox.run(&["run", "played.toml", "--db", "played.db"]).expect_exit(0);
    written(sandbox, "played", ["--db", "played.db"], 14)
}

fn one_cell(sandbox: &Sandbox) -> Shown {
    sandbox.write("one.toml", &tic_tac_toe("one", 20).replace("[1, 2]", "[2]"));
    sandbox.run(&["run", "one.toml", "--db", "one.db"]).expect_exit(0);
    written(sandbox, "one", ["--db", "one.db"], 5)
}

fn no_games(sandbox: &Sandbox) -> Shown {
    let coordinator = sandbox.coordinator("none.db", "127.0.0.1:0");
    sandbox.write("none.toml", &tic_tac_toe("none", 20));
    let at = ["--coordinator", &coordinator.url];
    sandbox.run(&[&["submit", "none.toml"], &at[..]].concat()).expect_exit(0);
    written(sandbox, "none", at, 0)
}

/// What would be done if any of its texts were more than a text.
const HOSTILE: &str = "\"'></td></title></style></svg></script><script>document.documentElement.dataset.ran=1;\
    alert(1)</script><img src=x onerror=alert(2)><style>*{color:red;background:url(http://127.0.0.1:9/)}</style>\
    <meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'><!--";

/// Every text that is not checked elsewhere is hostile: as in a file from somebody else.
fn hostile(sandbox: &Sandbox) -> Shown {
    sandbox.write("hostile.toml", &tic_tac_toe("hostile", 20));
    sandbox.run(&["run", "hostile.toml", "--db", "hostile.db"]).expect_exit(0);
    let database = Connection::open(sandbox.path("hostile.db")).unwrap();
    for (table, columns) in [
        ("experiments", &["name", "description"][..]),
        ("experiment_axes", &["axis"]),
        ("cell_axes", &["axis"]),
        ("cells", &["first_player_name", "second_player_name"]),
        ("games", &["termination"]),
        (
            "workers",
            &[
                "name",
                "host",
                "version",
                "cpu_model",
                "operating_system",
                "build_commit",
                "build_profile",
            ],
        ),
    ] {
        for column in columns {
            let statement = format!("UPDATE {table} SET {column} = {column} || ?1");
            assert!(database.execute(&statement, [HOSTILE]).unwrap() > 0, "{statement}");
        }
    }
    // Not the numbers that an axis may have.
    let values = "UPDATE cell_axes SET value_text = value_text || ?1";
    database.execute(values, [HOSTILE]).unwrap();
    drop(database);
    let shown = written(sandbox, "hostile", ["--db", "hostile.db"], 5);
    Shown { title: format!("hostile{HOSTILE}"), ..shown }
}
