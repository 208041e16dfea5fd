//! The courses under way: experiments whose results determine their next cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use spelrum_model::{ExperimentId, Plan};
use spelrum_scheduling::course::{Course, LedCourse};
use spelrum_sweep::{SweepText, plan_sweep};

use spelrum_store::contract::Store;
use spelrum_store::{OpenCourse, StoreError};

/// Returns the course of a sweep, if it has one: a pure function of its plan.
pub type CourseFactory = dyn Fn(&Plan) -> Option<Box<dyn Course>> + Send + Sync;

/// The courses under way, and the source of new ones.
pub(super) struct Courses {
    pub(super) factory: Arc<CourseFactory>,
    pub(super) led: BTreeMap<ExperimentId, LedCourse>,
}

impl Courses {
    /// Starts without courses.
    pub(super) fn new(factory: Arc<CourseFactory>) -> Self {
        Self { factory, led: BTreeMap::new() }
    }

    /// Rebuilds the unfinished courses from the store.
    pub(super) async fn restart(&mut self, store: &mut impl Store) -> Result<(), StoreError> {
        self.led.clear();
        for open in store.open_courses().await? {
            let (experiment, name) = (open.experiment, open.name.clone());
            match self.restored(open) {
                Ok(led) => {
                    self.led.insert(experiment, led);
                }
                // The experiment stays open, for a release that can go on with it.
                Err(problem) => tracing::warn!(
                    experiment = name,
                    "not going on with the course of an experiment: {problem}; use the release that it was begun with"
                ),
            }
        }
        Ok(())
    }

    /// Restores a course's progress, or returns why the course cannot go on here.
    fn restored(&self, open: OpenCourse) -> Result<LedCourse, String> {
        let sweep = SweepText { files: open.files, ..SweepText::new(&open.name, &open.toml) };
        let unknown = || "this release does not know it".to_owned();
        let plan = plan_sweep(&sweep).map_err(|_| unknown())?;
        let course = (self.factory)(&plan).ok_or_else(unknown)?;
        let led = LedCourse::restore(course, &plan, open.cells);
        led.fault().map_or(Ok(led), |fault| Err(fault.to_string()))
    }
}
