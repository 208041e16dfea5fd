//! Result of a cell: which player is stronger, and with what confidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::CellId;
use spelrum_names::Names;
use spelrum_statistics::{
    GameCounts, OpeningSpread, OverGames, PairCounts, ScoreInterval, ScoreSequence, StopRule,
    Tally, Verdict,
};

use crate::checked::{Inconsistent, check_counts, checked_on_reading, written_with_figures};
use crate::colours::ColourResult;

/// Result of one cell from the view of its first player ("the player"; the other is "the opponent").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(transform = crate::derived::with_figures::<CellFigures>)]
pub struct CellResult {
    /// The cell.
    pub cell: CellId,
    /// Values on the axes, in the axes' order; `None` on an axis that does not apply to the cell.
    pub axes: Vec<Option<String>>,
    /// The first player's name in the sweep.
    pub player: String,
    /// The second player's.
    pub opponent: String,
    /// Whether a game's result depends on time, or the sweep measures time.
    pub is_timed: bool,
    /// Whether the players swap sides in odd-numbered games; if not, the player moves first in every game and there
    /// are no pairs.
    pub swap_sides: bool,
    /// Whether both players are the same, so that neither can be stronger.
    pub is_self_play: bool,
    /// Number of openings of the counted pairs, or of the games if sides are fixed.
    pub openings_used: u64,
    /// Planned number of games; once the stop rule has ended the cell, the number played until then.
    pub games_planned: u64,
    /// Stop rule and its state; `None` without a stop rule.
    pub stop: Option<CellStop>,
    /// Whether the cell ended after the first round of its openings because its players repeat themselves: more games
    /// would have been identical.
    pub is_one_round: bool,
    /// Games that count.
    pub games: u64,
    /// Games that finally failed and count for neither player.
    pub games_failed: u64,
    /// Games that the player won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the opponent won.
    pub losses: u64,
    /// Pairs by the player's points in both games; of complete pairs only.
    pub pairs: PairCounts,
    /// Complete pairs in which the first mover from the opening won both games.
    pub pairs_won_by_first_mover: u64,
    /// Complete pairs in which the second mover won both games.
    pub pairs_won_by_second_mover: u64,
    /// Games that differ in opening, moves or first mover.
    pub distinct_games: u64,
    /// The player's mean points per game over complete pairs, or over games if sides are fixed, with a 95% interval;
    /// `None` without any. The interval is fixed, or a confidence sequence: see `interval`.
    pub score: Option<ScoreInterval>,
    /// If the score's interval is a confidence sequence: the number of units (pairs, games if sides are fixed, openings
    /// if they repeat) that it is tuned to. `None` for a fixed interval.
    pub sequence_units: Option<f64>,
    /// Variation of the score over openings, if openings repeat: then the score's interval is over openings.
    pub openings: Option<OpeningSpread>,
    /// Mean score of the first mover from the opening, with a 95% interval over openings.
    pub first_mover: Option<ScoreInterval>,
    /// The player's results as first and as second mover from the opening. `None` from a coordinator that does not
    /// report them.
    pub colours: Option<[ColourResult; 2]>,
    /// Margin of the player, if the game counts margins and a counted game ended by its own rules.
    pub margin: Option<CellMargin>,
}

/// What a cell's result says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CellFigures {
    /// The kind of the score's interval; `None` without a score.
    interval: Option<IntervalKind>,
    /// Which player is stronger.
    stronger: Stronger,
    #[serde(flatten)]
    strength: CellStrength,
    /// State of the cell's SPRT, if that is its stop rule.
    sprt: Option<SprtStanding>,
    /// The score over all games if the player had lost, or won, each that finally failed.
    score_bounds: Option<[f64; 2]>,
}

impl From<&CellResult> for CellFigures {
    fn from(cell: &CellResult) -> Self {
        Self {
            interval: cell.interval_kind(),
            stronger: cell.stronger(),
            strength: cell.strength(),
            sprt: cell.sprt(),
            score_bounds: cell.score_bounds(),
        }
    }
}

checked_on_reading!(@read CellResult);
written_with_figures!(CellResult, CellFigures);

impl CellResult {
    fn check(&self) -> Result<(), Inconsistent> {
        let Self { games, games_failed, games_planned, wins, draws, losses, .. } = *self;
        let counts = [games, games_failed, games_planned, wins, draws, losses];
        check_counts("a cell", counts.into_iter().chain(self.pairs.0))?;
        let Some([first, second]) = self.colours else { return Ok(()) };
        let by_colour = [
            first.wins.checked_add(second.wins),
            first.draws.checked_add(second.draws),
            first.losses.checked_add(second.losses),
        ];
        if by_colour == [wins, draws, losses].map(Some) {
            Ok(())
        } else {
            Err(Inconsistent::new("a cell whose results differ from those by colour"))
        }
    }
}

/// How far a cell's player was ahead at the end of its games, in the game's own unit
/// ([`GameInfo::margin`](spelrum_engine::GameInfo)), such as discs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellMargin {
    /// Counted games with a margin: excludes games ended by an arbiter's rule or a fault.
    pub games: u64,
    /// The mean of their margins, with a 95% interval over the units of the score ([`MarginSums`](spelrum_statistics::MarginSums)).
    pub mean: OverGames,
}

/// A cell's stop rule and its state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellStop {
    /// When the cell ends.
    pub rule: StopRule,
    /// Maximum number of games, if the rule does not end the cell earlier.
    pub games_max: u64,
    /// Number of games after which the rule ended the cell.
    pub stopped_after: Option<u64>,
}

/// State of an SPRT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SprtStanding {
    /// Log-likelihood ratio, over the counted games; over openings where they repeat.
    pub llr: f64,
    /// Log-likelihood ratios at or below which the test accepts elo0, and at or above which it accepts elo1.
    pub bounds: [f64; 2],
    /// Outcome of the test, once its cell has ended.
    pub outcome: Option<SprtOutcome>,
}

/// Outcome of an SPRT (sequential probability ratio test).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "&'static str")]
#[schemars(with = "String")]
pub enum SprtOutcome {
    /// The test accepted one of its two strengths.
    Taken(Verdict),
    /// The cell ended without a verdict: all further games would repeat earlier ones, which is no evidence; or an
    /// earlier release mistook its state for a verdict.
    NotJudged,
}

impl From<SprtOutcome> for &'static str {
    fn from(outcome: SprtOutcome) -> Self {
        outcome.name()
    }
}

impl SprtOutcome {
    /// Its name, in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Taken(verdict) => verdict.name(),
            Self::NotJudged => "not_judged",
        }
    }
}

/// Strength implied by a cell's interval; a figure is absent where the games give no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CellStrength {
    /// The score as a difference in Elo.
    pub elo: Option<f64>,
    /// The lower bound of its 95% interval: that of the score.
    pub elo_low: Option<f64>,
    /// The upper bound.
    pub elo_high: Option<f64>,
    /// Half the distance of the bounds.
    pub elo_error: Option<f64>,
    /// The difference normalized: in units of the deviation of a game's score.
    pub nelo: Option<f64>,
    /// Likelihood of superiority: probability that the player is the stronger one, from the same interval.
    pub los: Option<f64>,
}

/// The kind of a score's interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// Holds the true score with 95% probability if it is looked at once, at an end that was planned.
    Fixed,
    /// A confidence sequence: holds the true score at every look with 95% probability in all, whenever the games end.
    Sequence,
}

/// Which player of a cell is stronger, judging by its games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum Stronger {
    /// The interval lies above one half.
    Player,
    /// The interval lies below one half.
    Opponent,
    /// The interval contains one half.
    Unclear,
}

impl CellResult {
    /// Returns which player is stronger.
    #[must_use]
    pub fn stronger(&self) -> Stronger {
        Stronger::from_score(self.score.filter(|_| !self.is_self_play))
    }

    /// Returns how much stronger the player is, from the interval of its score. Empty without a score, or in
    /// self-play.
    #[must_use]
    pub fn strength(&self) -> CellStrength {
        let Some(score) = self.score.filter(|_| !self.is_self_play) else {
            return CellStrength::default();
        };
        let confidence = match (self.sequence_units, self.openings) {
            (Some(units), _) => self.sequence(score.score, units).confidence(),
            (None, Some(openings)) => openings.confidence(score.score),
            (None, None) => self.tally().confidence(),
        };
        let finite = |figure: f64| figure.is_finite().then_some(figure);
        CellStrength {
            elo: finite(confidence.elo),
            elo_low: finite(confidence.elo_low),
            elo_high: finite(confidence.elo_high),
            elo_error: finite((confidence.elo_high - confidence.elo_low) / 2.0),
            nelo: finite(self.tally().strength().nelo + 0.0),
            los: Some(confidence.los),
        }
    }

    /// The result with a confidence sequence as the interval of its score, if the cell is looked at before an end that
    /// was planned: while games are left to play, under an SPRT, and if another end was planned when games had
    /// been settled, for which this number of games was planned until then. A precision rule reads the fixed interval, so
    /// that the cells that it ended keep it.
    #[must_use]
    pub fn with_sequence(mut self, games_planned_first: Option<u64>) -> Self {
        let rule = self.stop.map(|stop| stop.rule);
        let is_tested = matches!(rule, Some(StopRule::Sprt(_)));
        let is_looked_at = !self.is_complete() || is_tested || games_planned_first.is_some();
        let Some(ScoreInterval { score, .. }) = self.score.filter(|_| is_looked_at) else {
            return self;
        };
        let games_of_unit = self.tally().games_of_unit();
        let games_max = self.stop.map_or(self.games_planned, |stop| stop.games_max);
        let games = games_planned_first.unwrap_or(games_max);
        let mut units = (games / games_of_unit) as f64;
        if let Some(rule) = rule {
            units = units.min(rule.units_expected(games_of_unit));
        }
        if self.openings.is_some() {
            units = units.min(self.openings_used as f64);
        }
        self.score = Some(self.sequence(score, units).interval());
        self.sequence_units = Some(units);
        self
    }

    fn sequence(&self, score: f64, units: f64) -> ScoreSequence {
        match self.openings {
            Some(openings) => openings.sequence(score, units),
            None => self.tally().sequence(units),
        }
    }

    /// Returns the kind of the score's interval; `None` without a score.
    #[must_use]
    pub fn interval_kind(&self) -> Option<IntervalKind> {
        self.score.map(|_| match self.sequence_units {
            Some(_) => IntervalKind::Sequence,
            None => IntervalKind::Fixed,
        })
    }

    /// The fixed interval of the score, which a precision rule reads.
    fn fixed_interval(&self) -> Option<ScoreInterval> {
        let score = self.score?;
        Some(match self.openings {
            Some(openings) => openings.interval(score.score),
            None => self.tally().interval(),
        })
    }

    /// Returns the bounds of the score over all games if the player had lost, or won, every game that finally failed;
    /// `None` if none failed.
    #[must_use]
    pub fn score_bounds(&self) -> Option<[f64; 2]> {
        let games = (self.games + self.games_failed) as f64;
        let points = self.wins as f64 + self.draws as f64 / 2.0;
        let bounds = [points / games, (points + self.games_failed as f64) / games];
        (self.games_failed > 0).then_some(bounds)
    }

    /// Returns the counted units.
    #[must_use]
    pub fn tally(&self) -> Tally {
        match self.swap_sides {
            true => Tally::Pairs(self.pairs),
            false => Tally::Games(GameCounts([self.losses, self.draws, self.wins])),
        }
    }

    /// Returns the state of its SPRT, if that is its stop rule.
    #[must_use]
    pub fn sprt(&self) -> Option<SprtStanding> {
        let StopRule::Sprt(sprt) = self.stop?.rule else { return None };
        let llr = match self.is_one_game_again() {
            true => self.tally().llr(&sprt) / self.tally().units() as f64,
            false => self.tally().llr_of_spread(&sprt, self.openings),
        };
        // Short games finish first: until the rule has ended the cell, the counted results are not those that the
        // test is about.
        let has_ended = self.stop.is_some_and(|stop| stop.stopped_after.is_some());
        let taken = || sprt.verdict(llr).map_or(SprtOutcome::NotJudged, SprtOutcome::Taken);
        Some(SprtStanding { llr, bounds: sprt.bounds(), outcome: has_ended.then(taken) })
    }

    /// Returns the number of games after which the stop rule ended the cell; `None` if it has not, or if the cell
    /// ended because its players repeat themselves.
    #[must_use]
    pub fn ended_by_rule(&self) -> Option<u64> {
        let CellStop { rule, stopped_after, .. } = self.stop?;
        let is_reached = || match rule {
            StopRule::Sprt(_) => {
                matches!(self.sprt()?.outcome, Some(SprtOutcome::Taken(_))).then_some(())
            }
            StopRule::Precision(precision) => {
                let interval = self.fixed_interval()?;
                ((interval.high - interval.low) / 2.0 <= precision.points()).then_some(())
            }
        };
        stopped_after.filter(|_| !self.is_one_round || is_reached().is_some())
    }

    /// Whether the cell consists of one unit from one opening, played repeatedly.
    #[must_use]
    pub fn is_one_game_again(&self) -> bool {
        let tally = self.tally();
        self.openings_used == 1 && tally.units() > 1 && self.distinct_games <= tally.games_of_unit()
    }

    /// Whether the cell has no games left to play.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.games + self.games_failed == self.games_planned
    }
}

impl Stronger {
    /// Derives the strength from an interval.
    #[must_use]
    pub fn from_score(score: Option<ScoreInterval>) -> Self {
        match score {
            Some(score) if score.low > 0.5 => Self::Player,
            Some(score) if score.high < 0.5 => Self::Opponent,
            Some(_) | None => Self::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use spelrum_statistics::claims::CaseState;
    use spelrum_statistics::{EloModel, Sprt};

    use super::*;

    fn cell(swap_sides: bool, [losses, draws, wins]: [u64; 3], pairs: [u64; 5]) -> CellResult {
        let pairs = PairCounts(pairs);
        let interval = match swap_sides {
            true => pairs.interval(),
            false => GameCounts([losses, draws, wins]).interval(),
        };
        CellResult {
            cell: CellId(1),
            axes: Vec::new(),
            player: "a".to_owned(),
            opponent: "b".to_owned(),
            is_timed: false,
            swap_sides,
            is_self_play: false,
            openings_used: 10,
            games_planned: 20,
            stop: None,
            is_one_round: false,
            games: wins + draws + losses,
            games_failed: 0,
            wins,
            draws,
            losses,
            pairs,
            pairs_won_by_first_mover: 0,
            pairs_won_by_second_mover: 0,
            distinct_games: 1,
            score: (wins + draws + losses > 0).then_some(interval),
            sequence_units: None,
            openings: None,
            first_mover: None,
            colours: None,
            margin: None,
        }
    }

    #[test]
    fn one_half_inside_the_interval_decides_nothing() {
        let stronger =
            |low, high| Stronger::from_score(Some(ScoreInterval { score: 0.5, low, high }));
        assert_eq!(Stronger::from_score(None), Stronger::Unclear);
        assert_eq!(stronger(0.4, 0.6), Stronger::Unclear);
        assert_eq!(stronger(0.5, 0.6), Stronger::Unclear);
        assert_eq!(stronger(0.51, 0.6), Stronger::Player);
        assert_eq!(stronger(0.3, 0.49), Stronger::Opponent);
    }

    /// Identical pairs over few openings: every statement about strength follows from the one interval.
    #[test]
    fn what_is_said_follows_from_the_interval_over_openings() {
        let pairs = cell(true, [10, 10, 30], [0, 3, 4, 13, 5]);
        assert_eq!(pairs.stronger(), Stronger::Player);
        let openings = OpeningSpread { effective: 3.0, variance: 0.1 };
        let score = pairs.score.map(|score| openings.interval(score.score));
        let over_openings = CellResult { score, openings: Some(openings), ..pairs };
        assert_eq!(over_openings.stronger(), Stronger::Unclear);
        let strength = over_openings.strength();
        assert!(strength.los.is_some_and(|los| los > 0.5 && los < 0.975), "{strength:?}");
        let [low, high] = score.unwrap().elo();
        assert_eq!((strength.elo_low, strength.elo_high), (Some(low), Some(high)));
    }

    #[test]
    fn a_cell_that_is_looked_at_before_its_end_has_a_sequence() {
        let kind = |cell: CellResult| cell.interval_kind();
        let fixed = cell(true, [5, 5, 10], [1, 1, 3, 3, 2]);
        let finished = fixed.clone().with_sequence(None);
        assert_eq!((&finished, kind(finished.clone())), (&fixed, Some(IntervalKind::Fixed)));

        let running = CellResult { games_planned: 100, ..fixed.clone() }.with_sequence(None);
        assert_eq!(running.sequence_units, Some(50.0));
        assert_eq!(kind(running.clone()), Some(IntervalKind::Sequence));
        assert_eq!(running.score, Some(running.tally().sequence(50.0).interval()));
        let [low, high] = running.score.unwrap().elo();
        let strength = running.strength();
        assert_eq!((strength.elo_low, strength.elo_high), (Some(low), Some(high)));
        let [wide, narrow] = [&running, &fixed].map(|cell| cell.score.unwrap());
        assert!(wide.low < narrow.low && narrow.high < wide.high);

        // Grown, and finished: tuned to the first plan.
        let grown = fixed.clone().with_sequence(Some(10));
        assert_eq!((grown.sequence_units, grown.is_complete()), (Some(5.0), true));
        // All is lost, all is known of openings, nothing is played.
        let none = CellResult { games_planned: 9, ..cell(true, [0; 3], [0; 5]) };
        assert_eq!(kind(none.with_sequence(None)), None);
        let openings = Some(OpeningSpread { effective: 4.0, variance: 0.01 });
        let repeated =
            CellResult { games_planned: 100, openings_used: 4, openings, ..fixed.clone() };
        assert_eq!(repeated.with_sequence(None).sequence_units, Some(4.0));

        // A rule that expects to end the cell much earlier than its games allow. A test looks also at its end.
        let stop = |rule, stopped_after| Some(CellStop { rule, games_max: 90_000, stopped_after });
        let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        let sprt = StopRule::Sprt(sprt);
        let tested = CellResult { stop: stop(sprt, Some(20)), ..fixed.clone() }.with_sequence(None);
        assert!(tested.is_complete());
        assert_eq!(tested.sequence_units, Some(sprt.units_expected(2)));
        let precision = StopRule::from_precision(0.25).unwrap();
        let ended = CellResult { stop: stop(precision, Some(20)), ..fixed.clone() };
        assert_eq!(kind(ended.clone().with_sequence(None)), Some(IntervalKind::Fixed));
        let grown = CellResult { is_one_round: true, ..ended }.with_sequence(Some(10));
        let score = grown.score.unwrap();
        assert!((score.high - score.low) / 2.0 > 0.25, "{score:?}");
        assert_eq!(grown.ended_by_rule(), Some(20), "the rule read the fixed interval");
    }

    /// Fourteen times the same 200 pairs: over pairs they would have taken elo1.
    #[test]
    fn a_test_of_repeated_games_is_not_judged() {
        let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        let stop = |games| CellStop {
            rule: StopRule::Sprt(sprt),
            games_max: 40_000,
            stopped_after: Some(games),
        };
        let once = [10, 40, 88, 50, 12];
        let mut counts = spelrum_statistics::OpeningCounts::default();
        for (half_points, openings) in (0..).zip(once) {
            (0..openings).for_each(|_| counts.insert(14, 14 * half_points));
        }
        let replayed = CellResult {
            stop: Some(stop(5_600)),
            openings_used: 200,
            openings: Some(counts.spread(2)),
            distinct_games: 400,
            ..cell(true, [1_400, 2_400, 1_800], once.map(|pairs| 14 * pairs))
        };
        assert!(replayed.tally().llr(&sprt) > sprt.bounds()[1]);
        assert_eq!(replayed.sprt().unwrap().outcome, Some(SprtOutcome::NotJudged));
        // One round of them, after which they would repeat.
        let ended = CellResult {
            stop: Some(stop(400)),
            openings_used: 200,
            is_one_round: true,
            ..cell(true, [100, 171, 129], once)
        };
        assert_eq!(ended.sprt().unwrap().outcome, Some(SprtOutcome::NotJudged));
        assert_eq!(ended.ended_by_rule(), None);
        // A pair from one opening, repeated.
        let result = CellResult {
            stop: Some(stop(200)),
            openings_used: 1,
            distinct_games: 2,
            ..cell(true, [0, 100, 100], [0, 0, 0, 100, 0])
        };
        assert!(result.is_one_game_again());
        assert_eq!(result.sprt().unwrap().outcome, Some(SprtOutcome::NotJudged));
        assert_eq!(
            CellResult { stop: None, games_planned: 200, ..result }.state_for_claims(),
            CaseState::Repeats
        );
        // The verdict as of the first round that the test counts.
        let strong = CellResult {
            is_one_round: true,
            stop: Some(stop(400)),
            ..cell(true, [0, 100, 300], [0, 0, 0, 100, 100])
        };
        assert_eq!(strong.sprt().unwrap().outcome, Some(SprtOutcome::Taken(Verdict::Elo1)));
        assert_eq!(strong.ended_by_rule(), Some(400));
    }

    #[test]
    fn failed_games_bound_the_score_from_both_sides() {
        let mut result = cell(true, [2, 4, 2], [0; 5]);
        assert_eq!(result.score_bounds(), None);
        result.games_failed = 2;
        assert_eq!(result.score_bounds(), Some([0.4, 0.6]));
        let mut none = cell(true, [0; 3], [0; 5]);
        none.games_failed = 1;
        assert_eq!(none.score_bounds(), Some([0.0, 1.0]));
    }

    #[test]
    fn strength_has_only_figures_that_are_known() {
        assert_eq!(cell(true, [0; 3], [0; 5]).strength(), CellStrength::default());
        let even = cell(true, [0, 20, 0], [0, 0, 10, 0, 0]).strength();
        assert_eq!(even.elo.map(f64::to_bits), Some(0.0_f64.to_bits()), "not minus zero");
        // Always won: no bound is known.
        let won = cell(true, [0, 0, 20], [0, 0, 0, 0, 10]);
        assert_eq!(won.strength().elo, None);
        assert_eq!(won.stronger(), Stronger::Player);
        assert!(won.is_complete());
        // Fixed sides have no pairs.
        let fixed = cell(false, [2, 1, 7], [0; 5]);
        assert!(fixed.strength().elo.is_some_and(|elo| elo > 0.0));
        assert!(!fixed.is_complete());
        // Regardless of score, a player is not stronger than itself.
        let alone = CellResult { is_self_play: true, ..won };
        assert_eq!(alone.stronger(), Stronger::Unclear);
        assert_eq!(alone.strength(), CellStrength::default());
    }
}
