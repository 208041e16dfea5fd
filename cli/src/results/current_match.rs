//! Standing of the current match, for progress lines: score, Elo and stop rule.

use std::time::{Duration, Instant};

use spelrum_answers::{CellsPage, ExperimentSummary, Progress};
use spelrum_model::Task;
use spelrum_report::match_standing::open_match;

use crate::results::ResultsSource;

/// Interval between reads of cells, if a read takes no time.
const READ_INTERVAL: Duration = Duration::from_secs(4);

/// The interval before there is a score.
const FIRST_INTERVAL: Duration = Duration::from_secs(1);

/// Reads take at most this fraction (1/n) of the time.
const READ_SHARE: u32 = 50;

/// Cells of the largest experiment that is shown match by match.
const CELLS_MAX: u64 = 16;

/// Text about the first open match of an experiment, refreshed every few seconds.
pub(crate) struct CurrentMatch {
    is_shown: bool,
    next_read: Instant,
    text: String,
}

impl CurrentMatch {
    /// Shows nothing where `is_shown` is false.
    pub(crate) fn new(is_shown: bool) -> Self {
        Self { is_shown, next_read: Instant::now(), text: String::new() }
    }

    /// The text of the last read: empty unless a match of two players is in progress and has a score.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Reads the experiment's standing when due. A failed read leaves the previous text.
    pub(crate) async fn read(
        &mut self,
        source: &ResultsSource,
        experiment: &ExperimentSummary,
        progress: &Progress,
    ) {
        let is_match = self.is_shown
            && experiment.task == Task::Game
            && progress.cells <= CELLS_MAX
            && !progress.has_ended();
        if !is_match {
            self.text.clear();
            return;
        }
        let start = Instant::now();
        if start >= self.next_read {
            if let Ok(CellsPage { axes, cells, .. }) = source.cells(experiment, None).await {
                self.text = open_match(&axes, &cells);
            }
            let interval = if self.text.is_empty() { FIRST_INTERVAL } else { READ_INTERVAL };
            self.next_read = Instant::now() + interval.max(start.elapsed() * READ_SHARE);
        }
    }
}
