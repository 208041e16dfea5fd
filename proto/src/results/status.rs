//! Experiments and workers in summary, and problems that need attention.

use spelrum_answers::{
    Attention, AttentionKind, ClaimOf, CoordinatorStatus, ExperimentSummary, Removal, Removing,
    Status, StopsOf, WorkerSummary,
};
use spelrum_model::ExperimentState;
use spelrum_model::claims::ClaimStanding;
use spelrum_model::engines::OfferedEngine;
use spelrum_model::{ExperimentId, Task, WorkerId};

use crate::wire_error::{id, number, unknown_word};
use crate::{Fault, WireError, engines, labels, v1};

impl From<ExperimentSummary> for v1::ExperimentSummary {
    fn from(experiment: ExperimentSummary) -> Self {
        Self {
            experiment_uuid: experiment.uuid,
            name: experiment.name,
            game: experiment.game,
            kind: experiment.task.experiments().to_owned(),
            state: experiment.state.name().to_owned(),
            cells: experiment.cells,
            games_planned: experiment.games_planned,
            games_settled: experiment.games_settled,
            games_failed: experiment.games_failed,
            submitted_unix_us: experiment.submitted_unix_us,
            priority: experiment.priority,
            experiment_id: experiment.experiment.0,
        }
    }
}

impl TryFrom<v1::ExperimentSummary> for ExperimentSummary {
    type Error = WireError;

    fn try_from(experiment: v1::ExperimentSummary) -> Result<Self, WireError> {
        Ok(Self {
            experiment: ExperimentId(id("experiment_id", experiment.experiment_id)?),
            uuid: experiment.experiment_uuid,
            name: experiment.name,
            task: task(&experiment.kind)?,
            game: experiment.game,
            state: state(&experiment.state)?,
            priority: experiment.priority,
            cells: number("cells", experiment.cells)?,
            games_planned: number("games_planned", experiment.games_planned)?,
            games_settled: number("games_settled", experiment.games_settled)?,
            games_failed: number("games_failed", experiment.games_failed)?,
            submitted_unix_us: experiment.submitted_unix_us,
        })
    }
}

/// The tasks of an experiment, by its kind.
fn task(kind: &str) -> Result<Task, WireError> {
    Task::from_experiments(kind).ok_or_else(|| WireError::new("kind", unknown_word(kind)))
}

/// An experiment's state, by its name.
pub(super) fn state(name: &str) -> Result<ExperimentState, WireError> {
    ExperimentState::named(name).ok_or_else(|| WireError::new("state", unknown_word(name)))
}

impl From<WorkerSummary> for v1::WorkerSummary {
    fn from(worker: WorkerSummary) -> Self {
        Self {
            worker_id: worker.worker.0,
            name: worker.name,
            host: worker.host,
            slots: worker.slots,
            engine_revision: worker.engine_revision,
            silent_ms: worker.silent_ms,
            leased_games: worker.leased_games,
            playing_games: worker.playing_games,
            reported_games: worker.reported_games,
            lost_games: worker.lost_games,
            memory_bytes: worker.memory_bytes.unwrap_or(0),
            engines: worker.engines.iter().map(named_offer).collect(),
            engines_total: worker.engines_total,
            labels: worker.labels.iter().cloned().map(labels::label_to_wire).collect(),
            credential: worker.credential.unwrap_or_default(),
        }
    }
}

impl TryFrom<v1::WorkerSummary> for WorkerSummary {
    type Error = WireError;

    fn try_from(worker: v1::WorkerSummary) -> Result<Self, WireError> {
        Ok(Self {
            worker: WorkerId(id("worker_id", worker.worker_id)?),
            name: worker.name,
            host: worker.host,
            slots: worker.slots,
            engine_revision: worker.engine_revision,
            silent_ms: worker.silent_ms,
            leased_games: number("leased_games", worker.leased_games)?,
            playing_games: number("playing_games", worker.playing_games)?,
            reported_games: number("reported_games", worker.reported_games)?,
            lost_games: number("lost_games", worker.lost_games)?,
            memory_bytes: Some(worker.memory_bytes).filter(|&bytes| bytes > 0),
            engines: engines::offers(&worker.engines)?.into(),
            engines_total: number("engines_total", worker.engines_total)?,
            labels: labels::labels(&worker.labels)?.into(),
            credential: Some(worker.credential).filter(|credential| !credential.is_empty()),
        })
    }
}

impl From<Attention> for v1::Attention {
    fn from(attention: Attention) -> Self {
        Self {
            kind: attention.kind.name().to_owned(),
            experiment: attention.experiment.unwrap_or_default(),
            count: attention.count,
            problem: attention.problem,
            remedy: attention.remedy,
        }
    }
}

impl From<v1::Attention> for Attention {
    fn from(attention: v1::Attention) -> Self {
        Self {
            kind: AttentionKind::named(&attention.kind),
            experiment: Some(attention.experiment).filter(|name| !name.is_empty()),
            count: attention.count,
            problem: attention.problem,
            remedy: attention.remedy,
        }
    }
}

impl From<Removal> for v1::Removal {
    fn from(removal: Removal) -> Self {
        Self {
            experiment: removal.experiment,
            what: match removal.removing {
                Removing::Everything => v1::RemoveWhat::Everything,
                Removing::Moves => v1::RemoveWhat::Moves,
            }
            .into(),
            games: removal.games,
            games_done: removal.games_done,
            shrinking: removal.is_shrinking,
        }
    }
}

impl TryFrom<v1::Removal> for Removal {
    type Error = WireError;

    fn try_from(removal: v1::Removal) -> Result<Self, WireError> {
        Ok(Self {
            removing: match removal.what() {
                v1::RemoveWhat::Everything => Removing::Everything,
                v1::RemoveWhat::Moves => Removing::Moves,
                v1::RemoveWhat::Unspecified => {
                    return Err(WireError::new("what", Fault::UnknownVariant(removal.what)));
                }
            },
            experiment: removal.experiment,
            games: number("games", removal.games)?,
            games_done: number("games_done", removal.games_done)?,
            is_shrinking: removal.shrinking,
        })
    }
}

impl From<StopsOf> for v1::StopsOf {
    fn from(stops: StopsOf) -> Self {
        let StopsOf { experiment, rule, cells, cells_ended, cells_one_round } = stops;
        Self { experiment_id: experiment.0, rule, cells, cells_ended, cells_one_round }
    }
}

impl TryFrom<v1::StopsOf> for StopsOf {
    type Error = WireError;

    fn try_from(stops: v1::StopsOf) -> Result<Self, WireError> {
        Ok(Self {
            experiment: ExperimentId(id("experiment_id", stops.experiment_id)?),
            rule: stops.rule,
            cells: number("cells", stops.cells)?,
            cells_ended: number("cells_ended", stops.cells_ended)?,
            cells_one_round: number("cells_one_round", stops.cells_one_round)?,
        })
    }
}

impl From<ClaimOf> for v1::ClaimOf {
    fn from(ClaimOf { experiment, claim }: ClaimOf) -> Self {
        Self { experiment_id: experiment.0, claim: Some(claim.into()) }
    }
}

impl TryFrom<v1::ClaimOf> for ClaimOf {
    type Error = WireError;

    fn try_from(claim: v1::ClaimOf) -> Result<Self, WireError> {
        let Some(standing) = claim.claim else {
            return Err(WireError::new("claim", Fault::Missing));
        };
        Ok(Self {
            experiment: ExperimentId(id("experiment_id", claim.experiment_id)?),
            claim: ClaimStanding {
                text: standing.text,
                is_late: standing.late,
                in_sweep: standing.in_sweep,
            },
        })
    }
}

impl From<Status> for v1::StatusResponse {
    /// Without a coordinator, fields that only it has are 0 or empty.
    fn from(status: Status) -> Self {
        let Status {
            experiments,
            experiments_total,
            stops,
            claims,
            attention,
            removals,
            coordinator,
        } = status;
        let common = Self {
            experiments: experiments.into_iter().map(Into::into).collect(),
            experiments_total,
            stops: stops.into_iter().map(Into::into).collect(),
            claims: claims.into_iter().map(Into::into).collect(),
            attention: attention.into_iter().map(Into::into).collect(),
            removals: removals.into_iter().map(Into::into).collect(),
            ..Self::default()
        };
        let Some(coordinator) = coordinator else { return common };
        Self {
            workers: coordinator.workers.into_iter().map(Into::into).collect(),
            workers_total: coordinator.workers_total,
            coordinator_epoch: coordinator.epoch,
            uptime_ms: coordinator.uptime_ms,
            version: coordinator.version,
            ..common
        }
    }
}

impl TryFrom<v1::StatusResponse> for Status {
    type Error = WireError;

    fn try_from(status: v1::StatusResponse) -> Result<Self, WireError> {
        Ok(Self {
            experiments: read_all("experiments", status.experiments)?,
            experiments_total: number("experiments_total", status.experiments_total)?,
            stops: read_all("stops", status.stops)?,
            claims: read_all("claims", status.claims)?,
            attention: status.attention.into_iter().map(Into::into).collect(),
            removals: read_all("removals", status.removals)?,
            coordinator: Some(CoordinatorStatus {
                version: status.version,
                epoch: id("coordinator_epoch", status.coordinator_epoch)?,
                uptime_ms: number("uptime_ms", status.uptime_ms)?,
                workers: read_all("workers", status.workers)?,
                workers_total: number("workers_total", status.workers_total)?,
            }),
        })
    }
}

/// Parses a list of messages.
pub(super) fn read_all<W, T: TryFrom<W, Error = WireError>>(
    field: &str,
    messages: Vec<W>,
) -> Result<Vec<T>, WireError> {
    let read = |(place, message): (usize, W)| {
        T::try_from(message).map_err(|error| error.within(format_args!("{field}[{place}]")))
    };
    messages.into_iter().enumerate().map(read).collect()
}

/// An engine in an answer: without its capabilities, which would be too much for many workers.
fn named_offer(offered: &OfferedEngine) -> v1::OfferedEngine {
    engines::offer_to_wire(OfferedEngine { capabilities: None, ..offered.clone() })
}
