//! States of an experiment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether an experiment's games are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    const ALL: [Self; 4] = [Self::Running, Self::Paused, Self::Cancelled, Self::Finished];

    /// Its name, in the database and on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Cancelled => "cancelled",
            Self::Finished => "finished",
        }
    }

    /// The state with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether the experiment has nothing left to play.
    #[must_use]
    pub const fn is_over(self) -> bool {
        match self {
            Self::Running | Self::Paused => false,
            Self::Cancelled | Self::Finished => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_by_their_names() {
        for state in ExperimentState::ALL {
            assert_eq!(ExperimentState::named(state.name()), Some(state));
        }
        assert_eq!(ExperimentState::named("Running"), None);
    }
}
