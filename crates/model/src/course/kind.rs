//! The kinds of courses, and the axes of their cells.

use serde::{Deserialize, Serialize};

/// The kinds of courses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CourseKind {
    /// `[find]`.
    Find,
    /// `[tune]`.
    Tune,
    /// `[evolve]`.
    Evolve,
}

impl CourseKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Find, Self::Tune, Self::Evolve];

    /// Its name: the key of its table in a sweep, and what the database calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Tune => "tune",
            Self::Evolve => "evolve",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether a run of it meets all opponents of its player; otherwise each has a run of its own.
    #[must_use]
    pub const fn meets_all(self) -> bool {
        match self {
            Self::Find => false,
            Self::Tune | Self::Evolve => true,
        }
    }

    /// What its cells have a place on beside the grid's axes: names that no axis of such a sweep may have.
    #[must_use]
    pub const fn axes(self) -> &'static [&'static str] {
        match self {
            Self::Find => &[RUN, STEP],
            Self::Tune => &[RUN, STEP, TRIAL],
            Self::Evolve => &[RUN, RUN_GENERATION, RUN_INDIVIDUAL, RUN_MEETS],
        }
    }
}

/// The axis that tells runs apart, from 0.
pub const RUN: &str = "run";
/// The axis of a run's steps, from 0.
pub const STEP: &str = "step";
/// The axis of what a step tries, from 0.
pub const TRIAL: &str = "trial";
/// The axis of the generations of evolution, from 0.
pub const RUN_GENERATION: &str = "generation";
/// The axis of the individuals of a generation, from 0.
pub const RUN_INDIVIDUAL: &str = "individual";
/// The axis of those whom an individual meets of its own kind.
pub const RUN_MEETS: &str = "meets";
