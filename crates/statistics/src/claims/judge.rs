//! Judging claims: p-values, verdicts and bands.

use std::collections::BTreeSet;
use std::iter;

use spelrum_names::Names;

use super::holm::holm;
use super::{Bound, Claimed};
use crate::{ScoreInterval, ScoreTest};

/// A claim with the results of its cells.
#[derive(Clone, Debug)]
pub struct ClaimToJudge {
    /// The claim about its cells' scores.
    pub claimed: Claimed,
    /// Whether it is outside the family, without a guarantee of its error rate.
    pub is_exploratory: bool,
    /// Whether it counts in the family because it was stated with it. A claim that became exploratory when its cells
    /// were changed still costs the others the same.
    pub is_counted: bool,
    /// Its cells.
    pub cells: Vec<CellOfClaim>,
}

/// The result of a cell that a claim is about.
#[derive(Clone, Copy, Debug)]
pub struct CellOfClaim {
    /// The cell's number among those of all claims.
    pub cell: i64,
    /// Whether the claim is about the second player's score.
    pub is_of_second: bool,
    /// The cell's state in its sweep.
    pub state: StateOfCell,
    /// The test of its first player's score; `None` without games.
    pub score: Option<ScoreTest>,
}

/// Whether a cell's score may be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateOfCell {
    /// It has games left to play.
    Open,
    /// It has no games left.
    Finished,
    /// An SPRT ends it, after which its score has no valid p-value.
    Sequential,
    /// It repeats one game, or pair, from one opening: its score has no p-value.
    Repeats,
    /// Its sweep no longer names it.
    Gone,
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
    /// A sequential rule ends its cells.
    Sequential,
    /// Some of its cells repeat one game.
    Repeats,
    /// The sweep no longer names some of its cells.
    Gone,
}

/// A claim, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClaim {
    /// The verdict.
    pub judgement: Judgement,
    /// Its p-values, once its cells are finished.
    pub figures: Option<ClaimFigures>,
    /// Its cells, in their order.
    pub cells: Vec<JudgedCell>,
}

/// A claim's p-values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClaimFigures {
    /// An upper bound for the probability of cells that support the claim as strongly, if it were false.
    pub p: f64,
    /// Adjusted for the family ([`holm`]); `None` for an exploratory claim.
    pub p_adjusted: Option<f64>,
}

/// The result of one cell of a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedCell {
    /// The one-sided p-value of this cell alone.
    pub p: Option<f64>,
    /// The score of the claim's player, with a band: see [`judge`].
    pub band: Option<ScoreInterval>,
}

/// Judges claims: those that are not exploratory as one family, by [`holm`].
///
/// A claim about every cell has the largest of its cells' p-values (the intersection-union test: Berger 1982); a claim
/// about some cells has the smallest, times their number (Bonferroni's correction: Dunn 1961). A claim whose cells are
/// not finished, that is not judged, or that was stated with the family and left it, counts with a p-value of 1. So a
/// finished claim that is supported stays supported when others finish: a smaller p-value of one claim never revokes
/// the rejection of another. A claim stays open while others are open whose p-values could still make it supported.
///
/// Bands are simultaneous: those of all cells of the family contain the true scores together, with a probability of 1
/// minus the error rate (Bonferroni). The bands of an exploratory claim are simultaneous among its own cells.
#[must_use]
pub fn judge(claims: &[ClaimToJudge]) -> Vec<JudgedClaim> {
    // A cell seen from its other side has the same band, mirrored.
    let of_family: BTreeSet<i64> = claims
        .iter()
        .filter(|claim| !claim.is_exploratory)
        .flat_map(|claim| claim.cells.iter().map(|cell| cell.cell))
        .collect();
    let mut judged: Vec<JudgedClaim> = claims
        .iter()
        .map(|claim| {
            let bands = if claim.is_exploratory { claim.cells.len() } else { of_family.len() };
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
    /// The results of its cells, without the family; this many bands hold together.
    fn alone(&self, bands: usize) -> JudgedClaim {
        let band_error = self.claimed.error_rate / bands.max(1) as f64;
        let cells: Vec<JudgedCell> =
            self.cells.iter().map(|cell| cell.judge(self.claimed.score, band_error)).collect();
        let is = |state: StateOfCell| self.cells.iter().any(|cell| cell.state == state);
        let judgement = if is(StateOfCell::Sequential) {
            Judgement::NotJudged(NotJudged::Sequential)
        } else if is(StateOfCell::Repeats) {
            Judgement::NotJudged(NotJudged::Repeats)
        } else if is(StateOfCell::Gone) {
            Judgement::NotJudged(NotJudged::Gone)
        } else if is(StateOfCell::Open) {
            Judgement::Open
        } else if self.is_exploratory {
            Judgement::Exploratory
        } else {
            // Only the family's adjusted p-values can support it.
            Judgement::NotShown
        };
        let p_values: Option<Vec<f64>> = cells.iter().map(|cell| cell.p).collect();
        let figures = p_values
            .map(|p_values| self.claimed.quantifier.p_value(&p_values))
            .map(|p| ClaimFigures { p, p_adjusted: None });
        JudgedClaim { judgement, figures, cells }
    }
}

impl CellOfClaim {
    fn judge(&self, bound: Bound, band_error: f64) -> JudgedCell {
        if self.state != StateOfCell::Finished {
            return JudgedCell { p: None, band: None };
        }
        // Without games there is no evidence.
        let Some(score) = self.score else { return JudgedCell { p: Some(1.0), band: None } };
        let band = score.interval(band_error);
        let band = if self.is_of_second { band.seen_by_opponent() } else { band };
        JudgedCell { p: Some(bound.p_value(&score, self.is_of_second)), band: Some(band) }
    }
}

impl NotJudged {
    /// The reason in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Sequential => "its cells end by a sequential rule",
            Self::Repeats => "repeated games are not evidence: take more openings",
            Self::Gone => "the sweep has some of its cells no longer",
        }
    }
}
