//! Judging claims: p-values, verdicts and bands.

use std::collections::BTreeSet;
use std::iter;

use spelrum_names::Names;

use super::holm::holm;
use super::{Claimed, FigureTest};
use crate::Interval;

/// A claim with the results of its cases.
#[derive(Clone, Debug)]
pub struct ClaimToJudge {
    /// What is claimed of each case.
    pub claimed: Claimed,
    /// Whether it is outside the family, without a guarantee of its error rate.
    pub is_exploratory: bool,
    /// Whether it counts in the family because it was stated with it. A claim that became exploratory when its cells
    /// were changed still costs the others the same.
    pub is_counted: bool,
    /// Its cases.
    pub cases: Vec<CaseOfClaim>,
}

/// The result of a case of a claim: of a cell, or of a cell and the one that it is compared with.
#[derive(Clone, Debug)]
pub struct CaseOfClaim {
    /// What tells it from the other cases of claims about the same figure: the numbers of its cells, and whether the claim
    /// is about the second player there.
    pub cells: Vec<(i64, bool)>,
    /// Whether the figure may be judged.
    pub state: CaseState,
    /// The evidence on the figure; `None` without games.
    pub test: Option<FigureTest>,
}

/// Whether a case's figure may be judged. The state of several cells is the greatest of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseState {
    /// No games are left.
    Finished,
    /// Games are left to play.
    Open,
    /// The sweep no longer names a cell.
    Gone,
    /// A cell repeats one game, or pair, from one opening: its score has no p-value.
    Repeats,
    /// An SPRT of another claim ends a cell, after which its score has no valid p-value.
    Sequential,
    /// One scale does not fit the rated players.
    Misfit,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
pub enum Judgement {
    /// It holds, at the family's error rate.
    Supported,
    /// It was not shown to hold, which does not mean that it is false.
    NotShown,
    /// Its cells have games to play, or the verdict depends on other claims of its family whose cells have.
    Open,
    /// It has a p-value, and is outside the family.
    Exploratory,
    /// It cannot be judged.
    NotJudged(NotJudged),
}

/// Why a claim cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotJudged {
    /// An SPRT of another claim ends its cells.
    Sequential,
    /// Some of its cells repeat one game.
    Repeats,
    /// The sweep no longer names some of its cells.
    Gone,
    /// One scale does not fit the rated players.
    Misfit,
}

/// A claim, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClaim {
    /// The verdict.
    pub judgement: Judgement,
    /// Its p-values, once its cells are finished.
    pub figures: Option<ClaimFigures>,
    /// Its cases, in their order.
    pub cases: Vec<JudgedCase>,
}

/// A claim's p-values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClaimFigures {
    /// An upper bound for the probability of results that support the claim as strongly, if it were false.
    pub p: f64,
    /// Adjusted for the family ([`holm`]); `None` for an exploratory claim.
    pub p_adjusted: Option<f64>,
}

/// The result of one case of a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedCase {
    /// The p-value of this case alone.
    pub p: Option<f64>,
    /// The figure, with a band: see [`judge`].
    pub band: Option<Interval>,
}

/// Judges claims: those that are not exploratory as one family, by [`holm`].
///
/// A claim about every case has the largest of its cases' p-values (the intersection-union test: Berger 1982); a claim
/// about some cases has the smallest, times their number (Bonferroni's correction: Dunn 1961). A claim whose cells are
/// not finished, that is not judged, or that was stated with the family and left it, counts with a p-value of 1. So a
/// finished claim that is supported stays supported when others finish: a smaller p-value of one claim never revokes
/// the rejection of another. A claim stays open while others are open whose p-values could still make it supported.
///
/// Bands are simultaneous: those of all cases of the family contain the true figures together, with a probability of 1
/// minus the error rate (Bonferroni). The bands of an exploratory claim are simultaneous among its own cases.
#[must_use]
pub fn judge(claims: &[ClaimToJudge]) -> Vec<JudgedClaim> {
    let of_family: BTreeSet<_> = claims
        .iter()
        .filter(|claim| !claim.is_exploratory)
        .flat_map(|claim| {
            claim.cases.iter().map(|case| (claim.claimed.about.figure(), case.seen_from_first()))
        })
        .collect();
    let mut judged: Vec<JudgedClaim> = claims
        .iter()
        .map(|claim| {
            let bands = if claim.is_exploratory { claim.cases.len() } else { of_family.len() };
            claim.alone(bands)
        })
        .collect();
    judge_family(claims, &mut judged);
    judged
}

/// Sets the adjusted p-values and the verdicts of the family's claims.
fn judge_family(claims: &[ClaimToJudge], judged: &mut [JudgedClaim]) {
    let family: Vec<usize> =
        (0..claims.len()).filter(|&claim| !claims[claim].is_exploratory).collect();
    let left = claims.iter().filter(|claim| claim.is_exploratory && claim.is_counted).count();
    let adjusted_if_open_were = |p_of_open: f64| {
        let p = |&claim: &usize| match (judged[claim].figures, judged[claim].judgement) {
            (Some(figures), _) => figures.p,
            (None, Judgement::Open) => p_of_open,
            (None, _) => 1.0,
        };
        holm(&family.iter().map(p).chain(iter::repeat_n(1.0, left)).collect::<Vec<f64>>())
    };
    let (worst, best) = (adjusted_if_open_were(1.0), adjusted_if_open_were(0.0));
    for ((&claim, worst), best) in family.iter().zip(worst).zip(best) {
        let error_rate = claims[claim].claimed.error_rate;
        let JudgedClaim { judgement, figures: Some(figures), .. } = &mut judged[claim] else {
            continue;
        };
        figures.p_adjusted = Some(worst);
        *judgement = if worst <= error_rate {
            Judgement::Supported
        } else if best <= error_rate {
            Judgement::Open
        } else {
            Judgement::NotShown
        };
    }
}

impl ClaimToJudge {
    /// The results of its cases, without the family; this many bands hold together.
    fn alone(&self, bands: usize) -> JudgedClaim {
        let band_error = self.claimed.error_rate / bands.max(1) as f64;
        let cases: Vec<JudgedCase> =
            self.cases.iter().map(|case| case.judge(&self.claimed, band_error)).collect();
        let state = self.cases.iter().map(|case| case.state).max();
        let judgement = match state.unwrap_or(CaseState::Finished) {
            CaseState::Sequential => Judgement::NotJudged(NotJudged::Sequential),
            CaseState::Repeats => Judgement::NotJudged(NotJudged::Repeats),
            CaseState::Gone => Judgement::NotJudged(NotJudged::Gone),
            CaseState::Misfit => Judgement::NotJudged(NotJudged::Misfit),
            CaseState::Open => Judgement::Open,
            CaseState::Finished if self.is_exploratory => Judgement::Exploratory,
            // Only the family's adjusted p-values can support it.
            CaseState::Finished => Judgement::NotShown,
        };
        let p_values: Option<Vec<f64>> = cases.iter().map(|case| case.p).collect();
        let figures = p_values
            .map(|p_values| self.claimed.quantifier.p_value(&p_values))
            .map(|p| ClaimFigures { p, p_adjusted: None });
        JudgedClaim { judgement, figures, cases }
    }
}

impl CaseOfClaim {
    fn judge(&self, claimed: &Claimed, band_error: f64) -> JudgedCase {
        if self.state != CaseState::Finished {
            return JudgedCase { p: None, band: None };
        }
        // Without games there is no evidence.
        let Some(test) = self.test else { return JudgedCase { p: Some(1.0), band: None } };
        let p = claimed.about.bound().p_value(&test);
        JudgedCase { p: Some(p), band: test.interval(band_error) }
    }

    /// Its cells as seen by the first one's first player: seen from the other side they have the same band, mirrored.
    fn seen_from_first(&self) -> Vec<(i64, bool)> {
        let is_of_second = self.cells.first().is_some_and(|&(_, is_of_second)| is_of_second);
        self.cells.iter().map(|&(cell, second)| (cell, second != is_of_second)).collect()
    }
}

impl NotJudged {
    /// The reason in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Sequential => "its cells end by an SPRT of another claim",
            Self::Repeats => "repeated games are not evidence: take more openings",
            Self::Gone => "the sweep has some of its cells no longer",
            Self::Misfit => "one scale does not fit the rated players",
        }
    }
}
