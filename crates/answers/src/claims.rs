//! Claims that a sweep states about its results, and their judgement.

use std::collections::BTreeMap;

use spelrum_model::{CellId, Role};
use spelrum_statistics::claims::{
    About, CaseOfClaim, CaseState, ClaimToJudge, FigureTest, JudgedClaim, judge,
};
use spelrum_statistics::{ScoreTest, StopRule, Verdict};

use crate::cell_result::{CellResult, SprtOutcome};
use crate::derived::{ClaimVerdict, ReportFigures};
use crate::report::Report;
use crate::stated::{StatedCell, StatedClaim};

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
        let why: Vec<Option<WhyExploratory>> =
            self.claims.iter().map(|claim| claim.why_exploratory(&cells)).collect();
        let mut to_judge = Vec::with_capacity(self.claims.len());
        for (claim, why) in self.claims.iter().zip(&why) {
            let cases = claim.cases().enumerate();
            to_judge.push(ClaimToJudge {
                claimed: claim.statement.claimed(),
                is_exploratory: why.is_some(),
                is_counted: !claim.is_late,
                cases: cases.map(|(number, case)| claim.case(number, case, &cells)).collect(),
            });
        }
        let judged = judge(&to_judge);
        let statements = self.claims.iter().zip(why).zip(judged);
        statements
            .map(|((claim, exploratory), judged)| ClaimAnswer { claim, exploratory, judged })
            .collect()
    }
}

impl StatedClaim {
    /// One of its cases, with the evidence.
    fn case(
        &self,
        number: usize,
        stated: &[StatedCell],
        cells: &BTreeMap<CellId, &CellResult>,
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
            (About::Score(_), _) => None,
        };
        let id = |stated: &StatedCell| (stated.cell.0, is_of_second(stated));
        CaseOfClaim { cells: stated.iter().map(id).collect(), state, test }
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
