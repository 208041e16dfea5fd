//! Ratings of an experiment's players: at each point of the grid, for each set of players that met.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::FixedState;
use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::Outcome;
use spelrum_model::{CellId, Role};
use spelrum_names::Names;
use spelrum_statistics::ratings::{Component, Estimate, Tally, rate};

use crate::checked::{Inconsistent, check_counts, check_places, checked_on_reading};
use crate::scale_fit::ScaleFit;
use crate::summary::ExperimentSummary;

/// Maximum number of players rated on one scale (invariant 9): the covariance of more would take minutes.
pub const RATED_PLAYERS_MAX: usize = 400;
/// Maximum number of games behind ratings, counted at every point of the grid that they belong to.
pub const RATED_GAMES_MAX: u64 = 4_000_000;

/// Maximum number of differences between two players, over all groups: 50 groups of maximum size.
pub const RATED_DIFFERENCES_MAX: usize = 4_000_000;

/// Ratings of an experiment's players, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Ratings {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// Names of the grid's axes, in the sweep's order. Parameters that players vary are part of the players' names.
    pub axes: Vec<String>,
    /// Points in the grid's order, and for each point its groups of players who met, the largest first.
    pub groups: Vec<RatedGroup>,
}

/// Players that met at one point of the grid, directly or through others, on a scale of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct RatedGroup {
    /// The point: its values on the axes; `None` on an axis that applies to none of its cells.
    pub point: Vec<Option<String>>,
    /// The players, the strongest first.
    pub players: Vec<RatedPlayer>,
    /// Value of moving first. `None` if no game shows it, or if it cannot be separated from strength.
    pub first_move: Option<Estimate>,
    /// The share of draws between equal players, apart from the first move.
    pub draw_rate: f64,
    /// Counted games, including self-play.
    pub games: u64,
    /// Self-play games.
    pub self_play_games: u64,
    /// Number of clusters of games behind the intervals.
    pub clusters: u64,
    /// What the games of a cluster share.
    pub clusters_are: Clusters,
    /// Half the widths of the 95% intervals of the players' differences: first and second, first and third, and so
    /// on, then second and third.
    pub difference_errors: Vec<Option<f64>>,
    /// Results of every pair of players that met, in the same order.
    pub meetings: Vec<Meeting>,
    /// Whether one scale fits the games. `None` where it could not fail, as where the players met only in a tree, and
    /// with fewer than six clusters.
    pub fit: Option<ScaleFit>,
}

checked_on_reading!(Ratings, RatedGroup);

impl Ratings {
    fn check(&self) -> Result<(), Inconsistent> {
        check_places("groups", &self.axes, self.groups.iter().map(|group| &*group.point))
    }
}

impl RatedGroup {
    fn check(&self) -> Result<(), Inconsistent> {
        let (players, differences) = (self.players.len(), self.difference_errors.len());
        if differences != players * players.saturating_sub(1) / 2 {
            let problem = format_args!("{differences} differences between {players} players");
            return Err(Inconsistent::new(problem));
        }
        let is_ordered = |meeting: &Meeting| {
            meeting.player < meeting.opponent && (meeting.opponent as usize) < players
        };
        if !self.meetings.iter().all(is_ordered) {
            return Err(Inconsistent::new("a meeting of players that are not in its group"));
        }
        if let Some(fit) = &self.fit {
            fit.check(players)?;
        }
        let met = self.meetings.iter().flat_map(|met| [met.wins, met.draws, met.losses]);
        let played = self
            .players
            .iter()
            .flat_map(|player| [player.games, player.wins, player.draws, player.losses]);
        check_counts("ratings", met.chain(played))
    }
}

/// Ways to cluster games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum Clusters {
    /// The opening from which they started.
    Openings,
    /// All games have one opening: clusters are pairs of games, or games where sides are fixed.
    Pairs,
}

/// A player, with its rating.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatedPlayer {
    /// Its name in the sweep.
    pub name: String,
    /// Its rating: 0 is the mean of the anchors in its group, or of all its players. `None` if it met no other
    /// player.
    pub rating: Option<Estimate>,
    /// Whether the player is an anchor.
    pub is_anchor: bool,
    /// Games against others.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

/// Results of the games between two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meeting {
    /// The stronger player, by its place in the group.
    pub player: u32,
    /// The other.
    pub opponent: u32,
    /// Games that the stronger player won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games that the other won.
    pub losses: u64,
}

/// The limit that the players or games exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatingsLimit {
    /// Too many players met.
    #[error("more than {RATED_PLAYERS_MAX} players have met, too many to be rated together")]
    Players,
    /// Too many pairs of players, at all points together.
    #[error("more than {RATED_DIFFERENCES_MAX} pairs of players would have to be compared")]
    Differences,
    /// Too many games, at all points together.
    #[error("more than {RATED_GAMES_MAX} games would have to be read")]
    Games,
}

impl RatedGroup {
    /// Returns how much stronger one player is than another, by their places.
    #[must_use]
    pub fn difference(&self, player: usize, other: usize) -> Option<Estimate> {
        let [stronger, weaker] = [player.min(other), player.max(other)];
        let elo = self.players.get(player)?.rating?.elo - self.players.get(other)?.rating?.elo;
        if stronger == weaker {
            return Some(Estimate { elo: 0.0, error: Some(0.0) });
        }
        let error = self.difference_errors.get(triangle(self.players.len(), stronger, weaker));
        Some(Estimate { elo, error: error.copied().flatten() })
    }
}

/// Returns the index of a pair in the list of all pairs of `count` players.
fn triangle(count: usize, low: usize, high: usize) -> usize {
    low * (2 * count - low - 1) / 2 + high - low - 1
}

impl RatedPlayer {
    /// Returns its points per game; `None` without games.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let points = self.wins as f64 + self.draws as f64 / 2.0;
        (self.games > 0).then(|| points / self.games as f64)
    }
}

impl Meeting {
    /// Returns the number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Returns the stronger player's points per game.
    #[must_use]
    pub fn score(&self) -> f64 {
        (self.wins as f64 + self.draws as f64 / 2.0) / self.games() as f64
    }
}

/// Games of an experiment as a store reads them: by cell in the grid's order, then by game number, so that the same
/// games give identical ratings to the last bit.
#[derive(Debug)]
pub struct GamesToRate {
    /// Indices of the grid's axes.
    grid: Vec<usize>,
    axes: Vec<String>,
    clusters_are: Clusters,
    clusters: IndexSet<i64, FixedState>,
    cells: Vec<CellToRate>,
}

#[derive(Debug)]
struct CellToRate {
    /// `None` where ratings of single cells are not asked for.
    id: Option<CellId>,
    place: Vec<Option<String>>,
    player: String,
    opponent: String,
    /// Cluster * 6 + 3 if the opponent moved first + outcome.
    games: Vec<u64>,
}

const OUTCOMES: u64 = 3;

impl GamesToRate {
    /// Creates an empty set with these axes.
    #[must_use]
    pub fn on(axes: &[String], clusters_are: Clusters) -> Self {
        let grid: Vec<usize> =
            (0..axes.len()).filter(|&axis| Role::from_axis(&axes[axis]).is_none()).collect();
        Self {
            axes: grid.iter().map(|&axis| axes[axis].clone()).collect(),
            grid,
            clusters_are,
            clusters: IndexSet::default(),
            cells: Vec::new(),
        }
    }

    /// Adds the next cell, by its values on the axes and the names of its first and second player.
    pub fn cell(&mut self, axes: &[Option<String>], player: String, opponent: String) {
        let place = self.grid.iter().map(|&axis| axes.get(axis).cloned().flatten()).collect();
        self.cells.push(CellToRate { id: None, place, player, opponent, games: Vec::new() });
    }

    /// Says which cell the last one is, for ratings by the cells of a claim.
    pub fn identify(&mut self, id: CellId) {
        if let Some(cell) = self.cells.last_mut() {
            cell.id = Some(id);
        }
    }

    /// Those of these cells that are among others.
    pub(crate) fn among(&self, cells: &[usize], ids: &BTreeSet<CellId>) -> Vec<usize> {
        let is_among = |&&cell: &&usize| self.cells[cell].id.is_some_and(|id| ids.contains(&id));
        cells.iter().filter(is_among).copied().collect()
    }

    /// Adds the next counted game of the last cell: its cluster, whether the cell's first player moved first, and the
    /// outcome for the first mover.
    ///
    /// A pair's cluster is its number in its cell: cells do not share pairs.
    pub fn game(&mut self, cluster: i64, player_first: bool, outcome: Outcome) {
        let index = match self.clusters_are {
            Clusters::Openings => self.clusters.insert_full(cluster).0 as u64,
            Clusters::Pairs => cluster.unsigned_abs(),
        };
        let outcome = match outcome {
            Outcome::Win => 0,
            Outcome::Draw => 1,
            Outcome::Loss => 2,
        };
        if let Some(cell) = self.cells.last_mut() {
            let side = if player_first { 0 } else { OUTCOMES };
            cell.games.push(index * 2 * OUTCOMES + side + outcome);
        }
    }

    /// Returns the kind of clusters.
    #[must_use]
    pub fn clusters_are(&self) -> Clusters {
        self.clusters_are
    }

    /// Whether all games have one opening, so that they must be clustered by pairs.
    #[must_use]
    pub fn has_one_opening(&self) -> bool {
        self.clusters_are == Clusters::Openings && self.clusters.len() == 1
    }

    /// Computes the ratings.
    ///
    /// # Errors
    /// If there are too many players or games.
    pub fn rate(
        self,
        experiment: ExperimentSummary,
        anchors: &BTreeSet<String>,
    ) -> Result<Ratings, RatingsLimit> {
        self.check_games()?;
        let (mut groups, mut differences) = (Vec::new(), 0);
        for (point, cells) in &self.points() {
            let here = self.groups(point, cells, anchors)?;
            differences += here.iter().map(|group| group.difference_errors.len()).sum::<usize>();
            if differences > RATED_DIFFERENCES_MAX {
                return Err(RatingsLimit::Differences);
            }
            groups.extend(here);
        }
        Ok(Ratings { experiment, axes: self.axes, groups })
    }

    /// Refuses more games than can be rated, over all points.
    pub(crate) fn check_games(&self) -> Result<(), RatingsLimit> {
        let points = self.points();
        let games = points.iter().flat_map(|(_, cells)| cells);
        let games: u64 = games.map(|&cell| self.cells[cell].games.len() as u64).sum();
        if games > RATED_GAMES_MAX { Err(RatingsLimit::Games) } else { Ok(()) }
    }

    /// The names of the grid's axes.
    pub(crate) fn axes(&self) -> &[String] {
        &self.axes
    }

    /// Returns the points of the grid in the order of their first cells, each with its cells. A cell to which an axis
    /// does not apply belongs to every point that equals it on the others.
    pub(crate) fn points(&self) -> Vec<(Vec<Option<String>>, Vec<usize>)> {
        type Place = Vec<Option<String>>;
        let mask = |place: &Place| -> Vec<bool> { place.iter().map(Option::is_some).collect() };
        let masks: BTreeSet<Vec<bool>> = self.cells.iter().map(|cell| mask(&cell.place)).collect();
        let mut places: IndexMap<&Place, Vec<usize>, FixedState> = IndexMap::default();
        for (index, cell) in self.cells.iter().enumerate() {
            places.entry(&cell.place).or_default().push(index);
        }
        // The less definite places within each place.
        let within = |place: &Place| -> Vec<Place> {
            let own_mask = mask(place);
            let is_less = |mask: &&Vec<bool>| {
                **mask != own_mask && mask.iter().zip(&own_mask).all(|(&less, &more)| more || !less)
            };
            let reduced = |mask: &Vec<bool>| {
                let values = place.iter().zip(mask);
                values.map(|(value, &kept)| value.clone().filter(|_| kept)).collect()
            };
            masks.iter().filter(is_less).map(reduced).collect()
        };
        let dominated: BTreeSet<Place> = places.keys().flat_map(|place| within(place)).collect();
        let mut points = Vec::new();
        for (&place, cells_there) in places.iter().filter(|(place, _)| !dominated.contains(**place))
        {
            let shared = within(place);
            let shared = shared.iter().filter_map(|place| places.get(place)).flatten();
            let mut cells: Vec<usize> = cells_there.iter().chain(shared).copied().collect();
            cells.sort_unstable();
            points.push((place.clone(), cells));
        }
        points
    }

    /// Returns the groups of players that met at a point.
    fn groups(
        &self,
        point: &[Option<String>],
        cells: &[usize],
        anchors: &BTreeSet<String>,
    ) -> Result<Vec<RatedGroup>, RatingsLimit> {
        let RatedPoint { names, met, components } = self.rate_point(cells)?;
        let players =
            PointPlayers { names: &names, met: &met, anchors, clusters_are: self.clusters_are };
        Ok(components.iter().map(|component| players.group(point, component)).collect())
    }

    /// Rates the players of a point, by its cells.
    pub(crate) fn rate_point(&self, cells: &[usize]) -> Result<RatedPoint<'_>, RatingsLimit> {
        let mut names: IndexSet<&str, FixedState> = IndexSet::default();
        let mut tallies = Vec::new();
        let mut met: BTreeMap<(usize, usize), [u64; 3]> = BTreeMap::new();
        let mut pairs_before = 0;
        for &index in cells {
            let cell = &self.cells[index];
            let (player, _) = names.insert_full(cell.player.as_str());
            let (opponent, _) = names.insert_full(cell.opponent.as_str());
            let mut games = cell.games.clone();
            games.sort_unstable();
            let mut last = 0;
            // Equal in cluster and first mover.
            for alike in games.chunk_by(|a, b| a / OUTCOMES == b / OUTCOMES) {
                let (cluster, swapped) = (alike[0] / (2 * OUTCOMES), alike[0] / OUTCOMES % 2 == 1);
                let mut counts = [0; 3];
                for game in alike {
                    counts[(game % OUTCOMES) as usize] += 1;
                }
                let [wins, draws, losses] = counts;
                last = cluster;
                let cluster = match self.clusters_are {
                    Clusters::Openings => cluster,
                    Clusters::Pairs => pairs_before + cluster,
                };
                let (first, second) = if swapped { (opponent, player) } else { (player, opponent) };
                tallies.push(Tally {
                    cluster: u32::try_from(cluster).map_err(|_| RatingsLimit::Games)?,
                    first: first as u32,
                    second: second as u32,
                    wins,
                    draws,
                    losses,
                });
                let of_first = [wins, draws, losses].map(u64::from);
                let seen = if first <= second { of_first } else { reversed(of_first) };
                let sums = met.entry((first.min(second), first.max(second))).or_default();
                for (sum, games) in sums.iter_mut().zip(seen) {
                    *sum += games;
                }
            }
            pairs_before += last + 1;
        }
        let components =
            rate(names.len(), RATED_PLAYERS_MAX, &tallies).ok_or(RatingsLimit::Players)?;
        Ok(RatedPoint { names: names.into_iter().collect(), met, components })
    }
}

/// The rated players of a point.
pub(crate) struct RatedPoint<'a> {
    /// The players' names, by their numbers.
    pub(crate) names: Vec<&'a str>,
    /// Results of every pair that met, the earlier player's wins first.
    met: BTreeMap<(usize, usize), [u64; 3]>,
    /// The players that met, directly or through others.
    pub(crate) components: Vec<Component>,
}

/// The data of a point's players.
struct PointPlayers<'a> {
    names: &'a [&'a str],
    /// Results of every pair that met, the earlier player's wins first.
    met: &'a BTreeMap<(usize, usize), [u64; 3]>,
    anchors: &'a BTreeSet<String>,
    clusters_are: Clusters,
}

impl PointPlayers<'_> {
    fn group(&self, point: &[Option<String>], component: &Component) -> RatedGroup {
        let members = component.players();
        let reference: Vec<usize> =
            (0..members.len()).filter(|&member| self.is_anchor(members[member])).collect();
        let ratings: Vec<Estimate> =
            (0..members.len()).map(|member| component.rating(member, &reference)).collect();
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&a, &b| ratings[b].elo.total_cmp(&ratings[a].elo));
        // The place of each player of the point in the group.
        let mut rank = BTreeMap::new();
        for (place, &member) in order.iter().enumerate() {
            rank.insert(members[member], place);
        }
        let mut players: Vec<RatedPlayer> = order
            .iter()
            .map(|&member| RatedPlayer {
                name: self.names[members[member]].to_owned(),
                rating: (members.len() > 1).then_some(ratings[member]),
                is_anchor: self.is_anchor(members[member]),
                games: 0,
                wins: 0,
                draws: 0,
                losses: 0,
            })
            .collect();
        let (mut games, mut self_play_games) = (0, 0);
        let mut meetings = Vec::new();
        for (&(a, b), &counts) in self.met {
            let (Some(&of_a), Some(&of_b)) = (rank.get(&a), rank.get(&b)) else { continue };
            let sum: u64 = counts.iter().sum();
            games += sum;
            if a == b {
                self_play_games += sum;
                continue;
            }
            for (place, [wins, draws, losses]) in [(of_a, counts), (of_b, reversed(counts))] {
                let player = &mut players[place];
                player.games += sum;
                player.wins += wins;
                player.draws += draws;
                player.losses += losses;
            }
            let [wins, draws, losses] = if of_a < of_b { counts } else { reversed(counts) };
            let (player, opponent) = (of_a.min(of_b) as u32, of_a.max(of_b) as u32);
            meetings.push(Meeting { player, opponent, wins, draws, losses });
        }
        meetings.sort_unstable_by_key(|meeting| (meeting.player, meeting.opponent));
        let pairs = (0..order.len()).flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)));
        let error = |(a, b): (usize, usize)| component.difference(order[a], order[b]).error;
        RatedGroup {
            point: point.to_vec(),
            players,
            first_move: component.first_move(),
            draw_rate: component.draw_rate(),
            games,
            self_play_games,
            clusters: component.clusters(),
            clusters_are: self.clusters_are,
            difference_errors: pairs.map(error).collect(),
            meetings,
            fit: ScaleFit::new(component, &order, &reference),
        }
    }

    fn is_anchor(&self, player: usize) -> bool {
        self.anchors.contains(self.names[player])
    }
}

/// Swaps wins, draws and losses to the other player's view.
fn reversed([wins, draws, losses]: [u64; 3]) -> [u64; 3] {
    [losses, draws, wins]
}

#[cfg(test)]
mod tests;
