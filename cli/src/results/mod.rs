//! Results from a database file or a coordinator.

mod current_match;
mod game_files;
mod locate;
mod query;
pub(crate) mod reports;
pub(crate) mod site;
mod source;

pub(crate) use current_match::CurrentMatch;
pub(crate) use game_files::{AxisPlace, Wanted, follow_games, write_games};
pub(crate) use query::Answer;
pub(crate) use source::{ResultsSource, coordinator, idle_note};
