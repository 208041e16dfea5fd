//! Experiment states in their stored form.

use spelrum_model::ExperimentState;

/// The stored name of a state.
pub(crate) fn state_name(state: ExperimentState) -> &'static str {
    match state {
        ExperimentState::Running => "running",
        ExperimentState::Paused => "paused",
        ExperimentState::Cancelled => "cancelled",
        ExperimentState::Finished => "finished",
    }
}

/// Parses a stored state.
pub(crate) fn state_of(name: &str) -> ExperimentState {
    match name {
        "paused" => ExperimentState::Paused,
        "cancelled" => ExperimentState::Cancelled,
        "finished" => ExperimentState::Finished,
        _ => ExperimentState::Running,
    }
}
