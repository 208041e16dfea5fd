//! The requests of a worker, each sent once.

use spelrum_model::speed::Speed;
use spelrum_model::{DefinitionHash, GameId, LeaseId};
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, speeds, v1};
use spelrum_scheduling::worker::Caller;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Response, Status};

use crate::outcome::Finished;

/// A client; cheap to clone.
pub(crate) type Client = WorkClient<InterceptedService<Channel, Bearer>>;

/// The caller, with its proof.
pub(crate) struct Signed {
    pub(crate) caller: Caller,
    pub(crate) worker_secret: Vec<u8>,
}

pub(crate) async fn lease(
    mut client: Client,
    Signed { caller, worker_secret }: Signed,
    slots: u32,
    speeds: &[Speed],
) -> Result<Response<v1::LeaseResponse>, Status> {
    let (worker_id, coordinator_epoch) = (caller.worker.0, caller.epoch);
    let speeds = speeds.iter().cloned().map(speeds::speed_to_wire).collect();
    let request = v1::LeaseRequest { worker_id, coordinator_epoch, slots, speeds, worker_secret };
    client.lease(request).await
}

pub(crate) async fn heartbeat(
    mut client: Client,
    Signed { caller, worker_secret }: Signed,
    leases: &[LeaseId],
    playing: &[GameId],
    followed: Vec<v1::GameUnderWay>,
) -> Result<Response<v1::HeartbeatResponse>, Status> {
    let game = |game: &GameId| v1::GameId { cell_id: game.cell.0, number: game.number };
    let request = v1::HeartbeatRequest {
        worker_id: caller.worker.0,
        coordinator_epoch: caller.epoch,
        lease_ids: leases.iter().map(|lease| lease.0).collect(),
        playing: playing.iter().map(game).collect(),
        worker_secret,
        followed,
    };
    client.heartbeat(request).await
}

pub(crate) async fn report(
    mut client: Client,
    Signed { caller, worker_secret }: Signed,
    results: &[Finished],
) -> Result<Response<v1::ReportResponse>, Status> {
    let request = v1::ReportRequest {
        worker_id: caller.worker.0,
        coordinator_epoch: caller.epoch,
        results: results.iter().map(|finished| finished.result.clone()).collect(),
        worker_secret,
    };
    client.report(request).await
}

pub(crate) async fn give_back(
    mut client: Client,
    Signed { caller, worker_secret }: Signed,
    leases: &[LeaseId],
) -> Result<Response<v1::GiveBackResponse>, Status> {
    let request = v1::GiveBackRequest {
        worker_id: caller.worker.0,
        coordinator_epoch: caller.epoch,
        lease_ids: leases.iter().map(|lease| lease.0).collect(),
        worker_secret,
    };
    client.give_back(request).await
}

pub(crate) async fn get_cell(
    mut client: Client,
    definition: DefinitionHash,
) -> Result<Response<v1::GetCellResponse>, Status> {
    let definition_hash = definition.0.to_vec();
    client.get_cell(v1::GetCellRequest { definition_hash, openings_apart: true }).await
}

pub(crate) async fn get_network(
    mut client: Client,
    definition: DefinitionHash,
) -> Result<Response<v1::GetNetworkResponse>, Status> {
    let request = v1::GetNetworkRequest { definition_hash: definition.0.to_vec() };
    client.get_network(request).await
}
