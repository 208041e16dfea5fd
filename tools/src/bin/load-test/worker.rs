//! A worker of a fleet: the calls of a real one in the same order, and games that take no work.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use spelrum_engine::{ENGINE_REVISION, Timeless};
use spelrum_model::{DefinitionHash, GameId, PlayableCell, PlayedGame};
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::v1::result::What;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::work::Grant;
use spelrum_proto::{Bearer, PROTOCOL, Reason, Refusal, WorkerSecret, game, v1};
use tokio::time::{Instant, sleep_until, timeout};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Response, Status};
use uuid::Uuid;

use crate::shared::Shared;
use crate::tally::Call;

type Client = WorkClient<InterceptedService<Channel, Bearer>>;

/// Timeout for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The real worker's backoff: this long after the first failure, doubled after each further one, up to the second
/// value.
const BACKOFF: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// A worker.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    number: u32,
    uuid: Uuid,
    /// Assigned by the coordinator.
    secret: Option<WorkerSecret>,
    /// Of the coordinators' addresses, counted through them again and again.
    address: usize,
    client: Client,
    /// Cells fetched so far.
    cells: BTreeMap<DefinitionHash, Arc<PlayableCell>>,
    failures: u32,
    has_joined: bool,
}

/// The worker's session with its coordinator.
#[derive(Clone, Copy, Debug)]
struct Session {
    worker_id: i64,
    epoch: i64,
    secret: Option<WorkerSecret>,
    heartbeat: Duration,
    /// The most results in one report.
    report_max: usize,
}

/// A lease, and its games left to play.
struct Held {
    lease_id: i64,
    games: VecDeque<(DefinitionHash, GameId)>,
}

/// A client of this address, counted through all of them again and again.
fn client(shared: &Shared, address: usize) -> Client {
    let addresses = &shared.fleet.coordinators;
    let channel = addresses[address % addresses.len()]
        .clone()
        .connect_timeout(PATIENCE)
        .tcp_nodelay(true)
        .connect_lazy();
    let bearer = Bearer::new(shared.fleet.token.as_ref());
    WorkClient::with_interceptor(channel, bearer).max_decoding_message_size(MESSAGE_BYTES_MAX)
}

/// The reason why a worker stops its work.
enum Interrupted {
    /// The worker must say Hello again.
    Hello,
    /// The worker must end.
    End,
}

impl Worker {
    pub(crate) fn new(number: u32, shared: Arc<Shared>) -> Self {
        let address = number as usize;
        let client = client(&shared, address);
        Self {
            shared,
            address,
            number,
            uuid: Uuid::new_v4(),
            secret: None,
            client,
            cells: BTreeMap::new(),
            failures: 0,
            has_joined: false,
        }
    }

    /// Works until the fleet ends.
    pub(crate) async fn live(mut self) {
        let stop = self.shared.stop.clone();
        loop {
            let Some(Ok(session)) = stop.run_until_cancelled(self.hello()).await else { return };
            let mut held = None;
            let worked = stop.run_until_cancelled(self.work(session, &mut held)).await;
            match worked {
                Some(Interrupted::Hello) => {}
                Some(Interrupted::End) => return,
                None => {
                    if let Some(held) = held {
                        let lease_ids = vec![held.lease_id];
                        let request = v1::GiveBackRequest {
                            worker_id: session.worker_id,
                            coordinator_epoch: session.epoch,
                            lease_ids,
                            worker_secret: WorkerSecret::to_wire(session.secret),
                        };
                        let mut client = self.client.clone();
                        // Leases that cannot be handed back expire.
                        let _expires = self.once(Call::GiveBack, client.give_back(request)).await;
                    }
                    return;
                }
            }
        }
    }

    async fn hello(&mut self) -> Result<Session, Interrupted> {
        let request = v1::HelloRequest {
            protocol: PROTOCOL,
            engine_revision: ENGINE_REVISION,
            worker_uuid: self.uuid.to_string(),
            name: format!("fleet-{}", self.number),
            host: "fleet".to_owned(),
            slots: 1,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            worker_secret: WorkerSecret::to_wire(self.secret),
            ..v1::HelloRequest::default()
        };
        loop {
            let mut client = self.client.clone();
            let request = request.clone();
            match self.call(Call::Hello, async move { client.hello(request).await }).await {
                Ok(Some(hello)) => {
                    self.shared.tally.welcomed(!self.has_joined);
                    self.has_joined = true;
                    self.secret = WorkerSecret::from_wire(&hello.worker_secret)
                        .map_err(|error| self.give_up(error.to_string()))?;
                    return Ok(Session {
                        worker_id: hello.worker_id,
                        epoch: hello.coordinator_epoch,
                        secret: self.secret,
                        heartbeat: Duration::from_millis(hello.heartbeat_interval_ms.max(1)),
                        report_max: hello.report_results_max.max(1) as usize,
                    });
                }
                Ok(None) | Err(Interrupted::Hello) => {}
                Err(Interrupted::End) => return Err(Interrupted::End),
            }
        }
    }

    /// Leases, plays and reports, with heartbeats.
    async fn work(&mut self, session: Session, held: &mut Option<Held>) -> Interrupted {
        // Spreads the heartbeats of the workers.
        let first = session.heartbeat.mul_f64(rand::random());
        let mut heartbeat = Instant::now() + first;
        loop {
            let done = match held.take() {
                None => self.lease(session, heartbeat, held).await,
                Some(lease) => {
                    *held = Some(lease);
                    self.play(session, &mut heartbeat, held).await
                }
            };
            if let Err(interrupted) = done {
                return interrupted;
            }
            if heartbeat <= Instant::now() {
                heartbeat = Instant::now() + session.heartbeat;
                if let Err(interrupted) = self.heartbeat(session, held, None).await {
                    return interrupted;
                }
            }
        }
    }

    /// Asks for games; if there are none, waits as long as the coordinator asks, or until the next heartbeat is due.
    async fn lease(
        &mut self,
        Session { worker_id, epoch: coordinator_epoch, secret, .. }: Session,
        heartbeat: Instant,
        held: &mut Option<Held>,
    ) -> Result<(), Interrupted> {
        let request = v1::LeaseRequest {
            worker_id,
            coordinator_epoch,
            slots: 1,
            worker_secret: WorkerSecret::to_wire(secret),
            ..Default::default()
        };
        let mut client = self.client.clone();
        let answer = self.call(Call::Lease, async move { client.lease(request).await }).await?;
        let Some(answer) = answer else { return Ok(()) };
        self.shared.tally.leased(answer.grant.is_some());
        let Some(grant) = answer.grant else {
            let wait = Duration::from_millis(answer.retry_after_ms);
            let until = Instant::now() + wait.mul_f64(1.0 + rand::random::<f64>() / 2.0);
            sleep_until(until.min(heartbeat)).await;
            return Ok(());
        };
        let grant = Grant::try_from(grant).map_err(|error| self.give_up(error.to_string()))?;
        let mut games = VecDeque::new();
        for leased in grant.games {
            let range = leased.range;
            let numbers = range.first..range.first + range.count;
            games.extend(
                numbers.map(|number| (leased.definition, GameId { cell: range.cell, number })),
            );
        }
        *held = Some(Held { lease_id: grant.lease.0, games });
        Ok(())
    }

    /// Waits for the duration of the next game, or of all games left if they take no time, and reports.
    async fn play(
        &mut self,
        session: Session,
        heartbeat: &mut Instant,
        held: &mut Option<Held>,
    ) -> Result<(), Interrupted> {
        let Some(lease) = held else { return Ok(()) };
        let game_time = self.shared.fleet.game_time;
        let count = if game_time.is_zero() { session.report_max } else { 1 };
        let games: Vec<_> = lease.games.drain(..count.min(lease.games.len())).collect();
        let lease_id = lease.lease_id;
        let ends = Instant::now() + game_time;
        while *heartbeat < ends {
            sleep_until(*heartbeat).await;
            *heartbeat = Instant::now() + session.heartbeat;
            let playing = games.first().map(|(_, game)| *game);
            self.heartbeat(session, held, playing).await?;
            if held.is_none() {
                return Ok(());
            }
        }
        sleep_until(ends).await;
        let mut results = Vec::new();
        for (definition, game) in games {
            let cell = self.cell(definition).await?;
            let Some(cell) = cell else { return Ok(()) };
            let what = self.played(&cell, game)?;
            results.push(v1::Result { lease_id, what: Some(What::Game(what)) });
        }
        let Session { worker_id, epoch: coordinator_epoch, secret, .. } = session;
        let worker_secret = WorkerSecret::to_wire(secret);
        let request = v1::ReportRequest { worker_id, coordinator_epoch, results, worker_secret };
        loop {
            let mut client = self.client.clone();
            let request = request.clone();
            // Reports are repeated until they are received.
            let answer =
                self.call(Call::Report, async move { client.report(request).await }).await?;
            if let Some(answer) = answer {
                self.shared.tally.reported(&answer.verdicts);
                if held.as_ref().is_some_and(|held| held.games.is_empty()) {
                    // A lease ends with its last result.
                    *held = None;
                }
                return Ok(());
            }
        }
    }

    fn played(&self, cell: &PlayableCell, game: GameId) -> Result<v1::Game, Interrupted> {
        let (derived, mut record) = cell
            .play(game.number, None, &Timeless)
            .map_err(|error| self.give_up(error.to_string()))?;
        record.wall_us = u64::try_from(self.shared.fleet.game_time.as_micros()).unwrap_or(0);
        Ok(game::to_wire(PlayedGame::new(game, &derived, record, 0)))
    }

    async fn cell(
        &mut self,
        definition: DefinitionHash,
    ) -> Result<Option<Arc<PlayableCell>>, Interrupted> {
        if let Some(known) = self.cells.get(&definition) {
            return Ok(Some(Arc::clone(known)));
        }
        let definition_hash = definition.0.to_vec();
        let request = v1::GetCellRequest { definition_hash, openings_apart: false };
        let mut client = self.client.clone();
        let answer =
            self.call(Call::GetCell, async move { client.get_cell(request).await }).await?;
        let Some(answer) = answer else { return Ok(None) };
        let cell = match self.shared.cell(definition) {
            Some(known) => known,
            None => self
                .shared
                .read(definition, &answer.definition_json)
                .map_err(|problem| self.give_up(problem))?,
        };
        self.cells.insert(definition, Arc::clone(&cell));
        Ok(Some(cell))
    }

    async fn heartbeat(
        &mut self,
        Session { worker_id, epoch: coordinator_epoch, secret, .. }: Session,
        held: &mut Option<Held>,
        playing: Option<GameId>,
    ) -> Result<(), Interrupted> {
        let playing = playing.map(|game| v1::GameId { cell_id: game.cell.0, number: game.number });
        let request = v1::HeartbeatRequest {
            worker_id,
            coordinator_epoch,
            lease_ids: held.iter().map(|held| held.lease_id).collect(),
            playing: playing.into_iter().collect(),
            worker_secret: WorkerSecret::to_wire(secret),
            followed: Vec::new(),
        };
        let mut client = self.client.clone();
        let answer =
            self.call(Call::Heartbeat, async move { client.heartbeat(request).await }).await?;
        let Some(answer) = answer else { return Ok(()) };
        self.shared.tally.dropped(answer.drop_lease_ids.len());
        if held.as_ref().is_some_and(|held| answer.drop_lease_ids.contains(&held.lease_id)) {
            *held = None;
        }
        Ok(())
    }

    /// Makes a call once; returns `None`, after the backoff of a real worker, if a retry may help.
    async fn call<T>(
        &mut self,
        call: Call,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<Option<T>, Interrupted> {
        let status = match self.once(call, answer).await {
            Ok(answer) => {
                self.failures = 0;
                return Ok(Some(answer));
            }
            Err(status) => status,
        };
        let refusal = Refusal::from_status(&status);
        let after = match &refusal {
            Some(Refusal { reason: Reason::SayHello, .. }) => return Err(Interrupted::Hello),
            Some(Refusal { reason: Reason::WrongSecret, .. }) if !matches!(call, Call::Hello) => {
                return Err(Interrupted::Hello);
            }
            Some(Refusal { reason: Reason::Busy | Reason::Ending, retry_after, .. }) => {
                *retry_after
            }
            None if status.code() != Code::Unimplemented => None,
            _ => {
                let problem =
                    refusal.map_or(status.message().to_owned(), |refusal| refusal.problem);
                return Err(self.give_up(format!("{}: {problem}", call.name())));
            }
        };
        let [first, most] = BACKOFF;
        self.failures += 1;
        let addresses = self.shared.fleet.coordinators.len();
        let is_away =
            refusal.as_ref().is_none_or(|refusal| matches!(refusal.reason, Reason::Ending));
        if is_away && addresses > 1 {
            self.address += 1;
            self.client = client(&self.shared, self.address);
        }
        let rounds = self.failures / u32::try_from(addresses).unwrap_or(u32::MAX);
        // The next address is tried at once; the waits grow once all were tried.
        let wait = match self.failures as usize % addresses {
            0 => (first * 2_u32.saturating_pow(rounds.saturating_sub(1).min(10))).min(most),
            _ => first,
        };
        let wait = wait.max(after.unwrap_or_default());
        tokio::time::sleep(wait.mul_f64(1.0 + rand::random::<f64>() / 2.0)).await;
        Ok(None)
    }

    /// Makes a call, and records how long the answer took.
    async fn once<T>(
        &self,
        call: Call,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Status> {
        let begun = Instant::now();
        let answer = timeout(PATIENCE, answer).await;
        let late = |_| Err(Status::deadline_exceeded("no answer in time"));
        match answer.unwrap_or_else(late) {
            Ok(answer) => {
                self.shared.tally.answered(call, begun.elapsed());
                Ok(answer.into_inner())
            }
            Err(status) => {
                self.shared.tally.failed(call, status.message());
                Err(status)
            }
        }
    }

    fn give_up(&self, why: String) -> Interrupted {
        self.shared.tally.give_up(why);
        Interrupted::End
    }
}
