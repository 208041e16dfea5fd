//! Words and numbers for people, and columns of them.

mod aligned;
mod numbers;
mod search;
mod visible;

pub use aligned::{Column, TextTable};
pub use numbers::{
    count, counted, duration_us, optional, percent, probability, ratio, relative_error, signed,
    stated_rate,
};
pub use search::{ended_by_text, score_text};
pub use visible::{escaped, is_hidden, shortened, shortened_apart, shown};
