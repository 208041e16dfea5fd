//! The store on real files.
#![expect(clippy::unwrap_used, reason = "tests, and helpers that only tests use")]

mod accuracy;
mod answers;
mod builds;
mod claims;
mod confirmed_sums;
mod contract;
mod damage;
mod disturbance;
mod documentation;
mod engines;
mod exclusion;
mod figures;
mod fixture;
mod forgetting;
mod functions;
mod growth;
mod looked_at;
mod networks;
mod opening;
mod plans;
mod progress;
mod queries;
mod recount;
mod removal;
mod results;
mod rot;
mod scheduling;
mod schema;
mod shared;
mod speeds;
mod stopping;
mod twin;
mod verifications;
mod views;
