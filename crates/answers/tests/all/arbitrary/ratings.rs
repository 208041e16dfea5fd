//! Random ratings.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{Clusters, Meeting, RatedGroup, RatedPlayer, Ratings};
use spelrum_statistics::ratings::Estimate;

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
