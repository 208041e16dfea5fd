//! Pages of a coordinator for a browser: no inline style or script, every text escaped, readable without a script.

mod experiment;
mod games;
mod layout;
mod overview;

pub use experiment::experiment;
pub use layout::{Place, page, plain_page};
pub use overview::{Running, overview, workers};

/// The stylesheet of all pages.
pub const STYLE: &str = concat!(
    include_str!("../plot/palette.css"),
    include_str!("../document/page.css"),
    include_str!("../plot/plot.css"),
    include_str!("pages.css"),
);

/// The script of all pages, which they can do without.
pub const SCRIPT: &str = include_str!("pages.js");
