//! Pages of a coordinator for a browser: no inline style or script, every text escaped, readable without a script.

mod experiment;
mod game;
mod games;
mod layout;
mod overview;
mod score_graph;

pub use experiment::experiment;
pub use game::game;
pub use layout::{Place, page, plain_page};
pub use overview::{Running, overview, workers};

/// The stylesheet of all pages.
pub const STYLE: &str = concat!(
    include_str!("../plot/palette.css"),
    include_str!("../document/page.css"),
    include_str!("../plot/plot.css"),
    include_str!("pages.css"),
    include_str!("../board/board.css"),
    include_str!("game.css"),
);

/// The script of all pages, which they can do without: that of all, and that of a game's page.
pub const SCRIPT: &str = concat!(include_str!("pages.js"), include_str!("game.js"));
