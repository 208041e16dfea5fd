//! Answers in JSON: what is written can be read, and malformed text is refused.

#![expect(clippy::unwrap_used, reason = "a failure here fails the test")]

mod arbitrary;
mod examples;
mod reading;
mod round_trips;
