//! Records that are not of their games: they are kept apart, cost their worker and not the game.

use std::time::Duration;

use spelrum_answers::{
    Detail, GetComparisons, GetGame, GetRatings, GetReport, SqlValue, UsedEngine,
};
use spelrum_proto::v1::{self, Verdict};

use spelrum_engine::{Answer, ExternalPlayer, Fault, Host, SearchReport, TextTurn, Timeless};
use spelrum_model::{GameId, PlayableCell, PlayedGame, Task};
use spelrum_proto::Reason;
use spelrum_proto::engines::identity_from_wire;
use spelrum_proto::game::to_wire;
use spelrum_proto::limits::NUMBER_MAX;
use spelrum_test_support::{HandWorker, Served, Site, game_mut, quick_sweep, reason};

/// What is done to an honest record, and what the referee says.
type Change = fn(&mut v1::Game);

const CHANGES: &[(Change, &str)] = &[
    // What was counted once: a wrong opening, no moves, and a win.
    (
        |game| {
            game.opening = "x........".to_owned();
            game.moves.clear();
            game.outcome = v1::Outcome::Win.into();
        },
        "its moves_hash is not that of its moves",
    ),
    (|game| game.opening = "x........".to_owned(), "the opening of game"),
    (|game| game.moves_hash ^= 1, "its moves_hash is not that of its moves"),
    (|game| game.moves[0].position_key += 1, "move 0: the key of the position before it is"),
    (|game| game.moves[0].legal_moves += 1, "move 0: the number of legal moves is"),
    (|game| game.termination = "crash".to_owned(), "its loser cannot lose by crash"),
    (|game| game.termination = "max_plies".to_owned(), "the termination is"),
    (|game| game.first_side = 3 - game.first_side, "the side that moved first is"),
];

async fn refused(served: &Served) -> Vec<String> {
    let rows = served.query("SELECT problem FROM refused_results ORDER BY refused_result_id").await;
    let text = |value: SqlValue| {
        let SqlValue::Text(text) = value else { panic!("{value:?}") };
        text
    };
    rows.unwrap().into_iter().map(|mut row| text(row.remove(0))).collect()
}

#[tokio::test]
async fn a_record_that_the_rules_do_not_allow_is_refused_and_the_game_played_again() {
    let site = Site::new();
    let served = site.serve().await;
    let games = 2 * CHANGES.len() as u64;
    served.submit(&quick_sweep("refused", games)).await;
    let mut liar = HandWorker::new(&served).await;
    for (change, expected) in CHANGES {
        let grant = liar.granted().await;
        let mut results = liar.play(&grant).await;
        change(game_mut(&mut results[0]));
        let lie = vec![results[0].clone()];
        assert_eq!(liar.report(lie.clone()).await.unwrap(), [Verdict::Rejected], "{expected}");
        // A report that is repeated, since its reply was lost, is charged once.
        assert_eq!(liar.report(lie).await.unwrap(), [Verdict::Rejected]);
        let last = refused(&served).await.pop().unwrap();
        assert!(last.starts_with(expected), "{last}");
        liar.give_back(&[grant.lease_id]).await.unwrap();
    }
    assert_eq!(refused(&served).await.len(), CHANGES.len());
    for table in ["games", "uncounted_games", "attempts", "cell_results"] {
        assert_eq!(served.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    let records = "SELECT count(*) FROM refused_results WHERE length(record) > 20";
    assert_eq!(served.number(records).await, CHANGES.len() as i64);

    let mut honest = HandWorker::new(&served).await;
    honest.work_until_done().await;
    let summary = served.wait_for_state("refused", "finished").await;
    assert_eq!((summary.games_settled, summary.games_failed), (games, 0));
}

/// What no clock, no lease and no definition allow, with what is said of it.
const IMPOSSIBLE: &[(Change, &str)] = &[
    (|game| game.moves[0].wall_us = NUMBER_MAX, "its moves took"),
    (|game| game.moves[0].cpu_us = 1_000_000, "move 0: it took 1000000 µs of CPU time"),
    (|game| game.moves.iter_mut().for_each(|mv| mv.cpu_us = 15_000), "its moves took"),
    (|game| game.moves[0].nodes = NUMBER_MAX, "move 0: it has 9007199254740991 nodes"),
    (|game| game.moves[0].evaluations = NUMBER_MAX, "move 0: it has 9007199254740991 evaluations"),
    (|game| game.moves[0].involuntary_switches = Some(NUMBER_MAX), "move 0: it was interrupted"),
    (|game| game.moves[0].told_us = Some(1), "move 0: its player says that it took"),
    (
        |game| game.moves[0].full_tree_leaves += 1,
        "move 0: the number of leaves of the full tree is",
    ),
    (
        |game| {
            // The leaves of a tree as deep as the board are those of any deeper one.
            let deepest = game.moves[0].legal_moves;
            game.moves[0].depth = u32::MAX;
            game.moves[0].full_tree_leaves = (1..=u64::from(deepest)).product();
        },
        "move 0: it was searched 4294967295 plies deep",
    ),
    (
        |game| {
            let nodes_per_second = NUMBER_MAX;
            game.scaled = Some(v1::ScaledTime { factor_permille: 1_000, nodes_per_second });
        },
        "its worker searches 9007199254740991 nodes a second",
    ),
    // 285 years.
    (|game| game.wall_us = NUMBER_MAX, "it took 9007199254740991 µs, and its lease was granted"),
    (|game| game.wall_us = 3_600_000_000, "it took 3600000000 µs, and its lease was granted"),
    (
        |game| {
            game.wall_us = NUMBER_MAX;
            game.moves[0].wall_us = NUMBER_MAX;
            game.moves[0].nodes = NUMBER_MAX;
        },
        "it took 9007199254740991 µs, and its lease was granted",
    ),
];

#[tokio::test]
async fn what_a_clock_a_lease_and_a_definition_exclude_is_refused_and_the_game_played_again() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = "name = \"impossible\"\ngame = \"tic-tac-toe\"\ngames = 40
        [players.a]\nalgorithm = \"minimax\"\ndepth = 2
        [players.b]\nalgorithm = \"minimax\"\ndepth = 1";
    served.submit(sweep).await;
    for (change, expected) in IMPOSSIBLE {
        let mut liar = HandWorker::new(&served).await;
        let grant = liar.granted().await;
        let mut results = liar.play(&grant).await;
        change(game_mut(&mut results[0]));
        let verdicts = liar.report(results[..1].to_vec()).await.unwrap();
        assert_eq!(verdicts, [Verdict::Rejected], "{expected}");
        let last = refused(&served).await.pop().unwrap();
        assert!(last.starts_with(expected), "{last}");
        liar.give_back(&[grant.lease_id]).await.unwrap();
    }
    for table in ["games", "uncounted_games", "attempts", "cell_results"] {
        assert_eq!(served.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    let mut honest = HandWorker::new(&served).await;
    honest.work_until_done().await;
    assert_eq!(served.wait_for_state("impossible", "finished").await.games_settled, 40);
}

/// A player that may visit so many nodes visits no more.
#[tokio::test]
async fn a_search_beyond_its_players_limits_is_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = "name = \"limited\"\ngame = \"tic-tac-toe\"\ngames = 4
        [players.a]\nalgorithm = \"alpha-beta\"\nnodes = 50\niterative = true
        [players.b]\nalgorithm = \"alpha-beta\"\nevaluations = 40\niterative = true";
    served.submit(sweep).await;
    const CHANGES: [(Change, &str); 2] = [
        (|game| game.moves[0].nodes = 51, "it has 51 nodes, and its player's limit is 50"),
        (
            |game| game.moves[1].evaluations = 41,
            "it has 41 evaluations, and its player's limit is 40",
        ),
    ];
    let mut liar = HandWorker::new(&served).await;
    for (change, expected) in CHANGES {
        let grant = liar.granted().await;
        let mut results = liar.play(&grant).await;
        // In even numbers the first player moves first.
        change(game_mut(&mut results[0]));
        let verdicts = liar.report(results[..1].to_vec()).await.unwrap();
        assert_eq!(verdicts, [Verdict::Rejected], "{expected}");
        let last = refused(&served).await.pop().unwrap();
        assert!(last.ends_with(expected), "{last}");
        liar.give_back(&[grant.lease_id]).await.unwrap();
    }
    liar.work_until_done().await;
    assert_eq!(served.wait_for_state("limited", "finished").await.games_settled, 4);
}

/// The grant is stored with its time: a coordinator that was started anew knows how old it is.
#[tokio::test]
async fn a_lease_that_outlived_a_restart_bounds_its_games_as_before() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("outlived", 4)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut worker = worker.reconnect(&served).await;
    let mut wrong = results.clone();
    game_mut(&mut wrong[0]).wall_us = 3_600_000_000;
    assert_eq!(worker.report(wrong[..1].to_vec()).await.unwrap(), [Verdict::Rejected]);
    let counted = vec![Verdict::Counted; results.len()];
    assert_eq!(worker.report(results).await.unwrap(), counted);
}

/// Who says that scores ended a game has to show them.
#[tokio::test]
async fn an_end_by_scores_needs_the_scores() {
    const SWEEP: &str = "name = \"level\"\ngame = \"tic-tac-toe\"\ngames = 8
        openings = { kind = \"random\", plies = 2 }
        adjudication.draw = { score = 1000, moves = 1 }
        [players.a]\nalgorithm = \"minimax\"\ndepth = 1
        [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 1";
    const CHANGES: [(Change, &str); 4] = [
        (|game| game.moves[1].score = None, "the game is not over after its 2 moves"),
        (|game| game.moves[0].score = Some(-1_001), "the game is not over after its 2 moves"),
        (|game| game.termination = "resign_rule".to_owned(), "the termination is draw_rule"),
        (|game| game.outcome = v1::Outcome::Win.into(), "the outcome is draw, not win"),
    ];
    let site = Site::new();
    let served = site.serve().await;
    served.submit(SWEEP).await;
    let mut liar = HandWorker::new(&served).await;
    for (change, expected) in CHANGES {
        let grant = liar.granted().await;
        let mut results = liar.play(&grant).await;
        change(game_mut(&mut results[0]));
        let verdicts = liar.report(vec![results[0].clone()]).await.unwrap();
        assert_eq!(verdicts, [Verdict::Rejected], "{expected}");
        let last = refused(&served).await.pop().unwrap();
        assert!(last.starts_with(expected), "{last}");
        liar.give_back(&[grant.lease_id]).await.unwrap();
    }
    let mut honest = HandWorker::new(&served).await;
    honest.work_until_done().await;
    assert_eq!(served.wait_for_state("level", "finished").await.games_settled, 8);
    let level = "SELECT count(*) FROM games WHERE termination = 'draw_rule' AND plies = 2";
    assert_eq!(served.number(level).await, 8);
}

#[tokio::test]
async fn a_worker_whose_results_are_refused_gets_no_more_games() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("liar", 40)).await;
    let mut liar = HandWorker::new(&served).await;
    for _ in 0..10 {
        let grant = liar.granted().await;
        let mut results = liar.play(&grant).await;
        game_mut(&mut results[0]).moves[0].legal_moves += 1;
        let verdicts = liar.report(results).await.unwrap();
        assert_eq!(verdicts[0], Verdict::Rejected);
    }
    assert_eq!(reason(liar.lease().await), Reason::Malformed);
    // Others, and the same machine after a restart, go on.
    let mut honest = HandWorker::new(&served).await;
    honest.work_until_done().await;
    assert_eq!(served.wait_for_state("liar", "finished").await.games_settled, 40);
}

/// A program that gives up at once.
struct GivesUp;

impl ExternalPlayer for GivesUp {
    fn choose(&mut self, _: &TextTurn<'_>, _: &dyn Host) -> Result<Answer<String>, Fault> {
        Err(Fault::Crash("signal 11".to_owned()))
    }
}

/// A program that makes one move of chess, and then gives up. It says that eight threads thought for a second.
struct MovesOnce;

impl ExternalPlayer for MovesOnce {
    fn choose(&mut self, turn: &TextTurn<'_>, _: &dyn Host) -> Result<Answer<String>, Fault> {
        let mv = ["e2e4", "e7e5"].get(turn.moves.len());
        let mv = mv.ok_or_else(|| Fault::Crash("signal 11".to_owned()))?;
        Ok(Answer { mv: (*mv).to_owned(), search: SearchReport::UNKNOWN })
    }

    fn measured_cpu_time(&self) -> Option<Duration> {
        Some(Duration::from_secs(8))
    }
}

/// An honest game of programs.
fn played_by<P: ExternalPlayer>(id: GameId, cell: &PlayableCell, mut programs: [P; 2]) -> v1::Game {
    let derived = cell.derive(id.number);
    let sides = cell.players_of(&derived).map(|player| player.external().is_some());
    let [first, second] = programs.each_mut();
    let [one, two]: [&mut dyn ExternalPlayer; 2] = [first, second];
    let outside = [sides[0].then_some(one), sides[1].then_some(two)];
    let record = cell.play_with(&derived, outside, &Timeless).unwrap();
    let mut game = to_wire(PlayedGame::new(id, &derived, record, 1));
    *(if sides[0] { &mut game.first_engine } else { &mut game.second_engine }) =
        Some(fish("Fish 15.1", 7));
    let (message, output) = ("it crashed".to_owned(), String::new());
    game.forfeit = Some(v1::Forfeit { message, output });
    game
}

fn fish_sweep() -> String {
    format!(
        "name = \"fish\"\ngame = \"chess\"\ngames = 2\n
        [players.random]\nalgorithm = \"random\"
        [players.fish]\nalgorithm = \"uci\"\nengine = \"fish\"\ndepth = 1\nversion = \"15\"
        sha256 = \"{}\"",
        "07".repeat(32)
    )
}

fn offered_fish() -> v1::OfferedEngine {
    v1::OfferedEngine {
        engine: "fish".to_owned(),
        protocol: "uci".to_owned(),
        at_once: 2,
        identity: Some(fish("Fish 15.1", 7)),
        capabilities: None,
        build: vec![1; 32],
    }
}

/// Its threads use more processor time than passes. Ours cannot, also where it plays.
#[tokio::test]
async fn a_program_has_more_processor_time_than_wall_time() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&fish_sweep()).await;
    let mut worker = HandWorker::with_engines(&served, vec![offered_fish()]).await;
    let honest = |id, cell: &PlayableCell| played_by(id, cell, [MovesOnce, MovesOnce]);
    let grant = worker.granted().await;
    let mut results = worker.play_by(&grant, honest).await;
    let game = game_mut(&mut results[0]);
    let ours = u32::from(game.first_engine.is_some());
    let move_of_ours = game.moves.iter_mut().find(|mv| mv.mover == ours).unwrap();
    move_of_ours.cpu_us = 1_000_000;
    let verdicts = worker.report(vec![results[0].clone()]).await.unwrap();
    assert_eq!(verdicts, [Verdict::Rejected]);
    let last = refused(&served).await.pop().unwrap();
    assert!(last.contains("it took 1000000 µs of CPU time in 0 µs"), "{last}");
    worker.give_back(&[grant.lease_id]).await.unwrap();

    let grant = worker.granted().await;
    let results = worker.play_by(&grant, honest).await;
    assert_eq!(worker.report(results).await.unwrap(), [Verdict::Counted; 2]);
    let question = GetReport { experiment: "fish".to_owned(), detail: Detail::Cells };
    let moves = served.call(&question).await.unwrap().moves;
    let costs = &moves.iter().find(|moves| moves.player == "fish").unwrap().costs;
    assert_eq!(costs.cpu.unwrap().us_mean, 8e6);
    assert_eq!(costs.wall_us_mean, 0.0);
}

fn fish(name: &str, byte: u8) -> v1::EngineIdentity {
    v1::EngineIdentity { name: name.to_owned(), author: String::new(), sha256: vec![byte; 32] }
}

/// A game names a program for exactly the sides that programs play, and only programs that the sweep takes; it
/// describes a fault exactly where a program lost by one.
#[tokio::test]
async fn a_game_of_other_programs_than_the_sweeps_is_refused() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&fish_sweep()).await;
    let mut worker = HandWorker::with_engines(&served, vec![offered_fish()]).await;
    // The program does not come to a move.
    let honest = |id, cell: &PlayableCell| played_by(id, cell, [GivesUp, GivesUp]);
    let changes: [(Change, &str); 6] = [
        (
            |game| (game.first_engine, game.second_engine) = (None, None),
            "the program of `fish` is not reported",
        ),
        (
            |game| {
                let engine = game.first_engine.clone().or_else(|| game.second_engine.clone());
                (game.first_engine, game.second_engine) = (engine.clone(), engine);
            },
            "is not an external engine, but one is reported",
        ),
        (|game| engine_of(game).name = "Fish 14".to_owned(), "is not fish (uci), version \"15\""),
        (|game| engine_of(game).sha256 = vec![8; 32], "(080808080808…) is not fish (uci)"),
        (|game| game.forfeit = None, "no forfeit is reported, but it ended by crash"),
        (
            |game| {
                // It is our player that would have lost.
                let is_win = game.outcome() == v1::Outcome::Win;
                game.outcome = if is_win { v1::Outcome::Loss } else { v1::Outcome::Win }.into();
            },
            "its loser cannot lose by crash",
        ),
    ];
    for (change, expected) in changes {
        let grant = worker.granted().await;
        let mut results = worker.play_by(&grant, honest).await;
        change(game_mut(&mut results[0]));
        let verdicts = worker.report(vec![results[0].clone()]).await.unwrap();
        assert_eq!(verdicts, [Verdict::Rejected], "{expected}");
        let last = refused(&served).await.pop().unwrap();
        assert!(last.contains(expected), "{last}");
        worker.give_back(&[grant.lease_id]).await.unwrap();
    }
    let grant = worker.granted().await;
    let results = worker.play_by(&grant, honest).await;
    let verdicts = worker.report(results).await.unwrap();
    assert_eq!(verdicts, [Verdict::Counted; 2]);
    let sql = "SELECT count(*) FROM engines_used WHERE player = 'fish' AND engine = 'Fish 15.1'
        AND games = 2 AND sha256 = lower(hex(x'0707070707070707070707070707070707070707070707070707070707070707'))";
    assert_eq!(served.number(sql).await, 1);
    let engine = identity_from_wire(&fish("Fish 15.1", 7)).unwrap();
    let game = served.call(&GetGame { game_id: 1 }).await.unwrap();
    let engines: Vec<_> = game.engines.into_iter().flatten().collect();
    assert_eq!(engines, std::slice::from_ref(&engine));
    assert_eq!(game.forfeit.unwrap().message, "it crashed");
    let question = GetReport { experiment: "fish".to_owned(), detail: Detail::Cells };
    let used = served.call(&question).await.unwrap().engines;
    assert!(used.mixed.is_empty());
    let (player, build) = ("fish".to_owned(), Some("01".repeat(32)));
    assert_eq!(used.engines, [UsedEngine { player, engine, build, cells: 1, games: 2 }]);
}

fn engine_of(game: &mut v1::Game) -> &mut v1::EngineIdentity {
    game.first_engine.as_mut().or(game.second_engine.as_mut()).unwrap()
}

/// Values of moves that are not those of the position's moves, or not what the reference said before.
#[tokio::test]
async fn other_values_than_the_first_are_refused() {
    const SWEEP: &str = "name = \"choices\"\nkind = \"accuracy\"\ngame = \"tic-tac-toe\"
        positions = { kind = \"random\", plies = 3 }\nchoices = 4
        [reference]\nalgorithm = \"exact\"
        [players.a]\nalgorithm = \"random\"
        [players.b]\nalgorithm = \"minimax\"\ndepth = 2";
    let site = Site::new();
    let served = site.serve().await;
    served.submit(SWEEP).await;
    let mut worker = HandWorker::new(&served).await;
    let changes: [(Change, &str); 3] = [
        (|game| game.move_values.clear(), "its position has 6 legal moves, and 0 have values"),
        (|game| game.move_values.swap(0, 1), "it has a value of"),
        (|game| game.move_values[5].r#move = "a9".to_owned(), "it has a value of `a9`"),
    ];
    for (change, expected) in changes {
        let grant = worker.granted().await;
        let mut results = worker.play(&grant).await;
        change(game_mut(&mut results[0]));
        let verdicts = worker.report(vec![results[0].clone()]).await.unwrap();
        assert_eq!(verdicts, [Verdict::Rejected], "{expected}");
        let last = refused(&served).await.pop().unwrap();
        assert!(last.starts_with(expected), "{last}");
        worker.give_back(&[grant.lease_id]).await.unwrap();
    }
    // Of the first player all is honest. Of the second, somebody's reference says the opposite.
    let (mut reported, mut lies) = (0, 0);
    while lies == 0 {
        let grant = worker.granted().await;
        for mut result in worker.play(&grant).await {
            let is_lie = reported >= 4;
            if is_lie {
                let values = &mut game_mut(&mut result).move_values;
                values.iter_mut().for_each(|value| value.value = 1 - value.value);
            }
            let verdict = if is_lie { Verdict::Rejected } else { Verdict::Counted };
            assert_eq!(worker.report(vec![result]).await.unwrap(), [verdict]);
            reported += 1;
            lies += usize::from(is_lie);
        }
        worker.give_back(&[grant.lease_id]).await.unwrap();
    }
    let last = refused(&served).await.pop().unwrap();
    assert!(last.starts_with("the reference's value of"), "{last}");
    assert!(last.contains("when it was first reported"), "{last}");
    worker.work_until_done().await;
    let summary = served.wait_for_state("choices", "finished").await;
    assert_eq!((summary.games_settled, summary.task), (8, Task::Choice));
    let positions = "SELECT count(*) FROM valued_positions";
    assert_eq!(served.number(positions).await, 4);
}

#[tokio::test]
async fn nobody_is_rated_by_choices() {
    const SWEEP: &str = "name = \"choices\"\nkind = \"accuracy\"\ngame = \"tic-tac-toe\"
        positions = { kind = \"random\", plies = 3 }\nchoices = 4
        [reference]\nalgorithm = \"exact\"\n[players.a]\nalgorithm = \"random\"";
    let site = Site::new();
    let served = site.serve().await;
    served.submit(SWEEP).await;
    let experiment = "choices".to_owned();
    let ratings = served.call(&GetRatings { experiment: experiment.clone() }).await;
    assert_eq!(reason(ratings), Reason::WrongState);
    let compared = served.call(&GetComparisons { experiment }).await;
    assert_eq!(reason(compared), Reason::WrongState);
}
