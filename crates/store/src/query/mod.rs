//! The users' own queries.
//!
//! | file | subject |
//! |---|---|
//! | `queries` | running one statement that only reads |
//! | `permitted`, `misspelt` | what a statement is allowed to do, and what a wrong one may have meant |
//! | `bounds`, `spill` | how much it may take |
//! | `functions`, `aggregates`, `texts` | functions beside SQLite's own |

mod aggregates;
pub(crate) mod bounds;
mod functions;
mod misspelt;
mod permitted;
pub(crate) mod queries;
mod spill;
mod texts;
