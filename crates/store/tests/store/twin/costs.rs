//! Costs of searches.

use spelrum_answers::{CostedPlayer, Costs, CpuTimes, MoveTimes, time_bucket};
use spelrum_engine::MoveRecord;

/// Total costs of these searches; `None` if there are none.
pub(super) fn costs(player: CostedPlayer, searches: &[&MoveRecord]) -> Option<Costs> {
    let count = searches.len() as f64;
    let mean = |figure: &dyn Fn(&MoveRecord) -> f64| {
        searches.iter().map(|mv| figure(mv)).sum::<f64>() / count
    };
    let wall_us_mean = mean(&|mv| mv.wall_us as f64);
    let cpu_us_mean = mean(&|mv| mv.cpu_us as f64);
    let in_buckets = searches.iter().map(|mv| (time_bucket(mv.wall_us), 1));
    let times = MoveTimes::new(in_buckets, wall_us_mean);
    // A search that was stopped before completing a depth has no full tree to compare with.
    let completed = searches.iter().filter(|mv| mv.search.depth > 0);
    let evaluations: f64 = completed.map(|mv| mv.search.evaluations as f64).sum();
    let leaves: f64 = searches.iter().map(|mv| mv.search.full_tree_leaves as f64).sum();
    (!searches.is_empty()).then(|| Costs {
        searched_moves: searches.len() as u64,
        wall_us_mean,
        wall_us_median: times.quantile_us(0.5),
        wall_us_p90: times.quantile_us(0.9),
        wall_us_p95: Some(times.quantile_us(0.95)),
        wall_us_p99: times.quantile_us(0.99),
        depth_mean: mean(&|mv| f64::from(mv.search.depth)),
        nodes_mean: mean(&|mv| mv.search.nodes as f64),
        evaluations_mean: mean(&|mv| mv.search.evaluations as f64),
        full_tree_share: (player.has_full_tree && leaves > 0.0).then(|| evaluations / leaves),
        overruns: player.time_limit_us.map(|limit_us| times.overruns(limit_us)),
        wall_us_game_mean: None,
        wall_us_ratio: None,
        cpu: (player.is_compared_by_cpu && cpu_us_mean > 0.0)
            .then(|| CpuTimes { us_mean: cpu_us_mean, ..CpuTimes::default() }),
    })
}
