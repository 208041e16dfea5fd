//! Nobody acts for a worker but the worker itself: ids count up, and anybody may say one.

use spelrum_coordinator::access::{Role, TokenBook};
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::v1::{self, Verdict};
use spelrum_proto::{Bearer, Reason, Refusal, Token};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};
use uuid::Uuid;

use spelrum_test_support::{HandWorker, Served, Site, game_mut, hello, quick_sweep, reason};

/// Bad results after which a worker gets no more games, and some.
const BAD_RESULTS: usize = 12;

/// The same worker as somebody else says that it is.
fn posing(victim: &HandWorker, client: &WorkClient<Channel>, secret: Vec<u8>) -> HandWorker {
    HandWorker {
        client: client.clone(),
        uuid: victim.uuid.clone(),
        id: victim.id,
        epoch: victim.epoch,
        secret,
    }
}

/// Whoever guesses an id, with no secret, with a made-up one or with that of another worker.
#[tokio::test]
async fn who_guesses_an_id_does_nothing_for_its_worker_and_nothing_to_it() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("guessed", 40)).await;
    let mut victim = HandWorker::new(&served).await;
    let stranger = HandWorker::new(&served).await;
    assert_eq!((victim.secret.len(), stranger.secret.len()), (32, 32));
    assert_ne!(victim.secret, stranger.secret);
    let grant = victim.granted().await;
    let results = victim.play(&grant).await;
    let mut wrong = results.clone();
    game_mut(&mut wrong[0]).moves_hash ^= 1;
    for secret in [Vec::new(), vec![0; 32], stranger.secret.clone()] {
        let mut poser = posing(&victim, &stranger.client, secret);
        assert_eq!(reason(poser.lease().await), Reason::WrongSecret);
        assert_eq!(reason(poser.heartbeat(&[]).await), Reason::WrongSecret);
        assert_eq!(reason(poser.give_back(&[grant.lease_id]).await), Reason::WrongSecret);
        assert_eq!(reason(poser.report(results.clone()).await), Reason::WrongSecret);
        for _ in 0..BAD_RESULTS {
            assert_eq!(reason(poser.report(wrong[..1].to_vec()).await), Reason::WrongSecret);
        }
        let short = posing(&victim, &stranger.client, vec![0; 31]).lease().await;
        assert_eq!(reason(short), Reason::Malformed);
    }
    for table in ["games", "uncounted_games", "refused_results", "attempts"] {
        assert_eq!(served.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    assert_eq!(victim.heartbeat(&[grant.lease_id]).await.unwrap(), [0; 0], "its lease is its");
    let counted = vec![Verdict::Counted; results.len()];
    assert_eq!(victim.report(results).await.unwrap(), counted);
    victim.work_until_done().await;
}

/// The UUID of a worker is in the database, which whoever may read can read.
#[tokio::test]
async fn who_knows_a_workers_uuid_does_not_become_it() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("known", 40)).await;
    let mut victim = HandWorker::new(&served).await;
    let grant = victim.granted().await;
    let mut client = served.work().await;
    for worker_secret in [Vec::new(), vec![1; 32]] {
        let posing = v1::HelloRequest { worker_secret, ..hello(&victim.uuid) };
        assert_eq!(reason(client.hello(posing).await), Reason::WrongSecret);
    }
    assert_eq!(victim.heartbeat(&[grant.lease_id]).await.unwrap(), [0; 0]);
    let mut again = victim.reconnect(&served).await;
    assert_eq!((again.id, &again.secret), (victim.id, &victim.secret));
    assert_eq!(again.heartbeat(&[grant.lease_id]).await.unwrap(), [0; 0]);
}

/// A worker keeps its id over restarts of the coordinator, and so does its secret.
#[tokio::test]
async fn a_secret_outlives_the_coordinator() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("restarted", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut client = served.work().await;
    assert_eq!(reason(client.hello(hello(&worker.uuid)).await), Reason::WrongSecret);
    let mut back = worker.reconnect(&served).await;
    assert_eq!((back.id, &back.secret), (worker.id, &worker.secret));
    let mut poser = posing(&back, &client, vec![2; 32]);
    assert_eq!(reason(poser.report(results.clone()).await), Reason::WrongSecret);
    let counted = vec![Verdict::Counted; results.len()];
    assert_eq!(back.report(results).await.unwrap(), counted);
    served.stop().await.unwrap();

    // Its hash alone is on the disk.
    for file in std::fs::read_dir(site.db().parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(32).any(|window| window == worker.secret), "it was stored");
    }
}

/// An answer that is lost shuts nobody out.
#[tokio::test]
async fn a_worker_that_never_heard_its_secret_asks_again() {
    let site = Site::new();
    let served = site.serve().await;
    let uuid = Uuid::new_v4().to_string();
    let mut lost = HandWorker::with_uuid(&served, &uuid).await;
    let mut heard = HandWorker::with_uuid(&served, &uuid).await;
    assert_eq!(lost.id, heard.id);
    assert_eq!(reason(lost.lease().await), Reason::WrongSecret);
    assert!(heard.lease().await.is_ok());
    // Also if the coordinator ended before the answer came.
    let uuid = Uuid::new_v4().to_string();
    let before = HandWorker::with_uuid(&served, &uuid).await;
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut after = HandWorker::with_uuid(&served, &uuid).await;
    assert_eq!(after.id, before.id);
    assert!(after.lease().await.is_ok());
}

type Client = WorkClient<InterceptedService<Channel, Bearer>>;

async fn client(served: &Served, token: &str) -> Client {
    let token: Token = token.parse().unwrap();
    let channel = Endpoint::new(served.url()).unwrap().connect().await.unwrap();
    WorkClient::with_interceptor(channel, Bearer::new(Some(&token)))
}

fn refused<T>(answer: Result<Response<T>, Status>) -> Option<Reason> {
    Some(Refusal::from_status(&answer.err()?)?.reason)
}

/// Each call that names a worker, with what it brought.
async fn each_call(client: &mut Client, hello: &v1::HelloResponse) -> [Option<Reason>; 4] {
    let (worker_id, coordinator_epoch) = (hello.worker_id, hello.coordinator_epoch);
    let secret = || hello.worker_secret.clone();
    let heartbeat = v1::HeartbeatRequest {
        worker_id,
        coordinator_epoch,
        worker_secret: secret(),
        ..Default::default()
    };
    let report = v1::ReportRequest {
        worker_id,
        coordinator_epoch,
        worker_secret: secret(),
        ..Default::default()
    };
    let give_back = v1::GiveBackRequest {
        worker_id,
        coordinator_epoch,
        worker_secret: secret(),
        ..Default::default()
    };
    let lease = v1::LeaseRequest {
        worker_id,
        coordinator_epoch,
        slots: 1,
        worker_secret: secret(),
        ..Default::default()
    };
    [
        refused(client.heartbeat(heartbeat).await),
        refused(client.report(report).await),
        refused(client.give_back(give_back).await),
        refused(client.lease(lease).await),
    ]
}

/// Where there are tokens, calls need the one that said Hello as well.
#[tokio::test]
async fn another_token_acts_for_no_worker_even_with_its_secret() {
    let site = Site::new();
    let path = site.db().with_file_name("tokens.toml");
    let [a, b] = [("a", 1), ("b", 2)].map(|(name, byte)| {
        let roles = [Role::Work].into_iter().collect();
        TokenBook::change(&path, |book| book.add(name, roles, "", [byte; 32])).unwrap()
    });
    let served = site.serve_with_tokens(&path).await;
    let (mut by_a, mut by_b) = (client(&served, &a).await, client(&served, &b).await);
    let uuid = Uuid::new_v4().to_string();
    let introduction = hello(&uuid);
    let victim = by_a.hello(introduction.clone()).await.unwrap().into_inner();
    assert_eq!(each_call(&mut by_a, &victim).await, [None; 4]);
    assert_eq!(each_call(&mut by_b, &victim).await, [Some(Reason::WrongSecret); 4]);
    let again = v1::HelloRequest { worker_secret: victim.worker_secret.clone(), ..introduction };
    assert_eq!(refused(by_b.hello(again.clone()).await), Some(Reason::WrongSecret));
    // Nor after a restart.
    served.stop().await.unwrap();
    let served = site.serve_with_tokens(&path).await;
    let (mut by_a, mut by_b) = (client(&served, &a).await, client(&served, &b).await);
    assert_eq!(refused(by_b.hello(again.clone()).await), Some(Reason::WrongSecret));
    let back = by_a.hello(again).await.unwrap().into_inner();
    assert_eq!(back.worker_id, victim.worker_id);
    assert_eq!(each_call(&mut by_b, &back).await, [Some(Reason::WrongSecret); 4]);
    assert_eq!(each_call(&mut by_a, &back).await, [None; 4]);
    served.stop().await.unwrap();
    let served = site.serve().await;
    let named = "SELECT count(*) FROM workers WHERE credential = 'token:a'";
    assert_eq!(served.number(named).await, 1);
    let sql = "SELECT count(*) FROM worker_productivity WHERE credential = 'token:a'";
    assert_eq!(served.number(sql).await, 1);
}
