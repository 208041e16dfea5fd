//! Writing: a file for each table, or for a transaction's work on several tables.
//!
//! | file | subject |
//! |---|---|
//! | `transaction`, `cache` | a transaction, and the cache kept between two |
//! | `submit`, `cells`, `sweep_changes`, `sweep_files`, `growth`, `claims`, `courses`, `experiments` | sweeps and their experiments |
//! | `scheduling`, `leased_cells`, `reported_games`, `requirements`, `workers`, `worker_speeds` | the scheduler's state, and workers' reports about themselves |
//! | `checked_games`, `distinct_games`, `number_runs`, `openings`, `settled_games`, `game_rows`, `side_rows`, `game_engines`, `game_digests`, `move_values`, `insert` | settled games and their rows |
//! | `uncounted_games`, `disturbed_games`, `refused_results`, `retry` | results that do not count, and games that failed |
//! | `rollup_sums`, `rollups`, `cell_openings`, `margins` | sums over games |
//! | `stop_rules`, `stop_readings`, `stops` | where cells end |
//! | `networks`, `verifications` | tasks other than games of a grid |
//! | `exclusion`, `excluded_workers`, `barred_workers` | workers that get no games, and discarding their results |
//! | `removal`, `removal_walk`, `forgetting` | deleting |

pub(crate) mod barred_workers;
pub(crate) mod cache;
pub(crate) mod cell_openings;
pub(crate) mod cells;
pub(crate) mod checked_games;
pub(crate) mod claims;
pub(crate) mod courses;
pub(crate) mod distinct_games;
pub(crate) mod disturbed_games;
pub(crate) mod excluded_workers;
pub(crate) mod exclusion;
pub(crate) mod experiments;
pub(crate) mod forgetting;
pub(crate) mod game_digests;
pub(crate) mod game_engines;
pub(crate) mod game_rows;
pub(crate) mod growth;
pub(crate) mod insert;
pub(crate) mod leased_cells;
pub(crate) mod margins;
pub(crate) mod move_values;
pub(crate) mod networks;
pub(crate) mod number_runs;
pub(crate) mod openings;
pub(crate) mod refused_results;
pub(crate) mod removal;
pub(crate) mod removal_walk;
pub(crate) mod reported_games;
pub(crate) mod requirements;
pub(crate) mod retry;
pub(crate) mod rollup_sums;
pub(crate) mod rollups;
pub(crate) mod scheduling;
pub(crate) mod settled_games;
pub(crate) mod side_rows;
pub(crate) mod stop_readings;
pub(crate) mod stop_rules;
pub(crate) mod stops;
pub(crate) mod submit;
pub(crate) mod sweep_changes;
pub(crate) mod sweep_files;
pub(crate) mod transaction;
pub(crate) mod uncounted_games;
pub(crate) mod verifications;
pub(crate) mod worker_speeds;
pub(crate) mod workers;
