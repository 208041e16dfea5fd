//! A report, cut into messages.

use prost::Message;
use spelrum_answers::{
    CellAccuracy, CellResult, DisturbedGames, MixedCell, MoveCost, PlayerForfeits, ReplayedGames,
    Report, RunResult, Scaled, ScaledGames, UsedEngine,
};
use spelrum_proto::results::claims_to_wire;
use spelrum_proto::speeds::scaling_to_wire;
use spelrum_proto::v1;

/// A part is sent when it has this many bytes.
const PART_BYTES: usize = 256 << 10;

/// The parts of a report, made one after another, so that sent parts take no memory.
pub(super) struct ReportParts {
    /// The first part, until sent.
    first: Option<v1::GetReportResponse>,
    cells: std::vec::IntoIter<CellResult>,
    moves: std::vec::IntoIter<MoveCost>,
    depths: std::vec::IntoIter<MoveCost>,
    accuracy: std::vec::IntoIter<CellAccuracy>,
    replayed: std::vec::IntoIter<ReplayedGames>,
    disturbed: std::vec::IntoIter<DisturbedGames>,
    scaled: std::vec::IntoIter<ScaledGames>,
    engines: std::vec::IntoIter<UsedEngine>,
    mixed: std::vec::IntoIter<MixedCell>,
    forfeits: std::vec::IntoIter<PlayerForfeits>,
    runs: std::vec::IntoIter<RunResult>,
}

impl ReportParts {
    pub(super) fn new(report: Report) -> Self {
        let claims = claims_to_wire(&report);
        let Report {
            experiment,
            description,
            engine_revision,
            axes,
            first_mover,
            cells,
            moves,
            depths,
            accuracy,
            replayed,
            disturbed,
            scaled: Scaled { scaling, cells: scaled },
            played_on,
            claims: _,
            engines,
            runs,
        } = report;
        let experiment = Some(experiment.into());
        let first_mover = first_mover.map(Into::into);
        Self {
            first: Some(v1::GetReportResponse {
                experiment,
                axes,
                first_mover,
                claims,
                description,
                engine_revision,
                scale: scaling.map(scaling_to_wire),
                played_on: played_on.map(Into::into),
                ..Default::default()
            }),
            cells: cells.into_iter(),
            moves: moves.into_iter(),
            depths: depths.into_iter(),
            accuracy: accuracy.into_iter(),
            replayed: replayed.into_iter(),
            disturbed: disturbed.into_iter(),
            scaled: scaled.into_iter(),
            engines: engines.engines.into_iter(),
            mixed: engines.mixed.into_iter(),
            forfeits: engines.forfeits.into_iter(),
            runs: runs.into_iter(),
        }
    }
}

impl Iterator for ReportParts {
    type Item = v1::GetReportResponse;

    /// The first part always exists; the others are never empty.
    fn next(&mut self) -> Option<v1::GetReportResponse> {
        let first = self.first.take();
        let is_first = first.is_some();
        let mut part = first.unwrap_or_default();
        let mut bytes = part.encoded_len();
        let before = bytes;
        fill(&mut self.cells, &mut part.cells, &mut bytes);
        fill(&mut self.moves, &mut part.moves, &mut bytes);
        fill(&mut self.depths, &mut part.depths, &mut bytes);
        fill(&mut self.accuracy, &mut part.accuracy, &mut bytes);
        fill(&mut self.replayed, &mut part.replayed, &mut bytes);
        fill(&mut self.disturbed, &mut part.disturbed, &mut bytes);
        fill(&mut self.scaled, &mut part.scaled, &mut bytes);
        fill(&mut self.engines, &mut part.engines, &mut bytes);
        fill(&mut self.mixed, &mut part.mixed_cells, &mut bytes);
        fill(&mut self.forfeits, &mut part.forfeits, &mut bytes);
        fill(&mut self.runs, &mut part.runs, &mut bytes);
        (is_first || bytes > before).then_some(part)
    }
}

/// Moves items into a part until it is full. One item has a few hundred bytes, and at most a few names and values of
/// 255 bytes each.
pub(super) fn fill<T, W: Message + From<T>>(
    items: &mut std::vec::IntoIter<T>,
    part: &mut Vec<W>,
    bytes: &mut usize,
) {
    while *bytes < PART_BYTES {
        let Some(item) = items.next() else { return };
        let item = W::from(item);
        // The field's tag and the length before the item are at most six bytes.
        *bytes += item.encoded_len() + 6;
        part.push(item);
    }
}
