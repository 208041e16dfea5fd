//! The `Work` service, for workers.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::engines::{FailedBuild, OfferedEngine};
use spelrum_model::{LeaseId, SplitDefinition};
use spelrum_programs::Programs;
use spelrum_proto::limits::{LEASE_DEFINITIONS_BYTES_MAX, NUMBER_MAX, REPORT_RESULTS_MAX};
use spelrum_proto::speeds;
use spelrum_proto::v1::work_server::Work;
use spelrum_proto::work::{self as wire, Grant, Reported, ReportedWhat};
use spelrum_proto::{PROTOCOL, Reason, Refusal, WorkerSecret, engines, v1};
use tonic::{Request, Response, Status};

use super::programs::read_piece;
use super::{Planner, Referee};
use crate::access::{CalledBy, Credential};
use crate::dispatcher::{Caller, Dispatch, Leased, Welcome};
use crate::followed::Followed;
use spelrum_store::{Readers, StoredNetwork, WorkerIntroduction};

/// Definitions read for one lease, in bytes, with the positions that are sent separately (invariant 9).
const READ_BYTES_MAX: usize = 4 << 20;

pub(crate) struct WorkService {
    pub(crate) dispatch: Dispatch,
    pub(crate) readers: Readers,
    pub(crate) programs: Programs,
    pub(crate) referee: Arc<Referee>,
    pub(crate) followed: Followed,
    pub(crate) epoch: i64,
    pub(crate) mark: StartMark,
    pub(crate) database_uuid: String,
    pub(crate) heartbeat_interval: Duration,
    pub(crate) planner: Planner,
}

/// Distinguishes the epochs of all starts on the wire. Each database begins with epoch 1, and its workers' ids with 1,
/// too; and a database restored from a backup repeats epochs that it has had since. So a worker of one could pass for
/// another worker of the other. The mark is 28 random bits, above those of any epoch and below 2^53.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartMark(i64);

impl StartMark {
    pub(crate) fn new() -> Self {
        let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
        Self(i64::from((random >> 36) as u32) << 24)
    }

    /// Converts an epoch to its form on the wire, and back.
    fn mark(self, epoch: i64) -> i64 {
        epoch ^ self.0
    }
}

#[tonic::async_trait]
impl Work for WorkService {
    async fn hello(
        &self,
        request: Request<v1::HelloRequest>,
    ) -> Result<Response<v1::HelloResponse>, Status> {
        let credential = credential(&request);
        let hello = request.into_inner();
        // Checked first: nothing else in the message need mean the same in another protocol version.
        check_versions(&hello)?;
        wire::check_hello(&hello).map_err(Refusal::from)?;
        let machine = wire::machine(&hello).map_err(Refusal::from)?;
        let engines = engines::offers(&hello.engines).map_err(Refusal::from)?;
        let secret = WorkerSecret::from_wire(&hello.worker_secret).map_err(Refusal::from)?;
        let built =
            engines::built(&hello.built_engines, &hello.accepted_programs, &hello.failed_builds)
                .map_err(Refusal::from)?;
        for FailedBuild { engine, problem } in &built.failed {
            let worker = &hello.name;
            tracing::warn!(
                worker,
                engine,
                problem,
                "a worker cannot play an engine that a sweep names"
            );
        }
        let engines: Arc<[OfferedEngine]> = engines.into();
        let introduction = Box::new(WorkerIntroduction {
            uuid: canonical_uuid("worker_uuid", &hello.worker_uuid)?,
            name: hello.name,
            host: hello.host,
            slots: hello.slots,
            engine_revision: hello.engine_revision,
            version: hello.version,
            memory_bytes: Some(hello.memory_bytes).filter(|&bytes| bytes > 0),
            engines: Arc::clone(&engines),
            built: Arc::new(built),
            trains: hello.trains,
            verifies: hello.verifies,
            machine,
            credential: credential.map(|credential| credential.as_str().to_owned()),
        });
        let Welcome { worker, secret } = self.dispatch.hello(introduction, secret).await?;
        // Before the worker asks for games.
        self.planner.fill(&engines).await;
        Ok(Response::new(v1::HelloResponse {
            protocol: PROTOCOL,
            worker_id: worker.0,
            coordinator_epoch: self.mark.mark(self.epoch),
            heartbeat_interval_ms: millis(self.heartbeat_interval),
            report_results_max: REPORT_RESULTS_MAX as u32,
            database_uuid: self.database_uuid.clone(),
            worker_secret: WorkerSecret::to_wire(Some(secret)),
        }))
    }

    async fn lease(
        &self,
        request: Request<v1::LeaseRequest>,
    ) -> Result<Response<v1::LeaseResponse>, Status> {
        let credential = credential(&request);
        let request = request.into_inner();
        let (worker, epoch) = (request.worker_id, request.coordinator_epoch);
        let caller = self.caller(worker, epoch, &request.worker_secret, credential)?;
        let slots = wire::slots(request.slots).map_err(Refusal::from)?;
        let speeds = speeds::speeds(&request.speeds).map_err(Refusal::from)?;
        let (leased, builds) = self.dispatch.lease(caller, slots, speeds).await?;
        Ok(Response::new(match leased {
            Leased::Grant(grant) => {
                let cells = self.leased_cells(&grant).await;
                v1::LeaseResponse { grant: Some(grant.into()), cells, builds, ..Default::default() }
            }
            Leased::Idle { retry_after, all_done, withheld, calibrate } => v1::LeaseResponse {
                grant: None,
                retry_after_ms: millis(retry_after),
                all_done,
                withheld,
                calibrate,
                cells: Vec::new(),
                builds,
            },
        }))
    }

    async fn get_cell(
        &self,
        request: Request<v1::GetCellRequest>,
    ) -> Result<Response<v1::GetCellResponse>, Status> {
        let v1::GetCellRequest { definition_hash, openings_apart } = request.into_inner();
        let definition_json = self.definition(&definition_hash).await?;
        Ok(Response::new(cell_to_wire(definition_json, openings_apart)))
    }

    async fn get_openings(
        &self,
        request: Request<v1::GetOpeningsRequest>,
    ) -> Result<Response<v1::GetOpeningsResponse>, Status> {
        let definition_json = self.definition(&request.get_ref().definition_hash).await?;
        // Some milliseconds for a megabyte: too long for the listening threads.
        let compressed = tokio::task::spawn_blocking(move || {
            let positions = SplitDefinition::from_json(&definition_json)?.positions_json.as_bytes();
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(positions).and_then(|()| gzip.finish()).ok()
        });
        match compressed.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic())) {
            Some(positions_gzip) => Ok(Response::new(v1::GetOpeningsResponse { positions_gzip })),
            None => Err(Refusal::new(
                Reason::UnknownCell,
                "this cell lists no positions apart from its definition",
                "ask for the cell",
            )
            .into()),
        }
    }

    async fn get_network(
        &self,
        request: Request<v1::GetNetworkRequest>,
    ) -> Result<Response<v1::GetNetworkResponse>, Status> {
        let hash =
            wire::definition_hash(&request.get_ref().definition_hash).map_err(Refusal::from)?;
        let network = self.readers.network(hash).await.map_err(super::reading_failed)?;
        Ok(Response::new(match network {
            Some(StoredNetwork::Trained(network)) => {
                v1::GetNetworkResponse { network, ..Default::default() }
            }
            Some(StoredNetwork::Failed(failure)) => {
                v1::GetNetworkResponse { failure, ..Default::default() }
            }
            None => v1::GetNetworkResponse::default(),
        }))
    }

    async fn get_program(
        &self,
        request: Request<v1::GetProgramRequest>,
    ) -> Result<Response<v1::GetProgramResponse>, Status> {
        let v1::GetProgramRequest { sha256, offset } = request.into_inner();
        Ok(Response::new(read_piece(self.programs.clone(), &sha256, offset).await?))
    }

    async fn report(
        &self,
        request: Request<v1::ReportRequest>,
    ) -> Result<Response<v1::ReportResponse>, Status> {
        let credential = credential(&request);
        let request = request.into_inner();
        let (worker, epoch) = (request.worker_id, request.coordinator_epoch);
        let caller = self.caller(worker, epoch, &request.worker_secret, credential)?;
        let results = wire::results(request.results).map_err(Refusal::from)?;
        results.iter().try_for_each(check_engine)?;
        let results = self.referee.judge(results).await.map_err(super::reading_failed)?;
        let verdicts = self.dispatch.report(caller, results).await?;
        let verdicts = verdicts.into_iter().map(i32::from).collect();
        Ok(Response::new(v1::ReportResponse { verdicts }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let credential = credential(&request);
        let request = request.into_inner();
        let (worker, epoch) = (request.worker_id, request.coordinator_epoch);
        let caller = self.caller(worker, epoch, &request.worker_secret, credential)?;
        let leases = wire::lease_ids(&request.lease_ids).map_err(Refusal::from)?;
        let playing = wire::playing(&request.playing).map_err(Refusal::from)?;
        let worker = caller.worker;
        let drop = self.dispatch.heartbeat(caller, leases, playing).await?;
        let reported = request.followed;
        let followed = self.followed.heartbeat(worker, reported, Instant::now()).await;
        let drop_lease_ids = drop.into_iter().map(|LeaseId(id)| id).collect();
        Ok(Response::new(v1::HeartbeatResponse { drop_lease_ids, followed }))
    }

    async fn give_back(
        &self,
        request: Request<v1::GiveBackRequest>,
    ) -> Result<Response<v1::GiveBackResponse>, Status> {
        let credential = credential(&request);
        let request = request.into_inner();
        let (worker, epoch) = (request.worker_id, request.coordinator_epoch);
        let caller = self.caller(worker, epoch, &request.worker_secret, credential)?;
        let leases = wire::lease_ids(&request.lease_ids).map_err(Refusal::from)?;
        self.dispatch.give_back(caller, leases).await?;
        Ok(Response::new(v1::GiveBackResponse {}))
    }
}

impl WorkService {
    /// The definition with this hash, as sent in the message.
    async fn definition(&self, hash: &[u8]) -> Result<String, Status> {
        let hash = wire::definition_hash(hash).map_err(Refusal::from)?;
        let definition = self.readers.definition(hash).await.map_err(super::reading_failed)?;
        definition.ok_or_else(|| {
            let problem = "there is no cell with this definition";
            Refusal::new(Reason::UnknownCell, problem, "ask for a new lease").into()
        })
    }

    /// The definitions to send along with a grant: of a lease of several cells, as many as are allowed. The worker asks
    /// for the others.
    async fn leased_cells(&self, grant: &Grant) -> Vec<v1::LeasedCell> {
        let hashes: BTreeMap<_, _> =
            grant.games.iter().map(|games| (games.range.cell, games.definition)).collect();
        if hashes.len() < 2 {
            return Vec::new();
        }
        let cells: Vec<_> = hashes.keys().copied().collect();
        let definitions = match self.readers.definitions_of(&cells, READ_BYTES_MAX).await {
            Ok(definitions) => definitions,
            Err(error) => {
                // The grant holds without them.
                super::reading_failed(error);
                return Vec::new();
            }
        };
        let (mut leased, mut bytes) = (Vec::with_capacity(definitions.len()), 0);
        for (cell, definition_json) in definitions {
            let Some(hash) = hashes.get(&cell) else { continue };
            let cell = cell_to_wire(definition_json, true);
            bytes += cell.definition_json.len();
            if bytes > LEASE_DEFINITIONS_BYTES_MAX {
                break;
            }
            leased.push(v1::LeasedCell { definition_hash: hash.0.to_vec(), cell: Some(cell) });
        }
        leased
    }

    /// The caller. A caller of another start gets an epoch that never exists.
    fn caller(
        &self,
        worker_id: i64,
        coordinator_epoch: i64,
        worker_secret: &[u8],
        credential: Option<Credential>,
    ) -> Result<Caller, Refusal> {
        let wire::Caller { worker, epoch } = wire::caller(worker_id, coordinator_epoch)?;
        let secret = WorkerSecret::from_wire(worker_secret)?;
        Ok(Caller { worker, epoch: self.mark.mark(epoch), secret, credential })
    }
}

/// A definition as workers get it; long lists of positions only if they may not be separate.
fn cell_to_wire(definition_json: String, openings_apart: bool) -> v1::GetCellResponse {
    let apart = if openings_apart { SplitDefinition::from_json(&definition_json) } else { None };
    match apart {
        Some(SplitDefinition { json, hash, .. }) => {
            v1::GetCellResponse { definition_json: json, openings_hash: hash.to_vec() }
        }
        None => v1::GetCellResponse { definition_json, openings_hash: Vec::new() },
    }
}

/// The credential that let the call through.
fn credential<T>(request: &Request<T>) -> Option<Credential> {
    request.extensions().get().and_then(|CalledBy(credential)| credential.clone())
}

fn check_versions(hello: &v1::HelloRequest) -> Result<(), Refusal> {
    if hello.protocol != PROTOCOL {
        return Err(Refusal::new(
            Reason::Protocol,
            format!(
                "the worker speaks protocol {}, and the coordinator protocol {PROTOCOL}",
                hello.protocol
            ),
            "use a worker and a coordinator of the same release",
        ));
    }
    check_revision(hello.engine_revision)
}

/// An experiment is played by one revision of the engine (invariant 2).
fn check_revision(engine_revision: u32) -> Result<(), Refusal> {
    if engine_revision == ENGINE_REVISION {
        return Ok(());
    }
    Err(Refusal::new(
        Reason::EngineRevision,
        format!(
            "the worker's engine has revision {engine_revision}, the coordinator's \
             {ENGINE_REVISION}: they might play the same game differently"
        ),
        "use a worker and a coordinator of the same release",
    ))
}

fn check_engine(reported: &Reported) -> Result<(), Refusal> {
    check_revision(match &reported.what {
        ReportedWhat::Played(game) => game.engine_revision,
        ReportedWhat::Trained(training) => training.engine_revision,
        ReportedWhat::Verified(verified) => verified.played.engine_revision,
        ReportedWhat::Irregular { engine_revision, .. }
        | ReportedWhat::Failed { engine_revision, .. } => *engine_revision,
    })
}

/// A UUID in its canonical form, so that equal ones are equal texts.
pub(crate) fn canonical_uuid(field: &str, uuid: &str) -> Result<String, Refusal> {
    Ok(wire::uuid(field, uuid)?.to_string())
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(NUMBER_MAX).min(NUMBER_MAX)
}
