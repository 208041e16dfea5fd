//! What games depart from the model's expectation: points of each pairing by groups of clusters, less what the
//! estimation of the parameters explains.

use nalgebra::linalg::Cholesky;
use nalgebra::{DMatrix, DVector};

use super::Tally;
use super::model::{Layout, Match};

/// Most groups of clusters. More clusters are put together: sums of independent clusters are independent, and Student's
/// quantile with 63 degrees of freedom is nearly the normal one.
pub(super) const GROUPS_MAX: usize = 64;
/// A pairing whose residual varies less than this, as a share of its points' variance, has none: parameters absorb
/// it, as where no other games connect the two players.
const FREE_MIN: f64 = 1e-6;
/// The variance of an even game's points.
pub(super) const EVEN_GAME: f64 = 0.25;

/// Departures of the points of pairings, by groups of clusters.
pub(super) struct Residuals {
    pub(super) groups: usize,
    pub(super) pairings: Vec<Pairing>,
    /// The residual of each pairing in each group of clusters: all groups of the first pairing, then of the second.
    parts: Vec<f64>,
}

/// Two players that met, on whose games the model can fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pairing {
    pub(super) player: usize,
    pub(super) opponent: usize,
    pub(super) games: f64,
    /// Points of the player.
    pub(super) points: f64,
    /// The variance of the points if games were independent.
    pub(super) variance: f64,
    /// The part of that variance that no parameter absorbs.
    pub(super) free: f64,
}

impl Pairing {
    /// What the squares of its residuals lack to the variance of one even game: where all clusters went alike, nothing
    /// else would be uncertain.
    pub(super) fn missing_variance(&self, parts: &[f64]) -> f64 {
        (EVEN_GAME.min(self.variance) - sum_of_squares(parts)).max(0.0)
    }
}

pub(super) fn sum_of_squares(parts: &[f64]) -> f64 {
    parts.iter().map(|part| part * part).sum()
}

impl Residuals {
    /// Tallies are sorted by cluster, and matches sum them. `None` if no pairing can depart.
    ///
    /// A group's residual is `r - A H^-1 g`, with r its points less those expected, g its gradient, A the derivative
    /// of the pairing's expectation and H the curvature without the prior. This is the score test's (White 1982; Boos
    /// 1992): whatever the parameters' true values are nearby, they cancel, and so do the virtual games.
    pub(super) fn new(
        layout: &Layout,
        at: &DVector<f64>,
        matches: &[Match],
        tallies: &[Tally],
    ) -> Option<Self> {
        let players = layout.players;
        let index = |first: usize, second: usize| first * players + second;
        // Expectations of a game, the place of the pairing, and the derivatives of its expectation.
        let mut expected = vec![[0.0; 2]; players * players];
        let mut place = vec![usize::MAX; players * players];
        let (mut all, mut derivatives): (Vec<Pairing>, Vec<[f64; 2]>) = (Vec::new(), Vec::new());
        for result in matches {
            let chances = layout.chances(at, result.first, result.second);
            expected[index(result.first, result.second)] = [chances.lead(), chances.draw];
            if result.first == result.second {
                continue;
            }
            let (player, opponent) =
                (result.first.min(result.second), result.first.max(result.second));
            let here = &mut place[index(player, opponent)];
            if *here == usize::MAX {
                *here = all.len();
                all.push(Pairing {
                    player,
                    opponent,
                    games: 0.0,
                    points: 0.0,
                    variance: 0.0,
                    free: 0.0,
                });
                derivatives.push([0.0; 2]);
            }
            let pairing = &mut all[*here];
            let games = result.wins + result.draws + result.losses;
            let variance = games * chances.points_variance();
            let sign = if result.first == player { 1.0 } else { -1.0 };
            let won = if result.first == player { result.wins } else { result.losses };
            pairing.games += games;
            pairing.points += won + result.draws / 2.0;
            pairing.variance += variance;
            let [of_first_move, of_draws] = &mut derivatives[*here];
            *of_first_move += sign * variance;
            *of_draws -= sign * games * chances.draw * chances.lead();
        }
        // Fewer meetings than a tree has, or as many, are fitted exactly.
        if all.len() < players {
            return None;
        }
        let inverse = inverse(layout, at, matches)?;
        let row = |pairing: &Pairing, [of_first_move, of_draws]: [f64; 2]| {
            let mut row =
                vec![(pairing.player, pairing.variance), (pairing.opponent, -pairing.variance)];
            row.extend(layout.first_move.map(|parameter| (parameter, of_first_move)));
            row.extend(layout.draws.map(|parameter| (parameter, of_draws)));
            row
        };
        let mut rows = Vec::with_capacity(all.len());
        for (pairing, &by) in all.iter_mut().zip(&derivatives) {
            let row = row(pairing, by);
            let pairs = row.iter().flat_map(|a| row.iter().map(move |b| (a, b)));
            let absorbed: f64 = pairs.map(|(a, b)| a.1 * b.1 * inverse[(a.0, b.0)]).sum();
            pairing.free = (pairing.variance - absorbed).max(0.0);
            rows.push(row);
        }
        let clusters = tallies.chunk_by(|a, b| a.cluster == b.cluster).count();
        let groups = clusters.min(GROUPS_MAX);
        let mut parts = vec![0.0; groups * all.len()];
        let mut gradient = DMatrix::zeros(layout.parameters(), groups);
        for (number, cluster) in tallies.chunk_by(|a, b| a.cluster == b.cluster).enumerate() {
            let group = number % groups;
            for tally in cluster {
                let (first, second) = (tally.first as usize, tally.second as usize);
                let [lead, draw] = expected[index(first, second)];
                let games = f64::from(tally.games());
                let points = (f64::from(tally.wins) - f64::from(tally.losses)) / 2.0;
                let residual = points - games * lead;
                if let Some(first_move) = layout.first_move {
                    gradient[(first_move, group)] += residual;
                }
                if let Some(draws) = layout.draws {
                    gradient[(draws, group)] += f64::from(tally.draws) - games * draw;
                }
                if first != second {
                    gradient[(first, group)] += residual;
                    gradient[(second, group)] -= residual;
                    let pairing = place[index(first.min(second), first.max(second))];
                    let signed = if first < second { residual } else { -residual };
                    parts[group * all.len() + pairing] += signed;
                }
            }
        }
        let moved = inverse * gradient;
        let (mut pairings, mut kept) = (Vec::new(), Vec::new());
        for (number, (pairing, row)) in all.iter().zip(&rows).enumerate() {
            if pairing.free <= FREE_MIN * pairing.variance {
                continue;
            }
            pairings.push(*pairing);
            kept.extend((0..groups).map(|group| {
                let absorbed: f64 = row.iter().map(|&(at, by)| by * moved[(at, group)]).sum();
                parts[group * all.len() + number] - absorbed
            }));
        }
        (!pairings.is_empty()).then_some(Self { groups, pairings, parts: kept })
    }

    /// The pairings, each with its residuals by group.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Pairing, &[f64])> {
        self.pairings.iter().zip(self.parts.chunks_exact(self.groups))
    }
}

/// The inverse of the curvature without the prior. Strengths are determined up to a common shift, which moves no
/// expectation: it is held by another term.
fn inverse(layout: &Layout, at: &DVector<f64>, matches: &[Match]) -> Option<DMatrix<f64>> {
    let (_, mut curvature) = layout.played(at, matches);
    let players = layout.players;
    let held = (0..players).map(|player| curvature[(player, player)]).sum::<f64>()
        / (players * players) as f64;
    for row in 0..players {
        for column in 0..players {
            curvature[(row, column)] += held;
        }
    }
    let inverse = Cholesky::new(curvature)?.inverse();
    inverse.iter().all(|value| value.is_finite()).then_some(inverse)
}
