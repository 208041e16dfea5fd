//! The services over real gRPC on a loopback port, over a real database.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod builds;
mod certificates;
mod claims;
mod comparisons;
mod courses;
mod curl;
mod disturbed;
mod engines;
mod exclusion;
mod experiments;
mod exposition;
mod followed;
mod identity;
mod labels;
mod metrics;
mod openapi;
mod openings;
mod pages;
mod play;
mod programs;
mod queue;
mod referee;
mod removal;
mod results;
mod scaled;
mod server;
mod silent;
mod standby;
mod stopping;
mod strangers;
mod streams;
mod submitting;
mod tls;
mod tokens;
mod upgrading;
mod verifications;
mod work;
