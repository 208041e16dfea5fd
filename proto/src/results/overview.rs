//! Lengths, endings and workers of an experiment's games.

use std::collections::BTreeMap;

use spelrum_answers::{
    CellGames, CpuQuota, Lengths, Machine, Measure, Overview, WorkerEffects, WorkerShare,
};
use spelrum_model::{CellId, WorkerId};
use spelrum_statistics::{BetweenWorkers, Interval, WorkerEffect};

use super::report::{places_from_wire, places_to_wire};
use super::status::read_all;
use crate::wire_error::{finite, id, in_range, number};
use crate::{Fault, WireError, labels, v1};

impl From<WorkerShare> for v1::WorkerShare {
    fn from(share: WorkerShare) -> Self {
        let machine = share.machine;
        let (cpu_quota_us, cpu_period_us) =
            machine.cpu_quota.map_or((0, 0), |quota| (quota.quota_us, quota.period_us));
        Self {
            worker_id: share.worker.0,
            name: share.name,
            host: share.host,
            slots: share.slots,
            engine_revision: share.engine_revision,
            version: share.version,
            cpu_model: machine.cpu_model,
            logical_cores: machine.logical_cores.unwrap_or(0),
            operating_system: machine.operating_system,
            build_commit: machine.build_commit,
            build_profile: machine.build_profile,
            cores: machine.cores,
            quiet_slots: machine.quiet_slots,
            cpu_quota_us,
            cpu_period_us,
            labels: machine.labels.into_iter().map(labels::label_to_wire).collect(),
            games: share.games,
            plies: share.plies,
            wall_us: share.wall_us,
        }
    }
}

impl TryFrom<v1::WorkerShare> for WorkerShare {
    type Error = WireError;

    fn try_from(share: v1::WorkerShare) -> Result<Self, WireError> {
        Ok(Self {
            worker: WorkerId(id("worker_id", share.worker_id)?),
            name: share.name,
            host: share.host,
            slots: share.slots,
            engine_revision: share.engine_revision,
            version: share.version,
            machine: Machine {
                cpu_model: share.cpu_model,
                logical_cores: Some(share.logical_cores).filter(|&cores| cores > 0),
                operating_system: share.operating_system,
                build_commit: share.build_commit,
                build_profile: share.build_profile,
                cores: share.cores,
                quiet_slots: share.quiet_slots,
                cpu_quota: CpuQuota::new(
                    number("cpu_quota_us", share.cpu_quota_us)?,
                    number("cpu_period_us", share.cpu_period_us)?,
                ),
                labels: labels::labels(&share.labels)?,
            },
            games: number("games", share.games)?,
            plies: number("plies", share.plies)?,
            wall_us: finite("wall_us", share.wall_us)?,
        })
    }
}

impl From<WorkerEffects> for v1::WorkerEffects {
    fn from(between_workers: WorkerEffects) -> Self {
        let BetweenWorkers { deviation, within, p_value, effects } = between_workers.between;
        let workers = between_workers.workers.into_iter().zip(effects).map(|(worker, effect)| {
            v1::WorkerEffect { worker_id: worker.0, effect: effect.effect, error: effect.error }
        });
        Self {
            measure: between_workers.measure.name().to_owned(),
            units: between_workers.units,
            deviation: deviation.value,
            deviation_low: deviation.low,
            deviation_high: deviation.high,
            within,
            p_value,
            workers: workers.collect(),
        }
    }
}

/// Parses the effects of workers on a measure; `None` if this program does not know the measure.
fn worker_effects(wire: v1::WorkerEffects) -> Result<Option<WorkerEffects>, WireError> {
    let Some(measure) = Measure::named(&wire.measure) else { return Ok(None) };
    let mut workers = Vec::with_capacity(wire.workers.len());
    let mut effects = Vec::with_capacity(wire.workers.len());
    for (place, worker) in wire.workers.into_iter().enumerate() {
        workers.push(WorkerId(id("worker_effects.workers.worker_id", worker.worker_id)?));
        effects.push(WorkerEffect {
            worker: place,
            effect: finite("worker_effects.workers.effect", worker.effect)?,
            error: finite("worker_effects.workers.error", worker.error)?,
        });
    }
    let between = BetweenWorkers {
        deviation: Interval {
            value: finite("worker_effects.deviation", wire.deviation)?,
            low: finite("worker_effects.deviation_low", wire.deviation_low)?,
            high: finite("worker_effects.deviation_high", wire.deviation_high)?,
        },
        within: finite("worker_effects.within", wire.within)?,
        p_value: finite("worker_effects.p_value", wire.p_value)?,
        effects,
    };
    let units = number("worker_effects.units", wire.units)?;
    Ok(Some(WorkerEffects { measure, units, between, workers }))
}

impl From<CellGames> for v1::CellGames {
    fn from(cell: CellGames) -> Self {
        let lengths = cell.lengths.0.into_iter();
        let terminations = cell.terminations.into_iter();
        Self {
            cell_id: cell.cell.0,
            axes: places_to_wire(cell.axes),
            player: cell.player,
            opponent: cell.opponent,
            lengths: lengths.map(|(plies, games)| v1::LengthCount { plies, games }).collect(),
            terminations: terminations
                .map(|(termination, games)| v1::TerminationCount { termination, games })
                .collect(),
        }
    }
}

impl TryFrom<v1::CellGames> for CellGames {
    type Error = WireError;

    fn try_from(cell: v1::CellGames) -> Result<Self, WireError> {
        let mut lengths = BTreeMap::new();
        for v1::LengthCount { plies, games } in cell.lengths {
            lengths.insert(plies, number("lengths.games", games)?);
        }
        let mut terminations = BTreeMap::new();
        for v1::TerminationCount { termination, games } in cell.terminations {
            terminations.insert(termination, number("terminations.games", games)?);
        }
        Ok(Self {
            cell: CellId(id("cell_id", cell.cell_id)?),
            axes: places_from_wire(cell.axes),
            player: cell.player,
            opponent: cell.opponent,
            lengths: Lengths(lengths),
            terminations,
        })
    }
}

/// Assembles an overview from its parts.
#[derive(Debug, Default)]
pub struct OverviewReader {
    overview: Option<Overview>,
}

impl OverviewReader {
    /// Adds the next part.
    ///
    /// # Errors
    /// The first field that is malformed.
    pub fn take(&mut self, part: v1::GetOverviewResponse) -> Result<(), WireError> {
        let v1::GetOverviewResponse { experiment, axes, workers, cells, worker_effects } = part;
        let overview = match (&mut self.overview, experiment) {
            (Some(overview), _) => overview,
            (none @ None, Some(experiment)) => none.insert(Overview {
                experiment: experiment
                    .try_into()
                    .map_err(|error: WireError| error.within("experiment"))?,
                axes,
                workers: Vec::new(),
                worker_effects: Vec::new(),
                cells: Vec::new(),
            }),
            (None, None) => return Err(WireError::new("experiment", Fault::Missing)),
        };
        let axes = overview.axes.len() as u64;
        overview.workers.extend(read_all::<_, WorkerShare>("workers", workers)?);
        for effects in worker_effects {
            overview.worker_effects.extend(self::worker_effects(effects)?);
        }
        let cells: Vec<CellGames> = read_all("cells", cells)?;
        for cell in &cells {
            in_range("cells.axes", cell.axes.len() as u64, axes, axes)?;
        }
        overview.cells.extend(cells);
        Ok(())
    }

    /// The overview, after the last part.
    ///
    /// # Errors
    /// If there was no part.
    pub fn finish(self) -> Result<Overview, WireError> {
        self.overview.ok_or_else(|| WireError::new("experiment", Fault::Missing))
    }
}
