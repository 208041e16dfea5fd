//! The worker's machine by itself: against a coordinator that does anything, as told by chance,
//! with a twin that counts every game and every result.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod bench;
mod properties;
mod rules;
