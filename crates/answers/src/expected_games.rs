//! How many games are still expected where a stop rule ends cells: fewer than their most.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_statistics::forecast::Backlog;
use spelrum_statistics::planning::{RuleCourse, RuleState};
use spelrum_statistics::{OpeningSpread, StopRule, Tally};

/// Games still expected in an experiment whose cells have a stop rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedGames {
    /// Their number.
    pub games: u64,
    /// The lower end of a range that contains it about four times out of five.
    pub low: u64,
    /// The upper end.
    pub high: u64,
}

/// A cell that its rule has not ended, with games.
#[derive(Clone, Debug)]
pub struct OpenCell {
    /// The rule.
    pub rule: StopRule,
    /// Its units.
    pub tally: Tally,
    /// Their variation over openings, where these have repeated.
    pub spread: Option<OpeningSpread>,
    /// The number of openings before they repeat.
    pub openings: Option<u64>,
    /// Its most games.
    pub games_max: u64,
    /// Games with a result, or finally failed.
    pub games_settled: u64,
}

/// What is known of the cells with games, ended or not.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellsSeen {
    /// Cells that their rule, or their most games, have ended.
    pub ended: u64,
    /// The sum of the shares of their most games that they played.
    pub ended_shares: f64,
    /// Cells with games that have not ended.
    pub open: u64,
}

impl ExpectedGames {
    /// The games that an experiment with this backlog is expected to play, and the backlog of these games alone. `open`
    /// are cells with games that have not ended, or a sample of them; all others of these are taken to be like them, and
    /// cells without a game like all that have some. Until a cell has games, all are expected.
    #[must_use]
    pub fn from_cells(open: &[OpenCell], seen: CellsSeen, backlog: &Backlog) -> (Self, Backlog) {
        let (mut left, mut variance) = ([0.0; 3], 0.0);
        let (mut most, mut shares) = (0.0, seen.ended_shares);
        let each = seen.open as f64 / open.len().max(1) as f64;
        for cell in open {
            let games = cell.tally.games_of_unit() as f64;
            let state = RuleState { tally: &cell.tally, spread: cell.spread };
            let units_max = cell.games_max / cell.tally.games_of_unit();
            let course = RuleCourse::continued(&cell.rule, state, cell.openings, units_max);
            let most_left = cell.games_max.saturating_sub(cell.games_settled) as f64;
            let played = cell.tally.units() as f64;
            let in_games = |units: f64| ((units - played) * games).clamp(0.0, most_left);
            let [games_left, low, high] = [course.units, course.low, course.high].map(in_games);
            left[0] += games_left;
            left[1] += (games_left - low) * (games_left - low);
            left[2] += (high - games_left) * (high - games_left);
            most += most_left;
            let total = cell.games_settled as f64 + games_left;
            shares += each * total / cell.games_max.max(1) as f64;
        }
        let of_most = if most > 0.0 { left[0] / most } else { 1.0 };
        let cells = seen.ended as f64 + seen.open as f64;
        let of_unseen = if cells > 0.0 { (shares / cells).clamp(0.0, 1.0) } else { 1.0 };
        let seen_most = backlog.games_left.saturating_sub(backlog.unseen_games_left) as f64;
        let unseen = backlog.unseen_games_left as f64 * of_unseen;
        let games_left = seen_most * of_most + unseen;
        // Cells not among the sample vary as those in it. Cells without games may all be unlike those with some.
        let times = if most > 0.0 { seen_most / most } else { 0.0 };
        variance +=
            if cells > 0.0 { unseen * unseen / cells.max(1.0) * UNSEEN_VARIANCE } else { 0.0 };
        let end = |squares: f64| (squares * times + variance).sqrt();
        let whole = |games: f64| games.round().max(0.0) as u64;
        let expected = Self {
            games: whole(games_left),
            low: whole(games_left - end(left[1])),
            high: whole((games_left + end(left[2])).min(backlog.games_left as f64)),
        };
        let backlog = Backlog {
            games_left: expected.games,
            unseen_games_left: whole(unseen).min(expected.games),
            seen_us: backlog.seen_us * of_most,
            seen_squares: backlog.seen_squares * of_most * of_most,
            ..*backlog
        };
        (expected, backlog)
    }
}

/// The squared deviation of the share of its games that a cell without games will play, of the mean share, times the
/// square of the normal quantile of four in five.
const UNSEEN_VARIANCE: f64 = 0.5;

#[cfg(test)]
mod tests {
    use spelrum_statistics::{EloModel, PairCounts, Sprt};

    use super::*;

    fn open(pairs: [u64; 5], rule: StopRule) -> OpenCell {
        let tally = Tally::Pairs(PairCounts(pairs));
        let games_settled = tally.units() * 2;
        OpenCell { rule, tally, spread: None, openings: None, games_max: 4_000, games_settled }
    }

    fn left(cells: &[OpenCell], unseen: u64) -> Backlog {
        let seen: u64 = cells.iter().map(|cell| cell.games_max - cell.games_settled).sum();
        Backlog {
            games_left: seen + unseen,
            unseen_games_left: unseen,
            seen_us: 1e6,
            ..Backlog::default()
        }
    }

    #[test]
    fn fewer_games_are_expected_than_planned_at_most() {
        let sprt = StopRule::Sprt(Sprt::new(0.0, 60.0, 0.05, 0.05, EloModel::Normalized).unwrap());
        let cell = open([5, 10, 20, 14, 8], sprt);
        let backlog = left(std::slice::from_ref(&cell), 0);
        let seen = CellsSeen { open: 1, ..CellsSeen::default() };
        let (expected, rest) = ExpectedGames::from_cells(&[cell], seen, &backlog);
        assert!(expected.low <= expected.games && expected.games <= expected.high, "{expected:?}");
        assert!(expected.games > 0 && expected.games < 400, "{expected:?}");
        assert_eq!(rest.games_left, expected.games);
        assert!(rest.seen_us < backlog.seen_us / 5.0);
    }

    /// Cells without games play the share that others played.
    #[test]
    fn cells_to_come_are_like_those_that_ended() {
        let backlog = left(&[], 8_000);
        let seen = CellsSeen { ended: 4, ended_shares: 0.4, open: 0 };
        let (expected, _) = ExpectedGames::from_cells(&[], seen, &backlog);
        assert_eq!(expected.games, 800);
        assert!(expected.low < 700 && expected.high > 900, "{expected:?}");
        let (expected, _) = ExpectedGames::from_cells(&[], CellsSeen::default(), &backlog);
        assert_eq!(expected, ExpectedGames { games: 8_000, low: 8_000, high: 8_000 });
    }

    #[test]
    fn a_precision_out_of_reach_takes_all_games() {
        let rule = StopRule::from_precision(0.001).unwrap();
        let cell = open([5, 10, 20, 14, 8], rule);
        let backlog = left(std::slice::from_ref(&cell), 0);
        let seen = CellsSeen { open: 1, ..CellsSeen::default() };
        let (expected, rest) = ExpectedGames::from_cells(&[cell], seen, &backlog);
        assert_eq!((expected.games, rest.games_left), (backlog.games_left, backlog.games_left));
    }
}
