//! The link to the coordinator: sends each message once, and reports errors that a retry cannot
//! fix.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use spelrum_answers::Machine;
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{DefinitionHash, ListedPositions, OpeningsCache, WorkerId};
use spelrum_programs::Programs;
use spelrum_proto::engines::{failed_build_to_wire, offer_to_wire};
use spelrum_proto::labels::label_to_wire;
use spelrum_proto::limits::REPORT_RESULTS_MAX;
use spelrum_proto::v1::{self, Verdict};
use spelrum_proto::work::{self, Grant};
use spelrum_proto::{PROTOCOL, Reason, Refusal, TrustError, WireError, WorkerSecret};
use spelrum_scheduling::worker::{Answer, Call, Caller, LeasedGames, Session};
use tonic::{Code, Response, Status};
use uuid::Uuid;

use crate::cells::{self, Cell, Ready};
use crate::engines::{EnginesNow, program};
use crate::fetching::Fetching;
use crate::following::Following;
use crate::leased_cells::{self, Definition, LeasedCells};
use crate::networks::{self, Networks, Stored};
use crate::offered::Offered;
use crate::openings;
use crate::outage::Outage;
use crate::outcome::Finished;
use crate::places::Places;
use crate::requests::{Client, Signed, get_cell, get_network, give_back, heartbeat, lease, report};
use crate::{Address, WorkerError};

/// How long reading the definitions that came along with a lease may take.
const LEASED_CELLS_PATIENCE: Duration = Duration::from_millis(500);

/// The call that begins a session.
const HELLO: &str = "Hello";

/// The worker's introduction.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
    pub(crate) host: String,
    pub(crate) slots: u32,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) offered: Offered,
    pub(crate) machine: Machine,
}

/// The link.
pub(crate) struct Link {
    /// The coordinator's addresses.
    pub(crate) places: Places,
    introduction: Introduction,
    /// Proves that calls are this worker's; from Hello's answer.
    secret: Mutex<Option<WorkerSecret>>,
    /// Cells of one sweep share their openings.
    openings: Arc<OpeningsCache>,
    /// Cells whose definitions came along with leases.
    leased_cells: LeasedCells,
    /// Held while openings are fetched.
    fetching_openings: tokio::sync::Mutex<()>,
    /// They share their networks, too.
    networks: Networks,
    /// Programs that were pushed to the coordinator.
    fetching: Option<Fetching>,
    /// The games whose moves the coordinator asks for.
    following: Arc<Following>,
    outage: Mutex<Outage>,
    /// The last reason for which the coordinator gave it no games.
    withheld: Mutex<String>,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The coordinator has restarted, or does not accept the call as this worker's.
    SayHello(Refusal),
    /// A repetition would be refused too.
    Refused(Refusal),
    /// The worker must end: the coordinator rejects it, or the server is not a coordinator.
    Fatal(WorkerError),
    /// It is unreachable, or temporarily unable.
    Away { problem: String, has_remedy: bool, retry_after: Option<Duration> },
    /// There was no answer in time.
    TimedOut,
}

impl Link {
    pub(crate) fn new(
        coordinator: &Address,
        others: &[Address],
        introduction: Introduction,
        programs: Option<Programs>,
        following: Arc<Following>,
    ) -> Self {
        Self {
            places: Places::new(std::iter::once(coordinator).chain(others)),
            introduction,
            secret: Mutex::default(),
            openings: Arc::default(),
            leased_cells: LeasedCells::default(),
            fetching_openings: tokio::sync::Mutex::default(),
            networks: Networks::default(),
            fetching: programs.map(Fetching::new),
            following,
            outage: Mutex::default(),
            withheld: Mutex::default(),
        }
    }

    /// Sends a message once, and waits this long for the answer.
    pub(crate) async fn send(
        &self,
        call: &Call<Finished>,
        patience: Duration,
    ) -> Result<Answer<Arc<Cell>>, Failed> {
        match call {
            Call::Hello => {
                let hello = self.attempt(HELLO, patience, |client| self.hello(client)).await?;
                self.accept_hello(hello).map(Answer::Hello)
            }
            Call::Lease { caller, speeds } => {
                let slots = self.introduction.slots;
                let request = |client| lease(client, self.sign(caller), slots, speeds);
                let mut response = self.attempt("Lease", patience, request).await?;
                let is_obtaining = !response.builds.is_empty();
                // The coordinator answers about games after the measurement.
                if response.calibrate.is_empty() {
                    self.log_withheld(&response.withheld);
                }
                let cells = std::mem::take(&mut response.cells);
                let cells = work::leased_cells(cells).map_err(malformed)?;
                self.want_builds(std::mem::take(&mut response.builds));
                let answer = parse_lease(response, is_obtaining)?;
                if let Answer::Granted { games, .. } = &answer {
                    self.keep_leased_cells(games, cells).await;
                }
                Ok(answer)
            }
            Call::Heartbeat { caller, leases, playing } => {
                let followed = self.following.moves();
                let request =
                    |client| heartbeat(client, self.sign(caller), leases, playing, followed);
                let answer = self.attempt("Heartbeat", patience, request).await?;
                let dropped = work::lease_ids(&answer.drop_lease_ids).map_err(malformed)?;
                if !dropped.is_empty() {
                    let named: Vec<_> = dropped.iter().map(ToString::to_string).collect();
                    let leases = named.join(" ");
                    tracing::info!(leases, "dropping leases that are no longer ours");
                }
                let is_followed = self.following.follow(&answer.followed);
                Ok(Answer::Drop { leases: dropped, is_followed })
            }
            Call::Report { caller, results } => {
                let started = Instant::now();
                let request = |client| report(client, self.sign(caller), results);
                let answer = self.attempt("Report", patience, request).await?;
                tracing::debug!(results = results.len(), took = ?started.elapsed(), "reported");
                log_verdicts(results, &answer.verdicts);
                Ok(Answer::Acknowledged { results: answer.verdicts.len() })
            }
            Call::GiveBack { caller, leases } => {
                tracing::info!(leases = leases.len(), "giving back what is unfinished");
                let request = |client| give_back(client, self.sign(caller), leases);
                let v1::GiveBackResponse {} = self.attempt("GiveBack", patience, request).await?;
                Ok(Answer::GivenBack)
            }
            Call::GetCell(definition) => {
                if let Some(leased) = self.leased_cells.take(*definition)
                    && let Some(answer) = self.leased_cell(*definition, leased, patience).await?
                {
                    return Ok(answer);
                }
                let request = |client| get_cell(client, *definition);
                let fetched = self.attempt("GetCell", patience, request).await;
                self.cell_from_answer(*definition, fetched, patience).await
            }
        }
    }

    /// Has engines obtained: programs are fetched first.
    fn want_builds(&self, names: Vec<String>) {
        let offered = &self.introduction.offered;
        let (programs, commits): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| program(name).is_some());
        offered.want_builds(commits);
        let Some(fetching) = self.fetching.as_ref().filter(|_| !programs.is_empty()) else {
            return;
        };
        fetching.fetch(programs, &self.places.current().0.client, offered);
    }

    async fn hello(&self, mut client: Client) -> Result<Response<v1::HelloResponse>, Status> {
        let Introduction { uuid, name, host, slots, memory_bytes, offered, machine } =
            self.introduction.clone();
        let (cpu_quota_us, cpu_period_us) =
            machine.cpu_quota.map_or((0, 0), |quota| (quota.quota_us, quota.period_us));
        let EnginesNow { offered, built } = offered.current();
        let hello = v1::HelloRequest {
            protocol: PROTOCOL,
            engine_revision: ENGINE_REVISION,
            worker_uuid: uuid.to_string(),
            name,
            host,
            slots,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // 0 would mean unknown.
            memory_bytes: memory_bytes.map_or(0, |bytes| bytes.max(1)),
            cpu_model: machine.cpu_model,
            logical_cores: machine.logical_cores.unwrap_or(0),
            operating_system: machine.operating_system,
            build_commit: machine.build_commit,
            build_profile: machine.build_profile,
            engines: offered.into_iter().map(offer_to_wire).collect(),
            trains: true,
            verifies: true,
            quiet_slots: machine.quiet_slots,
            cpu_quota_us,
            cpu_period_us,
            cores: machine.cores,
            labels: machine.labels.into_iter().map(label_to_wire).collect(),
            worker_secret: self.secret(),
            built_engines: built.engines,
            failed_builds: built.failed.into_iter().map(failed_build_to_wire).collect(),
            accepted_programs: built.accepted,
        };
        client.hello(hello).await
    }

    /// Interprets an answered Hello.
    fn accept_hello(&self, hello: v1::HelloResponse) -> Result<Session, Failed> {
        tracing::info!(
            worker = hello.worker_id,
            coordinator_epoch = hello.coordinator_epoch,
            database = hello.database_uuid,
            "the coordinator knows this worker"
        );
        let secret = WorkerSecret::from_wire(&hello.worker_secret).map_err(malformed)?;
        *self.secret.lock().unwrap_or_else(PoisonError::into_inner) = secret;
        Ok(Session {
            caller: Caller { worker: WorkerId(hello.worker_id), epoch: hello.coordinator_epoch },
            database: hello.database_uuid,
            heartbeat_interval_ms: hello.heartbeat_interval_ms,
            report_results_max: (hello.report_results_max as usize).clamp(1, REPORT_RESULTS_MAX),
        })
    }

    /// The secret as a field.
    fn secret(&self) -> Vec<u8> {
        WorkerSecret::to_wire(*self.secret.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn sign(&self, &caller: &Caller) -> Signed {
        Signed { caller, worker_secret: self.secret() }
    }

    /// Keeps the definitions that came along with a lease of these games. Those of other cells are ignored.
    async fn keep_leased_cells(
        &self,
        games: &[LeasedGames],
        cells: Vec<(DefinitionHash, v1::GetCellResponse)>,
    ) {
        let leased: BTreeSet<_> = games.iter().map(|games| games.definition).collect();
        let sent = cells.into_iter().filter(|(definition, _)| leased.contains(definition));
        let sent: Vec<_> = sent.collect();
        if sent.is_empty() {
            return;
        }
        let openings = Arc::clone(&self.openings);
        let read = tokio::task::spawn_blocking(move || leased_cells::read_some(sent, &openings));
        // Heartbeats wait for the lease. What is not read by then is fetched.
        if let Ok(Ok(cells)) = tokio::time::timeout(LEASED_CELLS_PATIENCE, read).await {
            self.leased_cells.keep(cells);
        }
    }

    /// The cell of a definition that came along with a lease; `None` if it must be fetched after all.
    async fn leased_cell(
        &self,
        definition: DefinitionHash,
        leased: Definition,
        patience: Duration,
    ) -> Result<Option<Answer<Arc<Cell>>>, Failed> {
        let ready = match leased {
            Definition::Read(ready) => Ok(ready),
            Definition::Sent(cell) => self.read_cell(definition, cell, patience).await?,
        };
        match ready {
            Ok(ready) => {
                let (cell, keep) = self.supplied(definition, ready, patience).await?;
                Ok(Some(cell_answer(cell, keep)))
            }
            Err(_damaged) => Ok(None),
        }
    }

    /// Reads a definition, with the positions that are separate from it.
    async fn read_cell(
        &self,
        definition: DefinitionHash,
        cell: v1::GetCellResponse,
        patience: Duration,
    ) -> Result<Cell, Failed> {
        let v1::GetCellResponse { definition_json, openings_hash } = cell;
        let listed = self.fetch_openings(definition, &openings_hash, patience).await?;
        Ok(cells::read(definition, definition_json, listed, &self.openings).await)
    }

    /// Interprets a fetched definition, with the networks that it needs.
    async fn cell_from_answer(
        &self,
        definition: DefinitionHash,
        fetched: Result<v1::GetCellResponse, Failed>,
        patience: Duration,
    ) -> Result<Answer<Arc<Cell>>, Failed> {
        let (cell, keep) = match fetched {
            Ok(answer) => match self.read_cell(definition, answer, patience).await? {
                Ok(ready) => self.supplied(definition, ready, patience).await?,
                Err(problem) => (Err(problem), true),
            },
            // Not cached: another coordinator at the same address, or the same one with its own
            // database back, may know it.
            Err(Failed::Refused(refusal)) if refusal.reason == Reason::UnknownCell => {
                (Err(refusal.problem), false)
            }
            Err(failed) => return Err(failed),
        };
        Ok(cell_answer(cell, keep))
    }

    /// Gives a cell what it needs of the coordinator, and returns whether to cache it.
    async fn supplied(
        &self,
        definition: DefinitionHash,
        ready: Ready,
        patience: Duration,
    ) -> Result<(Cell, bool), Failed> {
        match ready {
            ready @ (Ready::Games(_) | Ready::Verification(_)) => {
                self.with_networks(ready, patience).await
            }
            Ready::Training { training, .. } => {
                let stored = self.fetch_network(definition, patience).await?;
                let hash = match stored {
                    Stored::Trained(bytes) => networks::network_hash(&training, bytes).await,
                    Stored::Failed(_) | Stored::NotYet => None,
                };
                // Not cached: it changes once the network is trained.
                Ok((Ok(Ready::Training { training, found: hash }), false))
            }
        }
    }

    /// Gives a cell's players the networks of the coordinator, and returns whether to cache the cell. Missing
    /// ones are trained here on first use.
    async fn with_networks(
        &self,
        mut ready: Ready,
        patience: Duration,
    ) -> Result<(Cell, bool), Failed> {
        for training in ready.trainings() {
            let definition = training.hash();
            let network = match self.networks.cached(definition) {
                Some(network) => Ok(network),
                None => match self.fetch_network(definition, patience).await? {
                    Stored::Trained(bytes) => {
                        self.networks.supply(&training, definition, bytes).await
                    }
                    Stored::Failed(problem) => {
                        Err(format!("its network could not be trained: {problem}"))
                    }
                    Stored::NotYet => continue,
                },
            };
            match network {
                Ok(network) => ready
                    .networks()
                    .into_iter()
                    .for_each(|networks| networks.push(Arc::clone(&network))),
                // Not cached: the network may be retrained, and read from elsewhere.
                Err(problem) => return Ok((Err(problem), false)),
            }
        }
        // A verification is played once.
        let keep = matches!(ready, Ready::Games(_));
        Ok((Ok(ready), keep))
    }

    /// The positions that are separate from a cell's definition, if any: fetched once for all cells that list
    /// them.
    async fn fetch_openings(
        &self,
        definition: DefinitionHash,
        hash: &[u8],
        patience: Duration,
    ) -> Result<Option<Arc<ListedPositions>>, Failed> {
        let Ok(hash) = <[u8; 32]>::try_from(hash) else { return Ok(None) };
        // Concurrent requests for cells wait here for the first.
        let _fetching = self.fetching_openings.lock().await;
        if let Some(positions) = self.openings.listed(hash) {
            return Ok(Some(positions));
        }
        let request = v1::GetOpeningsRequest { definition_hash: definition.0.to_vec() };
        let request = async |mut client: Client| client.get_openings(request).await;
        let answer = self.attempt("GetOpenings", patience, request).await?;
        let read = move || openings::read(&answer.positions_gzip, hash);
        let read = tokio::task::spawn_blocking(read).await;
        let read = read.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
        let problem = "the coordinator sent other openings than the cell's".to_owned();
        let away = || Failed::Away { problem, has_remedy: false, retry_after: None };
        let listed = read.ok_or_else(away)?;
        Ok(Some(self.openings.supply(listed)))
    }

    /// Fetches the network of a training. It may have some megabytes, so the call has its own timeout.
    async fn fetch_network(
        &self,
        definition: DefinitionHash,
        patience: Duration,
    ) -> Result<Stored, Failed> {
        let request = |client| get_network(client, definition);
        self.attempt("GetNetwork", patience, request).await.map(Stored::from)
    }

    /// Sends a call to the coordinator where it answered last. If it does not answer there, the next call goes to its
    /// next address.
    async fn attempt<T, F: Future<Output = Result<Response<T>, Status>>>(
        &self,
        method: &str,
        patience: Duration,
        call: impl FnOnce(Client) -> F,
    ) -> Result<T, Failed> {
        let (place, tried) = self.places.current();
        let address = &place.address;
        let (mut failed, is_absent) =
            match tokio::time::timeout(patience, call(place.client.clone())).await {
                Ok(Ok(answer)) => {
                    self.places.answered(tried);
                    self.log_back(address);
                    return Ok(answer.into_inner());
                }
                Ok(Err(status)) => {
                    let refusal = Refusal::from_status(&status);
                    let is_absent = refusal.is_none_or(|refusal| refusal.reason == Reason::Ending);
                    (Failed::from_status(&status), is_absent)
                }
                Err(_elapsed) => (Failed::TimedOut, true),
            };
        if method == HELLO {
            failed = failed.of_hello();
        }
        let is_malformed = matches!(
            &failed,
            Failed::Fatal(WorkerError::Refused(refusal)) if refusal.reason == Reason::Malformed
        );
        if let Failed::Fatal(error) = &failed
            && (method == HELLO || !is_malformed)
        {
            if self.places.refused(tried) {
                return Err(failed);
            }
            // Another address may be the coordinator's.
            let problem = format!("{error}: {}", error.remedy());
            failed = Failed::Away { problem, has_remedy: true, retry_after: None };
        } else if is_absent {
            self.places.absent(tried);
        } else {
            self.places.answered(tried);
        }
        match &failed {
            Failed::Away { problem, has_remedy, .. } => {
                self.log_away(address, method, problem, *has_remedy, Duration::ZERO);
            }
            Failed::TimedOut => {
                let problem = format!("no answer within {} s", patience.as_secs());
                self.log_away(address, method, &problem, false, patience);
            }
            Failed::SayHello(_) | Failed::Refused(_) | Failed::Fatal(_) => {}
        }
        Err(failed)
    }

    /// Logs an outage once, if it lasts, and every time at debug level.
    fn log_away(
        &self,
        coordinator: &str,
        method: &str,
        problem: &str,
        has_remedy: bool,
        waited: Duration,
    ) {
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        if outage.failed(Instant::now(), waited, has_remedy) {
            tracing::warn!(
                coordinator,
                what = method,
                problem,
                "the coordinator is away; trying again until it is back"
            );
        } else {
            tracing::debug!(coordinator, what = method, problem, "no answer");
        }
    }

    /// Logs once why there are no games for this worker.
    fn log_withheld(&self, why: &str) {
        let mut logged = self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        if *logged == why {
            return;
        }
        why.clone_into(&mut logged);
        if why.is_empty() {
            tracing::info!("the coordinator gives this worker games again");
        } else {
            tracing::warn!(why, "the coordinator gives this worker no games");
        }
    }

    fn log_back(&self, coordinator: &str) {
        if self.outage.lock().unwrap_or_else(PoisonError::into_inner).answered() {
            tracing::info!(coordinator, "the coordinator is back");
        }
    }
}

/// The answer with a cell, whose problem is logged if it has one.
fn cell_answer(cell: Cell, keep: bool) -> Answer<Arc<Cell>> {
    if let Err(problem) = &cell {
        tracing::error!("a cell cannot be played here: {problem}");
    }
    let game = match &cell {
        Ok(Ready::Games(games)) if games.cell.has_time_limit() => {
            Some(games.cell.definition().rules.name())
        }
        Ok(Ready::Games(_) | Ready::Training { .. } | Ready::Verification(_)) | Err(_) => None,
    };
    Answer::Cell { cell: Arc::new(cell), keep, game }
}

/// Interprets an answered Lease.
fn parse_lease(
    response: v1::LeaseResponse,
    is_obtaining: bool,
) -> Result<Answer<Arc<Cell>>, Failed> {
    let v1::LeaseResponse { grant, retry_after_ms, all_done, withheld: _told, calibrate, .. } =
        response;
    let Some(grant) = grant else {
        let calibrate = Some(calibrate).filter(|game| !game.is_empty());
        return Ok(Answer::Idle { retry_after_ms, all_done, calibrate, is_obtaining });
    };
    let Grant { lease, games, .. } = Grant::try_from(grant).map_err(malformed)?;
    let leased = |games: work::LeasedGames| LeasedGames {
        range: games.range,
        definition: games.definition,
        game_timeout: games.game_timeout,
        name_before_play: games.name_before_play,
        timed: games.timed,
        scaling: games.scaling,
    };
    let games: Vec<_> = games.into_iter().map(leased).collect();
    let count: u64 = games.iter().map(|games| games.range.count).sum();
    tracing::debug!(%lease, games = count, "leased");
    Ok(Answer::Granted { lease, games })
}

/// Logs unexpected verdicts.
fn log_verdicts(results: &[Finished], verdicts: &[i32]) {
    let is_rejected = |verdict: i32| Verdict::try_from(verdict) == Ok(Verdict::Rejected);
    let both = results.iter().zip(verdicts);
    let mut rejected = both.filter(|(_, verdict)| is_rejected(**verdict)).map(|(result, _)| result);
    if let Some(first) = rejected.next() {
        let (lease, results) = (first.result.lease_id, 1 + rejected.count());
        tracing::warn!(lease, results, "the coordinator rejected results");
    }
    if verdicts.len() < results.len() {
        let unanswered = results.len() - verdicts.len();
        tracing::error!(unanswered, "results were left unanswered");
    }
}

fn malformed(error: WireError) -> Failed {
    Failed::Fatal(WorkerError::Malformed(error))
}

impl Failed {
    /// The same for a Hello: when that is refused, the worker is.
    fn of_hello(self) -> Self {
        match self {
            Self::Refused(refusal) => Self::Fatal(WorkerError::Refused(refusal)),
            Self::SayHello(refusal) if refusal.reason == Reason::WrongSecret => {
                Self::Fatal(WorkerError::Refused(refusal))
            }
            Self::SayHello(_) | Self::Fatal(_) | Self::Away { .. } | Self::TimedOut => self,
        }
    }

    /// Interprets a status. One without a refusal comes from the network, or a proxy, not from a
    /// coordinator.
    fn from_status(status: &Status) -> Self {
        let Some(refusal) = Refusal::from_status(status) else {
            // The coordinator's certificate may be fixed without touching the workers.
            match TrustError::from_error(status) {
                Some(error) if error.is_callers => {
                    return Self::Fatal(WorkerError::Trust(error));
                }
                Some(TrustError { problem, remedy, .. }) => {
                    let problem = format!("{problem}: {remedy}");
                    return Self::Away { problem, has_remedy: true, retry_after: None };
                }
                None => {}
            }
            let (code, message) = (status.code(), status.message());
            return if matches!(
                code,
                Code::Unimplemented | Code::Unauthenticated | Code::PermissionDenied
            ) {
                Self::Fatal(WorkerError::NoCoordinator(format!("{code}: {message}")))
            } else if matches!(code, Code::InvalidArgument | Code::OutOfRange) {
                let refusal = Refusal::new(Reason::Malformed, message, SAME_RELEASE);
                Self::Fatal(WorkerError::Refused(refusal))
            } else {
                let problem = format!("{code}: {message}");
                Self::Away { problem, has_remedy: false, retry_after: None }
            };
        };
        match refusal.reason {
            Reason::SayHello | Reason::WrongSecret => Self::SayHello(refusal),
            Reason::Busy | Reason::Ending => Self::Away {
                retry_after: refusal.retry_after,
                has_remedy: false,
                problem: refusal.problem,
            },
            Reason::Protocol
            | Reason::EngineRevision
            | Reason::BadToken
            | Reason::WrongRole
            | Reason::CrossSite
            | Reason::WrongHost
            | Reason::NotJson
            | Reason::UnknownCall
            | Reason::WrongMethod
            | Reason::Malformed => Self::Fatal(WorkerError::Refused(refusal)),
            Reason::UnknownCell
            | Reason::UnknownGame
            | Reason::UnknownProgram
            | Reason::Internal
            | Reason::TooMany
            | Reason::BadSweep
            | Reason::NameTaken
            | Reason::UnknownExperiment
            | Reason::UnknownWorker
            | Reason::WrongState
            | Reason::BadQuery => Self::Refused(refusal),
        }
    }
}

const SAME_RELEASE: &str = "use a worker and a coordinator of the same release";

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors that a retry may fix are retried; others end the worker with a remedy.
    #[test]
    fn statuses_are_distinguished() {
        let away = |status: &Status| matches!(Failed::from_status(status), Failed::Away { .. });
        let fatal = |status: &Status| matches!(Failed::from_status(status), Failed::Fatal(_));
        assert!(away(&Status::unavailable("connection refused")));
        assert!(away(&Status::unknown("h2 protocol error")));
        assert!(away(&Status::internal("stream reset")));
        assert!(away(&Refusal::busy("full", Duration::ZERO).into()));
        assert!(fatal(&Status::unimplemented("")));
        assert!(fatal(&Status::invalid_argument("")));
        let mismatches = [
            Reason::Protocol,
            Reason::EngineRevision,
            Reason::BadToken,
            Reason::WrongRole,
            Reason::Malformed,
        ];
        for reason in mismatches {
            assert!(fatal(&Refusal::new(reason, "", "").into()), "{reason:?}");
        }
        let hello = Refusal::new(Reason::SayHello, "", "").into();
        assert!(matches!(Failed::from_status(&hello), Failed::SayHello(_)));
        let impostor = Refusal::new(Reason::WrongSecret, "", "").into();
        assert!(matches!(Failed::from_status(&impostor), Failed::SayHello(_)));
        let internal = Refusal::new(Reason::Internal, "", "").into();
        assert!(matches!(Failed::from_status(&internal), Failed::Refused(_)));
    }
}
