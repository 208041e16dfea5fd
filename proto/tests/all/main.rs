//! The wire: messages come back as they went, and malformed ones are refused.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod comparisons;
mod conversions;
mod overview;
mod phases;
mod results;
mod wire_fuzz;
