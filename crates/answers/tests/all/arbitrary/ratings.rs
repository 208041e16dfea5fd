//! Random ratings.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{
    Clusters, CyclicRating, Meeting, RatedGroup, RatedPlayer, Ratings, ScaleDeparture, ScaleFit,
};
use spelrum_statistics::ratings::{Cycles, Estimate};

use super::{count, experiment, figure, name};

prop_compose! {
    fn estimate()(elo in figure(), error in option::of(0.0..1e6)) -> Estimate {
        Estimate { elo, error }
    }
}

prop_compose! {
    fn rated_player()(
        name in name(),
        rating in option::of(estimate()),
        is_anchor in any::<bool>(),
        counts in [count(), count(), count(), count()],
    ) -> RatedPlayer {
        let [games, wins, draws, losses] = counts;
        RatedPlayer { name, rating, is_anchor, games, wins, draws, losses }
    }
}

/// Figures of a fit, before it is known how many players there are.
type AnyFit = ([f64; 4], bool, u64, Vec<(u32, u32, [f64; 3])>, Option<[f64; 5]>);

fn any_fit() -> impl Strategy<Value = AnyFit> {
    let departures = vec((any::<u32>(), any::<u32>(), [figure(), figure(), figure()]), 0..4);
    let figures = [figure(), figure(), figure(), figure()];
    let rating = option::of([figure(), figure(), figure(), figure(), figure()]);
    (figures, any::<bool>(), count(), departures, rating)
}

fn scale_fit((figures, is_rejected, freedom, found, rating): AnyFit, players: u32) -> ScaleFit {
    let [p_value, elo, low, high] = figures;
    let departure = |(player, opponent, [score, error, p_value]): (u32, u32, [f64; 3])| {
        let opponent = 1 + opponent % (players - 1);
        ScaleDeparture { player: player % opponent, opponent, score, error, p_value }
    };
    let departures = match players {
        0 | 1 => Vec::new(),
        _ => found.into_iter().map(departure).collect(),
    };
    let rating = rating.map(|[elo, radius, angle, nash_share, nash_elo]| CyclicRating {
        elo,
        radius,
        angle,
        nash_share,
        nash_elo,
    });
    ScaleFit {
        p_value,
        is_rejected,
        freedom,
        cycles: Cycles { elo, low, high },
        departures,
        cyclic_ratings: rating.map_or_else(Vec::new, |rating| std::vec![rating; players as usize]),
    }
}

prop_compose! {
    fn rated_group(axes: usize)(players in 0..5_usize)(
        point in vec(option::of(name()), axes),
        players in vec(rated_player(), players),
        first_move in option::of(estimate()),
        draw_rate in 0.0..1.0,
        counts in [count(), count(), count()],
        by_pairs in any::<bool>(),
        difference_errors in vec(option::of(figure()), players * players.saturating_sub(1) / 2),
        met in vec((any::<u32>(), any::<u32>(), [count(), count(), count()]), 0..4),
        fit in option::of(any_fit()),
    ) -> RatedGroup {
        let [games, self_play_games, clusters] = counts;
        let count = u32::try_from(players.len()).unwrap();
        let meeting = |(player, opponent, [wins, draws, losses]): (u32, u32, [u64; 3])| {
            let opponent = 1 + opponent % (count - 1);
            Meeting { player: player % opponent, opponent, wins, draws, losses }
        };
        let meetings = match count {
            0 | 1 => Vec::new(),
            _ => met.into_iter().map(meeting).collect(),
        };
        RatedGroup {
            point, players, first_move, draw_rate, games, self_play_games, clusters,
            clusters_are: if by_pairs { Clusters::Pairs } else { Clusters::Openings },
            difference_errors, meetings,
            fit: fit.map(|fit| scale_fit(fit, count)),
        }
    }
}

pub(crate) fn ratings() -> impl Strategy<Value = Ratings> {
    (experiment(), vec(name(), 0..3)).prop_flat_map(|(experiment, axes)| {
        vec(rated_group(axes.len()), 0..4).prop_map(move |groups| Ratings {
            experiment: experiment.clone(),
            axes: axes.clone(),
            groups,
        })
    })
}
