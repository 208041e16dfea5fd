//! The kinds of courses, and the axes of their cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

/// The kinds of courses.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Names,
)]
#[serde(rename_all = "lowercase")]
pub enum CourseKind {
    /// `[find]`.
    Find,
    /// `[tune]`.
    Tune,
    /// `[evolve]`.
    Evolve,
    /// `[race]`.
    Race,
}

impl CourseKind {
    /// Whether one run meets all opponents of its player; otherwise each opponent has its own run.
    #[must_use]
    pub const fn meets_all(self) -> bool {
        match self {
            Self::Find => false,
            Self::Tune | Self::Evolve | Self::Race => true,
        }
    }

    /// The axes of its cells besides the grid's: reserved names in such a sweep.
    #[must_use]
    pub const fn axes(self) -> &'static [&'static str] {
        match self {
            Self::Find | Self::Race => &[RUN, STEP],
            Self::Tune => &[RUN, STEP, TRIAL],
            Self::Evolve => &[RUN, RUN_GENERATION, RUN_INDIVIDUAL, RUN_MEETS],
        }
    }
}

/// The axis of runs, from 0.
pub const RUN: &str = "run";
/// The axis of a run's steps, or of the rounds of a race, from 0.
pub const STEP: &str = "step";
/// The axis of trials within a step, from 0.
pub const TRIAL: &str = "trial";
/// The axis of the generations of evolution, from 0.
pub const RUN_GENERATION: &str = "generation";
/// The axis of the individuals of a generation, from 0.
pub const RUN_INDIVIDUAL: &str = "individual";
/// The axis of an individual's opponents of its own kind.
pub const RUN_MEETS: &str = "meets";
