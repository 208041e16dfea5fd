//! The courses under way: experiments whose results decide which cells they get.

use std::collections::BTreeMap;
use std::sync::Arc;

use spelrum_tournament::course::{Course, Led};
use spelrum_tournament::{ExperimentId, Plan, SweepText, plan_sweep};

use crate::store::contract::Store;
use crate::store::{OpenCourse, StoreError};

/// The course of a sweep, if it has one: a pure function of its plan.
pub type CourseOf = dyn Fn(&Plan) -> Option<Box<dyn Course>> + Send + Sync;

/// The courses under way, and where new ones come from.
pub(super) struct Courses {
    pub(super) of: Arc<CourseOf>,
    pub(super) led: BTreeMap<ExperimentId, Led>,
}

impl Courses {
    /// None is under way.
    pub(super) fn new(of: Arc<CourseOf>) -> Self {
        Self { of, led: BTreeMap::new() }
    }

    /// Builds those that go on again from the store.
    pub(super) async fn restart(&mut self, store: &mut impl Store) -> Result<(), StoreError> {
        self.led.clear();
        for open in store.open_courses().await? {
            let (experiment, name) = (open.experiment, open.name.clone());
            match self.restored(open) {
                Some(led) => {
                    self.led.insert(experiment, led);
                }
                None => tracing::warn!(
                    experiment = name,
                    "not going on with the course of an experiment: this release does not know it; \
                     use the release it was begun with"
                ),
            }
        }
        Ok(())
    }

    fn restored(&self, open: OpenCourse) -> Option<Led> {
        let sweep = SweepText { files: open.files, ..SweepText::new(&open.name, &open.toml) };
        let plan = plan_sweep(&sweep).ok()?;
        let course = (self.of)(&plan)?;
        Some(Led::restore(course, &plan, open.cells))
    }
}
