//! A game of a person in a browser, from the list of games to its end.

use spelrum_engine::Rules;

use super::browser::{self, Browser};
use super::{NARROW, WIDE};
use crate::sandbox::Sandbox;

#[test]
fn a_game_is_played_to_its_end_in_a_browser() {
    let Some(program) = browser::installed() else { return };
    let sandbox = Sandbox::new();
    let words = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0", "--play"];
    let coordinator = sandbox.coordinator_as(&mut sandbox.spelrum(&words));
    let url = coordinator.url.clone();
    let mut browser = Browser::start(&program);
    browser.go(&format!("{url}/play?game=tic-tac-toe"), WIDE, "light");
    browser.evaluate("document.querySelector('#own_player').value = 'minimax depth=9'");
    browser.click("main form button");
    // The person takes the first free cell each time, and minimax takes the game.
    let status = "document.querySelector('main .status')?.textContent ?? ''";
    let is_over = format!("/^(You|A draw).*:/.test({status})");
    for moves in (0..9).step_by(2) {
        browser.wait_for(&format!(
            "({is_over}) || \
                 document.querySelectorAll('.played li').length === {moves} && \
                 !!document.querySelector('svg.board a')"
        ));
        if browser.evaluate(&is_over) == true {
            break;
        }
        let click = "document.querySelector('svg.board a') \
                     .dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))";
        browser.evaluate(click);
    }
    browser.wait_for(&is_over);
    let shown = browser.evaluate(status);
    let shown = shown.as_str().unwrap();
    assert!(shown.starts_with("You lose: ") || shown.starts_with("A draw: "), "{shown}");
    assert_eq!(browser.evaluate("document.querySelectorAll('svg.board a').length"), 0);

    // Going back is an earlier position, and every game fits a phone.
    browser.evaluate(
        "[...document.querySelectorAll('a')].find(a => a.textContent === 'Undo').click()",
    );
    browser.wait_for(&format!("/^Your move/.test({status})"));
    let begun = ["pentago&half=c3", "chess&half=e2"];
    let games = Rules::games();
    for game in games.iter().map(|game| game.name).chain(begun) {
        browser.go(&format!("{url}/play?game={game}&player=random"), NARROW, "dark");
        let fits = "document.documentElement.scrollWidth <= window.innerWidth";
        assert_eq!(browser.evaluate(fits), true, "{game}");
        assert_eq!(browser.evaluate("!!document.querySelector('svg.board a')"), true, "{game}");
    }
}
