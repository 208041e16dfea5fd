//! A forecast of the time that the remaining games take, with its uncertainty.
//!
//! The work left is each cell's remaining games times the mean time of its games so far; a cell without games borrows
//! the mean of the others. Divided by the number of simultaneous games, this gives the time left. The average rate of
//! an experiment would mislead: cells differ a thousandfold, and the quick ones tend to be done first.
//!
//! The forecast needs only sums over cells, so that a database can add them up where the rows are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cell's games.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellWork {
    /// Games not yet settled.
    pub games_left: u64,
    /// Games played.
    pub games: u64,
    /// Their total time, in microseconds.
    pub wall_us: f64,
}

/// The work left in an experiment, as sums over its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Backlog {
    /// Games left, in all cells.
    pub games_left: u64,
    /// Games left in the cells that have no game yet.
    pub unseen_games_left: u64,
    /// For cells with games: games left times their mean time, in microseconds.
    pub seen_us: f64,
    /// The same squared, times 1 / games + 1 / games left: the uncertainty of the mean, and the chance variation of
    /// that many games, if games of a cell varied by as much as their mean.
    pub seen_squares: f64,
    /// The largest mean time of a cell that has games and games left, in microseconds.
    pub longest_us: f64,
    /// Cells with games.
    pub seen_cells: u64,
    /// The sum of their mean times, in microseconds.
    pub means_us: f64,
    /// The sum of the squares of the mean times added up in [`Self::means_us`].
    pub mean_squares: f64,
}

/// The variation of times within cells, from a sample of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GameSpread {
    /// (time / mean of the cell - 1)², summed over the sample.
    pub squares: f64,
    /// 1 - 1 / games of the cell, summed over the sample: a mean is drawn towards its own games.
    pub weight: f64,
}

/// The time left, and a range that contains it about four times out of five, if the experiment continues on as many
/// slots, none of them slower.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The time left, in microseconds.
    pub left_us: f64,
    /// The lower end of the range.
    pub low_us: f64,
    /// The upper end.
    pub high_us: f64,
}

/// The normal quantile of the range: 10% on either side.
const Z_80: f64 = 1.281_551_565_544_6;

/// The assumed squared variation of times before games are observed: half their mean, weighted as this many games.
const SPREAD_SQUARED_ASSUMED: f64 = 0.25;
const SPREAD_WEIGHT_ASSUMED: f64 = 8.0;

/// The assumed variation of cells' means before cells are observed (as the deviation of a logarithm): a factor of ten
/// either way, weighted as this many cells. Later cells mostly differ from the first, so a factor of two remains for
/// any number of cells.
const CELLS_LOG_DEVIATION_ASSUMED: f64 = 1.8;
const CELLS_WEIGHT_ASSUMED: f64 = 1.0;
const CELLS_LOG_DEVIATION_MIN: f64 = 0.54;

/// The uncertainty of the number of simultaneous games (as the deviation of a logarithm).
const PARALLELISM_LOG_DEVIATION: f64 = 0.1;

impl Backlog {
    /// Adds a cell.
    pub fn add(&mut self, cell: CellWork) {
        let CellWork { games_left, games, wall_us } = cell;
        self.games_left += games_left;
        if games == 0 {
            self.unseen_games_left += games_left;
            return;
        }
        let mean_us = wall_us / games as f64;
        self.seen_cells += 1;
        self.means_us += mean_us;
        self.mean_squares += mean_us * mean_us;
        if games_left > 0 {
            let us = games_left as f64 * mean_us;
            self.seen_us += us;
            self.seen_squares += us * us * (1.0 / games as f64 + 1.0 / games_left as f64);
            self.longest_us = self.longest_us.max(mean_us);
        }
    }

    /// The time left with this many simultaneous games; `None` if unknown, because no game was played yet or none is
    /// being played.
    #[must_use]
    pub fn forecast(&self, games_at_once: f64, spread: GameSpread) -> Option<Forecast> {
        if self.games_left == 0 {
            return Some(Forecast::default());
        }
        let games_left = self.games_left as f64;
        if self.seen_cells == 0 || games_at_once.is_nan() || games_at_once <= 0.0 {
            return None;
        }
        let at_once = games_at_once.min(games_left);
        let cell_mean_us = self.means_us / self.seen_cells as f64;
        let unseen_us = self.unseen_games_left as f64 * cell_mean_us;
        let work_us = self.seen_us + unseen_us;

        let game_deviation = spread.deviation();
        let seen_factor = if self.seen_us > 0.0 {
            let relative = game_deviation * self.seen_squares.sqrt() / self.seen_us;
            libm::exp(Z_80 * log_deviation(relative))
        } else {
            1.0
        };
        // One factor for all of them: the reason that makes one of them slower than those seen, such as a greater
        // depth, may well hold for all.
        let unseen_factor = libm::exp(Z_80 * self.cells_log_deviation(cell_mean_us));
        let slots_factor = libm::exp(Z_80 * PARALLELISM_LOG_DEVIATION);
        let low_us = self.seen_us / seen_factor + unseen_us / unseen_factor;
        let high_us = self.seen_us * seen_factor + unseen_us * unseen_factor;

        // Games in progress may be almost done. And at the end slots stand idle while the last
        // game goes on, which may be a long one (Graham 1966 bounds list scheduling by this).
        let in_hand_us = work_us / games_left;
        let longest_us = if self.unseen_games_left > 0 {
            self.longest_us.max(cell_mean_us * unseen_factor)
        } else {
            self.longest_us
        };
        let last_us = longest_us * (1.0 + game_deviation) * (1.0 - 1.0 / at_once).max(0.0);
        let left_us = work_us / at_once;
        Some(Forecast {
            left_us,
            low_us: (low_us / at_once / slots_factor - in_hand_us).min(left_us).max(0.0),
            high_us: (high_us / at_once * slots_factor + last_us).max(left_us),
        })
    }

    /// The deviation of the logarithm of cells' mean times.
    fn cells_log_deviation(&self, mean_us: f64) -> f64 {
        let cells = self.seen_cells as f64;
        let variance = (self.mean_squares / cells - mean_us * mean_us).max(0.0);
        let seen = log_deviation(if mean_us > 0.0 { variance.sqrt() / mean_us } else { 0.0 });
        let assumed = CELLS_LOG_DEVIATION_ASSUMED * CELLS_LOG_DEVIATION_ASSUMED;
        let pooled =
            (assumed * CELLS_WEIGHT_ASSUMED + seen * seen * cells) / (CELLS_WEIGHT_ASSUMED + cells);
        pooled.sqrt().max(CELLS_LOG_DEVIATION_MIN)
    }
}

impl GameSpread {
    /// Adds a game of a cell, given the cell's number of games and their mean time.
    pub fn add(&mut self, wall_us: f64, cell_games: u64, cell_mean_us: f64) {
        if cell_games >= 2 && cell_mean_us > 0.0 {
            let off = wall_us / cell_mean_us - 1.0;
            self.squares += off * off;
            self.weight += 1.0 - 1.0 / cell_games as f64;
        }
    }

    /// The standard deviation of a game's time, as a share of its cell's mean.
    fn deviation(self) -> f64 {
        let squares = self.squares + SPREAD_SQUARED_ASSUMED * SPREAD_WEIGHT_ASSUMED;
        (squares / (self.weight + SPREAD_WEIGHT_ASSUMED)).sqrt()
    }
}

/// The deviation of the logarithm of a log-normal quantity with this relative deviation.
fn log_deviation(relative: f64) -> f64 {
    libm::log1p(relative * relative).sqrt()
}

#[cfg(test)]
mod tests;
