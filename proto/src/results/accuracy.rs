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
        Self { value, low: interval.map(|it| it.low), high: interval.map(|it| it.high) }
    }
}

impl TryFrom<v1::CellAccuracy> for CellAccuracy {
    type Error = WireError;

    fn try_from(told: v1::CellAccuracy) -> Result<Self, WireError> {
        Ok(Self {
            cell: CellId(id("cell_id", told.cell_id)?),
            reference: told.reference,
            plies: told.plies,
            accuracy: Accuracy {
                positions: number("positions", told.positions)?,
                best: estimate("best", told.best)?,
                rank: estimate("rank", told.rank)?,
                loss: estimate("loss", told.loss)?,
                random_best: finite("random_best", told.random_best)?,
                random_rank: finite("random_rank", told.random_rank)?,
                random_loss: finite("random_loss", told.random_loss)?,
                best_skill: estimate("best_skill", told.best_skill)?,
                rank_skill: estimate("rank_skill", told.rank_skill)?,
                loss_skill: estimate("loss_skill", told.loss_skill)?,
                wins: told
                    .wins
                    .map(|wins| WinsKept::try_from(wins).map_err(|error| error.within("wins")))
                    .transpose()?,
            },
        })
    }
}

impl TryFrom<v1::WinsKept> for WinsKept {
    type Error = WireError;

    fn try_from(told: v1::WinsKept) -> Result<Self, WireError> {
        Ok(Self {
            positions: number("positions", told.positions)?,
            share: estimate("share", told.share)?,
            random: finite("random", told.random)?,
            skill: estimate("skill", told.skill)?,
        })
    }
}

fn estimate(field: &'static str, told: Option<v1::OverPositions>) -> Result<Estimate, WireError> {
    let told = told.ok_or_else(|| WireError::new(field, Fault::Missing))?;
    let value = finite(field, told.value)?;
    let interval = match (told.low, told.high) {
        (None, None) => None,
        (Some(low), Some(high)) => {
            Some(Interval { value, low: finite(field, low)?, high: finite(field, high)? })
        }
        (_, _) => return Err(WireError::new(field, Fault::Missing)),
    };
    Ok(Estimate { value, interval })
}
