//! Random changes by a sweep that is submitted again.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spelrum_model::change::{
    ALLOCATE, BuildChange, CellChange, CellExample, Change, GAME_TIMEOUT, PLACEMENT,
};

use super::{count, name};

prop_compose! {
    fn example()(
        change in select(vec![
            CellChange::Continued, CellChange::Added, CellChange::Returned, CellChange::Dropped,
        ]),
        texts in [name(), name(), name()],
        games_settled in count(),
        games_planned in count(),
    ) -> CellExample {
        let [axes, player, opponent] = texts;
        CellExample { change, axes, player, opponent, games_settled, games_planned }
    }
}

prop_compose! {
    fn build()(
        engine in name(),
        before in option::of(name()),
        now in option::of(name()),
        games in count(),
    ) -> BuildChange {
        BuildChange { engine, before, now, games }
    }
}

prop_compose! {
    pub(crate) fn change()(
        cells in [count(), count(), count(), count(), count(), count()],
        games in [count(), count(), count()],
        builds_changed in vec(build(), 0..3),
        [axes_changed, rules_changed] in any::<[bool; 2]>(),
        settings_changed in vec(
            select(vec!["description", "anchors", "stop", ALLOCATE, GAME_TIMEOUT, PLACEMENT]),
            0..4,
        ),
        examples in vec(example(), 0..3),
    ) -> Change {
        let [cells_kept, cells_continued, cells_added, cells_returned, cells_dropped,
            cells_superseded] = cells;
        let [games_kept, games_to_play, games_dropped] = games;
        Change {
            cells_kept, cells_continued, cells_added, cells_returned, cells_dropped, games_kept,
            games_to_play, games_dropped, cells_superseded, builds_changed, axes_changed,
            rules_changed, examples,
            settings_changed: settings_changed.into_iter().map(Into::into).collect(),
        }
    }
}
