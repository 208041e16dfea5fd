//! Pages of a coordinator for a browser: no inline style or script, every text escaped, readable without a script.

mod experiment;
mod game;
mod games;
mod layout;
mod overview;
mod play;
mod play_address;
mod play_moves;
mod score_graph;
pub mod site;
mod sql;
mod submit;
mod under_way;
mod workers;

pub use experiment::{about, compared, experiment};
pub use game::game;
pub use games::games;
pub use layout::{Place, page, plain_page};
pub use maud::Markup;
pub use overview::{Running, overview};
pub use play::{
    EXACT_PLAYER, PlayedPosition, choose_game, choose_player, continue_game, go_on, play,
};
pub use play_address::{PlayAddress, player_text, read_player};
pub use sql::{QueryOutcome, QueryTable, QueryView, documented_statement, sql};
pub use submit::{Fault, NewSweep, submit};
pub use under_way::game_under_way;
pub use workers::workers;

/// The stylesheet of all pages.
pub const STYLE: &str = concat!(
    include_str!("../plot/palette.css"),
    include_str!("../document/page.css"),
    include_str!("../plot/plot.css"),
    include_str!("pages.css"),
    include_str!("../board/board.css"),
    include_str!("game.css"),
    include_str!("submit.css"),
    include_str!("play.css"),
);

/// The script of all pages, which they can do without: that of all, and those of single pages.
pub const SCRIPT: &str = concat!(
    include_str!("pages.js"),
    include_str!("game.js"),
    include_str!("submit.js"),
    include_str!("workers.js"),
);

/// Differs between builds of other styles or scripts. Pages name it in the addresses of both: a browser does not take an older
/// build's from its cache, and an open page that meets another build is loaded anew.
pub(crate) const BUILD: u64 = fingerprint([STYLE, SCRIPT]);

/// FNV-1a.
const fn fingerprint(texts: [&str; 2]) -> u64 {
    let (mut hash, mut text) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while text < texts.len() {
        let (bytes, mut at) = (texts[text].as_bytes(), 0);
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        text += 1;
    }
    hash
}

/// The script of pages that are files ([`site`]), which they can do without.
pub const SITE_SCRIPT: &str = include_str!("site.js");
