//! Claims that a sweep states about its results, and their judgement.

use std::collections::BTreeMap;

use spelrum_model::claims::Statement;
use spelrum_model::course::{Begun, Bounds, Estimate as ParameterEstimate};
use spelrum_model::{CellId, Role};
use spelrum_statistics::choice::Accuracy;
use spelrum_statistics::claims::{
    About, CaseOfClaim, CaseState, ClaimToJudge, FigureTest, FoundValue, JudgedClaim, judge,
};
use spelrum_statistics::{ScoreTest, StopRule, Verdict};

use crate::cell_result::{CellResult, SprtOutcome};
use crate::derived::{ClaimVerdict, ReportFigures};
use crate::report::Report;
use crate::runs::RunResult;
use crate::stated::{MeanOverReplicates, RatedLead, StatedCell, StatedClaim};

/// Why a claim is exploratory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyExploratory {
    /// The claim was stated after a game had been settled.
    Late,
    /// The stop rule of its cells changed after the claim was stated.
    OtherEnd,
}

/// A claim of a report, with its judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimAnswer<'r> {
    /// The claim.
    pub claim: &'r StatedClaim,
    /// Why the claim is outside the family of claims that are judged together; `None` for a claim inside.
    pub exploratory: Option<WhyExploratory>,
    /// The judgement.
    pub judged: JudgedClaim,
}

impl WhyExploratory {
    /// The reason in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Late => "stated after the first game was settled",
            Self::OtherEnd => "its cells were given another end after it was stated",
        }
    }
}

impl From<&Report> for ReportFigures {
    fn from(report: &Report) -> Self {
        let verdict = |ClaimAnswer { exploratory, judged, .. }: ClaimAnswer<'_>| ClaimVerdict {
            judgement: judged.judgement.name(),
            exploratory_because: exploratory.map(|why| why.reason()),
            p: judged.figures.map(|figures| figures.p),
            p_adjusted: judged.figures.and_then(|figures| figures.p_adjusted),
        };
        Self { claim_verdicts: report.judged_claims().into_iter().map(verdict).collect() }
    }
}

impl Report {
    /// Returns its claims with their judgements: see [`judge`].
    #[must_use]
    pub fn judged_claims(&self) -> Vec<ClaimAnswer<'_>> {
        if self.claims.is_empty() {
            return Vec::new();
        }
        let cells: BTreeMap<CellId, &CellResult> =
            self.cells.iter().map(|cell| (cell.cell, cell)).collect();
        let of_whole_cells = self.accuracy.iter().filter(|accuracy| accuracy.plies.is_none());
        let accuracies: BTreeMap<CellId, &Accuracy> =
            of_whole_cells.map(|accuracy| (accuracy.cell, &accuracy.accuracy)).collect();
        let why: Vec<Option<WhyExploratory>> =
            self.claims.iter().map(|claim| claim.why_exploratory(&cells)).collect();
        let mut to_judge = Vec::with_capacity(self.claims.len());
        for (claim, why) in self.claims.iter().zip(&why) {
            let about = claim.statement.about;
            let cases = if about.is_of_runs() {
                claim.runs(&self.runs).map(case_of_run).collect()
            } else if about.is_of_ratings() {
                claim.cases_of_ratings(to_judge.len(), &cells)
            } else if claim.statement.over.is_some() {
                claim.cases_of_means(&cells)
            } else {
                let cases = claim.cases().enumerate();
                cases.map(|(number, case)| claim.case(number, case, &cells, &accuracies)).collect()
            };
            to_judge.push(ClaimToJudge {
                claimed: claim.statement.claimed(),
                is_exploratory: why.is_some(),
                is_counted: !claim.is_late,
                cases,
            });
        }
        let judged = judge(&to_judge);
        let statements = self.claims.iter().zip(why).zip(judged);
        statements
            .map(|((claim, exploratory), judged)| ClaimAnswer { claim, exploratory, judged })
            .collect()
    }
}

/// What a run found, as evidence.
fn case_of_run(run: &RunResult) -> CaseOfClaim {
    let found = |estimate: &ParameterEstimate| {
        let [low, high] = match &estimate.interval {
            Some(Bounds { low, high }) => [low, high].map(|end| end.as_ref()?.number),
            None => [None, None],
        };
        let value = estimate.value.number?;
        Some(FoundValue { value, low, high, step: step_of(&[Some(value), low, high]) })
    };
    CaseOfClaim {
        cells: vec![(i64::try_from(run.run).unwrap_or(i64::MAX), false)],
        state: if run.ended { CaseState::Finished } else { CaseState::Open },
        test: run.estimates.first().and_then(found).map(FigureTest::Found),
    }
}

/// The distance to which numbers are rounded: whole numbers, or whole microseconds in milliseconds.
fn step_of(numbers: &[Option<f64>]) -> f64 {
    let are_multiples_of = |step: f64| {
        numbers.iter().flatten().all(|number| {
            let steps = number / step;
            (steps - steps.round()).abs() < 1e-6
        })
    };
    if are_multiples_of(1.0) {
        1.0
    } else if are_multiples_of(0.001) {
        0.001
    } else {
        0.0
    }
}

impl StatedClaim {
    /// The runs whose results it is about.
    pub fn runs<'r>(&self, runs: &'r [RunResult]) -> impl Iterator<Item = &'r RunResult> {
        let Statement { player, opponent, at, .. } = &self.statement;
        runs.iter().filter(move |run| {
            let Begun { player: its_player, opponents, axes, .. } = &run.begun;
            its_player == player
                && opponent.as_ref().is_none_or(|opponent| opponents.contains(opponent))
                && at.iter().all(|(axis, values)| {
                    axes.iter()
                        .any(|place| place.axis == *axis && values.contains(&place.value.text))
                })
        })
    }

    /// Its cases where it is about means over replicates.
    fn cases_of_means(&self, cells: &BTreeMap<CellId, &CellResult>) -> Vec<CaseOfClaim> {
        let cases: Vec<&[StatedCell]> = self.cases().collect();
        let state = |stated: &StatedCell| {
            cells.get(&stated.cell).map_or(CaseState::Gone, |cell| cell.state_for_claims())
        };
        let case = |(number, mean): (usize, &MeanOverReplicates)| {
            let of_mean =
                mean.cases.iter().filter_map(|&case| cases.get(usize::try_from(case).ok()?));
            let stated: Vec<&StatedCell> = of_mean.copied().flatten().collect();
            let estimate = self.estimates.get(number).copied().flatten();
            CaseOfClaim {
                cells: stated.iter().map(|stated| stated.identity()).collect(),
                state: stated.iter().map(|stated| state(stated)).max().unwrap_or(CaseState::Gone),
                test: estimate.and_then(|estimate| match self.statement.about {
                    About::Score(_) => Some(FigureTest::MeanScore(estimate)),
                    About::Gain(_) => Some(FigureTest::Gain(estimate)),
                    About::TimeRatio(_) => Some(FigureTest::TimeRatio(estimate)),
                    About::Accuracy(_) | About::Value(_) | About::RatingLead(_) => None,
                }),
            }
        };
        self.means.iter().enumerate().map(case).collect()
    }

    /// Its cases where it is about ratings; it is the claim of this number.
    fn cases_of_ratings(
        &self,
        number: usize,
        cells: &BTreeMap<CellId, &CellResult>,
    ) -> Vec<CaseOfClaim> {
        let state = |stated: &StatedCell| {
            cells.get(&stated.cell).map_or(CaseState::Gone, |cell| cell.state_for_claims())
        };
        let of_cells = self.cells.iter().map(state).max().unwrap_or(CaseState::Gone);
        let case = |(place, lead): (usize, &RatedLead)| CaseOfClaim {
            cells: vec![(number as i64, false), (place as i64, false)],
            state: if of_cells == CaseState::Finished && !lead.fits {
                CaseState::Misfit
            } else {
                of_cells
            },
            test: lead.lead.map(FigureTest::RatingLead),
        };
        if self.leads.is_empty() {
            return vec![CaseOfClaim { cells: Vec::new(), state: of_cells, test: None }];
        }
        self.leads.iter().enumerate().map(case).collect()
    }

    /// One of its cases, with the evidence.
    fn case(
        &self,
        number: usize,
        stated: &[StatedCell],
        cells: &BTreeMap<CellId, &CellResult>,
        accuracies: &BTreeMap<CellId, &Accuracy>,
    ) -> CaseOfClaim {
        let cell = |stated: &StatedCell| cells.get(&stated.cell).copied();
        let is_of_second = |stated: &StatedCell| stated.player == Role::Opponent;
        let estimate = || self.estimates.get(number).copied().flatten();
        let state = |stated: &StatedCell| {
            cell(stated).map_or(CaseState::Gone, CellResult::state_for_claims)
        };
        let mut state = stated.iter().map(state).max().unwrap_or(CaseState::Gone);
        let test = match (self.statement.about, stated) {
            (About::Score(bound), [stated]) => cell(stated).and_then(|cell| {
                let Some(StopRule::Sprt(sprt)) = cell.stop.map(|stop| stop.rule) else {
                    let is_of_second = is_of_second(stated);
                    return Some(FigureTest::Score { test: cell.score_test()?, is_of_second });
                };
                // A claim that is the test's own enters with its verdict.
                let test =
                    FigureTest::from_sprt(&sprt, cell.accepted(), bound, is_of_second(stated))?;
                state = cell.state_of_games();
                Some(test)
            }),
            (About::Gain(_), _) => estimate().map(FigureTest::Gain),
            (About::TimeRatio(_), _) => estimate().map(FigureTest::TimeRatio),
            (About::Accuracy(_), [stated]) => accuracies.get(&stated.cell).map(|accuracy| {
                FigureTest::Score { test: accuracy.test_of_best(), is_of_second: false }
            }),
            (About::Score(_) | About::Accuracy(_) | About::Value(_) | About::RatingLead(_), _) => {
                None
            }
        };
        CaseOfClaim { cells: stated.iter().map(StatedCell::identity).collect(), state, test }
    }

    fn why_exploratory(&self, cells: &BTreeMap<CellId, &CellResult>) -> Option<WhyExploratory> {
        if self.is_late {
            return Some(WhyExploratory::Late);
        }
        let has_other_end = |stated: &StatedCell| {
            cells.get(&stated.cell).is_some_and(|cell| {
                let rule = cell.stop.map(|stop| stop.rule.to_string());
                let games = match cell.stop {
                    Some(stop) => stop.games_max,
                    // Its players repeat themselves and end the cell where repetition begins, whatever number was
                    // planned.
                    None if cell.is_one_round => stated.games,
                    None => cell.games_planned,
                };
                games != stated.games || rule != self.stop_rule
            })
        };
        self.cells.iter().any(has_other_end).then_some(WhyExploratory::OtherEnd)
    }
}

impl StatedCell {
    /// What tells a case of it from others.
    fn identity(&self) -> (i64, bool) {
        (self.cell.0, self.player == Role::Opponent)
    }
}

impl CellResult {
    /// Whether its score may be judged.
    #[must_use]
    pub fn state_for_claims(&self) -> CaseState {
        match self.stop.map(|stop| stop.rule) {
            Some(StopRule::Sprt(_)) => CaseState::Sequential,
            Some(StopRule::Precision(_)) | None => self.state_of_games(),
        }
    }

    fn state_of_games(&self) -> CaseState {
        if !self.is_complete() {
            CaseState::Open
        } else if self.is_one_game_again() {
            CaseState::Repeats
        } else {
            CaseState::Finished
        }
    }

    /// The verdict of the SPRT that ended it.
    fn accepted(&self) -> Option<Verdict> {
        match self.sprt()?.outcome? {
            SprtOutcome::Taken(verdict) => Some(verdict),
            SprtOutcome::NotJudged => None,
        }
    }

    /// The names of the player of this role, and of the other.
    #[must_use]
    pub fn sides(&self, role: Role) -> [&str; 2] {
        match role {
            Role::Player => [&self.player, &self.opponent],
            Role::Opponent => [&self.opponent, &self.player],
        }
    }

    /// Returns tests of the first player's score, from the same interval; `None` without a score.
    #[must_use]
    pub fn score_test(&self) -> Option<ScoreTest> {
        let score = self.score?;
        Some(match self.openings {
            Some(openings) => openings.test(score.score),
            None => self.tally().test(),
        })
    }
}
