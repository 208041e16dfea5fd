//! States of experiments as they are stored.

use spelrum_model::ExperimentState;

/// A state as it is stored.
pub(crate) fn state_name(state: ExperimentState) -> &'static str {
    match state {
        ExperimentState::Running => "running",
        ExperimentState::Paused => "paused",
        ExperimentState::Cancelled => "cancelled",
        ExperimentState::Finished => "finished",
    }
}

/// A state as it was stored.
pub(crate) fn state_of(name: &str) -> ExperimentState {
    match name {
        "paused" => ExperimentState::Paused,
        "cancelled" => ExperimentState::Cancelled,
        "finished" => ExperimentState::Finished,
        _ => ExperimentState::Running,
    }
}
