//! An overview of how games were played, cut into messages.

use prost::Message;
use spelrum_answers::{CellGames, Overview, WorkerShare};
use spelrum_proto::v1;

use super::report_parts::fill;

/// The parts, made one after another, so that sent parts take no memory.
pub(super) struct OverviewParts {
    /// The first part, until sent.
    first: Option<v1::GetOverviewResponse>,
    workers: std::vec::IntoIter<WorkerShare>,
    cells: std::vec::IntoIter<CellGames>,
}

impl OverviewParts {
    pub(super) fn new(overview: Overview) -> Self {
        let Overview { experiment, axes, workers, worker_effects, cells } = overview;
        Self {
            first: Some(v1::GetOverviewResponse {
                experiment: Some(experiment.into()),
                axes,
                worker_effects: worker_effects.into_iter().map(Into::into).collect(),
                ..Default::default()
            }),
            workers: workers.into_iter(),
            cells: cells.into_iter(),
        }
    }
}

impl Iterator for OverviewParts {
    type Item = v1::GetOverviewResponse;

    /// The first part always exists; the others are never empty.
    fn next(&mut self) -> Option<v1::GetOverviewResponse> {
        let first = self.first.take();
        let is_first = first.is_some();
        let mut part = first.unwrap_or_default();
        let mut bytes = part.encoded_len();
        let before = bytes;
        fill(&mut self.workers, &mut part.workers, &mut bytes);
        fill(&mut self.cells, &mut part.cells, &mut bytes);
        (is_first || bytes > before).then_some(part)
    }
}
