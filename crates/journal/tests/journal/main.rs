//! The journal on a real server.

mod refusals;
mod server;
mod sharing;
