//! Whole workers, over real gRPC: against a real coordinator, and against one that misbehaves.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod cores;
mod end_to_end;
mod misbehaving;
mod tokens;
mod trainings;
