//! Courses: the part of a plan whose cells depend on earlier results, and the notes on what its runs found.
//!
//! These are data. Scheduling has the courses that run.

mod evolve_settings;
mod find_settings;
mod generation;
mod kind;
mod note;
mod parameter;
pub(crate) mod planned;
mod race;
mod tune_settings;

pub use evolve_settings::{EvolveSettings, Fitness, Meet, Reevaluate};
pub use find_settings::FindSettings;
pub use generation::{Generation, Individual, Scored};
pub use kind::{CourseKind, RUN, RUN_GENERATION, RUN_INDIVIDUAL, RUN_MEETS, STEP, TRIAL};
pub use note::{
    Begun, Bounds, Confirmed, Ended, Estimate, Estimated, Note, Noted, Place, Setting,
    SettingsScore, Tried,
};
pub use parameter::{LedParameter, OPTIONS, Unit, option_named, parameter, set_parameter};
pub use planned::{CoursePlan, Meeting, PlannedRun, RunSettings};
pub use race::{Behind, RaceSettings, RaceStandings, Runner};
pub use tune_settings::{Tunable, TuneMethod, TuneSettings, TunedParameter, part_of, usual_step};
