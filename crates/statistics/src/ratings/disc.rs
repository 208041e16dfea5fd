//! Ratings that allow for cycles: a disc beside the scale.
//!
//! Each player has a place (a, b) in a plane besides its strength s, and the lead of player i over player j is
//!
//! ```text
//! s_i - s_j + a_i b_j - b_i a_j
//! ```
//!
//! The last two terms are the simplest that can make a cycle (Balduzzi et al. 2018, "mElo2"; Bertrand, Czarnecki and
//! Gidel 2023). In polar coordinates they are the product of both radii and the sine of the angle from i to j: a player
//! gains against those that follow it within half a turn.

use nalgebra::linalg::Cholesky;
use nalgebra::{DMatrix, DVector};

use super::covariance::elo_scale;
use super::lack_of_fit::LackOfFit;
use super::model::{Chances, Layout, Match, match_value};

/// Maximum number of players that are placed on a disc: each step solves equations of three times as many unknowns.
pub const DISC_PLAYERS_MAX: usize = 50;
/// Fewer players than this cannot make a cycle.
const PLAYERS_MIN: usize = 3;
/// Most steps. A few dozen suffice in practice.
const STEPS_MAX: u32 = 500;
const HALVINGS_MAX: u32 = 40;
/// The maximum is found when a step gains less than this in log-likelihood.
const GAIN_MIN: f64 = 1e-9;
/// Rounds of the search for the plane in which departures are largest.
const PLANE_ROUNDS: u32 = 200;

/// A scale, and a disc beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Disc {
    /// The players, in the component's order.
    pub players: Vec<DiscPlace>,
    /// The expected points per game of each player against each other without the first move, less one half: a row for
    /// each player.
    pub(super) scores: DMatrix<f64>,
}

/// A player's strength and its place on the disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscPlace {
    /// Its strength in Elo: what it has, on average, against the players of the disc.
    pub elo: f64,
    /// Its distance from the middle. Two players' distances multiplied are the Elo that their angle can make.
    pub radius: f64,
    /// Its angle in degrees, from 0 to 360, from the player that is farthest out. It gains against those up to 180
    /// degrees ahead.
    pub angle: f64,
}

/// The parameters of the scale, and both coordinates.
struct Places {
    scale: DVector<f64>,
    a: DVector<f64>,
    b: DVector<f64>,
}

impl Disc {
    /// The most likely disc. `None` for too few or too many players. The coordinates have the prior of strengths: one
    /// virtual game for each.
    pub(super) fn new(
        layout: &Layout,
        at: &DVector<f64>,
        matches: &[Match],
        lack_of_fit: &LackOfFit,
    ) -> Option<Self> {
        let players = layout.players;
        if !(PLAYERS_MIN..=DISC_PLAYERS_MAX).contains(&players) {
            return None;
        }
        let (a, b) = first_plane(players, lack_of_fit);
        let mut places = Places { scale: at.clone(), a, b };
        let mut value = places.value(layout, matches);
        for _ in 0..STEPS_MAX {
            let before = value;
            value = places.step(layout, matches, value)?;
            if value - before < GAIN_MIN {
                break;
            }
        }
        places.normalise(players);
        Some(places.disc(layout))
    }
}

impl Places {
    fn lead(&self, i: usize, j: usize) -> f64 {
        self.scale[i] - self.scale[j] + self.a[i] * self.b[j] - self.b[i] * self.a[j]
    }

    /// The log-likelihood, including the prior.
    fn value(&self, layout: &Layout, matches: &[Match]) -> f64 {
        let log_nu = layout.log_nu(&self.scale);
        let of_match = |result: &Match| {
            let lead = self.lead(result.first, result.second) + layout.first_move(&self.scale);
            match_value(result, lead, log_nu)
        };
        let imagined: f64 = layout
            .virtual_games(&self.scale)
            .map(|(_, chances)| chances.log_sum)
            .chain(self.a.iter().chain(&self.b).map(|&lead| Chances::new(lead, log_nu).log_sum))
            .sum();
        matches.iter().map(of_match).sum::<f64>() - imagined
    }

    /// One step of Fisher's scoring, halved until it climbs. Returns the value reached.
    fn step(&mut self, layout: &Layout, matches: &[Match], value: f64) -> Option<f64> {
        let (of_a, players) = (layout.parameters(), layout.players);
        let of_b = of_a + players;
        let size = of_b + players;
        let log_nu = layout.log_nu(&self.scale);
        let (mut gradient, mut curvature) = (DVector::zeros(size), DMatrix::zeros(size, size));
        for result in matches {
            let (i, j) = (result.first, result.second);
            let terms = [
                (layout.first_move, 1.0),
                (Some(i), 1.0),
                (Some(j), -1.0),
                (Some(of_a + i), self.b[j]),
                (Some(of_a + j), -self.b[i]),
                (Some(of_b + j), self.a[i]),
                (Some(of_b + i), -self.a[j]),
            ];
            // Games of a player against itself inform no place.
            let terms = if i == j { &terms[..1] } else { &terms[..] };
            let lead = self.lead(i, j) + layout.first_move(&self.scale);
            let chances = Chances::new(lead, log_nu);
            layout.add_match(&mut gradient, &mut curvature, terms, result, chances);
        }
        let of_scale = (0..players).chain(layout.first_move);
        let imagined = of_scale
            .map(|parameter| (parameter, self.scale[parameter]))
            .chain((of_a..).zip(self.a.iter().copied()))
            .chain((of_b..).zip(self.b.iter().copied()));
        for (parameter, lead) in imagined {
            let chances = Chances::new(lead, log_nu);
            layout.add_virtual_game(&mut gradient, &mut curvature, parameter, chances);
        }
        let mut step = Cholesky::new(curvature)?.solve(&gradient);
        for _ in 0..HALVINGS_MAX {
            let next = Self {
                scale: &self.scale + step.rows(0, of_a),
                a: &self.a + step.rows(of_a, players),
                b: &self.b + step.rows(of_b, players),
            };
            let reached = next.value(layout, matches);
            if reached >= value {
                *self = next;
                return Some(reached);
            }
            step /= 2.0;
        }
        Some(value)
    }

    /// Chooses among equivalent places those around the middle, as long as wide, with the farthest player at angle 0.
    fn normalise(&mut self, players: usize) {
        let (mean_a, mean_b) = (self.a.mean(), self.b.mean());
        self.a.add_scalar_mut(-mean_a);
        self.b.add_scalar_mut(-mean_b);
        for player in 0..players {
            self.scale[player] += mean_b * self.a[player] - mean_a * self.b[player];
        }
        // Any linear map of determinant 1 leaves the disc's part of leads: this one makes the squares of the places the
        // same in all directions. It divides by the symmetric square root of [p q; q r].
        let (p, q, r) = (self.a.dot(&self.a), self.a.dot(&self.b), self.b.dot(&self.b));
        let area = (p * r - q * q).max(0.0).sqrt();
        let width = (p + r + 2.0 * area).sqrt();
        if area > 0.0 {
            let by = area.sqrt() * width;
            let inverse = [(r + area) / by, -q / by, (p + area) / by];
            let (a, b) = (self.a.clone(), self.b.clone());
            self.a = &a * inverse[0] + &b * inverse[1];
            self.b = &a * inverse[1] + &b * inverse[2];
        }
        let distance = |player: &usize| libm::hypot(self.a[*player], self.b[*player]);
        let farthest = (0..players).max_by(|x, y| distance(x).total_cmp(&distance(y)));
        if let Some(farthest) = farthest {
            let length = distance(&farthest);
            if length > 0.0 {
                let (cosine, sine) = (self.a[farthest] / length, self.b[farthest] / length);
                let (a, b) = (self.a.clone(), self.b.clone());
                self.a = &a * cosine + &b * sine;
                self.b = &b * cosine - &a * sine;
            }
        }
    }

    fn disc(&self, layout: &Layout) -> Disc {
        let scale = elo_scale(layout, &self.scale);
        let log_nu = layout.log_nu(&self.scale);
        let players = layout.players;
        let mean = self.scale.rows(0, players).mean();
        let place = |player: usize| {
            let (a, b) = (self.a[player], self.b[player]);
            let degrees = libm::atan2(b, a).to_degrees();
            DiscPlace {
                elo: scale * (self.scale[player] - mean),
                radius: scale.sqrt() * libm::hypot(a, b),
                angle: if degrees < -1e-9 { degrees + 360.0 } else { degrees.max(0.0) },
            }
        };
        let scores =
            DMatrix::from_fn(players, players, |i, j| Chances::new(self.lead(i, j), log_nu).lead());
        Disc { players: (0..players).map(place).collect(), scores }
    }
}

/// The plane in which the scores' departures are largest: two singular vectors of their antisymmetric matrix, by
/// powers of its square.
fn first_plane(players: usize, lack_of_fit: &LackOfFit) -> (DVector<f64>, DVector<f64>) {
    let mut departures = DMatrix::<f64>::zeros(players, players);
    for pairing in &lack_of_fit.pairings {
        departures[(pairing.player, pairing.opponent)] = pairing.score;
        departures[(pairing.opponent, pairing.player)] = -pairing.score;
    }
    // The row of the player that departs most is not at right angles to the plane.
    let most =
        (0..players).max_by(|&x, &y| departures.row(x).norm().total_cmp(&departures.row(y).norm()));
    let mut b =
        most.map_or_else(|| DVector::zeros(players), |most| departures.row(most).transpose());
    for _ in 0..PLANE_ROUNDS {
        let next = -(&departures * (&departures * &b));
        let length = next.norm();
        if length <= 0.0 {
            break;
        }
        b = next / length;
    }
    // M b has the plane's singular value as its length: M is a b' - b a' there.
    let a = &departures * &b;
    let length = a.norm();
    if length > 0.0 { (a / length.sqrt(), b * length.sqrt()) } else { (a, b) }
}
