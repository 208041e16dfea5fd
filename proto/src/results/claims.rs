//! Claims of sweeps about their results.

use spelrum_answers::{ClaimAnswer, Report, StatedCell, StatedClaim};
use spelrum_model::claims::{ClaimStanding, Statement};
use spelrum_model::{CellId, DefinitionHash, Role};
use spelrum_statistics::claims::{Bound, Judgement, Quantifier};

use crate::wire_error::{finite, id, number};
use crate::{Fault, WireError, v1};

/// A report's claims on the wire, with their verdicts, for clients that do not compute these.
#[must_use]
pub fn claims_to_wire(report: &Report) -> Vec<v1::Claim> {
    report.judged_claims().iter().map(Into::into).collect()
}

impl From<&ClaimAnswer<'_>> for v1::Claim {
    fn from(judged_claim: &ClaimAnswer<'_>) -> Self {
        let ClaimAnswer { claim, exploratory, judged } = judged_claim;
        let Statement { player, opponent, at, score, quantifier, error_rate } = &claim.statement;
        let reason = match judged.judgement {
            Judgement::NotJudged(why) => Some(why.reason()),
            Judgement::Supported
            | Judgement::NotShown
            | Judgement::Open
            | Judgement::Exploratory => exploratory.map(|why| why.reason()),
        };
        let axis = |(axis, values): &(String, Vec<String>)| v1::ClaimedAxis {
            axis: axis.clone(),
            values: values.clone(),
        };
        let cells = claim.cells.iter().zip(&judged.cells);
        Self {
            text: claim.text.clone(),
            player: player.clone(),
            opponent: opponent.clone(),
            at: at.iter().map(axis).collect(),
            score: Some(match *score {
                Bound::Above(score) => v1::claim::Score::Above(score),
                Bound::Below(score) => v1::claim::Score::Below(score),
            }),
            r#in: quantifier.name().to_owned(),
            error_rate: *error_rate,
            hash: claim.hash.0.to_vec(),
            late: claim.is_late,
            in_sweep: claim.in_sweep,
            stop_rule: claim.stop_rule.clone(),
            cells: cells
                .map(|(stated, judged)| v1::ClaimedCell {
                    cell_id: stated.cell.0,
                    second: stated.player == Role::Opponent,
                    games: stated.games,
                    p: judged.p,
                    band: judged.band.map(Into::into),
                })
                .collect(),
            judgement: judged.judgement.name().to_owned(),
            reason: reason.map(str::to_owned),
            p: judged.figures.map(|figures| figures.p),
            p_adjusted: judged.figures.and_then(|figures| figures.p_adjusted),
        }
    }
}

impl TryFrom<v1::Claim> for StatedClaim {
    type Error = WireError;

    /// Derived fields are recomputed.
    fn try_from(claim: v1::Claim) -> Result<Self, WireError> {
        let score = match claim.score {
            Some(v1::claim::Score::Above(score)) => Bound::Above(finite("above", score)?),
            Some(v1::claim::Score::Below(score)) => Bound::Below(finite("below", score)?),
            None => return Err(WireError::new("score", Fault::Missing)),
        };
        let hash = claim
            .hash
            .as_slice()
            .try_into()
            .map_err(|_| WireError::new("hash", Fault::NotAHash { bytes: claim.hash.len() }))?;
        let quantifiers = [Quantifier::Every, Quantifier::Some];
        let quantifier = quantifiers.into_iter().find(|quantifier| quantifier.name() == claim.r#in);
        let cell = |cell: v1::ClaimedCell| {
            Ok(StatedCell {
                cell: CellId(id("cells.cell_id", cell.cell_id)?),
                player: if cell.second { Role::Opponent } else { Role::Player },
                games: number("cells.games", cell.games)?,
            })
        };
        Ok(Self {
            text: claim.text,
            statement: Statement {
                player: claim.player,
                opponent: claim.opponent,
                at: claim.at.into_iter().map(|at| (at.axis, at.values)).collect(),
                score,
                quantifier: quantifier
                    .ok_or_else(|| WireError::new("in", Fault::UnknownWord(claim.r#in)))?,
                error_rate: finite("error_rate", claim.error_rate)?,
            },
            hash: DefinitionHash(hash),
            is_late: claim.late,
            in_sweep: claim.in_sweep,
            stop_rule: claim.stop_rule,
            cells: claim.cells.into_iter().map(cell).collect::<Result<_, WireError>>()?,
        })
    }
}

impl From<ClaimStanding> for v1::ClaimStanding {
    fn from(ClaimStanding { text, is_late, in_sweep }: ClaimStanding) -> Self {
        Self { text, late: is_late, in_sweep }
    }
}
