//! Courses in a batch: each decision is stored in the same transaction as the results that it depends on, so no kill
//! comes between them.

use spelrum_model::{CellId, ExperimentId, Plan};
use spelrum_scheduling::course::{Course, CourseFault, LedCourse, Step};
use spelrum_scheduling::scheduler::{Event, Time};

use super::BatchError;
use super::batch::Batch;
use spelrum_store::contract::WriteTransaction;

impl<T: WriteTransaction> Batch<'_, T> {
    /// The course of a sweep, if it has one.
    pub(super) fn new_course(&self, plan: &Plan) -> Option<Box<dyn Course>> {
        (self.courses.factory)(plan)
    }

    /// Begins the course of an experiment that was stored in this transaction, with these cells.
    pub(super) async fn begin_course(
        &mut self,
        experiment: ExperimentId,
        course: Box<dyn Course>,
        plan: &Plan,
        cells: Vec<CellId>,
        now: Time,
    ) -> Result<(), BatchError> {
        self.courses.led.insert(experiment, LedCourse::begin(course, plan, cells));
        self.lead_one(experiment, now).await
    }

    /// Lets courses decide by the results settled in this transaction.
    pub(super) async fn lead(&mut self, now: Time) -> Result<(), BatchError> {
        loop {
            let news = self.scheduler.take_settled();
            if news.is_empty() {
                break;
            }
            for experiment in news {
                self.lead_one(experiment, now).await?;
            }
        }
        let scheduler = &self.scheduler;
        self.courses.led.retain(|&experiment, _| scheduler.is_open(experiment));
        Ok(())
    }

    async fn lead_one(&mut self, experiment: ExperimentId, now: Time) -> Result<(), BatchError> {
        let Some(mut led) = self.courses.led.remove(&experiment) else { return Ok(()) };
        // The ends of cells must be stored before the course learns their outcome.
        self.store_changes().await?;
        while self.scheduler.is_open(experiment) {
            let is_settled = |cell| self.scheduler.is_settled(cell) == Some(true);
            let step = led.next(is_settled);
            let notes = led.take_notes();
            if !notes.is_empty() {
                self.transaction.note(experiment, &notes).await?;
            }
            let fault = match step {
                Step::Wait => {
                    self.courses.led.insert(experiment, led);
                    return Ok(());
                }
                Step::Tell(cell) => {
                    led.tell(&self.transaction.tell(cell).await?);
                    continue;
                }
                Step::Add(plan) => {
                    let results = led.outcome_count() as u64;
                    match self.transaction.add_cells(experiment, &plan, results).await? {
                        Some(cells) => {
                            led.added(cells.iter().map(|state| state.cell));
                            tracing::debug!(%experiment, told = results, cells = cells.len(), "added cells");
                            let event = Event::Extended { experiment, cells, open: true };
                            self.handle(event, now).await?;
                            continue;
                        }
                        None => Some(CourseFault::from_cells(&plan)),
                    }
                }
                Step::Close(fault) => fault,
            };
            if let Some(fault) = fault {
                tracing::error!(%experiment, "an experiment gets no more cells: its course is wrong: {fault}");
            }
            self.transaction.end_course(experiment).await?;
            let cells = Vec::new();
            self.handle(Event::Extended { experiment, cells, open: false }, now).await?;
        }
        Ok(())
    }
}
