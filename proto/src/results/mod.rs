//! The messages of the `Results` service, and those of `Experiments` that tell results: from the
//! project's own types, and read into them.

mod games;
mod progress;
mod ratings;
mod report;
mod status;

pub use games::{
    AskedOf, GamesAsked, game_from_wire, game_to_wire, games_asked, games_page_to_wire, which_game,
};
pub use progress::progress_from_wire;
pub use ratings::RatingsReader;
pub use report::{ReportReader, cells_from_wire, settled_cells_from_wire};
