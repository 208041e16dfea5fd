//! The accuracy of players' choices.

use spelrum_answers::CellAccuracy;
use spelrum_model::CellId;
use spelrum_statistics::Interval;
use spelrum_statistics::choice::{Accuracy, Estimate, WinsKept};

use crate::wire_error::{finite, id, number};
use crate::{Fault, WireError, v1};

impl From<CellAccuracy> for v1::CellAccuracy {
    fn from(CellAccuracy { cell, reference, plies, accuracy }: CellAccuracy) -> Self {
        let Accuracy {
            positions,
            best,
            rank,
            loss,
            random_best,
            random_rank,
            random_loss,
            best_skill,
            rank_skill,
            loss_skill,
            wins,
        } = accuracy;
        Self {
            cell_id: cell.0,
            reference,
            plies,
            positions,
            best: Some(best.into()),
            rank: Some(rank.into()),
            loss: Some(loss.into()),
            random_best,
            random_rank,
            random_loss,
            best_skill: Some(best_skill.into()),
            rank_skill: Some(rank_skill.into()),
            loss_skill: Some(loss_skill.into()),
            wins: wins.map(Into::into),
        }
    }
}

impl From<WinsKept> for v1::WinsKept {
    fn from(WinsKept { positions, share, random, skill }: WinsKept) -> Self {
        Self { positions, share: Some(share.into()), random, skill: Some(skill.into()) }
    }
}

impl From<Estimate> for v1::OverPositions {
    fn from(Estimate { value, interval }: Estimate) -> Self {
        Self {
            value,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    }
}

impl TryFrom<v1::CellAccuracy> for CellAccuracy {
    type Error = WireError;

    fn try_from(accuracy: v1::CellAccuracy) -> Result<Self, WireError> {
        Ok(Self {
            cell: CellId(id("cell_id", accuracy.cell_id)?),
            reference: accuracy.reference,
            plies: accuracy.plies,
            accuracy: Accuracy {
                positions: number("positions", accuracy.positions)?,
                best: estimate("best", accuracy.best)?,
                rank: estimate("rank", accuracy.rank)?,
                loss: estimate("loss", accuracy.loss)?,
                random_best: finite("random_best", accuracy.random_best)?,
                random_rank: finite("random_rank", accuracy.random_rank)?,
                random_loss: finite("random_loss", accuracy.random_loss)?,
                best_skill: estimate("best_skill", accuracy.best_skill)?,
                rank_skill: estimate("rank_skill", accuracy.rank_skill)?,
                loss_skill: estimate("loss_skill", accuracy.loss_skill)?,
                wins: accuracy
                    .wins
                    .map(|wins| WinsKept::try_from(wins).map_err(|error| error.within("wins")))
                    .transpose()?,
            },
        })
    }
}

impl TryFrom<v1::WinsKept> for WinsKept {
    type Error = WireError;

    fn try_from(wins: v1::WinsKept) -> Result<Self, WireError> {
        Ok(Self {
            positions: number("positions", wins.positions)?,
            share: estimate("share", wins.share)?,
            random: finite("random", wins.random)?,
            skill: estimate("skill", wins.skill)?,
        })
    }
}

fn estimate(
    field: &'static str,
    estimate: Option<v1::OverPositions>,
) -> Result<Estimate, WireError> {
    let estimate = estimate.ok_or_else(|| WireError::new(field, Fault::Missing))?;
    let value = finite(field, estimate.value)?;
    let interval = match (estimate.low, estimate.high) {
        (None, None) => None,
        (Some(low), Some(high)) => {
            Some(Interval { value, low: finite(field, low)?, high: finite(field, high)? })
        }
        (_, _) => return Err(WireError::new(field, Fault::Missing)),
    };
    Ok(Estimate { value, interval })
}
