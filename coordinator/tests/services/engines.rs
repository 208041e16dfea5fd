//! Games that need external engines go to workers that have them, and `Status` says which are missing.

use spelrum_answers::{Action, AttentionKind, WorkerSummary};
use spelrum_proto::engines::offers;
use spelrum_proto::limits::ENGINES_MAX;
use spelrum_proto::{Reason, v1};
use spelrum_test_support::{HandWorker, Served, Site, hello, quick_sweep, reason, submission};
use uuid::Uuid;

/// Two games that need "Fish 16".
const SWEEP: &str = r#"
    name = "fishing"
    game = "chess"
    seed = 1
    games = 2
    [players.fish]
    algorithm = "uci"
    engine = "fish"
    depth = 3
    version = "16"
    [players.random]
    algorithm = "random"
"#;

fn offer(engine: &str, name: &str) -> v1::OfferedEngine {
    let identity =
        v1::EngineIdentity { name: name.to_owned(), author: String::new(), sha256: vec![7; 32] };
    v1::OfferedEngine {
        engine: engine.to_owned(),
        protocol: "uci".to_owned(),
        at_once: 1,
        identity: Some(identity),
        capabilities: None,
        build: vec![1; 32],
    }
}

/// One that has these, and says Hello twice.
async fn worker_with(served: &Served, uuid: &str, engines: Vec<v1::OfferedEngine>) -> HandWorker {
    again_with(served, &HandWorker::with_uuid(served, uuid).await, engines).await
}

/// The same worker, which has these now.
async fn again_with(
    served: &Served,
    worker: &HandWorker,
    engines: Vec<v1::OfferedEngine>,
) -> HandWorker {
    let introduction = v1::HelloRequest { engines, ..hello(&worker.uuid) };
    let again = worker.reconnect_as(served, introduction).await;
    assert_eq!(again.id, worker.id);
    again
}

/// The workers, as `Status` shows them.
async fn workers(served: &Served) -> Vec<WorkerSummary> {
    served.status().await.coordinator.unwrap().workers
}

/// What is told of engines, and how many cells it is about.
async fn missing(served: &Served) -> Vec<(String, u64, String)> {
    let items = served.status().await.attention.into_iter();
    let items = items.filter(|item| item.kind == AttentionKind::MissingEngines);
    items.map(|item| (item.experiment.unwrap_or_default(), item.count, item.problem)).collect()
}

#[tokio::test]
async fn games_wait_for_a_worker_that_has_their_engines() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(SWEEP).await;
    // What nobody can play is told before anybody is there, and holds nothing else up.
    let [(_, 1, _)] = &missing(&served).await[..] else { panic!("one") };
    let mut without = HandWorker::new(&served).await;
    let idle = without.lease().await.unwrap();
    assert!(idle.grant.is_none() && !idle.all_done && idle.retry_after_ms > 0, "{idle:?}");
    served.submit(&quick_sweep("other", 2)).await;
    let grant = without.granted().await;
    without.give_back(&[grant.lease_id]).await.unwrap();

    let uuid = Uuid::new_v4().to_string();
    let mut other = worker_with(&served, &uuid, vec![offer("fish", "Fish 15")]).await;
    let items = missing(&served).await;
    let [(experiment, 1, problem)] = &items[..] else { panic!("{items:?}") };
    assert_eq!(experiment, "fishing");
    assert_eq!(
        problem,
        "cell 1 (fish against random) needs fish (uci), version \"16\", which no connected worker has: \
         by hand has fish (uci), which calls itself \"Fish 15\""
    );
    served.steer("other", Action::Pause).await.unwrap();
    assert!(other.lease().await.unwrap().grant.is_none());

    // After a restart, too. Whoever says Hello with other engines has these.
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut other = again_with(&served, &other, vec![offer("fish", "Fish 15")]).await;
    let idle = other.lease().await.unwrap();
    assert!(idle.grant.is_none() && !idle.all_done, "{idle:?}");
    let both = vec![offer("bird", ""), offer("fish", "Fish 16")];
    let mut other = again_with(&served, &other, both.clone()).await;
    assert_eq!(missing(&served).await, []);
    let shown = workers(&served).await.remove(0);
    assert_eq!((&shown.engines[..], shown.engines_total), (&offers(&both).unwrap()[..], 2));
    let grant = other.granted().await;
    assert_eq!(grant.games[0].count, 2);
    // What it holds goes back, and it has the engine no more.
    other.give_back(&[grant.lease_id]).await.unwrap();
    let mut other = again_with(&served, &other, Vec::new()).await;
    assert!(other.lease().await.unwrap().grant.is_none());
    assert_eq!(missing(&served).await.len(), 1);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn engines_that_are_malformed_are_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.work().await;
    let uuid = Uuid::new_v4().to_string();
    let bad = [
        vec![v1::OfferedEngine { engine: String::new(), ..offer("fish", "") }],
        vec![v1::OfferedEngine { engine: "a\nb".to_owned(), ..offer("fish", "") }],
        vec![v1::OfferedEngine { protocol: "winboard".to_owned(), ..offer("fish", "") }],
        vec![v1::OfferedEngine { at_once: 0, ..offer("fish", "") }],
        vec![v1::OfferedEngine { identity: None, ..offer("fish", "") }],
        vec![offer("fish", &"x".repeat(1_000))],
        vec![offer("fish", ""); ENGINES_MAX + 1],
    ];
    for engines in bad {
        let answer = client.hello(v1::HelloRequest { engines, ..hello(&uuid) }).await;
        assert_eq!(reason(answer), Reason::Malformed);
    }
    assert_eq!(served.number("SELECT count(*) FROM workers").await, 0);
    served.stop().await.unwrap();
}

/// Invariant 9: an answer holds what many workers have.
#[tokio::test]
async fn a_status_of_many_engines_is_an_answer() {
    let site = Site::new();
    let served = site.serve().await;
    let name = "x".repeat(200);
    let engines: Vec<_> = (0..ENGINES_MAX).map(|id| offer(&format!("{id}{name}"), &name)).collect();
    for _ in 0..12 {
        let uuid = Uuid::new_v4().to_string();
        worker_with(&served, &uuid, engines.clone()).await;
    }
    let workers = workers(&served).await;
    let engines_shown: usize = workers.iter().map(|worker| worker.engines.len()).sum();
    assert!((1_000..=2_000).contains(&engines_shown), "{engines_shown}");
    assert!(workers.iter().all(|worker| worker.engines_total == ENGINES_MAX as u64));
    let first = offers(&engines[..1]).unwrap().remove(0);
    assert!(workers.iter().all(|worker| worker.engines[0] == first));
    served.stop().await.unwrap();
}

/// What an engine reported at its start, with one option.
fn reports(option: &str) -> v1::EngineCapabilities {
    let option = v1::EngineOption {
        name: option.to_owned(),
        r#type: "check".to_owned(),
        default: "false".to_owned(),
        min: 0,
        max: 0,
        choices: Vec::new(),
    };
    v1::EngineCapabilities {
        declares_options: true,
        declared: vec![option.clone()],
        settable: vec![option],
        gtp: None,
        is_cut: false,
    }
}

/// One that reports its options; `status` does not repeat them.
fn able(option: &str) -> v1::OfferedEngine {
    v1::OfferedEngine { capabilities: Some(reports(option)), ..offer("fish", "Fish 16") }
}

/// What is known at an engine's start is no failed game.
#[tokio::test]
async fn games_that_an_engine_cannot_play_are_not_leased_and_status_says_why() {
    let chess960 =
        SWEEP.replace(r#"game = "chess""#, r#"game = { name = "chess", chess960 = true }"#);
    let option = format!("{}\n[players.fish.options]\nContempt = true\n", SWEEP);
    for (sweep, unable, ability, problem) in [
        (chess960, "Ponder", "UCI_Chess960", "fish does not play Chess960"),
        (option, "Ponder", "Contempt", "fish has no option `Contempt`; it has `Ponder`"),
    ] {
        let site = Site::new();
        let served = site.serve().await;
        served.submit(&sweep).await;
        let uuid = Uuid::new_v4().to_string();
        let with = |engine| v1::HelloRequest { engines: vec![engine], ..hello(&uuid) };
        let mut worker = HandWorker::introduced(&served, with(able(unable))).await;
        let idle = worker.lease().await.unwrap();
        assert!(idle.grant.is_none() && !idle.all_done, "{idle:?}");
        let items = missing(&served).await;
        let [(_, 1, shown)] = &items[..] else { panic!("{items:?}") };
        // The first cell is the one that waited for the build of its engine.
        let expected = format!("no worker can play cell 2 (fish against random): {problem}");
        assert_eq!(*shown, expected);
        let shown = workers(&served).await.remove(0).engines;
        assert_eq!(shown[..], offers(&[offer("fish", "Fish 16")]).unwrap()[..]);

        // After a restart, too.
        served.stop().await.unwrap();
        let served = site.serve().await;
        let mut worker = worker.reconnect_as(&served, with(able(unable))).await;
        assert!(worker.lease().await.unwrap().grant.is_none());
        // A worker of before says nothing, and gets them as before; so does one whose engine can.
        for engine in [offer("fish", "Fish 16"), able(ability)] {
            worker = worker.reconnect_as(&served, with(engine)).await;
            assert_eq!(missing(&served).await, []);
            let grant = worker.granted().await;
            worker.give_back(&[grant.lease_id]).await.unwrap();
        }
        assert_eq!(served.number("SELECT count(*) FROM games").await, 0);
        served.stop().await.unwrap();
    }
}

/// A worker's engine with an option from 0 to 20, as the engine and that machine's engines file report it.
fn skilled() -> v1::OfferedEngine {
    let mut able = able("Skill Level");
    let capabilities = able.capabilities.as_mut().unwrap();
    for option in capabilities.declared.iter_mut().chain(&mut capabilities.settable) {
        *option = v1::EngineOption {
            r#type: "spin".to_owned(),
            default: "20".to_owned(),
            max: 20,
            ..option.clone()
        };
    }
    able
}

/// A course would otherwise wait for good at the first value that no engine takes.
#[tokio::test]
async fn a_course_is_refused_if_no_worker_s_engine_takes_what_it_would_try() {
    let sweep = |course: &str| {
        SWEEP
            .replace("fishing", "found")
            .replace("seed = 1", "openings = { kind = \"random\", plies = 4 }")
            + course
    };
    let find = |option: &str, to: i64| {
        sweep(&format!(
            "[find]\nplayer = \"fish\"\nparameter = \"options.{option}\"\nfrom = 0\nto = {to}\nscale = \"linear\"\n"
        ))
    };
    let tune = |to: i64| {
        sweep(&format!(
            "[tune]\nplayer = \"fish\"\nsteps = 3\nparameters.options.\"Skill Level\" = {{ from = 0, to = {to}, start = 1 }}\n"
        ))
    };
    let site = Site::new();
    let served = site.serve().await;
    let uuid = Uuid::new_v4().to_string();
    let introduction = v1::HelloRequest { engines: vec![skilled()], ..hello(&uuid) };
    let mut worker = HandWorker::introduced(&served, introduction).await;
    for (sweep, problem) in [
        (
            find("Skill Level", 30),
            "`find` tries: option `Skill Level` of fish is from 0 to 20, not 30",
        ),
        (tune(21), "`tune` tries: option `Skill Level` of fish is from 0 to 20, not 21"),
        (find("Skil", 20), "`find` tries: fish has no option `Skil`; it has `Skill Level`"),
    ] {
        let refused = served.call(&submission(&sweep)).await.unwrap_err();
        let shown = refused.to_string();
        assert!(shown.contains(problem), "{shown}");
        assert_eq!(served.number("SELECT count(*) FROM experiments").await, 0);
    }
    served.submit(&find("Skill Level", 20)).await;
    let grant = worker.granted().await;
    worker.give_back(&[grant.lease_id]).await.unwrap();
    // What is stored is resubmitted whatever workers there are now.
    let without = v1::HelloRequest { engines: vec![able("Ponder")], ..hello(&uuid) };
    let _worker = worker.reconnect_as(&served, without).await;
    served.submit(&find("Skill Level", 20)).await;
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 1);
    served.stop().await.unwrap();
}

/// Players that draw no random numbers would repeat a race's earlier rounds.
#[tokio::test]
async fn a_race_needs_openings_for_its_rounds() {
    let race = |rounds: u32, shuffle: bool| {
        format!(
            "name = \"best\"\ngame = \"tic-tac-toe\"\nseed = 1\ngames = 2\nopenings = {{ kind = \"random\", plies = 2 }}\n\
             [players.a]\nalgorithm = \"alpha-beta\"\ndepth = 1\nshuffle = {shuffle}\n\
             [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 3\nshuffle = {shuffle}\n\
             [race]\nrounds = {rounds}\n"
        )
    };
    let site = Site::new();
    let served = site.serve().await;
    let refused = served.call(&submission(&race(100, false))).await.unwrap_err().to_string();
    assert!(
        refused.contains("100 rounds are 100 pairs of games, there are 12 openings"),
        "{refused}"
    );
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 0);
    served.submit(&race(12, false)).await;
    served.submit(&race(100, true).replace("best", "drawn")).await;
    served.stop().await.unwrap();
}

/// Invariant 9: what engines report is bounded.
#[tokio::test]
async fn reports_of_engines_that_are_too_much_are_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.work().await;
    let uuid = Uuid::new_v4().to_string();
    let many = v1::EngineCapabilities {
        declared: vec![reports("a").declared[0].clone(); 501],
        ..reports("a")
    };
    let mut unknown = reports("a");
    unknown.declared[0].r#type = "slider".to_owned();
    let bad = [many, reports(&"x".repeat(20_000)), reports("a\nb"), unknown];
    for capabilities in bad {
        let engines = vec![v1::OfferedEngine {
            capabilities: Some(capabilities),
            ..offer("fish", "Fish 16")
        }];
        let answer = client.hello(v1::HelloRequest { engines, ..hello(&uuid) }).await;
        assert_eq!(reason(answer), Reason::Malformed);
    }
    served.stop().await.unwrap();
}
