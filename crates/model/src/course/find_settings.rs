//! What a run of `[find]` does.

use super::parameter::LedParameter;

/// What a run of `[find]` does.
#[derive(Clone, Debug, PartialEq)]
pub struct FindSettings {
    /// The parameter, of which more helps its player.
    pub parameter: LedParameter,
    /// How many values are tried, one after the other.
    pub steps: u64,
    /// How many are tried at a time.
    pub at_once: u64,
}
