//! Comparisons of cells.

use spelrum_answers::Comparisons;
use spelrum_answers::{CellDifference as Difference, CellReplicates as Replicates};
use spelrum_model::CellId;
use spelrum_statistics::Interval;
use spelrum_statistics::comparisons::{Changed, Contrast, Effect, Effects};

use super::report::{interval_from_wire, interval_to_wire, places_from_wire, places_to_wire};
use super::status::read_all;
use crate::wire_error::{finite, id, in_range, number};
use crate::{Fault, WireError, v1};

fn from_wire(
    field: &'static str,
    interval: Option<v1::Interval>,
) -> Result<(f64, Option<Interval>), WireError> {
    let interval = interval.ok_or_else(|| WireError::new(field, Fault::Missing))?;
    interval_from_wire(field, interval)
}

impl From<Difference> for v1::Gain {
    fn from(gain: Difference) -> Self {
        let [cell, from_cell] = gain.cells.map(|cell| cell.0);
        let (axis, from, to) = match gain.changed {
            Changed::Axis { axis, from, to } => (Some(axis as u32), from, to),
            Changed::Player { from } => (None, from, gain.player.clone()),
        };
        Self {
            cell_id: cell,
            from_cell_id: from_cell,
            axes: places_to_wire(gain.place),
            player: gain.player,
            opponent: gain.opponent,
            axis,
            from,
            to,
            openings_shared: gain.openings_shared,
            gain: Some(interval_to_wire(gain.score, gain.interval)),
        }
    }
}

impl TryFrom<v1::Gain> for Difference {
    type Error = WireError;

    fn try_from(gain: v1::Gain) -> Result<Self, WireError> {
        let (score, interval) = from_wire("gain", gain.gain)?;
        let cell = CellId(id("cell_id", gain.cell_id)?);
        let from_cell = CellId(id("from_cell_id", gain.from_cell_id)?);
        Ok(Self {
            cells: [cell, from_cell],
            changed: match gain.axis {
                Some(axis) => Changed::Axis { axis: axis as usize, from: gain.from, to: gain.to },
                None => Changed::Player { from: gain.from },
            },
            place: places_from_wire(gain.axes),
            player: gain.player,
            opponent: gain.opponent,
            openings_shared: number("openings_shared", gain.openings_shared)?,
            score,
            interval,
        })
    }
}

impl From<Contrast> for v1::Contrast {
    fn from(Contrast { axis, from, to }: Contrast) -> Self {
        Self { axis: axis as u32, from, to }
    }
}

impl From<v1::Contrast> for Contrast {
    fn from(v1::Contrast { axis, from, to }: v1::Contrast) -> Self {
        Self { axis: axis as usize, from, to }
    }
}

impl From<Effects> for v1::Effects {
    fn from(told: Effects) -> Self {
        let effect = |effect: Effect| v1::Effect {
            of: effect.of.into_iter().map(Into::into).collect(),
            gain: Some(interval_to_wire(effect.score, effect.interval)),
        };
        Self {
            player: told.player,
            opponent: told.opponent,
            cells: told.cells,
            effects: told.effects.into_iter().map(effect).collect(),
            has_interactions: told.has_interactions,
            residual: told.residual,
        }
    }
}

impl TryFrom<v1::Effect> for Effect {
    type Error = WireError;

    fn try_from(effect: v1::Effect) -> Result<Self, WireError> {
        let (score, interval) = from_wire("gain", effect.gain)?;
        in_range("of", effect.of.len() as u64, 1, 2)?;
        Ok(Self { of: effect.of.into_iter().map(Into::into).collect(), score, interval })
    }
}

impl TryFrom<v1::Effects> for Effects {
    type Error = WireError;

    fn try_from(told: v1::Effects) -> Result<Self, WireError> {
        Ok(Self {
            player: told.player,
            opponent: told.opponent,
            cells: number("cells", told.cells)?,
            effects: read_all("effects", told.effects)?,
            has_interactions: told.has_interactions,
            residual: told.residual.map(|residual| finite("residual", residual)).transpose()?,
        })
    }
}

impl From<Replicates> for v1::Replicates {
    fn from(told: Replicates) -> Self {
        Self {
            cell_id: told.cell.0,
            axes: places_to_wire(told.place),
            player: told.player,
            opponent: told.opponent,
            seeds: told.seeds,
            score: Some(interval_to_wire(told.score, told.interval)),
            deviation: told.deviation,
            deviation_between: told.deviation_between,
        }
    }
}

impl TryFrom<v1::Replicates> for Replicates {
    type Error = WireError;

    fn try_from(told: v1::Replicates) -> Result<Self, WireError> {
        let (score, interval) = from_wire("score", told.score)?;
        let deviation =
            |field, value: Option<f64>| value.map(|value| finite(field, value)).transpose();
        Ok(Self {
            cell: CellId(id("cell_id", told.cell_id)?),
            place: places_from_wire(told.axes),
            player: told.player,
            opponent: told.opponent,
            seeds: number("seeds", told.seeds)?,
            score,
            interval,
            deviation: deviation("deviation", told.deviation)?,
            deviation_between: deviation("deviation_between", told.deviation_between)?,
        })
    }
}

/// Assembles comparisons from their parts.
#[derive(Debug, Default)]
pub struct ComparisonsReader {
    comparisons: Option<Comparisons>,
}

impl ComparisonsReader {
    /// Adds the next part.
    ///
    /// # Errors
    /// The first field that is malformed.
    pub fn take(&mut self, part: v1::GetComparisonsResponse) -> Result<(), WireError> {
        let v1::GetComparisonsResponse {
            experiment,
            axes,
            gains_truncated,
            gains,
            effects,
            replicates,
        } = part;
        let told = match (&mut self.comparisons, experiment) {
            (Some(told), _) => told,
            (none @ None, Some(experiment)) => none.insert(Comparisons {
                experiment: experiment
                    .try_into()
                    .map_err(|error: WireError| error.within("experiment"))?,
                axes,
                differences: Vec::new(),
                differences_truncated: gains_truncated,
                effects: Vec::new(),
                replicates: Vec::new(),
            }),
            (None, None) => return Err(WireError::new("experiment", Fault::Missing)),
        };
        let axes = told.axes.len() as u64;
        let check_axis = |field, axis: usize| match axes {
            0 => Err(WireError::new(field, Fault::Missing)),
            _ => in_range(field, axis as u64, 0, axes - 1).map(|_| ()),
        };
        let check_place = |field, place: &[Option<String>]| {
            in_range(field, place.len() as u64, axes, axes).map(|_| ())
        };
        let gains: Vec<Difference> = read_all("gains", gains)?;
        for gain in &gains {
            check_place("gains.axes", &gain.place)?;
            if let Changed::Axis { axis, .. } = gain.changed {
                check_axis("gains.axis", axis)?;
            }
        }
        let effects: Vec<Effects> = read_all("effects", effects)?;
        for contrast in effects.iter().flat_map(|told| &told.effects).flat_map(|effect| &effect.of)
        {
            check_axis("effects.of.axis", contrast.axis)?;
        }
        let replicates: Vec<Replicates> = read_all("replicates", replicates)?;
        for told in &replicates {
            check_place("replicates.axes", &told.place)?;
        }
        told.differences.extend(gains);
        told.effects.extend(effects);
        told.replicates.extend(replicates);
        Ok(())
    }

    /// The comparisons, after the last part.
    ///
    /// # Errors
    /// If there was no part.
    pub fn finish(self) -> Result<Comparisons, WireError> {
        self.comparisons.ok_or_else(|| WireError::new("experiment", Fault::Missing))
    }
}
