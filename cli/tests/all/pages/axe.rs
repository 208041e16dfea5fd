//! axe-core (github.com/dequelabs/axe-core), which looks for what keeps people from reading a page, finds nothing on any.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use spelrum_test_support::{Tools, skip};

use super::browser::{self, Browser};
use super::{NARROW, WIDE};
use crate::sandbox::{Process, Sandbox, tic_tac_toe};

const TOKEN: &str = "a-token-that-nobody-else-has-0123456789";

/// Prints where the package is that has axe-core in it.
const WHERE: &str = "import importlib.util as util; \
                     print(util.find_spec('axe_playwright_python').submodule_search_locations[0])";

/// The ids of the rules that are broken, each with the elements that break it and why.
const RUN: &str = "axe.run(document, { resultTypes: ['violations'], preload: false }).then(results => \
                   results.violations.map(rule => [rule.id, rule.nodes.map(node => [node.html, node.failureSummary])]))";

/// The script of axe-core; if there is none the test is skipped.
fn axe_core() -> Option<String> {
    let tools = Tools::find(&["python3"])?;
    let ran = tools.command("python3").args(["-c", WHERE]).stdin(Stdio::null()).output().unwrap();
    if !ran.status.success() {
        skip("it needs a python3 with the package axe-playwright-python");
        return None;
    }
    let directory = String::from_utf8(ran.stdout).unwrap();
    // Its last value is no value that can be passed.
    Some(std::fs::read_to_string(Path::new(directory.trim()).join("axe.min.js")).unwrap() + ";0")
}

#[test]
fn axe_core_finds_nothing_on_any_page() {
    let Some(program) = browser::installed() else { return };
    let Some(axe) = axe_core() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("small.toml", &tic_tac_toe("small", 4).replace("[1, 2]", "[2]"));
    sandbox.run(&["run", "small.toml", "--db", "c.db"]).expect_exit(0);
    sandbox.run(&["report", "small", "--db", "c.db", "--html", "small.html"]).expect_exit(0);
    sandbox.write("other.toml", &tic_tac_toe("other", 4).replace("[1, 2]", "[2]"));
    sandbox.run(&["run", "other.toml", "--db", "c.db"]).expect_exit(0);
    sandbox.run(&["report", "--db", "c.db", "--site", "site"]).expect_exit(0);
    let mut command =
        sandbox.spelrum(&["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0", "--play"]);
    let coordinator = sandbox.coordinator_as(command.env("SPELRUM_TOKEN", TOKEN));
    let url = &coordinator.url;
    let with_token = |words: &[&str]| {
        let mut command = sandbox.spelrum(&[words, &["--coordinator", url]].concat());
        command.env("SPELRUM_TOKEN", TOKEN);
        command
    };
    let worker = with_token(&["worker", "--slots", "1"]).stderr(Stdio::null()).spawn();
    let _worker = Process(worker.unwrap());
    let mut browser = Browser::start(&program);

    let broken = |browser: &mut Browser, page: &str, scheme: &str, size: [u32; 2]| {
        browser.go(page, size, scheme);
        browser.evaluate(&axe);
        browser.evaluate(RUN)
    };
    let faulty =
        sandbox.write("faulty.html", "<title>x</title><img src=x><p style='color:#999'>pale words");
    let found_faults =
        broken(&mut browser, &format!("file://{}", faulty.display()), "light", WIDE).to_string();
    for rule in ["image-alt", "color-contrast", "html-has-lang"] {
        assert!(found_faults.contains(rule), "{rule}: {found_faults}");
    }

    let finds_nothing = |browser: &mut Browser, page: &str| {
        for (scheme, size) in [("light", WIDE), ("dark", NARROW)] {
            let faults = broken(browser, page, scheme, size);
            assert_eq!(faults, json!([]), "{page} in {scheme}");
        }
    };
    finds_nothing(&mut browser, url);
    let link = String::from_utf8(with_token(&["open"]).output().unwrap().stdout).unwrap();
    finds_nothing(&mut browser, link.trim());
    browser.go(link.trim(), WIDE, "light");
    browser.click("form button");
    browser.wait_for("document.querySelector('h1')?.textContent === 'Experiments'");
    let pages = [
        "/",
        "/workers",
        "/experiments/small",
        "/experiments/small/games",
        "/experiments/missing",
        "/compare?a=small&b=other",
        "/games/1",
        "/submit",
        "/sql?q=SELECT+1+AS+a,+2+AS+b&plot=1",
        "/sql?q=wrong",
        "/play",
        "/play?game=nim",
        "/play?game=tic-tac-toe&player=random",
        "/play?game=pentago&player=random&half=c3",
    ];
    for page in pages {
        finds_nothing(&mut browser, &format!("{url}{page}"));
    }
    // A plan comes of a form.
    super::live::paste(&mut browser, url, &tic_tac_toe("planned", 4));
    browser.wait_for("!!document.querySelector('.plan h2')");
    browser.evaluate(&axe);
    for scheme in ["light", "dark"] {
        browser.media("screen", scheme);
        assert_eq!(browser.evaluate(RUN), json!([]), "a plan in {scheme}");
    }
    for file in ["small.html", "site/index.html", "site/games/1.html"] {
        finds_nothing(&mut browser, &format!("file://{}", sandbox.path(file).display()));
    }
    let title: Value = browser.evaluate("document.querySelector('h1').textContent");
    assert_eq!(title, "Game 1 of small");
}
