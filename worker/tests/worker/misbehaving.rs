//! A coordinator that refuses calls, or sends nonsense.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use spelrum_proto::limits::{LEASE_DEFINITIONS_BYTES_MAX, LEASE_RANGES_MAX};
use spelrum_proto::v1::work_server::{Work, WorkServer};
use spelrum_proto::v1::{self, Verdict, result::What};
use spelrum_proto::{PROTOCOL, Reason, Refusal};
use spelrum_sweep::{SweepText, plan_sweep};
use spelrum_worker::{Summary, WorkerError};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use super::end_to_end::{Working, endless_sweep};
use spelrum_test_support::eventually;

/// Its misbehaviour.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) hello: Option<Refusal>,
    pub(crate) lease: Option<Refusal>,
    /// The duration of a Lease.
    pub(crate) slow_to_grant: Duration,
    /// The definition of its only cell, as it is sent.
    pub(crate) definition: String,
    /// The hash in leases; by default the right one.
    pub(crate) hash: Option<[u8; 32]>,
    /// Games of its only lease.
    pub(crate) games: u64,
    /// A number whose result is refused.
    pub(crate) poison: Option<u64>,
    /// Whether it also refuses the failure in its place.
    pub(crate) refuses_failures: bool,
    /// Whether it refuses to send the definition.
    pub(crate) refuses_cell: bool,
    /// The number of reports that are accepted but whose answer is lost.
    pub(crate) lost_replies: usize,
    /// The most results that get a verdict in a report.
    pub(crate) verdicts_max: Option<usize>,
    /// Whether it does not know the cell at first, and leases the games a second time.
    pub(crate) unknown_at_first: bool,
    /// Whether its games were lost with an earlier worker.
    pub(crate) lost: bool,
    /// Whether it leases the games a second time.
    pub(crate) leases_twice: bool,
    /// The definitions that it sends along with its leases, with their hashes.
    pub(crate) sent_along: Vec<(Vec<u8>, String)>,
    /// Its answers about a network, in order, the last repeated; by default none exists yet.
    pub(crate) networks: VecDeque<Result<v1::GetNetworkResponse, Status>>,
}

/// The number of a result's game.
fn number_of(result: &What) -> u64 {
    match result {
        What::Game(game) | What::Verification(game) => game.number,
        What::FailedGame(failed) => failed.number,
        What::Training(training) => training.number,
    }
}

/// The calls it has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The number of requested leases.
    pub(crate) asked: usize,
    pub(crate) leases: i64,
    pub(crate) given_back: Vec<i64>,
    pub(crate) fetches: usize,
    /// The trainings whose networks were requested.
    pub(crate) networks: Vec<Vec<u8>>,
    /// Whether the worker trains for others.
    pub(crate) trains: bool,
    /// The games named in heartbeats.
    pub(crate) named: Vec<v1::GameId>,
    /// Results by number, in the order of arrival.
    pub(crate) results: BTreeMap<u64, Vec<What>>,
}

pub(crate) struct Fake {
    script: Mutex<Script>,
    seen: Arc<Mutex<Seen>>,
}

impl Fake {
    /// Serves, and returns its address and its record of calls.
    pub(crate) async fn serve(script: Script) -> (String, Arc<Mutex<Seen>>) {
        let seen = Arc::<Mutex<Seen>>::default();
        let fake = Self { script: Mutex::new(script), seen: Arc::clone(&seen) };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tonic::transport::Server::builder()
            .add_service(WorkServer::new(fake))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(serving);
        (url, seen)
    }
}

#[tonic::async_trait]
impl Work for Fake {
    async fn hello(
        &self,
        request: Request<v1::HelloRequest>,
    ) -> Result<Response<v1::HelloResponse>, Status> {
        self.seen.lock().unwrap().trains = request.get_ref().trains;
        match self.script.lock().unwrap().hello.clone() {
            Some(refusal) => Err(refusal.into()),
            None => Ok(Response::new(v1::HelloResponse {
                protocol: PROTOCOL,
                worker_id: 1,
                coordinator_epoch: 1,
                // No call comes by itself during a test.
                heartbeat_interval_ms: 3_600_000,
                report_results_max: 10,
                ..Default::default()
            })),
        }
    }

    async fn lease(
        &self,
        _request: Request<v1::LeaseRequest>,
    ) -> Result<Response<v1::LeaseResponse>, Status> {
        self.seen.lock().unwrap().asked += 1;
        let slow_to_grant = self.script.lock().unwrap().slow_to_grant;
        tokio::time::sleep(slow_to_grant).await;
        let script = self.script.lock().unwrap();
        if let Some(refusal) = script.lease.clone() {
            return Err(refusal.into());
        }
        let mut seen = self.seen.lock().unwrap();
        if seen.leases == 1 + i64::from(script.unknown_at_first || script.leases_twice) {
            let idle = v1::LeaseResponse {
                grant: None,
                retry_after_ms: 10,
                all_done: true,
                ..v1::LeaseResponse::default()
            };
            return Ok(Response::new(idle));
        }
        seen.leases += 1;
        let hash = script.hash.unwrap_or_else(|| Sha256::digest(&script.definition).into());
        let games = v1::LeasedGames {
            cell_id: 1,
            definition_hash: hash.to_vec(),
            first_number: 0,
            count: script.games,
            game_timeout_ms: 0,
            name_before_play: script.lost,
            ..v1::LeasedGames::default()
        };
        let grant = v1::Grant { lease_id: seen.leases, duration_ms: 60_000, games: vec![games] };
        let cell = |(definition_hash, definition): &(Vec<u8>, String)| v1::LeasedCell {
            definition_hash: definition_hash.clone(),
            cell: Some(v1::GetCellResponse {
                definition_json: definition.clone(),
                openings_hash: Vec::new(),
            }),
        };
        let cells = script.sent_along.iter().map(cell).collect();
        Ok(Response::new(v1::LeaseResponse { grant: Some(grant), cells, ..Default::default() }))
    }

    async fn get_cell(
        &self,
        _request: Request<v1::GetCellRequest>,
    ) -> Result<Response<v1::GetCellResponse>, Status> {
        let script = self.script.lock().unwrap();
        let mut seen = self.seen.lock().unwrap();
        seen.fetches += 1;
        if script.refuses_cell {
            return Err(Refusal::new(Reason::Internal, "it cannot be read", "").into());
        }
        if script.unknown_at_first && seen.fetches == 1 {
            return Err(Refusal::new(Reason::UnknownCell, "no such cell", "").into());
        }
        let definition_json = script.definition.clone();
        Ok(Response::new(v1::GetCellResponse { definition_json, openings_hash: Vec::new() }))
    }

    async fn get_openings(
        &self,
        _request: Request<v1::GetOpeningsRequest>,
    ) -> Result<Response<v1::GetOpeningsResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_program(
        &self,
        _request: Request<v1::GetProgramRequest>,
    ) -> Result<Response<v1::GetProgramResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_network(
        &self,
        request: Request<v1::GetNetworkRequest>,
    ) -> Result<Response<v1::GetNetworkResponse>, Status> {
        let mut script = self.script.lock().unwrap();
        self.seen.lock().unwrap().networks.push(request.into_inner().definition_hash);
        let answer = match script.networks.len() {
            // None is stored yet.
            0 => Ok(v1::GetNetworkResponse::default()),
            1 => script.networks[0].clone(),
            _ => script.networks.pop_front().unwrap(),
        };
        answer.map(Response::new)
    }

    async fn report(
        &self,
        request: Request<v1::ReportRequest>,
    ) -> Result<Response<v1::ReportResponse>, Status> {
        let results = request.into_inner().results;
        let mut script = self.script.lock().unwrap();
        assert!((1..=10).contains(&results.len()), "a report is no larger than it may be");
        let is_poison = |result: &v1::Result| {
            let number = match result.what.as_ref().unwrap() {
                what @ (What::Game(_) | What::Training(_) | What::Verification(_)) => {
                    Some(number_of(what))
                }
                What::FailedGame(failed) => script.refuses_failures.then_some(failed.number),
            };
            number.is_some() && number == script.poison
        };
        if results.iter().any(is_poison) {
            return Err(Refusal::new(Reason::Internal, "it cannot be stored", "").into());
        }
        let mut seen = self.seen.lock().unwrap();
        let is_named = |result: &v1::Result| {
            let number = number_of(result.what.as_ref().unwrap());
            seen.named.iter().any(|named| named.number == number)
        };
        assert!(!script.lost || results.iter().all(is_named), "it is named before it is played");
        let mut verdicts = Vec::new();
        for result in results {
            let what = result.what.unwrap();
            let number = number_of(&what);
            seen.results.entry(number).or_default().push(what);
            verdicts.push(Verdict::Counted.into());
        }
        if script.lost_replies > 0 {
            script.lost_replies -= 1;
            return Err(Status::unavailable("the reply was lost"));
        }
        verdicts.truncate(script.verdicts_max.unwrap_or(usize::MAX));
        Ok(Response::new(v1::ReportResponse { verdicts }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        self.seen.lock().unwrap().named.extend(request.into_inner().playing);
        Ok(Response::new(v1::HeartbeatResponse::default()))
    }

    async fn give_back(
        &self,
        request: Request<v1::GiveBackRequest>,
    ) -> Result<Response<v1::GiveBackResponse>, Status> {
        self.seen.lock().unwrap().given_back.extend(request.into_inner().lease_ids);
        Ok(Response::new(v1::GiveBackResponse {}))
    }
}

/// The definition of a sweep's first cell.
pub(crate) fn definition_of(sweep: String) -> String {
    let plan = plan_sweep(&SweepText::new("fake.toml", sweep)).unwrap();
    plan.definition(&plan.cells[0]).canonical_json()
}

/// A cell that this engine plays.
fn definition() -> String {
    definition_of(spelrum_test_support::quick_sweep("fake", 2))
}

pub(crate) fn failure(result: &What) -> &str {
    match result {
        What::FailedGame(failed) => &failed.message,
        What::Game(_) | What::Training(_) | What::Verification(_) => panic!("{result:?}"),
    }
}

#[tokio::test]
async fn a_worker_that_is_not_wanted_ends_with_the_remedy() {
    let reasons =
        [Reason::Protocol, Reason::EngineRevision, Reason::Malformed, Reason::WrongSecret];
    for reason in reasons {
        for at_hello in [true, false] {
            // A call with a wrong secret is answered by saying Hello again: the coordinator may have forgotten it.
            if reason == Reason::WrongSecret && !at_hello {
                continue;
            }
            let refusal = Some(Refusal::new(reason, "you are not wanted", "go home"));
            let script = if at_hello {
                Script { hello: refusal.clone(), ..Default::default() }
            } else {
                Script { lease: refusal.clone(), ..Default::default() }
            };
            let (url, _seen) = Fake::serve(script).await;
            let error = Working::start(url, 1, true).ended().await.unwrap_err();
            assert_eq!(error.remedy(), "go home");
            assert!(
                matches!(error, WorkerError::Refused(found) if Some(&found) == refusal.as_ref())
            );
        }
    }
}

#[tokio::test]
async fn what_is_not_a_coordinator_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Another gRPC server.
    let serving = tonic::transport::Server::builder()
        .add_service(tonic_health::server::health_reporter().1)
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(serving);
    let error = Working::start(url, 1, true).ended().await.unwrap_err();
    assert!(matches!(error, WorkerError::NoCoordinator(_)), "{error}");
}

#[tokio::test]
async fn a_grant_that_makes_no_sense_ends_the_worker() {
    let script = Script { games: 0, definition: definition(), ..Default::default() };
    let (url, _seen) = Fake::serve(script).await;
    let error = Working::start(url, 1, true).ended().await.unwrap_err();
    assert!(matches!(error, WorkerError::Malformed(_)), "{error}");
}

/// Unplayable games are reported as failed, with the reason, and the worker continues.
#[tokio::test]
async fn a_cell_that_cannot_be_played_fails_its_games() {
    let changed = definition().replace("\"seed\":7", "\"seed\":8");
    assert_ne!(changed, definition());
    let newer = definition().replace("\"format\":1", "\"format\":2");
    let scripts = [
        // Not the content of the hash.
        (Some(Sha256::digest(definition()).into()), changed, "hash"),
        (None, newer, "format"),
        (None, "no JSON".to_owned(), "definition"),
        (None, "{}".to_owned(), "definition"),
    ];
    for (hash, definition, word) in scripts {
        let script = Script { definition, hash, games: 25, ..Default::default() };
        let (url, seen) = Fake::serve(script).await;
        let summary = Working::start(url, 2, true).ended().await.unwrap();
        assert_eq!((summary.acknowledged, summary.failed), (25, 25));
        let seen = seen.lock().unwrap();
        assert_eq!(seen.results.len(), 25);
        for results in seen.results.values() {
            assert_eq!(results.len(), 1);
            assert!(failure(&results[0]).contains(word), "{results:?}");
        }
    }
}

/// A definition that comes with a lease is not fetched. A damaged one is, and so is one whose cell has no games.
#[tokio::test]
async fn a_definition_that_comes_with_a_lease_is_used_if_it_is_the_right_one() {
    let hash = Sha256::digest(definition()).to_vec();
    let changed = definition().replace("\"seed\":7", "\"seed\":8");
    assert_ne!(changed, definition());
    let other = Sha256::digest(&changed).to_vec();
    for (sent_along, fetches) in [
        (vec![(hash.clone(), definition())], 0),
        (vec![(other.clone(), changed.clone()), (hash.clone(), definition())], 0),
        (vec![(hash.clone(), changed.clone())], 1),
        (vec![(hash.clone(), "no JSON".to_owned())], 1),
        (vec![(hash.clone(), String::new())], 1),
        (vec![(other, changed)], 1),
        (Vec::new(), 1),
    ] {
        let script = Script {
            definition: definition(),
            games: 25,
            sent_along: sent_along.clone(),
            ..Default::default()
        };
        let (url, seen) = Fake::serve(script).await;
        let summary = Working::start(url, 2, true).ended().await.unwrap();
        assert_eq!((summary.acknowledged, summary.failed), (25, 0), "{sent_along:?}");
        assert_eq!(seen.lock().unwrap().fetches, fetches, "{sent_along:?}");
    }
}

#[tokio::test]
async fn too_many_definitions_with_a_lease_end_the_worker() {
    let hash = Sha256::digest(definition()).to_vec();
    let too_long = vec![(hash.clone(), "x".repeat(LEASE_DEFINITIONS_BYTES_MAX + 1))];
    let too_many = vec![(hash, String::new()); LEASE_RANGES_MAX + 1];
    for sent_along in [too_long, too_many, vec![(vec![1; 31], String::new())]] {
        let script =
            Script { definition: definition(), games: 25, sent_along, ..Default::default() };
        let (url, _seen) = Fake::serve(script).await;
        let error = Working::start(url, 1, true).ended().await.unwrap_err();
        assert!(matches!(error, WorkerError::Malformed(_)), "{error}");
    }
}

/// Invariant 4, from the worker's side: it repeats unacknowledged results, unchanged.
#[tokio::test]
async fn lost_replies_are_repeated_word_for_word() {
    let script =
        Script { definition: definition(), games: 30, lost_replies: 4, ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let summary = Working::start(url, 2, true).ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed), (30, 0));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.results.len(), 30);
    assert!(seen.results.values().any(|results| results.len() > 1));
    for results in seen.results.values() {
        assert!(results.iter().all(|what| what == &results[0]));
    }
}

#[tokio::test]
async fn a_result_without_an_answer_is_repeated() {
    let script =
        Script { definition: definition(), games: 30, verdicts_max: Some(1), ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let summary = Working::start(url, 2, true).ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed), (30, 0));
    assert_eq!(seen.lock().unwrap().results.len(), 30);
}

#[tokio::test]
async fn a_result_that_is_refused_for_good_becomes_a_failure() {
    let script =
        Script { definition: definition(), games: 30, poison: Some(11), ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let summary = Working::start(url, 2, true).ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed), (30, 1));
    let seen = seen.lock().unwrap();
    for (&number, results) in &seen.results {
        assert_eq!(results.len(), 1, "{number}");
        if number == 11 {
            assert!(failure(&results[0]).contains("it cannot be stored"));
        }
    }
}

/// Otherwise it would be renewed for ever, and its game never played.
#[tokio::test]
async fn a_lease_whose_failure_is_refused_is_given_back() {
    let script = Script {
        definition: definition(),
        games: 30,
        poison: Some(11),
        refuses_failures: true,
        ..Default::default()
    };
    let (url, seen) = Fake::serve(script).await;
    let working = Working::start(url, 2, false);
    eventually("it is given back", async || {
        (!seen.lock().unwrap().given_back.is_empty()).then_some(())
    })
    .await;
    working.shutdown.finish.cancel();
    let summary = working.ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed, summary.unreported), (29, 0, 1));
    let seen = seen.lock().unwrap();
    assert_eq!((seen.results.len(), seen.given_back.as_slice()), (29, &[1][..]));
}

#[tokio::test]
async fn games_of_a_refused_cell_are_given_back() {
    let script =
        Script { definition: definition(), games: 5, refuses_cell: true, ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let working = Working::start(url, 1, false);
    eventually("they are given back", async || {
        (!seen.lock().unwrap().given_back.is_empty()).then_some(())
    })
    .await;
    working.shutdown.finish.cancel();
    assert_eq!(working.ended().await.unwrap(), Summary::default());
    let seen = seen.lock().unwrap();
    assert_eq!((seen.fetches, seen.given_back.as_slice()), (1, &[1][..]));
}

/// A coordinator that lacks a cell may be followed by one that has it.
#[tokio::test]
async fn an_unknown_cell_is_asked_for_again() {
    let script =
        Script { definition: definition(), games: 5, unknown_at_first: true, ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let summary = Working::start(url, 1, true).ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed), (10, 5));
    let seen = seen.lock().unwrap();
    for results in seen.results.values() {
        assert!(failure(&results[0]).contains("no such cell"));
        assert!(matches!(results[1], What::Game(_)), "{results:?}");
    }
}

/// A game that kills its worker is charged only if a heartbeat named it: the heartbeat must not
/// wait for its time.
#[tokio::test]
async fn a_game_that_starts_is_named_before_it_can_kill() {
    let definition = definition_of(endless_sweep("named"));
    for games in [1, 2] {
        let script = Script { definition: definition.clone(), games, ..Default::default() };
        let (url, seen) = Fake::serve(script).await;
        let working = Working::start(url, 1, true);
        let named = v1::GameId { cell_id: 1, number: 0 };
        eventually("the game is named", async || {
            seen.lock().unwrap().named.contains(&named).then_some(())
        })
        .await;
        working.shutdown.now.cancel();
        working.ended().await.unwrap();
    }
}

/// Games that were lost with a worker may have killed it before a heartbeat could name them.
#[tokio::test]
async fn games_that_were_lost_are_named_before_they_are_played() {
    let script = Script { definition: definition(), games: 30, lost: true, ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let summary = Working::start(url, 2, true).ended().await.unwrap();
    assert_eq!(summary.acknowledged, 30);
    assert_eq!(seen.lock().unwrap().results.len(), 30);
}

/// A lease whose grant is still travelling when the worker must end is not abandoned: its games
/// would wait until it expires.
#[tokio::test]
async fn what_is_granted_while_a_worker_ends_now_is_given_back() {
    let slow_to_grant = Duration::from_millis(300);
    let script = Script { definition: definition(), games: 2, slow_to_grant, ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let working = Working::start(url, 1, false);
    eventually("it asks", async || (seen.lock().unwrap().asked == 1).then_some(())).await;
    working.shutdown.now.cancel();
    working.ended().await.unwrap();
    assert_eq!(seen.lock().unwrap().given_back, [1]);
}
