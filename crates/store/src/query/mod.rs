//! Users' queries.
//!
//! | file | subject |
//! |---|---|
//! | `queries` | running one read-only statement |
//! | `permitted`, `suggestions` | actions allowed to a statement, and suggestions for a wrong one |
//! | `bounds`, `temporary_files` | resource limits |
//! | `functions`, `aggregates`, `text_functions` | functions beside SQLite's own |

mod aggregates;
pub(crate) mod bounds;
mod functions;
mod permitted;
pub(crate) mod queries;
mod suggestions;
mod temporary_files;
mod text_functions;
