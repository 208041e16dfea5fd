//! Times by phase, cut into messages.

use prost::Message;
use spelrum_answers::{CellPhases, Phases};
use spelrum_proto::v1;

use super::report_parts::fill;

/// The parts, made one after the other: what was sent takes no memory any more.
pub(super) struct PhaseParts {
    /// The first, as long as it is not sent.
    first: Option<v1::GetPhasesResponse>,
    cells: std::vec::IntoIter<CellPhases>,
}

impl PhaseParts {
    pub(super) fn of(told: Phases) -> Self {
        let Phases { experiment, axes, unit, moves_recorded, cells } = told;
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

    /// The first part is there in any case; the others have something in them.
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
