//! Conversions of the `Results` service's messages, and of those of `Experiments` that have
//! results.

mod accuracy;
mod claims;
mod comparisons;
mod engines;
mod export;
mod games;
mod overview;
mod phases;
mod progress;
mod ratings;
mod report;
mod runs;
mod status;

pub use claims::claims_to_wire;
pub use comparisons::ComparisonsReader;
pub use export::exported_experiments;
pub use games::{
    GamesRequest, GamesScope, filter_to_wire, game_from_wire, game_to_wire, games_page_to_wire,
    games_request, order_to_wire, which_game, whole_games_from_wire, whole_games_list,
    whole_games_to_wire,
};
pub use overview::OverviewReader;
pub use phases::PhasesReader;
pub use progress::progress_from_wire;
pub use ratings::RatingsReader;
pub use report::{ReportReader, cells_from_wire, settled_cells_from_wire};
