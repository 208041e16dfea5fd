//! Reading: a file for each question.
//!
//! | file | subject |
//! |---|---|
//! | `readers` | connections that only read |
//! | `report`, `accuracy`, `comparisons`, `game_times`, `openings`, `overview`, `phases`, `ratings`, `time_scaling`, `worker_effects` | questions about results |
//! | `games`, `summaries`, `progress`, `attention`, `removable`, `stored_sweeps` | questions about games, experiments and workers |

pub(crate) mod accuracy;
pub(crate) mod attention;
pub(crate) mod comparisons;
pub(crate) mod game_times;
pub(crate) mod games;
pub(crate) mod openings;
pub(crate) mod overview;
pub(crate) mod phases;
pub(crate) mod progress;
pub(crate) mod ratings;
pub(crate) mod readers;
pub(crate) mod removable;
pub(crate) mod report;
pub(crate) mod stored_sweeps;
pub(crate) mod summaries;
pub(crate) mod time_scaling;
pub(crate) mod worker_effects;
