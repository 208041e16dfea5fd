//! A coordinator's own pages in a browser: let in by a link, they follow what is played, and steer it.

use std::time::{Duration, Instant};

use super::browser::{self, Browser};
use super::{NARROW, WIDE};
use crate::sandbox::{Sandbox, tic_tac_toe};

const TOKEN: &str = "a-token-that-nobody-else-has-0123456789";

/// Pastes a sweep, and has it checked.
pub(super) fn paste(browser: &mut Browser, url: &str, sweep: &str) {
    browser.go(&format!("{url}/submit"), WIDE, "light");
    let text = serde_json::to_string(sweep).unwrap();
    browser.evaluate(&format!("document.querySelector('textarea').value = {text}"));
    browser.click("form.sweep button");
}

#[test]
fn a_sweep_is_watched_and_steered_in_a_browser() {
    let Some(program) = browser::installed() else { return };
    let sandbox = Sandbox::new();
    let mut command = sandbox.spelrum(&["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"]);
    command.env("SPELRUM_TOKEN", TOKEN);
    let coordinator = sandbox.coordinator_as(&mut command);
    let url = coordinator.url.clone();
    let run = |words: &[&str]| {
        let mut command = sandbox.spelrum(&[words, &["--coordinator", &url]].concat());
        let ran = command.env("SPELRUM_TOKEN", TOKEN).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let mut browser = Browser::start(&program);
    // Without a cookie nothing is shown.
    browser.go(&url, WIDE, "light");
    assert!(browser.text().contains("spelrum open"), "{}", browser.text());
    let link = run(&["open"]);
    browser.go(link.trim(), WIDE, "light");
    browser.click("form button");
    browser.wait_for("document.querySelector('h1')?.textContent === 'Experiments'");

    // What happens afterwards comes into the page that is open.
    sandbox.write("sweep.toml", &tic_tac_toe("watched", 40));
    run(&["submit", "sweep.toml"]);
    browser.wait_for("!!document.querySelector('article a')");
    let mut worker = sandbox.spelrum(&["worker", "--coordinator", &url, "--slots", "1"]);
    worker.env("SPELRUM_TOKEN", TOKEN);
    let mut worker = crate::sandbox::Process(worker.spawn().unwrap());
    let row = "[...document.querySelectorAll('tbody td')].map(cell => cell.textContent)";
    let begun = Instant::now();
    while !run(&["list"]).contains("finished") {
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", run(&["status"]));
    }
    browser.wait_for(&format!("{row}.includes('finished')"));
    let shown = browser.evaluate(row);
    let cells: Vec<&str> =
        shown.as_array().unwrap().iter().filter_map(|cell| cell.as_str()).collect();
    assert_eq!(cells[..3], ["watched", "tic-tac-toe", "finished"]);
    let settled = sandbox.settled("c.db").to_string();
    assert_eq!((cells[4], cells[5], cells[6]), (&*settled, &*settled, "0"));

    // Its page has the report's figures, and its games.
    browser.click("tbody a");
    for words in ["watched", "Who is stronger", "Last games"] {
        browser.wait_for(&format!("document.body.innerText.includes('{words}')"));
    }

    // It is paused and resumed from its page, without a reload.
    sandbox.write("sweep.toml", &tic_tac_toe("steered", 100_000));
    run(&["submit", "sweep.toml"]);
    browser.go(&format!("{url}/experiments/steered"), WIDE, "light");
    let state = "document.querySelector('.progress strong').textContent";
    for (action, after) in [("pause", "paused"), ("resume", "running")] {
        let button = format!("button[data-steer={action}]:not([hidden])");
        browser.click(&button);
        browser.wait_for(&format!("{state} === '{after}'"));
        assert!(run(&["list", "--name", "steered"]).contains(after));
    }

    browser.evaluate("document.getElementById('priority').value = '7'");
    browser.click("button[data-steer=priority]");
    let shown = "document.getElementById('priority').getAttribute('value') === '7'";
    browser.wait_for(shown);
    run(&["cancel", "steered"]);

    // A sweep is pasted: its error is beside the line, and without it a button submits it.
    let good = tic_tac_toe("pasted", 4);
    paste(&mut browser, &url, &good.replace("games = 4", "gamess = 4"));
    let marked = "document.querySelector('.marked mark')?.textContent";
    browser.wait_for(&format!("{marked} === 'gamess'"));
    paste(&mut browser, &url, &good);
    browser.wait_for("document.querySelector('.plan h2')?.textContent === 'pasted'");
    browser.click(".plan form button");
    browser.wait_for("location.pathname.startsWith('/experiments/')");
    assert!(run(&["list"]).contains("pasted"));

    // The worker is excluded and readmitted from the page.
    browser.go(&format!("{url}/workers"), WIDE, "light");
    browser.evaluate("window.confirm = () => true");
    for (what, after) in [("exclude", "readmit"), ("readmit", "exclude")] {
        let button = |what: &str| format!("button[data-exclusion={what}]:not([hidden])");
        let [there, gone] =
            [after, what].map(|what| format!("document.querySelector('{}')", button(what)));
        // It is not readmitted until its results are taken out.
        browser.click_until(&button(what), &format!("!!{there} && !{gone}"));
    }

    // All of it fits a phone, in the dark too, and the pages' policy allows all that they do.
    for path in ["/", "/workers", "/submit", "/experiments/watched"] {
        for scheme in ["light", "dark"] {
            let events = browser.go(&format!("{url}{path}"), NARROW, scheme);
            let is_fault =
                |name: &str| matches!(name, "Audits.issueAdded" | "Runtime.exceptionThrown");
            let faults: Vec<_> = events.iter().filter(|(name, _)| is_fault(name)).collect();
            assert!(faults.is_empty(), "{path}: {faults:?}");
            let fits = "document.documentElement.scrollWidth <= window.innerWidth";
            assert_eq!(browser.evaluate(fits), true, "{path} {scheme}");
        }
    }
    worker.kill();
    let killed = worker.wait();
    assert!(!killed.success());
}

/// The page stays open, and is not loaded again.
#[test]
fn an_open_page_survives_a_restart_of_the_coordinator() {
    let Some(program) = browser::installed() else { return };
    let sandbox = Sandbox::new();
    let mut browser = Browser::start(&program);
    let start = |address: &str, token: Option<&str>| {
        let mut command = sandbox.spelrum(&["coordinator", "--db", "c.db", "--listen", address]);
        sandbox.coordinator_as(command.envs(token.map(|token| ("SPELRUM_TOKEN", token))))
    };
    let mut coordinator = start("127.0.0.1:0", None);
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    browser.go(&url, WIDE, "light");
    browser.evaluate("window.isSamePage = true");
    let says =
        |words: &str| format!("document.getElementById('live').textContent.includes('{words}')");
    coordinator.process.kill();
    browser.wait_for(&says("does not answer"));
    let mut coordinator = start(&address, None);
    sandbox.write("sweep.toml", &tic_tac_toe("afterwards", 40));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    browser.wait_for("!!document.querySelector('article a')");
    assert_eq!(browser.evaluate(&says("does not answer")), false);

    // A page of another build is loaded anew; but once in a while only, should two builds answer in turn.
    let is_older =
        "document.querySelector('script[src]').setAttribute('src', '/static/pages.js?0')";
    browser.evaluate(is_older);
    sandbox.run(&["cancel", "afterwards", "--coordinator", &url]).expect_exit(0);
    browser.wait_for("!window.isSamePage && !!document.querySelector('tbody a')");
    browser.evaluate("window.isSamePage = true");
    browser.evaluate(is_older);
    sandbox.write("sweep.toml", &tic_tac_toe("later", 40));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    browser.wait_for(&says("load this page anew"));

    // Of a coordinator that demands a token, no browser is let in any more.
    coordinator.process.kill();
    let coordinator = start(&address, Some(TOKEN));
    browser.wait_for(&says("spelrum open"));
    assert_eq!(browser.evaluate("window.isSamePage"), true);
    drop(coordinator);
}
