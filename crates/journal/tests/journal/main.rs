//! The journal on a real server.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod refusals;
mod server;
mod sharing;
