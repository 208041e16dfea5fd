//! A site as files: its games are stepped through without a server.

use serde_json::{Value, json};

use super::browser::{self, Browser};
use super::{NARROW, UNWANTED, WIDE};
use crate::sandbox::{Sandbox, tic_tac_toe};

/// The boards that are seen, the one in the slider, and the one that the list of moves marks.
const SEEN: &str = "[[...document.querySelectorAll('.ply')].filter(ply => ply.checkVisibility()).map(ply => ply.id), \
                    document.getElementById('ply').value, \
                    document.querySelector('.moves [aria-current]')?.getAttribute('href') ?? null]";

fn press(browser: &mut Browser, key: &str, code: u32) {
    for kind in ["keyDown", "keyUp"] {
        let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
        browser.ask("Input.dispatchKeyEvent", &event);
    }
}

#[test]
fn a_published_game_is_stepped_through_without_a_server() {
    let Some(program) = browser::installed() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("one.toml", &tic_tac_toe("one", 2).replace("[1, 2]", "[2]"));
    sandbox.run(&["run", "one.toml", "--db", "one.db"]).expect_exit(0);
    sandbox.run(&["report", "--db", "one.db", "--site", "site"]).expect_exit(0);
    let plies = sandbox.sql("one.db", "SELECT plies FROM games WHERE game_id = 1");
    let mut browser = Browser::start(&program);
    let (index, game) = (sandbox.path("site/index.html"), sandbox.path("site/games/1.html"));
    for file in [&index, &sandbox.path("site/experiments/1.html"), &game] {
        for (size, scheme) in [(WIDE, "light"), (NARROW, "dark")] {
            let events = browser.open(file, size, scheme);
            for (event, details) in &events {
                assert!(!UNWANTED.contains(&&**event), "{}: {event} {details}", file.display());
            }
            let fits = "document.documentElement.scrollWidth <= window.innerWidth";
            assert_eq!(browser.evaluate(fits), true, "{}", file.display());
        }
    }
    let at = |ply: &str, move_marked: bool| -> Value {
        let href = format!("#ply-{ply}");
        json!([[format!("ply-{ply}")], ply, move_marked.then_some(href)])
    };
    assert_eq!(browser.evaluate(SEEN), at(&plies, true));
    press(&mut browser, "Home", 36);
    assert_eq!(browser.evaluate(SEEN), at("0", false));
    press(&mut browser, "ArrowRight", 39);
    press(&mut browser, "ArrowRight", 39);
    assert_eq!(browser.evaluate(SEEN), at("2", true));
    press(&mut browser, "ArrowLeft", 37);
    assert_eq!(browser.evaluate(SEEN), at("1", true));
    browser.evaluate("document.querySelector('.moves a[href=\"#ply-3\"]').click()");
    assert_eq!(browser.evaluate(SEEN), at("3", true));
    let slide = "const slider = document.getElementById('ply'); slider.value = 4; \
                 slider.dispatchEvent(new Event('input', { bubbles: true }))";
    browser.evaluate(&format!("(() => {{ {slide} }})()"));
    assert_eq!(browser.evaluate(SEEN), at("4", true));
    let next = "(() => { const link = document.querySelector('#ply-4 [rel=next]'); link.focus(); link.click(); \
                return document.activeElement.closest('.ply').id })()";
    assert_eq!(browser.evaluate(next), "ply-5");
}
