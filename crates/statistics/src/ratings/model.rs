//! The chances of a game's outcomes, and the log-likelihood of counted games with its gradient and curvature.

use nalgebra::{DMatrix, DVector};

/// Elo per unit of strength without draws.
pub(super) const ELO: f64 = 400.0 / core::f64::consts::LN_10;

/// Games of one player against another, over all clusters, from the first mover's side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Match {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) wins: f64,
    pub(super) draws: f64,
    pub(super) losses: f64,
}

/// The layout of the parameters in a vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The number of players' strengths.
    pub(super) players: usize,
    /// The index of the value of moving first, unless it is not identifiable from strength.
    pub(super) first_move: Option<usize>,
    /// The index of the logarithm of nu, unless no game was drawn: then nu is 0.
    pub(super) draws: Option<usize>,
}

/// Expectations of a game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chances {
    pub(super) win: f64,
    pub(super) draw: f64,
    pub(super) loss: f64,
    /// The logarithm of the divisor that makes them sum to 1.
    pub(super) log_sum: f64,
}

impl Chances {
    /// `lead` is d; `log_nu` is minus infinity without draws.
    pub(super) fn new(lead: f64, log_nu: f64) -> Self {
        let most = (lead.abs() / 2.0).max(log_nu);
        let [win, draw, loss] =
            [lead / 2.0, log_nu, -lead / 2.0].map(|exponent| libm::exp(exponent - most));
        let sum = win + draw + loss;
        Self { win: win / sum, draw: draw / sum, loss: loss / sum, log_sum: most + libm::log(sum) }
    }

    /// The expected points minus one half.
    pub(super) fn lead(&self) -> f64 {
        (self.win - self.loss) / 2.0
    }

    pub(super) fn points_variance(&self) -> f64 {
        (self.win + self.loss) / 4.0 - self.lead() * self.lead()
    }
}

impl Layout {
    pub(super) fn parameters(&self) -> usize {
        self.players + usize::from(self.first_move.is_some()) + usize::from(self.draws.is_some())
    }

    pub(super) fn log_nu(&self, at: &DVector<f64>) -> f64 {
        self.draws.map_or(f64::NEG_INFINITY, |draws| at[draws])
    }

    pub(super) fn first_move(&self, at: &DVector<f64>) -> f64 {
        self.first_move.map_or(0.0, |first_move| at[first_move])
    }

    /// Expectations of a game between these two.
    pub(super) fn chances(&self, at: &DVector<f64>, first: usize, second: usize) -> Chances {
        let lead = at[first] - at[second] + self.first_move(at);
        Chances::new(lead, self.log_nu(at))
    }

    /// Expectations of the virtual games: each player's, then the first move's.
    pub(super) fn virtual_games(
        &self,
        at: &DVector<f64>,
    ) -> impl Iterator<Item = (usize, Chances)> {
        let log_nu = self.log_nu(at);
        let leads: Vec<_> =
            (0..self.players).chain(self.first_move).map(|player| (player, at[player])).collect();
        leads.into_iter().map(move |(player, lead)| (player, Chances::new(lead, log_nu)))
    }

    /// The log-likelihood, including the prior.
    pub(super) fn value(&self, at: &DVector<f64>, matches: &[Match]) -> f64 {
        let log_nu = self.log_nu(at);
        let of_match = |result: &Match| {
            let lead = at[result.first] - at[result.second] + self.first_move(at);
            match_value(result, lead, log_nu)
        };
        let played: f64 = matches.iter().map(of_match).sum();
        let imagined: f64 = self.virtual_games(at).map(|(_, chances)| chances.log_sum).sum();
        played - imagined
    }

    /// The gradient of games and prior, and the negative of the second derivatives.
    pub(super) fn derivatives(
        &self,
        at: &DVector<f64>,
        matches: &[Match],
    ) -> (DVector<f64>, DMatrix<f64>) {
        let (mut gradient, mut curvature) = self.played(at, matches);
        for (player, chances) in self.virtual_games(at) {
            self.add_virtual_game(&mut gradient, &mut curvature, player, chances);
        }
        (gradient, curvature)
    }

    /// The gradient of games alone, and the negative of the second derivatives.
    pub(super) fn played(
        &self,
        at: &DVector<f64>,
        matches: &[Match],
    ) -> (DVector<f64>, DMatrix<f64>) {
        let size = self.parameters();
        let (mut gradient, mut curvature) = (DVector::zeros(size), DMatrix::zeros(size, size));
        for result in matches {
            let chances = self.chances(at, result.first, result.second);
            let lead =
                [(Some(result.first), 1.0), (Some(result.second), -1.0), (self.first_move, 1.0)];
            self.add_match(&mut gradient, &mut curvature, &lead, result, chances);
        }
        (gradient, curvature)
    }

    /// Adds games whose lead is the sum of these parameters, each with its factor.
    pub(super) fn add_match(
        &self,
        gradient: &mut DVector<f64>,
        curvature: &mut DMatrix<f64>,
        lead: &[(Option<usize>, f64)],
        result: &Match,
        chances: Chances,
    ) {
        let games = result.wins + result.draws + result.losses;
        let points = (result.wins - result.losses) / 2.0 - games * chances.lead();
        let drawn = result.draws - games * chances.draw;
        self.add(gradient, curvature, lead, games, chances, [points, drawn]);
    }

    /// Adds a game, half won and half lost, whose lead is this parameter.
    pub(super) fn add_virtual_game(
        &self,
        gradient: &mut DVector<f64>,
        curvature: &mut DMatrix<f64>,
        parameter: usize,
        chances: Chances,
    ) {
        let residuals = [-chances.lead(), -chances.draw];
        self.add(gradient, curvature, &[(Some(parameter), 1.0)], 1.0, chances, residuals);
    }

    /// Adds games with these residuals.
    fn add(
        &self,
        gradient: &mut DVector<f64>,
        curvature: &mut DMatrix<f64>,
        lead: &[(Option<usize>, f64)],
        games: f64,
        chances: Chances,
        [points, drawn]: [f64; 2],
    ) {
        let variance = games * chances.points_variance();
        let with_draws = -games * chances.draw * chances.lead();
        let terms = || lead.iter().filter_map(|&(parameter, sign)| Some((parameter?, sign)));
        for (row, row_sign) in terms() {
            gradient[row] += row_sign * points;
            for (column, column_sign) in terms() {
                curvature[(row, column)] += row_sign * column_sign * variance;
            }
            if let Some(draws) = self.draws {
                curvature[(row, draws)] += row_sign * with_draws;
                curvature[(draws, row)] += row_sign * with_draws;
            }
        }
        if let Some(draws) = self.draws {
            gradient[draws] += drawn;
            curvature[(draws, draws)] += games * chances.draw * (1.0 - chances.draw);
        }
    }
}

/// The log-likelihood of games with this lead.
pub(super) fn match_value(result: &Match, lead: f64, log_nu: f64) -> f64 {
    let drawn = if result.draws > 0.0 { result.draws * log_nu } else { 0.0 };
    let games = result.wins + result.draws + result.losses;
    (result.wins - result.losses) / 2.0 * lead + drawn - games * Chances::new(lead, log_nu).log_sum
}
