//! Random costs of moves.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{Costs, CpuTimes, MoveCost, Overruns};
use spelrum_model::CellId;
use spelrum_statistics::{Interval, OverGames};

use super::{count, figure, id, name};

pub(crate) fn move_cost(axes: usize) -> impl Strategy<Value = MoveCost> {
    let figures = [figure(), figure(), figure(), figure(), figure(), figure(), figure()];
    let places = vec(option::of(name()), axes);
    let shares = (option::of(figure()), option::of(overruns()));
    let over = [option::of(over_games()), option::of(over_games())];
    let times = (option::of(figure()), over, option::of(cpu_times()), any::<bool>());
    (id(), places, [name(), name()], count(), figures, shares, times).prop_map(
        |(
            id,
            axes,
            [player, opponent],
            searched_moves,
            figures,
            (full_tree_share, overruns),
            (wall_us_p95, [wall_us_game_mean, wall_us_ratio], cpu, is_compared_by_cpu),
        )| {
            let [
                wall_us_mean,
                wall_us_median,
                wall_us_p90,
                wall_us_p99,
                depth_mean,
                nodes_mean,
                evaluations_mean,
            ] = figures;
            let costs = Costs {
                searched_moves,
                wall_us_mean,
                wall_us_median,
                wall_us_p90,
                wall_us_p95,
                wall_us_p99,
                depth_mean,
                nodes_mean,
                evaluations_mean,
                full_tree_share,
                overruns,
                wall_us_game_mean,
                wall_us_ratio,
                cpu,
                is_compared_by_cpu,
            };
            MoveCost { cell: CellId(id), axes, player, opponent, costs }
        },
    )
}

fn cpu_times() -> impl Strategy<Value = CpuTimes> {
    (figure(), option::of(over_games()), option::of(over_games()))
        .prop_map(|(us_mean, us_game_mean, us_ratio)| CpuTimes { us_mean, us_game_mean, us_ratio })
}

fn over_games() -> impl Strategy<Value = OverGames> {
    (figure(), option::of((figure(), figure()))).prop_map(|(value, bounds)| {
        let interval = bounds.map(|(low, high)| Interval { value, low, high });
        OverGames { value, interval }
    })
}

prop_compose! {
    fn overruns()(
        limit_us in count(),
        beyond_us in count(),
        moves in count(),
        longest_us in figure(),
    ) -> Overruns {
        Overruns { limit_us, beyond_us, moves, longest_us }
    }
}
