//! Networks in the file: a network missing here is stored as the file has it, once the referee has found no problems.

use std::collections::BTreeMap;

use spelrum_engine::Side;
use spelrum_engine::network::{DistanceErrors, Epoch, Run, SideErrors, SquareErrors};
use spelrum_model::{
    CellId, DefinitionHash, FinishedTraining, GameId, TrainedNetwork, TrainingDefinition,
};

use super::error::ImportError;
use super::source::{Source, SourceExperiment};
use super::workers::{MetWorkers, meet};
use crate::schema::file_fields::number;
use crate::write::networks;
use crate::write::transaction::Transaction;

/// A network in the file.
pub(super) struct SourceNetwork {
    pub(super) training: TrainingDefinition,
    pub(super) finished: FinishedTraining,
    /// The worker that trained the network, by the file's id.
    pub(super) worker: i64,
}

impl Source {
    /// Trained networks of an experiment's players.
    pub(super) fn networks(
        &self,
        experiment: &SourceExperiment,
    ) -> Result<Vec<SourceNetwork>, ImportError> {
        let mut trainings = BTreeMap::new();
        for json in experiment.cells.iter().flat_map(|cell| &cell.parameters) {
            let Ok(parameters) = serde_json::from_str(json) else { continue };
            let Some(training) = TrainingDefinition::from_parameters(&parameters) else { continue };
            trainings.entry(training.hash()).or_insert(training);
        }
        let mut networks = Vec::new();
        for (hash, training) in trainings {
            networks.extend(self.network(hash, training)?);
        }
        Ok(networks)
    }

    fn network(
        &self,
        hash: DefinitionHash,
        training: TrainingDefinition,
    ) -> Result<Option<SourceNetwork>, ImportError> {
        let found = self.all(
            "SELECT network_id, content, engine_revision, worker_id, started_unix_us, wall_us
            FROM networks WHERE definition_hash = ? AND content IS NOT NULL",
            [hash.to_string()],
            |row| {
                let bytes: Vec<u8> = row.get(1)?;
                let revision: u32 = row.get(2)?;
                let worker: i64 = row.get(3)?;
                let (started, wall_us): (i64, u64) = (row.get(4)?, number(row, 5)?);
                Ok((row.get::<_, i64>(0)?, bytes, revision, worker, started, wall_us))
            },
        )?;
        let Some((id, bytes, engine_revision, worker, started_unix_us, wall_us)) =
            found.into_iter().next()
        else {
            return Ok(None);
        };
        let finished = FinishedTraining {
            task: GameId { cell: CellId(0), number: 0 },
            engine_revision,
            sha256: bytes.last_chunk().copied().unwrap_or_default(),
            started_unix_us,
            wall_us,
            trained: Some(self.curves(id, bytes)?),
        };
        training
            .referee(&finished, None)
            .map_err(|wrong| self.wrong(format!("the network {hash}: {wrong}")))?;
        Ok(Some(SourceNetwork { training, finished, worker }))
    }

    fn curves(&self, network: i64, bytes: Vec<u8>) -> Result<TrainedNetwork, ImportError> {
        Ok(TrainedNetwork {
            bytes,
            runs: self.all(
                "SELECT part, positions, examples, validation, best_epoch, validation_error,
                    constant_error
                FROM network_runs WHERE network_id = ? ORDER BY part",
                [network],
                |row| {
                    Ok(Run {
                        network: row.get(0)?,
                        positions: number(row, 1)?,
                        examples: number(row, 2)?,
                        validation: number(row, 3)?,
                        best_epoch: row.get(4)?,
                        validation_error: row.get(5)?,
                        constant_error: row.get(6)?,
                    })
                },
            )?,
            epochs: self.all(
                "SELECT part, epoch, training_error, validation_error
                FROM network_epochs WHERE network_id = ? ORDER BY part, epoch",
                [network],
                |row| {
                    Ok(Epoch {
                        network: row.get(0)?,
                        epoch: row.get(1)?,
                        training_error: row.get(2)?,
                        validation_error: row.get(3)?,
                    })
                },
            )?,
            sides: self.all(
                "SELECT part, to_move, positions, mean_plies, spread, error
                FROM network_sides WHERE network_id = ? ORDER BY part, to_move = 'black'",
                [network],
                |row| {
                    let is_white = row.get::<_, String>(1)? == "white";
                    Ok(SideErrors {
                        network: row.get(0)?,
                        to_move: if is_white { Side::First } else { Side::Second },
                        positions: number(row, 2)?,
                        mean_plies: row.get(3)?,
                        spread: row.get(4)?,
                        error: row.get(5)?,
                    })
                },
            )?,
            distances: self.all(
                "SELECT part, plies, positions, error, nearer
                FROM network_distances WHERE network_id = ? ORDER BY part, plies",
                [network],
                |row| {
                    Ok(DistanceErrors {
                        network: row.get(0)?,
                        plies: row.get(1)?,
                        positions: number(row, 2)?,
                        error: row.get(3)?,
                        nearer: row.get(4)?,
                    })
                },
            )?,
            // By rank and then file, as squares are numbered.
            squares: self.all(
                "SELECT part, unicode(square) - unicode('a') + 8 * (substr(square, 2) - 1), positions, error
                FROM network_squares WHERE network_id = ? ORDER BY 1, 2",
                [network],
                |row| {
                    Ok(SquareErrors {
                        network: row.get(0)?,
                        square: row.get(1)?,
                        positions: number(row, 2)?,
                        error: row.get(3)?,
                    })
                },
            )?,
        })
    }
}

/// Imports an experiment's networks that are missing here.
pub(super) async fn import_networks(
    transaction: &mut Transaction<'_>,
    source: &Source,
    exported: &SourceExperiment,
    workers: &mut MetWorkers,
) -> Result<(), ImportError> {
    for SourceNetwork { training, finished, worker } in source.networks(exported)? {
        let network = networks::note_network(transaction, &training).await?;
        if networks::is_network_settled(transaction, network).await? {
            continue;
        }
        let worker = meet(transaction, source, workers, worker).await?;
        networks::settle_network(transaction, network, worker, &finished).await?;
    }
    Ok(())
}
