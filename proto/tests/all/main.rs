//! The wire: messages come back as they went, and malformed ones are refused.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod conversions;
mod generated;
mod wire_fuzz;
