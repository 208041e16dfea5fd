//! Comparisons, cut into messages.

use prost::Message;
use spelrum_answers::Comparisons;
use spelrum_answers::{CellDifference as Difference, CellReplicates as Replicates};
use spelrum_proto::v1;
use spelrum_statistics::comparisons::Effects;

use super::report_parts::fill;

/// The parts of comparisons, made one after another, so that sent parts take no memory.
pub(super) struct ComparisonParts {
    /// The first part, until sent.
    first: Option<v1::GetComparisonsResponse>,
    gains: std::vec::IntoIter<Difference>,
    effects: std::vec::IntoIter<Effects>,
    replicates: std::vec::IntoIter<Replicates>,
}

impl ComparisonParts {
    pub(super) fn new(comparisons: Comparisons) -> Self {
        let Comparisons {
            experiment,
            axes,
            differences,
            differences_truncated,
            effects,
            replicates,
        } = comparisons;
        Self {
            first: Some(v1::GetComparisonsResponse {
                experiment: Some(experiment.into()),
                axes,
                gains_truncated: differences_truncated,
                ..Default::default()
            }),
            gains: differences.into_iter(),
            effects: effects.into_iter(),
            replicates: replicates.into_iter(),
        }
    }
}

impl Iterator for ComparisonParts {
    type Item = v1::GetComparisonsResponse;

    /// The first part always exists; the others are never empty.
    fn next(&mut self) -> Option<v1::GetComparisonsResponse> {
        let first = self.first.take();
        let is_first = first.is_some();
        let mut part = first.unwrap_or_default();
        let mut bytes = part.encoded_len();
        let before = bytes;
        fill(&mut self.gains, &mut part.gains, &mut bytes);
        fill(&mut self.effects, &mut part.effects, &mut bytes);
        fill(&mut self.replicates, &mut part.replicates, &mut bytes);
        (is_first || bytes > before).then_some(part)
    }
}
