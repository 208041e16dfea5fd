//! Random results of cells.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{CellMargin, CellResult, CellStop, ColourResult};
use spelrum_model::CellId;
use spelrum_statistics::{
    EloModel, Interval, OpeningSpread, OverGames, PairCounts, ScoreInterval, Sprt,
};
use spelrum_statistics::{Precision, StopRule};

use super::{figure, id, name};

fn rule() -> impl Strategy<Value = StopRule> {
    let precision =
        (1_u32..500).prop_map(|part| StopRule::from_precision(f64::from(part) / 1_000.0));
    let models = prop::sample::select(EloModel::ALL.to_vec());
    let sprt = (-200.0..0.0, 0.1..200.0, 0.001..0.499, 0.001..0.499, models).prop_map(
        |(elo0, elo1, alpha, beta, model)| {
            Sprt::new(elo0, elo1, alpha, beta, model).map(StopRule::Sprt)
        },
    );
    let over_pairs = (1_u32..500).prop_map(|part| {
        Precision::new(f64::from(part) / 1_000.0)
            .map(|precision| StopRule::Precision(precision.over_pairs()))
    });
    prop_oneof![precision, over_pairs, sprt].prop_map(Option::unwrap)
}

/// Counts that are small enough for arithmetic.
pub(crate) fn cell(axes: usize) -> impl Strategy<Value = CellResult> {
    let small = || 0..1_000_u64;
    let counts = [small(), small(), small(), small(), small(), small(), small(), small()];
    let pairs = [small(), small(), small(), small(), small()];
    let score = option::of([figure(), figure(), figure()]);
    let openings = (
        option::of([figure(), figure()]),
        [small(), small()],
        option::of([figure(), figure(), figure()]),
        option::of(([small(), small(), small()], [colour_score(), colour_score()])),
    );
    let places = vec(option::of(name()), axes);
    let stop = option::of((rule(), small(), option::of(small())));
    (id(), places, [name(), name()], any::<[bool; 3]>(), counts, pairs, score, stop, openings)
        .prop_map(
            |(
                id,
                axes,
                [player, opponent],
                [is_timed, swap_sides, is_self_play],
                counts,
                pairs,
                score,
                stop,
                (
                    spread,
                    [pairs_won_by_first_mover, pairs_won_by_second_mover],
                    first_mover,
                    colours,
                ),
            )| {
                let [
                    games_planned,
                    games,
                    games_failed,
                    wins,
                    draws,
                    losses,
                    distinct_games,
                    openings_used,
                ] = counts;
                CellResult {
                    cell: CellId(id),
                    axes,
                    player,
                    opponent,
                    is_timed,
                    swap_sides,
                    is_self_play,
                    openings_used,
                    games_planned,
                    stop: stop.map(|(rule, games_max, stopped_after)| CellStop {
                        rule,
                        games_max,
                        stopped_after,
                    }),
                    is_one_round: !is_timed,
                    games,
                    games_failed,
                    wins,
                    draws,
                    losses,
                    pairs: PairCounts(pairs),
                    pairs_won_by_first_mover,
                    pairs_won_by_second_mover,
                    distinct_games,
                    score: score.map(|[score, low, high]| ScoreInterval { score, low, high }),
                    sequence_units: score.filter(|_| is_timed).map(|[units, ..]| units),
                    openings: spread
                        .map(|[effective, variance]| OpeningSpread { effective, variance }),
                    first_mover: first_mover.map(|[score, low, high]| ScoreInterval {
                        score,
                        low,
                        high,
                    }),
                    margin: spread.map(|[value, high]| CellMargin {
                        games,
                        mean: OverGames {
                            value,
                            interval: swap_sides.then_some(Interval { value, low: -high, high }),
                        },
                    }),
                    colours: colours
                        .map(|(first, scores)| colours_of([wins, draws, losses], first, scores)),
                }
            },
        )
}

fn colour_score() -> impl Strategy<Value = Option<ScoreInterval>> {
    let interval = |[score, low, high]: [f64; 3]| ScoreInterval { score, low, high };
    option::of([figure(), figure(), figure()]).prop_map(move |score| score.map(interval))
}

/// Both colours' results, with at most this many games moving first.
pub(crate) fn colours_of(
    totals: [u64; 3],
    first: [u64; 3],
    [of_first, of_second]: [Option<ScoreInterval>; 2],
) -> [ColourResult; 2] {
    let first: [u64; 3] = std::array::from_fn(|at| first[at].min(totals[at]));
    let colour =
        |[wins, draws, losses]: [u64; 3], score| ColourResult { wins, draws, losses, score };
    [colour(first, of_first), colour(std::array::from_fn(|at| totals[at] - first[at]), of_second)]
}
