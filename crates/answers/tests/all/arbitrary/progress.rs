//! Random progress of an experiment.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{ExpectedGames, Progress};
use spelrum_statistics::forecast::{Backlog, GameSpread};

use super::engines::player_forfeits;
use super::{count, figure, name, state};

prop_compose! {
    pub(crate) fn progress()(
        state in state(),
        counts in [
            count(), count(), count(), count(), count(), count(), count(), count(), count(), count(),
            count(), count(),
        ],
        stop_rule in option::of(name()),
        forfeits in vec(player_forfeits(), 0..3),
        stopped_for in option::of(name()),
        figures in [figure(), figure(), figure(), figure(), figure(), figure(), figure(), figure()],
        last_game_id in 0..1_000_i64,
    ) -> Progress {
        let [cells, cells_settled, games_planned, games_settled, games_failed, games_left,
            unseen_games_left, seen_cells, slots, cells_stopped, networks, networks_settled] = counts;
        let [wall_us, seen_us, seen_squares, longest_us, means_us, mean_squares, squares, weight] =
            figures;
        Progress {
            games_expected: stop_rule.is_some().then_some(ExpectedGames { games: cells, low: 0, high: games_left }),
            state, cells, cells_settled, stop_rule, cells_stopped, games_planned, games_settled, games_failed,
            forfeits, stopped_for, networks, networks_settled, wall_us,
            backlog: Backlog {
                games_left, unseen_games_left, seen_us, seen_squares, longest_us, seen_cells,
                means_us, mean_squares,
            },
            spread: GameSpread { squares, weight },
            slots,
            last_game_id,
        }
    }
}
