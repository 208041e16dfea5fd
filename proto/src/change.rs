//! The changes that a resubmitted sweep makes to its experiment, on the wire.

use spelrum_model::change::{BuildChange, CellChange, CellExample, Change};

use crate::v1;

impl From<Change> for v1::SubmitChange {
    fn from(change: Change) -> Self {
        Self {
            cells_kept: change.cells_kept,
            cells_continued: change.cells_continued,
            cells_added: change.cells_added,
            cells_dropped: change.cells_dropped,
            cells_returned: change.cells_returned,
            games_kept: change.games_kept,
            games_to_play: change.games_to_play,
            games_dropped: change.games_dropped,
            axes_changed: change.axes_changed,
            rules_changed: change.rules_changed,
            settings_changed: change.settings_changed.into_iter().map(str::to_owned).collect(),
            examples: change.examples.into_iter().map(Into::into).collect(),
            cells_superseded: change.cells_superseded,
            builds_changed: change.builds_changed.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<BuildChange> for v1::BuildChange {
    fn from(change: BuildChange) -> Self {
        let BuildChange { engine, before, now, games } = change;
        let [before, now] = [before, now].map(Option::unwrap_or_default);
        Self { engine, before, now, games }
    }
}

impl From<CellExample> for v1::CellExample {
    fn from(example: CellExample) -> Self {
        let what = match example.change {
            CellChange::Continued => v1::CellChange::Continued,
            CellChange::Added => v1::CellChange::Added,
            CellChange::Returned => v1::CellChange::Returned,
            CellChange::Dropped => v1::CellChange::Dropped,
        };
        Self {
            what: what.into(),
            axes: example.axes,
            player: example.player,
            opponent: example.opponent,
            games_settled: example.games_settled,
            games_planned: example.games_planned,
        }
    }
}
