//! Results from a database file or a coordinator.

mod current_match;
mod game_files;
mod locate;
mod overview;
pub(crate) mod reports;
mod source;
mod whole_games;

pub(crate) use current_match::CurrentMatch;
pub(crate) use game_files::{AxisPlace, Wanted, follow_games, write_games};
pub(crate) use source::{Answer, PageStart, ResultsSource, coordinator, idle_note};
