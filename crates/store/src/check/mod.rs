//! Whether stored data is as it was written.
//!
//! | file | subject |
//! |---|---|
//! | `integrity` | SQLite's own check |
//! | `row_digests`, `rot` | values that a disk has changed |
//! | `recount`, `rollup_queries`, `difference` | rollups against rows |
//! | `counting`, `counted_games`, `counted_sums`, `stored_sums` | the same in one pass, which leaves to SQL only what differs |
//! | `taken_rows` | rows taken whole from SQLite |
//! | `open_files` | whether the open files are as the last commit left them |

mod counted_games;
mod counted_sums;
mod counting;
pub(crate) mod difference;
pub(crate) mod integrity;
pub(crate) mod open_files;
pub(crate) mod recount;
mod rollup_queries;
pub(crate) mod rot;
pub(crate) mod row_digests;
mod stored_sums;
mod taken_rows;
