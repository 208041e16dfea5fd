//! Random results by opening.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{CellCursor, OpeningCursor, OpeningResults, OpeningSums, OpeningsPage};
use spelrum_model::CellId;
use spelrum_statistics::GameTimes;

use super::{count, figure, id};

prop_compose! {
    fn game_times()(games in count(), figures in [figure(), figure()]) -> GameTimes {
        let [wall_us_mean_sum, wall_us_mean_log_sum] = figures;
        GameTimes { games, wall_us_mean_sum, wall_us_mean_log_sum }
    }
}

prop_compose! {
    fn opening_sums()(
        results in [count(), count(), count(), count(), count()],
        by_mover in [count(), count(), count()],
        by_pair in [count(), count(), count(), count()],
        times in [game_times(), game_times()],
    ) -> OpeningSums {
        let [opening_number, games, wins, draws, losses] = results;
        let [first_mover_half_points, games_moving_first, half_points_moving_first] = by_mover;
        let [pairs, pairs_half_points, pairs_won_by_first_mover, pairs_won_by_second_mover] = by_pair;
        OpeningSums {
            opening_number, games, wins, draws, losses, first_mover_half_points, games_moving_first,
            half_points_moving_first, pairs, pairs_half_points, pairs_won_by_first_mover,
            pairs_won_by_second_mover, times,
        }
    }
}

pub(crate) fn cell_cursor() -> impl Strategy<Value = CellCursor> {
    (count(), id()).prop_map(|(number, cell)| CellCursor { number, cell: CellId(cell) })
}

pub(crate) fn openings_page() -> impl Strategy<Value = OpeningsPage> {
    let cell = (id(), vec(opening_sums(), 0..3))
        .prop_map(|(cell, openings)| OpeningResults { cell: CellId(cell), openings });
    let next = (cell_cursor(), count())
        .prop_map(|(cell, opening_number)| OpeningCursor { cell, opening_number });
    (vec(cell, 0..3), option::of(next)).prop_map(|(cells, next)| OpeningsPage { cells, next })
}
