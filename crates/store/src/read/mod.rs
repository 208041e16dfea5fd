//! Read queries, one file per subject.
//!
//! | file | subject |
//! |---|---|
//! | `readers` | read-only connections |
//! | `answers` | answers to the API's questions |
//! | `report`, `cells`, `accuracy`, `comparisons`, `disturbed_games`, `engines`, `game_times`, `openings`, `outcome_lengths`, `overview`, `phases`, `ratings`, `runs`, `time_scaling`, `worker_effects` | results |
//! | `games`, `summaries`, `progress`, `attention`, `removable`, `stored_sweeps`, `claims`, `networks`, `verifications`, `move_values` | games, experiments and workers |

pub(crate) mod accuracy;
pub(crate) mod answers;
pub(crate) mod attention;
pub(crate) mod cells;
pub(crate) mod claims;
pub(crate) mod comparisons;
pub(crate) mod disturbed_games;
pub(crate) mod engines;
mod expected_games;
pub(crate) mod game_times;
pub(crate) mod games;
pub(crate) mod move_values;
pub(crate) mod networks;
pub(crate) mod openings;
pub(crate) mod outcome_lengths;
pub(crate) mod overview;
pub(crate) mod phases;
pub(crate) mod progress;
pub(crate) mod ratings;
pub(crate) mod readers;
pub(crate) mod removable;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod stored_sweeps;
pub(crate) mod summaries;
pub(crate) mod time_scaling;
pub(crate) mod verifications;
pub(crate) mod worker_effects;
