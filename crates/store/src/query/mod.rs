//! The users' own queries.
//!
//! | file | subject |
//! |---|---|
//! | `queries` | running one statement that only reads |
//! | `permitted`, `suggestions` | what a statement is allowed to do, and what a wrong one may have meant |
//! | `bounds`, `temporary_files` | how much it may take |
//! | `functions`, `aggregates`, `text_functions` | functions beside SQLite's own |

mod aggregates;
pub(crate) mod bounds;
mod functions;
mod permitted;
pub(crate) mod queries;
mod suggestions;
mod temporary_files;
mod text_functions;
