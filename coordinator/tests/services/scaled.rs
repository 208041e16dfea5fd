//! Scaled time limits over the network: what is leased, and what is taken in.

use spelrum_proto::v1;
use spelrum_proto::v1::Verdict;
use spelrum_test_support::{HandWorker, Site, game_mut};

fn sweep(timing: &str) -> String {
    format!(
        "name = \"scaled\"\ngame = \"tic-tac-toe\"\ngames = 4\ntiming = {timing}\n\
         [players.quick]\nalgorithm = \"alpha-beta\"\ndepth = 2\nmove_time = \"1ms\"\n\
         [players.random]\nalgorithm = \"random\"\n"
    )
}

fn with_factor(mut result: v1::Result, factor_permille: u32) -> v1::Result {
    let scaled = v1::ScaledTime { factor_permille, nodes_per_second: 1_000_000 };
    game_mut(&mut result).scaled = Some(scaled);
    result
}

fn speed(game: &str, nodes_per_second: u64) -> v1::Speed {
    let (game, noise_permille, slots) = (game.to_owned(), 8, 1);
    v1::Speed { game, nodes_per_second, noise_permille, slots, age_ms: 5_000 }
}

fn asks(worker: &HandWorker, speeds: Vec<v1::Speed>) -> v1::LeaseRequest {
    let HandWorker { id: worker_id, epoch: coordinator_epoch, .. } = *worker;
    let worker_secret = worker.secret.clone();
    v1::LeaseRequest { worker_id, coordinator_epoch, slots: 1, speeds, worker_secret }
}

#[tokio::test]
async fn a_result_whose_factor_no_sweep_allows_is_refused() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&sweep("{ reference_speed = 2_000_000, factor_max = 2 }")).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let scale = v1::TimeScale { reference_nodes_per_second: 2_000_000, factor_max_permille: 2_000 };
    assert!(grant.games.iter().all(|games| games.scale == Some(scale)), "{grant:?}");
    let results = worker.play(&grant).await;
    let [first, second] = &results[..] else { panic!("{results:?}") };
    let scaled = [with_factor(first.clone(), 100_001), with_factor(second.clone(), 9)];
    let (no, yes) = (Verdict::Rejected, Verdict::Counted);
    assert_eq!(worker.report(scaled.to_vec()).await.unwrap(), [no, no]);
    // What was leased before its sweep said something else was scaled as it said then.
    served.submit(&sweep("{ reference_speed = 2_000_000, factor_max = 1.5 }")).await;
    let scaled = [with_factor(first.clone(), 2_000), with_factor(second.clone(), 500)];
    assert_eq!(worker.report(scaled.to_vec()).await.unwrap(), [yes, yes]);
    let grant = worker.granted().await;
    let plain = worker.play(&grant).await;
    assert_eq!(worker.report(plain).await.unwrap(), [yes; 2]);
    assert_eq!(served.number("SELECT count(*) FROM refused_results").await, 2);
    let why = "SELECT count(*) FROM refused_results WHERE problem LIKE '%and no sweep allows that'";
    assert_eq!(served.number(why).await, 2);
    assert_eq!(served.number("SELECT count(*) FROM games WHERE time_factor IS NULL").await, 2);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn speeds_are_kept_once_and_malformed_ones_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let mut worker = HandWorker::new(&served).await;
    let speed = speed("pentago", 2_500_000);
    let [good, bad] = [speed.clone(), v1::Speed { nodes_per_second: 0, ..speed }]
        .map(|speed| asks(&worker, vec![speed]));
    for _ in 0..3 {
        worker.client.lease(good.clone()).await.unwrap();
    }
    assert!(worker.client.lease(bad).await.unwrap_err().message().contains("nodes_per_second"));
    assert_eq!(served.number("SELECT count(*) FROM worker_speeds").await, 1);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_worker_is_asked_for_its_speed_where_games_are_for_fast_ones() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = sweep("{}").replace("timing = {}", "placement = { speed_min = 2_000_000 }");
    served.submit(&sweep).await;
    let mut worker = HandWorker::new(&served).await;
    let is_asked = |speeds| asks(&worker, speeds);
    let [unknown, slow, fast] = [
        is_asked(Vec::new()),
        is_asked(vec![speed("tic-tac-toe", 1_999_999)]),
        is_asked(vec![speed("tic-tac-toe", 2_000_000)]),
    ];
    let answer = worker.client.lease(unknown).await.unwrap().into_inner();
    assert_eq!((answer.grant, &*answer.calibrate, &*answer.withheld), (None, "tic-tac-toe", ""));
    let answer = worker.client.lease(slow).await.unwrap().into_inner();
    assert_eq!((answer.grant, &*answer.calibrate), (None, ""));
    let whom = "workers that visit at least 2000000 nodes of tic-tac-toe a second, not 1999999";
    assert!(answer.withheld.contains(whom), "{}", answer.withheld);
    let status = served.status().await;
    let attention = status.attention.iter().find(|item| item.problem.contains(whom));
    let attention = attention.unwrap_or_else(|| panic!("{status:?}"));
    assert!(attention.remedy.contains("`speed_min`"), "{attention:?}");
    let answer = worker.client.lease(fast).await.unwrap().into_inner();
    assert!(answer.grant.is_some_and(|grant| !grant.games.is_empty()));
    served.stop().await.unwrap();
}
