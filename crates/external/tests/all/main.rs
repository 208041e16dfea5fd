//! The runner against engines that misbehave in every known way.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod batches;
mod endings;
mod fuzz;
mod gtp;
mod harness;

mod lines;
mod moves;
mod placing;
mod pool;
mod startup;
mod ugi;
mod xboard;
