//! Players that answer several requests at the same time: one process holds several games.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use spelrum_external::{
    AnyPosition, Choice, Colour, Conditions, EngineFailure, EngineFile, EngineSpec, Exit,
    FailureKind, LeasedEngine, Limits, Options, Patience, Pool, Situation, Start,
};

use crate::harness::{SHORT, guard, never, processes_with, spec, wait_until};
use crate::lines::{OnlyA, game, lines};

/// A pool with one player, which has this mark among its arguments.
fn pool(mark: &str, words: &[&str]) -> Pool {
    let patience = Patience { stop: SHORT, ..spec("lines", &[]).patience };
    let spec = EngineSpec {
        name: "mine".to_owned(),
        patience,
        at_once: 64,
        ..lines(&[words, &[mark]].concat())
    };
    Pool::new([spec].into_iter().collect::<EngineFile>(), guard(), 4)
}

fn mark(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

fn take(pool: &Pool, conditions: &Conditions) -> LeasedEngine {
    let mut room = pool.reserve(&["mine"], &never).unwrap();
    room.take("mine", &Options::new(), conditions, &never).unwrap()
}

/// A move in a position, which tells the player what to do, with a board of this many bytes.
fn choose_with(
    engine: &mut LeasedEngine,
    word: &str,
    limit: Option<Duration>,
    board: usize,
    aborted: &dyn Fn() -> bool,
) -> Result<Choice, EngineFailure> {
    let legal = ["a", "b"].map(str::to_owned);
    let board = "x".repeat(board);
    let (opening, position, rules) = ("o", word, &OnlyA);
    let position = AnyPosition { opening, position, legal: &legal, board: &board, seed: 5, rules };
    let (start, to_move) = (Start::Any(position), Colour::White);
    let limits = Limits { move_time: limit, ..Limits::default() };
    engine.choose(&Situation { start, moves: &[], to_move, limits, clock: None }, aborted)
}

fn choose(engine: &mut LeasedEngine, word: &str) -> Result<Choice, EngineFailure> {
    choose_with(engine, word, None, 10, &never)
}

/// The same, which counts how often it is asked whether it is wanted: after a few times its request is sent.
fn choose_counted(
    engine: &mut LeasedEngine,
    asked: &AtomicU32,
    is_unwanted: &AtomicBool,
) -> Result<Choice, EngineFailure> {
    choose_with(engine, "a", None, 10, &|| {
        asked.fetch_add(1, Ordering::Relaxed);
        is_unwanted.load(Ordering::Relaxed)
    })
}

fn wait_until_sent(asked: &AtomicU32) {
    wait_until("its request is sent", || asked.load(Ordering::Relaxed) >= 5);
}

/// Plays a game in each of these positions at the same time, of this many moves.
fn play(
    pool: &Pool,
    conditions: &Conditions,
    words: &[&str],
    moves: usize,
) -> Vec<Result<String, FailureKind>> {
    let begun = Barrier::new(words.len());
    std::thread::scope(|scope| {
        let games: Vec<_> = words
            .iter()
            .map(|word| {
                let begun = &begun;
                scope.spawn(move || {
                    let mut engine = take(pool, conditions);
                    begun.wait();
                    let limit = (*word == "forget").then_some(SHORT);
                    let choice = (0..moves)
                        .map(|_| choose_with(&mut engine, word, limit, 10, &never))
                        .collect::<Result<Vec<_>, _>>();
                    // No game ends before all have their answers.
                    begun.wait();
                    choice.map(|moves| moves[0].mv.clone()).map_err(|failure| failure.kind)
                })
            })
            .collect();
        games.into_iter().map(|game| game.join().unwrap()).collect()
    })
}

/// The processes with this mark: the player's, and its guards'.
fn processes(mark: &str) -> BTreeSet<i32> {
    processes_with(mark).into_iter().map(|(process, _)| process).collect()
}

#[test]
fn games_share_a_process() {
    let mark = mark("shares");
    let pool = pool(&mark, &["parallel=4", "batch=4"]);
    let mut before = None;
    for _ in 0..3 {
        // The player answers four requests, or none.
        let moves = play(&pool, &game("g"), &["a", "b", "b", "a"], 50);
        assert_eq!(moves, ["a", "b", "b", "a"].map(|mv| Ok(mv.to_owned())));
        let now = processes(&mark);
        assert_eq!(now.len(), 2, "a guard and a player");
        assert_eq!(before.replace(now.clone()).unwrap_or_else(|| now.clone()), now);
    }
    pool.close_idle();
    assert_eq!(processes(&mark).len(), 0);
}

/// A game that looks for a process just as the first start ends finds that one, and starts none.
#[test]
fn games_that_begin_together_start_one_process() {
    for round in 0..30 {
        let mark = mark(&format!("together-{round}"));
        let pool = pool(&mark, &["parallel=8"]);
        let begun = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _game = take(&pool, &game("g"));
                    begun.wait();
                });
            }
        });
        assert_eq!(processes(&mark).len(), 2, "a guard and a player");
    }
}

#[test]
fn more_games_than_it_holds_have_another_process() {
    let mark = mark("holds");
    let pool = pool(&mark, &["parallel=2"]);
    let games: Vec<_> = (0..5).map(|_| take(&pool, &game("g"))).collect();
    assert_eq!(processes(&mark).len(), 3 * 2);
    let other = take(&pool, &game("h"));
    assert_eq!(processes(&mark).len(), 4 * 2, "another game has a process of its own");
    drop((games, other));
    pool.close_idle();
    assert_eq!(processes(&mark).len(), 0);
}

#[test]
fn an_answer_that_fails_is_of_its_game_alone() {
    let mark = mark("fails");
    let pool = pool(&mark, &["parallel=5", "batch=5"]);
    let conditions = Conditions { margin: Duration::ZERO, ..game("g") };
    let words = ["forget", "nan", "text", "raise", "b"];
    let [forgotten, nan, text, raised, well] =
        play(&pool, &conditions, &words, 1).try_into().unwrap();
    assert!(matches!(forgotten, Err(FailureKind::Hang { .. })), "{forgotten:?}");
    for (failed, words) in [(nan, "NaN"), (text, "its `id` is \"")] {
        let Err(FailureKind::Unreadable { problem, .. }) = failed else { panic!("{failed:?}") };
        assert!(problem.contains(words), "{problem}");
    }
    assert_eq!(raised, Err(FailureKind::Raised("no".to_owned())));
    assert_eq!(well, Ok("b".to_owned()));
    // It may still think about the request that it forgot.
    wait_until("it has ended", || processes(&mark).is_empty());
}

#[test]
fn a_refused_answer_is_asked_for_again() {
    let pool = pool(&mark("again"), &["parallel=2", "batch=2"]);
    let conditions = Conditions { retries: 1, ..game("g") };
    let moves = play(&pool, &conditions, &["nan", "nan"], 1);
    assert_eq!(moves, [Ok("a".to_owned()), Ok("a".to_owned())]);
}

#[test]
fn a_crash_loses_the_games_that_it_holds_and_no_later_one() {
    let mark = mark("dies");
    let pool = pool(&mark, &["parallel=3", "batch=2", "dies-in-batch"]);
    let mut games: Vec<_> = (0..3).map(|_| take(&pool, &game("g"))).collect();
    let before = processes(&mark);
    let [first, second, third] = &mut games[..] else { panic!("there are three") };
    let (asked, is_unwanted) = (AtomicU32::new(0), AtomicBool::new(false));
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| choose_counted(first, &asked, &is_unwanted));
        // Requests have numbers in the order in which they were sent.
        wait_until_sent(&asked);
        let second = scope.spawn(|| choose(second, "a"));
        (first.join().unwrap(), second.join().unwrap())
    });
    let crash = FailureKind::Crash(Exit::Code(9));
    let failure = first.unwrap_err();
    assert_eq!(failure.kind, crash);
    assert!(failure.transcript.contains("> {\"id\":1,"), "{}", failure.transcript);
    assert!(!failure.transcript.contains("> {\"id\":2,"), "{}", failure.transcript);
    assert_eq!(second.unwrap().mv, "a", "it was answered before");
    assert_eq!(choose(third, "a").unwrap_err().kind, crash, "its game was held there");
    let new = take(&pool, &game("g"));
    assert!(processes(&mark).is_disjoint(&before));
    drop((games, new));
}

#[test]
fn requests_larger_than_a_pipe_arrive() {
    let pool = pool(&mark("large"), &["parallel=8", "batch=8"]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut engine = take(&pool, &game("g"));
                for _ in 0..5 {
                    let choice = choose_with(&mut engine, "b", None, 300_000, &never).unwrap();
                    assert_eq!(choice.mv, "b");
                }
            });
        }
    });
}

/// What reads for all of them may leave at any time.
#[test]
fn a_game_that_is_given_up_does_not_hold_up_the_others() {
    let mark = mark("leaves");
    let pool = pool(&mark, &["parallel=3", "batch=3"]);
    let mut games: Vec<_> = (0..3).map(|_| take(&pool, &game("g"))).collect();
    let (is_unwanted, is_wanted) = (AtomicBool::new(false), AtomicBool::new(false));
    let [of_reader, of_waiting] = [const { AtomicU32::new(0) }; 2];
    std::thread::scope(|scope| {
        let mut games = games.drain(..);
        let [mut reader, mut waiting, mut last] = [(); 3].map(|()| games.next().unwrap());
        let (is_unwanted, is_wanted) = (&is_unwanted, &is_wanted);
        let (of_reader, of_waiting) = (&of_reader, &of_waiting);
        let reader = scope
            .spawn(move || choose_counted(&mut reader, of_reader, is_unwanted).unwrap_err().kind);
        wait_until_sent(of_reader);
        let waiting = scope.spawn(move || {
            choose_counted(&mut waiting, of_waiting, is_wanted).map(|choice| choice.mv)
        });
        wait_until_sent(of_waiting);
        is_unwanted.store(true, Ordering::Relaxed);
        assert_eq!(reader.join().unwrap(), FailureKind::Aborted);
        // The player had its request, and answers the batch.
        assert_eq!(choose(&mut last, "a").unwrap().mv, "a");
        assert_eq!(waiting.join().unwrap().unwrap(), "a");
    });
    wait_until("it is not used again", || processes(&mark).is_empty());
}
