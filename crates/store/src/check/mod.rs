//! Whether stored data is as it was written.
//!
//! | file | subject |
//! |---|---|
//! | `integrity` | SQLite's own check |
//! | `row_digests`, `rot` | values that a disk has changed |
//! | `recount` | rollups against rows |
//! | `open_files` | whether the open files are as the last commit left them |

pub(crate) mod integrity;
pub(crate) mod open_files;
pub(crate) mod recount;
pub(crate) mod rot;
pub(crate) mod row_digests;
