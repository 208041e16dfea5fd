//! Ratings, cut into messages.

use prost::Message;
use spelrum_answers::{RatedGroup, Ratings};
use spelrum_proto::v1;

/// A part is sent when it has this many bytes. One more group adds at most about 2.5 MB: the group with the most
/// players that are rated together.
const PART_BYTES: usize = 256 << 10;

/// The parts of ratings, made one after another, so that sent parts take no memory.
pub(super) struct RatingParts {
    /// The first part, until sent.
    first: Option<v1::GetRatingsResponse>,
    groups: std::vec::IntoIter<RatedGroup>,
}

impl RatingParts {
    pub(super) fn new(ratings: Ratings) -> Self {
        let Ratings { experiment, axes, groups } = ratings;
        let experiment = Some(experiment.into());
        let first = v1::GetRatingsResponse { experiment, axes, groups: Vec::new() };
        Self { first: Some(first), groups: groups.into_iter() }
    }
}

impl Iterator for RatingParts {
    type Item = v1::GetRatingsResponse;

    /// The first part always exists; the others are never empty.
    fn next(&mut self) -> Option<v1::GetRatingsResponse> {
        let first = self.first.take();
        let is_first = first.is_some();
        let mut part = first.unwrap_or_default();
        let mut bytes = part.encoded_len();
        while bytes < PART_BYTES {
            let Some(group) = self.groups.next() else { break };
            let group = v1::RatedGroup::from(group);
            // The field's tag and the length before the group are at most six bytes.
            bytes += group.encoded_len() + 6;
            part.groups.push(group);
        }
        (is_first || !part.groups.is_empty()).then_some(part)
    }
}
