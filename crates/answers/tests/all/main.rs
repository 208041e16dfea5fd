//! Answers in JSON: what is written can be read, and malformed text is refused.

mod arbitrary;
mod examples;
mod reading;
mod round_trips;
