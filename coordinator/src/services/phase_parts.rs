//! Times by phase, cut into messages.

use prost::Message;
use spelrum_answers::{CellPhases, Phases};
use spelrum_proto::v1;

use super::report_parts::fill;

/// The parts, made one after another, so that sent parts take no memory.
pub(super) struct PhaseParts {
    /// The first part, until sent.
    first: Option<v1::GetPhasesResponse>,
    cells: std::vec::IntoIter<CellPhases>,
}

impl PhaseParts {
    pub(super) fn new(phases: Phases) -> Self {
        let Phases { experiment, axes, unit, moves_recorded, cells } = phases;
        Self {
            first: Some(v1::GetPhasesResponse {
                experiment: Some(experiment.into()),
                axes,
                unit: unit.name().to_owned(),
                moves_recorded,
                cells: Vec::new(),
            }),
            cells: cells.into_iter(),
        }
    }
}

impl Iterator for PhaseParts {
    type Item = v1::GetPhasesResponse;

    /// The first part always exists; the others are never empty.
    fn next(&mut self) -> Option<v1::GetPhasesResponse> {
        let first = self.first.take();
        let is_first = first.is_some();
        let mut part = first.unwrap_or_default();
        let mut bytes = part.encoded_len();
        let before = bytes;
        fill(&mut self.cells, &mut part.cells, &mut bytes);
        (is_first || bytes > before).then_some(part)
    }
}
