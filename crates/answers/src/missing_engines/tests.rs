use std::sync::Arc;

use spelrum_engine::{ENGINE_REVISION, Protocol};
use spelrum_model::capabilities::{
    Capabilities, EngineOption, EngineRequest, GameRequest, OptionKind,
};
use spelrum_model::demands::Demands;
use spelrum_model::engines::EngineIdentity;
use spelrum_model::{ExperimentState, Task, WorkerId};

use super::*;

const BEAT: Duration = Duration::from_secs(5);

fn experiment() -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: String::new(),
        name: "e".to_owned(),
        game: "chess".to_owned(),
        task: Task::Game,
        state: ExperimentState::Running,
        priority: 0,
        cells: 9,
        games_planned: 18,
        games_settled: 0,
        games_failed: 0,
        submitted_unix_us: 0,
    }
}

fn offer(engine: &str, name: &str, at_once: u32) -> OfferedEngine {
    let identity =
        EngineIdentity { name: name.to_owned(), author: String::new(), sha256: [0xab; 32] };
    OfferedEngine {
        engine: engine.to_owned(),
        protocol: Protocol::Uci,
        at_once,
        identity,
        capabilities: None,
        build: [0; 32],
    }
}

fn worker(name: &str, engines: &[OfferedEngine]) -> WorkerSummary {
    WorkerSummary {
        worker: WorkerId(1),
        name: name.to_owned(),
        host: String::new(),
        slots: 2,
        quiet_slots: 0,
        engine_revision: ENGINE_REVISION,
        silent_ms: 0,
        leased_games: 0,
        playing_games: 0,
        reported_games: 0,
        lost_games: 0,
        memory_bytes: None,
        engines: engines.into(),
        engines_total: engines.len() as u64,
        built: Arc::default(),
        labels: std::sync::Arc::default(),
        credential: None,
        conduct: Default::default(),
    }
}

fn need(engine: &str) -> NeededEngine {
    let engine = engine.to_owned();
    NeededEngine { engine, protocol: Protocol::Uci, version: None, sha256: None, build: None }
}

fn wanted(cell: i64, cells: u64, engines: &[NeededEngine]) -> Wanted {
    let (experiment, cell) = (ExperimentId(1), CellId(cell));
    let demands = Arc::new(Demands { engines: engines.to_vec(), ..Demands::default() });
    Wanted { experiment, cell, cells, demands, memory_bytes: 50 << 20 }
}

fn attention(wanted: &[Wanted], workers: &[WorkerSummary]) -> Vec<Attention> {
    let experiments = [experiment()];
    let missing = missing_engines(&experiments, wanted, workers, BEAT);
    let named = |missing: &MissingEngines| NamedCell {
        cell: missing.cell,
        experiment: "e".to_owned(),
        players: ["a".to_owned(), "b".to_owned()],
    };
    let cells: Vec<NamedCell> = missing.iter().map(named).collect();
    let mut attention = Vec::new();
    attention_of_engines(&experiments, &missing, &cells, &mut attention);
    attention
}

fn problems(wanted: &[Wanted], workers: &[WorkerSummary]) -> Vec<String> {
    attention(wanted, workers).into_iter().map(|problem| problem.problem).collect()
}

#[test]
fn what_somebody_can_play_is_not_told() {
    let fish = worker("w", &[offer("fish", "Fish 15", 1)]);
    let waits = [wanted(7, 4, &[need("fish")])];
    assert_eq!(problems(&waits, std::slice::from_ref(&fish)), [""; 0]);
    assert_eq!(problems(&[], &[]), [""; 0]);
    // A worker that is long silent, or has another engine revision, is not connected.
    let silent = WorkerSummary { silent_ms: 60_000, ..fish.clone() };
    let other = WorkerSummary { engine_revision: ENGINE_REVISION + 1, ..fish };
    assert_eq!(
        problems(&waits, &[silent, other]),
        ["4 cells, such as cell 7 (a against b), need fish (uci), which no connected worker has"]
    );
    // Nor are the needs of an experiment outside the question reported.
    let elsewhere = Wanted { experiment: ExperimentId(2), ..waits[0].clone() };
    assert_eq!(problems(&[elsewhere], &[]), [""; 0]);
}

/// Missing engines are reported by engine, whatever else their cells need.
#[test]
fn each_missing_engine_is_told_once() {
    let here = [worker("w", &[offer("bird", "", 2)])];
    let waits = [
        wanted(7, 4, &[need("bird"), need("fish")]),
        wanted(3, 1, &[need("cat"), need("fish")]),
        wanted(9, 1, &[need("fish"), need("fish")]),
    ];
    let reported = attention(&waits, &here);
    let problems: Vec<_> =
        reported.iter().map(|problem| (problem.count, problem.problem.as_str())).collect();
    assert_eq!(
        problems,
        [
            (1, "cell 3 (a against b) needs cat (uci), which no connected worker has"),
            (
                6,
                "6 cells, such as cell 3 (a against b), need fish (uci), which no connected worker has"
            ),
        ]
    );
}

#[test]
fn what_workers_have_instead_is_told() {
    let here = [
        worker("v", &[offer("fish", "Fish 15", 1)]),
        worker("w", &[OfferedEngine { protocol: Protocol::Gtp, ..offer("fish", "", 1) }]),
        worker("x", &[offer("bird", "Fish 16", 1)]),
    ];
    let version = NeededEngine { version: Some("16".to_owned()), ..need("fish") };
    let [problem] = &attention(&[wanted(7, 1, &[version])], &here)[..] else { panic!("one") };
    assert_eq!(
        problem.problem,
        "cell 7 (a against b) needs fish (uci), version \"16\", which no connected worker has: \
         v has fish (uci), which calls itself \"Fish 15\"; w has fish (gtp)"
    );
    assert!(problem.remedy.contains("--engines FILE"), "{}", problem.remedy);
    let hash = NeededEngine { sha256: Some([0xcd; 32]), ..need("fish") };
    assert_eq!(
        problems(&[wanted(7, 1, &[hash])], &here[..1]),
        [
            "cell 7 (a against b) needs fish (uci), SHA-256 cdcdcdcd…, which no connected worker has: \
          v has fish (uci), which calls itself \"Fish 15\", SHA-256 abababab…"
        ]
    );
    // Of many workers the first few are listed, and workers with equal engines once.
    let workers =
        ["a", "b", "c", "d", "e", "a"].map(|name| worker(name, &[offer("fish", name, 1)]));
    let version = NeededEngine { version: Some("16".to_owned()), ..need("fish") };
    let [problem] = &problems(&[wanted(7, 1, &[version])], &workers)[..] else { panic!("one") };
    assert!(problem.ends_with("\"c\"; and 2 others"), "{problem}");
}

#[test]
fn what_no_worker_has_together_is_told() {
    let here =
        [worker("v", &[offer("fish", "Fish 15", 1)]), worker("w", &[offer("bird", "Bird", 2)])];
    assert_eq!(
        problems(&[wanted(7, 1, &[need("fish"), need("bird")])], &here),
        [
            "cell 7 (a against b) needs bird (uci) and fish (uci) at once, which no connected worker can run: w has \
             bird (uci), which calls itself \"Bird\", 2 at once; v has fish (uci), which \
          calls itself \"Fish 15\", 1 at once"
        ]
    );
    assert_eq!(
        problems(&[wanted(7, 1, &[need("fish"), need("fish")])], &here),
        [
            "cell 7 (a against b) needs 2 of fish (uci) at once, which no connected worker can run: v \
          has fish (uci), which calls itself \"Fish 15\", 1 at once"
        ]
    );
}

/// The workers with enough memory lack the engine. Games too large for all workers are reported as that.
#[test]
fn engines_without_memory_are_told() {
    let fish = worker("v", &[offer("fish", "Fish 15", 1)]);
    let fish = WorkerSummary { memory_bytes: Some(60 << 20), ..fish };
    let waits = [wanted(7, 1, &[need("fish")])];
    assert_eq!(problems(&waits, std::slice::from_ref(&fish)), [""; 0]);
    assert_eq!(
        problems(&waits, &[fish, worker("w", &[])]),
        [
            "cell 7 (a against b) needs fish (uci) and up to 50 MiB of memory for a slot, which no connected worker \
             has together: v has 30 MiB for a slot"
        ]
    );
}

/// If the sweep does not set an engine's hash table, the worker reports its size.
#[test]
fn hash_tables_that_the_sweep_does_not_set_are_counted() {
    let request = EngineRequest::from_parameters(
        &serde_json::from_str(r#"{"algorithm":"uci","engine":"fish","depth":1}"#).unwrap(),
        GameRequest::from_game_name("chess"),
    );
    let demands = Demands {
        engines: vec![need("fish")],
        requests: vec![request.unwrap()],
        ..Demands::default()
    };
    let waits = [Wanted { demands: Arc::new(demands), ..wanted(7, 1, &[]) }];
    let with = |hash: &str| {
        let kind = OptionKind::Spin { default: hash.to_owned(), min: 1, max: 4_096 };
        let declared = Some(vec![EngineOption { name: "Hash".to_owned(), kind }]);
        let capabilities = Some(Arc::new(Capabilities { declared, ..Capabilities::default() }));
        let engine = OfferedEngine { capabilities, ..offer("fish", "Fish 15", 1) };
        WorkerSummary { memory_bytes: Some(200 << 20), ..worker("v", &[engine]) }
    };
    assert_eq!(problems(&waits, &[with("50")]), [""; 0]);
    assert_eq!(
        problems(&waits, &[with("51")]),
        [
            "cell 7 (a against b) needs fish (uci) and up to 101 MiB of memory for a slot, which no connected worker \
             has together: v has 100 MiB for a slot"
        ]
    );
}

#[test]
fn what_is_told_has_a_bound() {
    let waits: Vec<Wanted> =
        (0..1_000).map(|id| wanted(id, 1, &[need(&format!("fish {id}"))])).collect();
    assert_eq!(attention(&waits, &[]).len(), NAMED_MAX);
}

/// Engines are reported by what they lack, if a worker has all of them and no other worker's can play.
#[test]
fn what_no_engine_can_do_is_told() {
    let unable = Capabilities { declared: Some(Vec::new()), ..Capabilities::default() };
    let able = Capabilities::default();
    let with = |name: &str, capabilities: &Capabilities| {
        let capabilities = Some(Arc::new(capabilities.clone()));
        worker(name, &[OfferedEngine { capabilities, ..offer("fish", "Fish 15", 1) }])
    };
    let mut game = GameRequest::from_game_name("chess");
    game.chess960 = true;
    let json = r#"{"algorithm":"uci","engine":"fish","depth":1}"#;
    let parameters = serde_json::from_str(json).unwrap();
    let request = EngineRequest::from_parameters(&parameters, game).unwrap();
    let waits = |cells| {
        let Wanted { demands, .. } = wanted(7, 1, &[need("fish")]);
        let demands = Demands { requests: vec![request.clone()], ..(*demands).clone() };
        [Wanted { demands: Arc::new(demands), ..wanted(7, cells, &[]) }]
    };
    let here = [with("v", &unable), worker("w", &[])];
    let [problem] = &attention(&waits(1), &here)[..] else { panic!("one") };
    assert_eq!(
        problem.problem,
        "no worker can play cell 7 (a against b): fish does not play Chess960"
    );
    assert_eq!(
        problem.remedy,
        "take another engine for this player, or leave chess960 out of the game's rules; or start a worker whose \
         engine can: spelrum worker --coordinator URL --engines FILE"
    );
    let [problem] = &problems(&waits(4), &here)[..] else { panic!("one") };
    assert_eq!(
        problem,
        "no worker can play 4 cells, such as cell 7 (a against b): fish does not play Chess960"
    );
    assert_eq!(problems(&waits(1), &[with("v", &unable), with("w", &able)]), [""; 0]);
}

#[test]
fn a_program_that_no_worker_accepts_is_named_with_the_remedy() {
    let name = format!("dev@{:064x}", 7);
    let waits = [wanted(7, 4, &[need(&name)])];
    let accepting = |accepted: &str, failed: Vec<FailedBuild>| WorkerSummary {
        built: Arc::new(BuiltEngines {
            engines: vec!["dev".to_owned()],
            accepted: vec![accepted.to_owned()],
            failed,
        }),
        ..worker("w", &[])
    };
    let [problem] = &attention(&waits, &[accepting("base", Vec::new())])[..] else { panic!("one") };
    assert!(
        problem.problem.ends_with(&format!("need {name} (uci), which no connected worker accepts")),
        "{}",
        problem.problem
    );
    assert!(problem.remedy.contains("[accept_programs]"), "{}", problem.remedy);
    assert_eq!(problems(&waits, &[accepting("dev", Vec::new())]), [""; 0], "one is fetching it");
    let failed = FailedBuild { engine: name, problem: "no loader".to_owned() };
    let worker = accepting("*", vec![failed]);
    assert_eq!(problems(&waits, std::slice::from_ref(&worker)).len(), 1);
    let mut attention = Vec::new();
    attention_of_builds(&[worker], &waits, Duration::from_secs(5), &mut attention);
    assert!(attention[0].problem.ends_with(
        "cannot run {name}: no loader".replace("{name}", &format!("dev@{:064x}", 7)).as_str()
    ));
}

/// A commit that a worker is asked to build is on its way; one that it has built, and that does not suit, is not.
#[test]
fn builds_under_way_are_not_missing() {
    let name = format!("dev@{}", "0123456789".repeat(4));
    let waits = [wanted(7, 4, &[need(&name)])];
    let builds = |failed: Vec<FailedBuild>| BuiltEngines {
        engines: vec!["dev".to_owned()],
        failed,
        ..BuiltEngines::default()
    };
    let builder = WorkerSummary {
        built: Arc::new(builds(Vec::new())),
        ..worker("w", &[offer("fish", "", 1)])
    };
    assert_eq!(problems(&waits, std::slice::from_ref(&builder)), [""; 0]);

    let failed = FailedBuild { engine: name.clone(), problem: "no make".to_owned() };
    let failed = WorkerSummary { built: Arc::new(builds(vec![failed])), ..builder.clone() };
    assert_eq!(problems(&waits, std::slice::from_ref(&failed)).len(), 1);
    assert_eq!(problems(&waits, &[failed, builder.clone()]), [""; 0]);

    let unsuitable = OfferedEngine { protocol: Protocol::Ugi, ..offer(&name, "", 1) };
    let unsuitable = WorkerSummary { engines: [unsuitable].into(), ..builder.clone() };
    assert_eq!(problems(&waits, &[unsuitable]).len(), 1);

    let labelled = Demands {
        engines: vec![need(&name)],
        require: vec![spelrum_model::labels::WantedLabel::parse("gpu").unwrap()],
        ..Demands::default()
    };
    let elsewhere = Wanted { demands: Arc::new(labelled), ..waits[0].clone() };
    assert_eq!(problems(&[elsewhere], &[builder]).len(), 1);
}
