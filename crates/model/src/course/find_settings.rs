//! Settings of a `[find]` run.

use super::parameter::LedParameter;

/// The settings of a `[find]` run.
#[derive(Clone, Debug, PartialEq)]
pub struct FindSettings {
    /// The parameter; larger values help its player.
    pub parameter: LedParameter,
    /// The number of values tried, one after the other.
    pub steps: u64,
    /// The number of values tried simultaneously.
    pub at_once: u64,
}
