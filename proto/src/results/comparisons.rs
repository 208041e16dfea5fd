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
    fn from(effects: Effects) -> Self {
        let effect = |effect: Effect| v1::Effect {
            of: effect.contrasts.into_iter().map(Into::into).collect(),
            gain: Some(interval_to_wire(effect.score, effect.interval)),
        };
        Self {
            player: effects.player,
            opponent: effects.opponent,
            cells: effects.cells,
            effects: effects.effects.into_iter().map(effect).collect(),
            has_interactions: effects.has_interactions,
            residual: effects.residual,
        }
    }
}

impl TryFrom<v1::Effect> for Effect {
    type Error = WireError;

    fn try_from(effect: v1::Effect) -> Result<Self, WireError> {
        let (score, interval) = from_wire("gain", effect.gain)?;
        in_range("of", effect.of.len() as u64, 1, 2)?;
        Ok(Self { contrasts: effect.of.into_iter().map(Into::into).collect(), score, interval })
    }
}

impl TryFrom<v1::Effects> for Effects {
    type Error = WireError;

    fn try_from(effects: v1::Effects) -> Result<Self, WireError> {
        Ok(Self {
            player: effects.player,
            opponent: effects.opponent,
            cells: number("cells", effects.cells)?,
            effects: read_all("effects", effects.effects)?,
            has_interactions: effects.has_interactions,
            residual: effects.residual.map(|residual| finite("residual", residual)).transpose()?,
        })
    }
}

impl From<Replicates> for v1::Replicates {
    fn from(replicates: Replicates) -> Self {
        Self {
            cell_id: replicates.cell.0,
            axes: places_to_wire(replicates.place),
            player: replicates.player,
            opponent: replicates.opponent,
            seeds: replicates.seeds,
            score: Some(interval_to_wire(replicates.score, replicates.interval)),
            deviation: replicates.deviation,
            deviation_between: replicates.deviation_between,
        }
    }
}

impl TryFrom<v1::Replicates> for Replicates {
    type Error = WireError;

    fn try_from(replicates: v1::Replicates) -> Result<Self, WireError> {
        let (score, interval) = from_wire("score", replicates.score)?;
        let deviation =
            |field, value: Option<f64>| value.map(|value| finite(field, value)).transpose();
        Ok(Self {
            cell: CellId(id("cell_id", replicates.cell_id)?),
            place: places_from_wire(replicates.axes),
            player: replicates.player,
            opponent: replicates.opponent,
            seeds: number("seeds", replicates.seeds)?,
            score,
            interval,
            deviation: deviation("deviation", replicates.deviation)?,
            deviation_between: deviation("deviation_between", replicates.deviation_between)?,
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
        let comparisons = match (&mut self.comparisons, experiment) {
            (Some(comparisons), _) => comparisons,
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
        let axes = comparisons.axes.len() as u64;
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
        for contrast in
            effects.iter().flat_map(|group| &group.effects).flat_map(|effect| &effect.contrasts)
        {
            check_axis("effects.of.axis", contrast.axis)?;
        }
        let replicates: Vec<Replicates> = read_all("replicates", replicates)?;
        for replicate in &replicates {
            check_place("replicates.axes", &replicate.place)?;
        }
        comparisons.differences.extend(gains);
        comparisons.effects.extend(effects);
        comparisons.replicates.extend(replicates);
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
