//! Components: players on one scale because they met, directly or through others.

use std::collections::BTreeMap;

use super::covariance::{ClusterCount, Covariance, draw_rate, elo_scale};
use super::disc::Disc;
use super::fit::maximum;
use super::lack_of_fit::LackOfFit;
use super::model::{Layout, Match};
use super::{Estimate, Tally};

/// Players that met, directly or through others, on a scale of their own.
pub struct Component {
    players: Vec<usize>,
    /// The Elo of each, around an arbitrary zero; the first move's is last.
    elo: Vec<f64>,
    /// The effective number of clusters that inform each player's rating, and last the first move's.
    cluster_counts: Vec<ClusterCount>,
    covariance: Option<Covariance>,
    first_move: Option<Estimate>,
    draw_rate: f64,
    clusters: u64,
    lack_of_fit: Option<LackOfFit>,
    disc: Option<Disc>,
}

/// Rates players, numbered from 0: each component separately, the largest first, then by their first players. Games of
/// a player against itself inform only the first move and draws. `None` if more than `players_max` have met.
///
/// # Panics
/// If a tally names an unknown player.
#[must_use]
pub fn rate(players: usize, players_max: usize, tallies: &[Tally]) -> Option<Vec<Component>> {
    let components = components(players, tallies);
    if components.iter().any(|members| members.len() > players_max) {
        return None;
    }
    // The component of each player, and its place there.
    let mut place = vec![(0, 0); players];
    for (number, members) in components.iter().enumerate() {
        for (index, &player) in members.iter().enumerate() {
            place[player] = (number, index);
        }
    }
    let mut parts: Vec<Vec<Tally>> = vec![Vec::new(); components.len()];
    for tally in tallies.iter().filter(|tally| tally.games() > 0) {
        let local = |player: u32| place[player as usize].1 as u32;
        parts[place[tally.first as usize].0].push(Tally {
            first: local(tally.first),
            second: local(tally.second),
            ..*tally
        });
    }
    let mut rated: Vec<_> = components.into_iter().zip(parts).collect();
    rated.sort_by_key(|(members, _)| std::cmp::Reverse(members.len()));
    Some(rated.into_iter().map(|(members, part)| Component::new(members, part)).collect())
}

impl Component {
    fn new(players: Vec<usize>, mut tallies: Vec<Tally>) -> Self {
        // Identical games give identical figures to the last bit, in any order.
        tallies.sort_unstable();
        let matches = matches(&tallies);
        let is_first_move_estimated =
            !matches.is_empty() && is_first_move_identifiable(players.len(), &matches);
        let any_draw = matches.iter().any(|result| result.draws > 0.0);
        let layout = Layout {
            players: players.len(),
            first_move: is_first_move_estimated.then_some(players.len()),
            draws: any_draw.then_some(players.len() + usize::from(is_first_move_estimated)),
        };
        let maximum = maximum(&layout, &matches);
        let (cluster_counts, clusters) = count_clusters(&layout, &tallies);
        let covariance = Covariance::new(&layout, &maximum, &tallies);
        let lack_of_fit = LackOfFit::new(&layout, &maximum.at, &matches, &tallies);
        let rejected = lack_of_fit.as_ref().filter(|fit| fit.is_rejected());
        let disc = rejected.and_then(|fit| Disc::new(&layout, &maximum.at, &matches, fit));
        let scale = elo_scale(&layout, &maximum.at);
        let figures = layout.players + usize::from(is_first_move_estimated);
        let elo: Vec<f64> = (0..figures).map(|figure| scale * maximum.at[figure]).collect();
        let mut component = Self {
            draw_rate: draw_rate(&layout, &maximum.at),
            players,
            elo,
            cluster_counts,
            covariance,
            first_move: None,
            clusters,
            lack_of_fit,
            disc,
        };
        component.first_move =
            layout.first_move.map(|first_move| component.estimate(&[(first_move, 1.0)]));
        component
    }

    /// Its players' numbers. The other methods count players from 0, in this order.
    #[must_use]
    pub fn players(&self) -> &[usize] {
        &self.players
    }

    /// The strength of one player relative to another.
    ///
    /// # Panics
    /// If there is no such player; also in the methods below.
    #[must_use]
    pub fn difference(&self, player: usize, other: usize) -> Estimate {
        if player == other {
            return Estimate { elo: 0.0, error: Some(0.0) };
        }
        self.estimate(&[(player, 1.0), (other, -1.0)])
    }

    /// The same with the variance of its error, for tests; two different players. `None` where there are too few
    /// clusters to know it.
    #[must_use]
    pub fn lead(&self, player: usize, other: usize) -> Option<crate::Estimate> {
        let counts = [player, other].map(|player| self.cluster_counts[player]);
        let weights = [(player, 1.0), (other, -1.0)];
        let least = counts[0].least(counts[1]);
        let (variance, freedom) = self.covariance.as_ref()?.variance(&weights, least);
        let value = self.elo[player] - self.elo[other];
        (freedom >= 1.0).then_some(crate::Estimate { value, variance, freedom })
    }

    /// The strength of one player relative to the mean of these, or of all if none is given.
    #[must_use]
    pub fn rating(&self, player: usize, reference: &[usize]) -> Estimate {
        let all: Vec<usize> = (0..self.players.len()).collect();
        let reference = if reference.is_empty() { &all } else { reference };
        if let &[other] = reference {
            return self.difference(player, other);
        }
        let share = 1.0 / reference.len() as f64;
        let mut weights: BTreeMap<usize, f64> = [(player, 1.0)].into();
        for &other in reference {
            *weights.entry(other).or_default() -= share;
        }
        // The player's clusters decide; the mean has many.
        let weights: Vec<_> = weights.into_iter().collect();
        let elo = weights.iter().map(|&(figure, weight)| weight * self.elo[figure]).sum::<f64>();
        Estimate { elo: elo + 0.0, error: self.error(&weights, self.cluster_counts[player]) }
    }

    /// The value of moving first; `None` if not identifiable from strength, because each player always moves first
    /// against those below it in some order, and second against those above.
    #[must_use]
    pub fn first_move(&self) -> Option<Estimate> {
        self.first_move
    }

    /// The share of draws between equal players, apart from the first move.
    #[must_use]
    pub fn draw_rate(&self) -> f64 {
        self.draw_rate
    }

    /// The number of clusters of its games.
    #[must_use]
    pub fn clusters(&self) -> u64 {
        self.clusters
    }

    /// Whether one scale fits the games. `None` where it could not fail: where the players met only in a tree, or with
    /// fewer than six clusters.
    #[must_use]
    pub fn lack_of_fit(&self) -> Option<&LackOfFit> {
        self.lack_of_fit.as_ref()
    }

    /// Ratings that allow for cycles. `None` where one scale fits, or is not tested, or for more than
    /// [`super::DISC_PLAYERS_MAX`] players.
    #[must_use]
    pub fn disc(&self) -> Option<&Disc> {
        self.disc.as_ref()
    }

    fn estimate(&self, weights: &[(usize, f64)]) -> Estimate {
        let elo = weights.iter().map(|&(figure, weight)| weight * self.elo[figure]).sum::<f64>();
        let clusters = weights
            .iter()
            .map(|&(figure, _)| self.cluster_counts[figure])
            .reduce(ClusterCount::least);
        // Adding zero makes the zero of equals positive.
        Estimate {
            elo: elo + 0.0,
            error: clusters.and_then(|clusters| self.error(weights, clusters)),
        }
    }

    fn error(&self, weights: &[(usize, f64)], clusters: ClusterCount) -> Option<f64> {
        self.covariance.as_ref()?.error(weights, clusters)
    }
}

/// The players of each component in order; components in the order of their first players.
fn components(players: usize, tallies: &[Tally]) -> Vec<Vec<usize>> {
    // Each points to an earlier one of its component, or to itself.
    let mut earlier: Vec<usize> = (0..players).collect();
    fn first(earlier: &mut [usize], mut player: usize) -> usize {
        while earlier[player] != player {
            earlier[player] = earlier[earlier[player]];
            player = earlier[player];
        }
        player
    }
    for tally in tallies.iter().filter(|tally| tally.games() > 0) {
        let a = first(&mut earlier, tally.first as usize);
        let b = first(&mut earlier, tally.second as usize);
        earlier[a.max(b)] = a.min(b);
    }
    let mut components: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for player in 0..players {
        components.entry(first(&mut earlier, player)).or_default().push(player);
    }
    components.into_values().collect()
}

/// All games of one player against another, for each order of the two.
fn matches(tallies: &[Tally]) -> Vec<Match> {
    let mut matches: BTreeMap<(u32, u32), [u64; 3]> = BTreeMap::new();
    for tally in tallies {
        let sums = matches.entry((tally.first, tally.second)).or_default();
        for (sum, games) in sums.iter_mut().zip([tally.wins, tally.draws, tally.losses]) {
            *sum += u64::from(games);
        }
    }
    let to_match = |(&(first, second), sums): (&(u32, u32), &[u64; 3])| {
        let [wins, draws, losses] = sums.map(|games| games as f64);
        Match { first: first as usize, second: second as usize, wins, draws, losses }
    };
    matches.iter().map(to_match).collect()
}

/// Whether the first move is identifiable from strength. It is not if players can be put on steps such that the first
/// mover is always one step above the other: then a first move worth more and lower steps are equivalent.
fn is_first_move_identifiable(players: usize, matches: &[Match]) -> bool {
    let mut met: Vec<Vec<(usize, i64)>> = vec![Vec::new(); players];
    for result in matches {
        met[result.first].push((result.second, -1));
        met[result.second].push((result.first, 1));
    }
    let mut steps: Vec<Option<i64>> = vec![None; players];
    steps[0] = Some(0);
    let mut waiting = vec![0];
    while let Some(player) = waiting.pop() {
        for &(other, up) in &met[player] {
            let step = steps[player].map(|step| step + up);
            if steps[other].is_none() {
                steps[other] = step;
                waiting.push(other);
            } else if steps[other] != step {
                return true;
            }
        }
    }
    false
}

/// The effective number of clusters that inform each player and the first move; and the number of all clusters. Tallies
/// are sorted by cluster.
fn count_clusters(layout: &Layout, tallies: &[Tally]) -> (Vec<ClusterCount>, u64) {
    let mut sums = vec![[0.0; 2]; layout.players];
    let (mut all, mut clusters) = ([0.0; 2], 0);
    let mut games = vec![0.0; layout.players];
    let add = |[sum, squares]: &mut [f64; 2], games: f64| {
        *sum += games;
        *squares += games * games;
    };
    for cluster in tallies.chunk_by(|a, b| a.cluster == b.cluster) {
        clusters += 1;
        for tally in cluster.iter().filter(|tally| tally.first != tally.second) {
            games[tally.first as usize] += f64::from(tally.games());
            games[tally.second as usize] += f64::from(tally.games());
        }
        add(&mut all, cluster.iter().map(|tally| f64::from(tally.games())).sum());
        for player in cluster.iter().flat_map(|tally| [tally.first, tally.second]) {
            add(&mut sums[player as usize], std::mem::take(&mut games[player as usize]));
        }
    }
    let count = |[sum, squares]: [f64; 2]| ClusterCount::from_games(sum, squares);
    let effective = sums.into_iter().chain(layout.first_move.map(|_| all)).map(count).collect();
    (effective, clusters)
}
