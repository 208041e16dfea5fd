//! States of an experiment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

/// Whether an experiment's games are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentState {
    /// Its games are handed out.
    Running,
    /// No new leases; existing ones continue.
    Paused,
    /// Final: leases are dropped at the next heartbeat; counted results stay.
    Cancelled,
    /// Every game of the cells that its sweep names is settled, up to each cell's end, and no more cells will come.
    Finished,
}

impl ExperimentState {
    /// Whether the experiment has nothing left to play.
    #[must_use]
    pub const fn is_over(self) -> bool {
        match self {
            Self::Running | Self::Paused => false,
            Self::Cancelled | Self::Finished => true,
        }
    }
}
