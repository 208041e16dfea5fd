//! Results of trainings: [`v1::Training`].

use spelrum_engine::network::{DistanceErrors, Epoch, Run, SideErrors, SquareErrors};
use spelrum_model::{FinishedTraining, TrainedNetwork};

use crate::game::game_id;
use crate::limits::TRAINING_ROWS_MAX;
use crate::wire_error::{at_most, finite, in_range, moment, number};
use crate::{Fault, WireError, names, v1};

/// A training's result as its worker reports it.
#[must_use]
pub fn to_wire(finished: FinishedTraining) -> v1::Training {
    let FinishedTraining { task, engine_revision, sha256, started_unix_us, wall_us, trained } =
        finished;
    v1::Training {
        cell_id: task.cell.0,
        number: task.number,
        engine_revision,
        sha256: sha256.to_vec(),
        started_unix_us,
        wall_us,
        trained: trained.map(network_to_wire),
    }
}

fn network_to_wire(trained: TrainedNetwork) -> v1::TrainedNetwork {
    let TrainedNetwork { bytes, runs, epochs, sides, distances, squares } = trained;
    v1::TrainedNetwork {
        network: bytes,
        runs: runs.into_iter().map(run_to_wire).collect(),
        epochs: epochs.into_iter().map(epoch_to_wire).collect(),
        sides: sides.into_iter().map(side_to_wire).collect(),
        distances: distances.into_iter().map(distance_to_wire).collect(),
        squares: squares.into_iter().map(square_to_wire).collect(),
    }
}

fn run_to_wire(run: Run) -> v1::TrainingRun {
    v1::TrainingRun {
        network: run.network,
        positions: run.positions,
        examples: run.examples,
        validation: run.validation,
        best_epoch: run.best_epoch,
        validation_error: run.validation_error,
        constant_error: run.constant_error,
    }
}

fn epoch_to_wire(epoch: Epoch) -> v1::TrainingEpoch {
    v1::TrainingEpoch {
        network: epoch.network,
        epoch: epoch.epoch,
        training_error: epoch.training_error,
        validation_error: epoch.validation_error,
    }
}

fn side_to_wire(side: SideErrors) -> v1::SideErrors {
    v1::SideErrors {
        network: side.network,
        to_move: names::side_to_wire(side.to_move).into(),
        positions: side.positions,
        mean_plies: side.mean_plies,
        spread: side.spread,
        error: side.error,
    }
}

fn distance_to_wire(distance: DistanceErrors) -> v1::DistanceErrors {
    v1::DistanceErrors {
        network: distance.network,
        plies: distance.plies,
        positions: distance.positions,
        error: distance.error,
        nearer: distance.nearer,
    }
}

fn square_to_wire(square: SquareErrors) -> v1::SquareErrors {
    v1::SquareErrors {
        network: square.network,
        square: square.square.into(),
        positions: square.positions,
        error: square.error,
    }
}

/// Parses a training's result. The coordinator checks whether it fits the recipe.
///
/// # Errors
/// The first field that is malformed.
pub fn from_wire(training: v1::Training) -> Result<FinishedTraining, WireError> {
    let v1::Training {
        cell_id,
        number: task_number,
        engine_revision,
        sha256,
        started_unix_us,
        wall_us,
        trained,
    } = training;
    in_range("engine_revision", engine_revision.into(), 1, u32::MAX.into())?;
    let sha256 = sha256
        .as_slice()
        .try_into()
        .map_err(|_| WireError::new("sha256", Fault::NotAHash { bytes: sha256.len() }))?;
    Ok(FinishedTraining {
        task: game_id(cell_id, task_number)?,
        engine_revision,
        sha256,
        started_unix_us: moment("started_unix_us", started_unix_us)?,
        wall_us: number("wall_us", wall_us)?,
        trained: trained.map(network).transpose().map_err(|error| error.within("trained"))?,
    })
}

fn network(trained: v1::TrainedNetwork) -> Result<TrainedNetwork, WireError> {
    let v1::TrainedNetwork { network: bytes, runs, epochs, sides, distances, squares } = trained;
    Ok(TrainedNetwork {
        bytes,
        runs: list("runs", runs, run)?,
        epochs: list("epochs", epochs, epoch)?,
        sides: list("sides", sides, side)?,
        distances: list("distances", distances, distance)?,
        squares: list("squares", squares, square)?,
    })
}

fn list<W, T>(
    field: &str,
    rows: Vec<W>,
    read: impl Fn(&W) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    at_most(field, rows.len(), TRAINING_ROWS_MAX)?;
    let read = |(place, row): (usize, &W)| {
        read(row).map_err(|error| error.within(format_args!("{field}[{place}]")))
    };
    rows.iter().enumerate().map(read).collect()
}

fn run(row: &v1::TrainingRun) -> Result<Run, WireError> {
    Ok(Run {
        network: row.network,
        positions: number("positions", row.positions)?,
        examples: number("examples", row.examples)?,
        validation: number("validation", row.validation)?,
        best_epoch: row.best_epoch,
        validation_error: finite("validation_error", row.validation_error)?,
        constant_error: finite("constant_error", row.constant_error)?,
    })
}

fn epoch(row: &v1::TrainingEpoch) -> Result<Epoch, WireError> {
    Ok(Epoch {
        network: row.network,
        epoch: row.epoch,
        training_error: finite("training_error", row.training_error)?,
        validation_error: finite("validation_error", row.validation_error)?,
    })
}

fn side(row: &v1::SideErrors) -> Result<SideErrors, WireError> {
    let to_move = v1::Side::try_from(row.to_move)
        .map_err(|_| WireError::new("to_move", Fault::UnknownVariant(row.to_move)))?;
    Ok(SideErrors {
        network: row.network,
        to_move: names::side_from_wire(to_move)
            .ok_or_else(|| WireError::new("to_move", Fault::UnknownVariant(row.to_move)))?,
        positions: number("positions", row.positions)?,
        mean_plies: finite("mean_plies", row.mean_plies)?,
        spread: finite("spread", row.spread)?,
        error: finite("error", row.error)?,
    })
}

fn distance(row: &v1::DistanceErrors) -> Result<DistanceErrors, WireError> {
    Ok(DistanceErrors {
        network: row.network,
        plies: row.plies,
        positions: number("positions", row.positions)?,
        error: finite("error", row.error)?,
        nearer: finite("nearer", row.nearer)?,
    })
}

fn square(row: &v1::SquareErrors) -> Result<SquareErrors, WireError> {
    in_range("square", row.square.into(), 0, 63)?;
    Ok(SquareErrors {
        network: row.network,
        square: u8::try_from(row.square).unwrap_or(0),
        positions: number("positions", row.positions)?,
        error: finite("error", row.error)?,
    })
}
