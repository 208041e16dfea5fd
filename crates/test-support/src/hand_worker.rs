//! A worker as a test wants it: it does what it is told, and plays by the rules unless told otherwise.

use std::time::Duration;

use spelrum_engine::{ENGINE_REVISION, Timeless};
use spelrum_model::{CellDefinition, CellId, GameId, PlayableCell, PlayedGame};
use spelrum_proto::limits::REPORT_RESULTS_MAX;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{PROTOCOL, game, v1};
use tonic::Status;
use tonic::transport::Channel;
use uuid::Uuid;

use crate::serving::{DEADLINE, Served};

/// A worker driven by hand.
#[derive(Debug)]
pub struct HandWorker {
    /// For calls that have no words here.
    pub client: WorkClient<Channel>,
    /// Its UUID.
    pub uuid: String,
    /// Its id, as the coordinator has told it.
    pub id: i64,
    /// The epoch of that coordinator.
    pub epoch: i64,
    /// The secret that the coordinator gave it.
    pub secret: Vec<u8>,
}

/// How a worker introduces itself.
#[must_use]
pub fn hello(uuid: &str) -> v1::HelloRequest {
    v1::HelloRequest {
        protocol: PROTOCOL,
        engine_revision: ENGINE_REVISION,
        worker_uuid: uuid.to_owned(),
        name: "by hand".to_owned(),
        host: "here".to_owned(),
        slots: 1,
        version: "0".to_owned(),
        cpu_model: "a processor".to_owned(),
        logical_cores: 4,
        ..v1::HelloRequest::default()
    }
}

impl HandWorker {
    /// One that has introduced itself.
    pub async fn new(served: &Served) -> Self {
        Self::with_uuid(served, &Uuid::new_v4().to_string()).await
    }

    /// The same with this UUID.
    pub async fn with_uuid(served: &Served, uuid: &str) -> Self {
        Self::introduced(served, hello(uuid)).await
    }

    /// One that has external engines.
    pub async fn with_engines(served: &Served, engines: Vec<v1::OfferedEngine>) -> Self {
        let hello = hello(&Uuid::new_v4().to_string());
        Self::introduced(served, v1::HelloRequest { engines, ..hello }).await
    }

    /// One that introduces itself so.
    pub async fn introduced(served: &Served, hello: v1::HelloRequest) -> Self {
        let mut client = served.work().await;
        let uuid = hello.worker_uuid.clone();
        let answer = client.hello(hello).await.unwrap().into_inner();
        Self {
            client,
            uuid,
            id: answer.worker_id,
            epoch: answer.coordinator_epoch,
            secret: answer.worker_secret,
        }
    }

    /// The same worker, which says Hello again, to the same coordinator or to one that was started anew.
    pub async fn reconnect(&self, served: &Served) -> Self {
        self.reconnect_as(served, hello(&self.uuid)).await
    }

    /// The same worker, which says Hello again, and introduces itself so.
    pub async fn reconnect_as(&self, served: &Served, hello: v1::HelloRequest) -> Self {
        let worker_secret = self.secret.clone();
        Self::introduced(served, v1::HelloRequest { worker_secret, ..hello }).await
    }

    /// Asks for games.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn lease(&mut self) -> Result<v1::LeaseResponse, Status> {
        let request = v1::LeaseRequest {
            worker_id: self.id,
            coordinator_epoch: self.epoch,
            slots: 1,
            worker_secret: self.secret.clone(),
            ..Default::default()
        };
        Ok(self.client.lease(request).await?.into_inner())
    }

    /// Asks for games, of which there are some.
    pub async fn granted(&mut self) -> v1::Grant {
        self.lease().await.unwrap().grant.expect("there is something to do")
    }

    /// Plays every game of a grant.
    pub async fn play(&mut self, grant: &v1::Grant) -> Vec<v1::Result> {
        let play = |id: GameId, cell: &PlayableCell| {
            let (derived, record) = cell.play(id.number, None, &Timeless).unwrap();
            let values = cell.values(&derived.opening, &Timeless).unwrap();
            game::to_wire(PlayedGame::new(id, &derived, record, 1).with_values(values))
        };
        self.play_by(grant, play).await
    }

    /// Makes a result of every game of a grant.
    pub async fn play_by(
        &mut self,
        grant: &v1::Grant,
        play: impl Fn(GameId, &PlayableCell) -> v1::Game,
    ) -> Vec<v1::Result> {
        let mut results = Vec::new();
        for leased in &grant.games {
            let definition_hash = leased.definition_hash.clone();
            let request = v1::GetCellRequest { definition_hash, openings_apart: false };
            let answer = self.client.get_cell(request).await.unwrap().into_inner();
            let definition: CellDefinition = serde_json::from_str(&answer.definition_json).unwrap();
            let cell = PlayableCell::new(definition).unwrap();
            for number in leased.first_number..leased.first_number + leased.count {
                let game = play(GameId { cell: CellId(leased.cell_id), number }, &cell);
                results.push(v1::Result {
                    lease_id: grant.lease_id,
                    what: Some(v1::result::What::Game(game)),
                });
            }
        }
        results
    }

    /// Reports; the verdict on each result.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn report(&mut self, results: Vec<v1::Result>) -> Result<Vec<v1::Verdict>, Status> {
        let request = v1::ReportRequest {
            worker_id: self.id,
            coordinator_epoch: self.epoch,
            results,
            worker_secret: self.secret.clone(),
        };
        Ok(self.client.report(request).await?.into_inner().verdicts().collect())
    }

    /// Says that it lives and holds these leases; those that it is to drop.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn heartbeat(&mut self, leases: &[i64]) -> Result<Vec<i64>, Status> {
        let request = v1::HeartbeatRequest {
            worker_id: self.id,
            coordinator_epoch: self.epoch,
            lease_ids: leases.to_vec(),
            playing: Vec::new(),
            worker_secret: self.secret.clone(),
            followed: Vec::new(),
        };
        Ok(self.client.heartbeat(request).await?.into_inner().drop_lease_ids)
    }

    /// Hands leases back.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn give_back(&mut self, leases: &[i64]) -> Result<(), Status> {
        let request = v1::GiveBackRequest {
            worker_id: self.id,
            coordinator_epoch: self.epoch,
            lease_ids: leases.to_vec(),
            worker_secret: self.secret.clone(),
        };
        self.client.give_back(request).await.map(drop)
    }

    /// Leases, plays and reports until nothing is left.
    pub async fn work_until_done(&mut self) {
        tokio::time::timeout(DEADLINE, self.work_on()).await.expect("it is done in time");
    }

    async fn work_on(&mut self) {
        loop {
            let answer = self.lease().await.unwrap();
            let Some(grant) = answer.grant else {
                if answer.all_done {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            let results = self.play(&grant).await;
            for results in results.chunks(REPORT_RESULTS_MAX) {
                self.report(results.to_vec()).await.unwrap();
            }
        }
    }
}

/// The game of a result.
pub fn game_mut(result: &mut v1::Result) -> &mut v1::Game {
    match &mut result.what {
        Some(v1::result::What::Game(game)) => game,
        other => panic!("{other:?}"),
    }
}

/// A failure of the same game.
#[must_use]
pub fn failed_result(result: &v1::Result, message: &str) -> v1::Result {
    let Some(v1::result::What::Game(game)) = &result.what else { panic!("{result:?}") };
    let failed = v1::FailedGame {
        cell_id: game.cell_id,
        number: game.number,
        engine_revision: ENGINE_REVISION,
        message: message.to_owned(),
    };
    v1::Result { lease_id: result.lease_id, what: Some(v1::result::What::FailedGame(failed)) }
}
