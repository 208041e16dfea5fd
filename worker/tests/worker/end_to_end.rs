//! Workers and a coordinator: exactly the planned games, once each, whatever is killed meanwhile.

use std::num::NonZeroU32;
use std::time::Duration;

use spelrum_answers::{Action, SqlValue};
use spelrum_proto::Token;
use spelrum_worker::{
    Address, Build, Config, ExclusiveSlots, Playing, Shutdown, Summary, WorkerError, run,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

use spelrum_test_support::{DEADLINE, Served, Site, eventually, quick_sweep};

/// A running worker.
pub(crate) struct Working {
    pub(crate) shutdown: Shutdown,
    task: JoinHandle<Result<Summary, WorkerError>>,
}

impl Working {
    pub(crate) fn start(url: String, slots: u32, exit_when_done: bool) -> Self {
        Self::start_with(url, slots, exit_when_done, None)
    }

    pub(crate) fn start_with(
        url: String,
        slots: u32,
        exit_when_done: bool,
        token: Option<Token>,
    ) -> Self {
        let shutdown = Shutdown { finish: CancellationToken::new(), now: CancellationToken::new() };
        let config = Config {
            labels: Vec::new(),
            coordinator: Address { endpoint: Endpoint::new(url).unwrap(), token },
            name: Some("a test's".to_owned()),
            slots: NonZeroU32::new(slots).unwrap(),
            quiet: ExclusiveSlots::default(),
            memory_bytes: None,
            playing: Playing::Threads(None),
            build: Build::default(),
            exit_when_done,
            idle_max: None,
            others: Vec::new(),
            speed: None,
            programs: None,
        };
        let task = tokio::spawn(run(config, shutdown.clone()));
        Self { shutdown, task }
    }

    pub(crate) async fn ended(self) -> Result<Summary, WorkerError> {
        tokio::time::timeout(DEADLINE, self.task).await.expect("it ends in time").unwrap()
    }

    /// Ends it at once, as if killed, without a message.
    async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

/// A sweep with several cells, axes, searches and random numbers; games of about a millisecond.
fn mixed_sweep(name: &str, games: u64) -> String {
    format!(
        r#"
        name = "{name}"
        game = "tic-tac-toe"
        seed = 99
        games = {games}
        openings = {{ kind = "random", plies = 1 }}

        [axes]
        depth = [1, 2, 3]

        [players.alphabeta]
        algorithm = "alpha-beta"
        depth = "$depth"

        [players.minimax]
        algorithm = "minimax"
        depth = 2

        [players.random]
        algorithm = "random"
        "#
    )
}

/// The parts of all games that do not depend on time or on the worker, in order.
async fn games(served: &Served) -> Vec<Vec<SqlValue>> {
    served
        .query(
            "SELECT c.definition_hash, g.number, o.position, g.outcome, g.termination, g.plies,
                g.moves_hash, m.ply, m.move, m.position_key, m.legal_moves, m.depth, m.nodes,
                m.evaluations, m.full_tree_leaves, m.score, m.ended_by
            FROM games AS g JOIN cells AS c USING (cell_id) JOIN openings AS o USING (opening_id)
                JOIN moves AS m USING (game_id)
            WHERE g.counted = 1 ORDER BY c.definition_hash, g.number, m.ply",
        )
        .await
        .unwrap()
}

/// Checks that an experiment has exactly its planned games, once each.
async fn assert_complete(served: &Served, name: &str) {
    let summary = served.wait_for_state(name, "finished").await;
    assert_eq!(summary.games_settled, summary.games_planned);
    assert_eq!(summary.games_failed, 0);
    let planned = i64::try_from(summary.games_planned).unwrap();
    assert_eq!(served.number("SELECT count(*) FROM games WHERE counted = 1").await, planned);
    let distinct = "SELECT count(*) FROM (SELECT DISTINCT cell_id, number FROM games)";
    assert_eq!(served.number(distinct).await, planned);
    let beyond = "SELECT count(*) FROM games JOIN cells USING (cell_id)
        WHERE games.number >= games_planned";
    assert_eq!(served.number(beyond).await, 0);
    let moves = "SELECT count(*) FROM games WHERE plies <>
        (SELECT count(*) FROM moves WHERE moves.game_id = games.game_id)";
    assert_eq!(served.number(moves).await, 0);
}

/// Invariants 1, 2: the number of workers changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn one_worker_and_three_play_the_same_games() {
    let mut played = Vec::new();
    for workers in [1, 3] {
        let site = Site::new();
        let served = site.serve().await;
        let submitted = served.submit(&mixed_sweep("same", 60)).await;
        let started: Vec<_> =
            (0..workers).map(|slots| Working::start(served.url(), 1 + slots, true)).collect();
        let mut acknowledged = 0;
        for working in started {
            let summary = working.ended().await.unwrap();
            assert_eq!((summary.failed, summary.unreported), (0, 0));
            acknowledged += summary.acknowledged;
        }
        assert_eq!(acknowledged, submitted.games);
        assert_complete(&served, "same").await;
        let unknown = "SELECT count(*) > 0 FROM moves WHERE involuntary_switches IS NULL";
        assert_eq!(served.number(unknown).await == 0, cfg!(target_os = "linux"));
        played.push(games(&served).await);
        served.stop().await.unwrap();
    }
    assert!(played[0].len() > 1_000, "{}", played[0].len());
    assert_eq!(played[0], played[1]);
}

/// Invariant 5: a killed coordinator has lost nothing that it acknowledged, and its workers nothing
/// that they finished.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_coordinator_goes_on_where_it_stopped() {
    let site = Site::new();
    let mut served = site.serve().await;
    let address = served.address;
    served.submit(&quick_sweep("killed", 30_000)).await;
    let workers = [1, 2].map(|slots| Working::start(served.url(), slots, true));
    for settled in [100, 5_000, 10_000] {
        served.wait_for_settled("killed", settled).await;
        let before = served.summary("killed").await.games_settled;
        served.kill().await;
        served = Served::start(&site.db(), address, Duration::from_secs(5)).await;
        assert!(served.summary("killed").await.games_settled >= before);
    }
    // And one that is stopped.
    served.wait_for_settled("killed", 15_000).await;
    served.stop().await.unwrap();
    let served = Served::start(&site.db(), address, Duration::from_secs(5)).await;
    let mut acknowledged = 0;
    for working in workers {
        let summary = working.ended().await.unwrap();
        assert_eq!((summary.failed, summary.unreported), (0, 0));
        acknowledged += summary.acknowledged;
    }
    // A reply that was lost with the coordinator is acknowledged when it is repeated.
    assert_eq!(acknowledged, 30_000);
    assert_complete(&served, "killed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_workers_games_are_played_by_another() {
    let site = Site::new();
    // Leases that end soon, but not while a living worker waits for a slow disk: they would be lost
    // and granted again, repeatedly.
    let served = site.serve_with(Duration::from_millis(500)).await;
    served.submit(&quick_sweep("orphans", 10_000)).await;
    let victim = Working::start(served.url(), 2, true);
    served.wait_for_settled("orphans", 200).await;
    victim.kill().await;
    let heir = Working::start(served.url(), 2, true);
    heir.ended().await.unwrap();
    assert_complete(&served, "orphans").await;
    let expired = "SELECT count(*) FROM leases WHERE ended_by = 'expired'";
    assert!(served.number(expired).await > 0);
}

/// The disk is full now and then.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_bears_failing_commits() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("faults", 5_000)).await;
    let working = Working::start(served.url(), 2, true);
    for settled in [10, 1_000, 2_000] {
        served.wait_for_settled("faults", settled).await;
        served.faults.fail_commits(2);
    }
    let summary = working.ended().await.unwrap();
    assert_eq!(summary.acknowledged, 5_000);
    assert_complete(&served, "faults").await;
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
}

/// A worker that must finish reports its results and hands the rest back at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_finishes_leaves_nothing_behind() {
    let site = Site::new();
    let served = site.serve().await;
    // Games of a tenth of a second, so that there are always some in progress.
    let slow = quick_sweep("finish", 1_000)
        .replace("\"minimax\"\n        depth = 1", "\"alpha-beta\"\n        move_time = \"20ms\"");
    assert_ne!(slow, quick_sweep("finish", 1_000));
    served.submit(&slow).await;
    let working = Working::start(served.url(), 2, false);
    served.wait_for_settled("finish", 4).await;
    working.shutdown.finish.cancel();
    let summary = working.ended().await.unwrap();
    assert_eq!(summary.unreported, 0);
    let settled = served.summary("finish").await.games_settled;
    assert_eq!(settled, summary.acknowledged);
    assert_eq!(served.number("SELECT count(*) FROM leases WHERE ended_by IS NULL").await, 0);
    let given_back = "SELECT count(*) FROM leases WHERE ended_by = 'given_back'";
    assert!(served.number(given_back).await > 0);
    assert!(settled < 1_000);
}

/// Practically endless games.
pub(crate) fn endless_sweep(name: &str) -> String {
    format!(
        r#"
        name = "{name}"
        game = "pentago"
        seed = 5
        games = 100
        openings = {{ kind = "random", plies = 2 }}

        [players.a]
        algorithm = "alpha-beta"
        evaluation = "runs"
        depth = 12

        [players.b]
        algorithm = "alpha-beta"
        evaluation = "runs"
        depth = 13
        "#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_ends_now_abandons_its_games_and_gives_them_back() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&endless_sweep("now")).await;
    let working = Working::start(served.url(), 2, false);
    let live = "SELECT count(*) FROM leases WHERE ended_by IS NULL";
    eventually("it has a lease", async || (served.number(live).await > 0).then_some(())).await;
    // Finishing would take hours.
    working.shutdown.finish.cancel();
    working.shutdown.now.cancel();
    let summary = working.ended().await.unwrap();
    assert_eq!(summary, Summary::default());
    assert_eq!(served.number(live).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_experiments_games_are_aborted() {
    let site = Site::new();
    // A heartbeat reports the cancellation.
    let served = site.serve_with(Duration::from_millis(500)).await;
    served.submit(&endless_sweep("cancel")).await;
    let working = Working::start(served.url(), 2, true);
    let playing = async || {
        let coordinator = served.status().await.coordinator.unwrap();
        coordinator.workers.iter().map(|worker| worker.playing_games).sum::<u64>()
    };
    eventually("it plays", async || (playing().await == 2).then_some(())).await;
    served.steer("cancel", Action::Cancel).await.unwrap();
    // With the games aborted nothing is left to do.
    let summary = working.ended().await.unwrap();
    assert_eq!(summary, Summary::default());
}

/// After three failures, a game is settled as failed, with the reason; the others are played.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_that_takes_too_long_fails() {
    let site = Site::new();
    let served = site.serve().await;
    let hasty = format!("game_timeout = \"20ms\"\n{}", endless_sweep("hasty"));
    let games = served.submit(&hasty).await.games;
    let patient = served.submit(&quick_sweep("patient", 40)).await.games;
    let summary = Working::start(served.url(), 2, true).ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed), (3 * games + patient, 3 * games));
    let hasty = served.wait_for_state("hasty", "finished").await;
    assert_eq!((hasty.games_settled, hasty.games_failed), (games, games));
    let patient = served.wait_for_state("patient", "finished").await;
    assert_eq!((patient.games_settled, patient.games_failed), (40, 0));
    let says_so = "SELECT count(*) FROM games AS g JOIN attempts AS a USING (cell_id, number)
        WHERE g.failure = 'the game took longer than the sweep''s game_timeout = \"20ms\"'
            AND a.failed = 3 AND a.lost = 0 AND g.counted = 0";
    assert_eq!(served.number(says_so).await, i64::try_from(games).unwrap());
}

/// Invariant 3: a game has its regular result, or none.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_timeout_decides_no_game() {
    let timed = format!("game_timeout = \"1h\"\n{}", mixed_sweep("with", 20));
    let mut played = Vec::new();
    for (sweep, site) in [(mixed_sweep("without", 20), Site::new()), (timed, Site::new())] {
        let served = site.serve().await;
        served.submit(&sweep).await;
        Working::start(served.url(), 2, true).ended().await.unwrap();
        played.push(games(&served).await);
    }
    assert!(!played[0].is_empty());
    assert_eq!(played[0], played[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_waits_for_a_coordinator_and_for_work() {
    let site = Site::new();
    let served = site.serve().await;
    let address = served.address;
    served.stop().await.unwrap();
    // There is no coordinator yet.
    let working = Working::start(format!("http://{address}"), 1, false);
    let served = Served::start(&site.db(), address, Duration::from_secs(5)).await;
    let workers = "SELECT count(*) FROM workers";
    eventually("it says hello", async || (served.number(workers).await == 1).then_some(())).await;
    served.submit(&quick_sweep("later", 10)).await;
    assert_complete(&served, "later").await;
    working.shutdown.finish.cancel();
    assert_eq!(working.ended().await.unwrap().acknowledged, 10);
}

#[tokio::test]
async fn a_worker_without_a_coordinator_still_ends_on_request() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let working = Working::start(url.clone(), 1, true);
    working.shutdown.finish.cancel();
    assert_eq!(working.ended().await.unwrap(), Summary::default());
    let working = Working::start(url, 1, true);
    working.shutdown.now.cancel();
    assert_eq!(working.ended().await.unwrap(), Summary::default());
}

/// The database at an address may be replaced one day: its ids mean other games.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_carried_into_another_database() {
    let (first, second) = (Site::new(), Site::new());
    let served = first.serve().await;
    let address = served.address;
    served.submit(&quick_sweep("first", 100_000)).await;
    let working = Working::start(served.url(), 2, true);
    served.wait_for_settled("first", 500).await;
    served.kill().await;

    let served = Served::start(&second.db(), address, Duration::from_secs(5)).await;
    served.submit(&quick_sweep("second", 300)).await;
    working.ended().await.unwrap();
    assert_complete(&served, "second").await;
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
}
