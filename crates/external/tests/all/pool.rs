//! Engines that are reused, by one game after the other, and never more than may run.

use std::sync::mpsc;

use spelrum_external::{
    Colour, Conditions, EngineFile, EngineSpec, FailureKind, LeasedEngine, Limits, NoRoom,
    OptionValue, Options, Pool, Reservation, Situation, Start,
};

use crate::harness::{
    GENEROUS, choose, conditions, guard, limits, never, processes_with, spec, wait_until,
};

fn pool(specs: impl IntoIterator<Item = EngineSpec>) -> Pool {
    Pool::new(specs.into_iter().collect::<EngineFile>(), guard(), 4)
}

fn hash(mib: i64) -> Options {
    [("Hash".to_owned(), OptionValue::Number(mib))].into()
}

fn take(room: &mut Reservation, options: &Options) -> LeasedEngine {
    room.take("scripted", options, &conditions(), &never).unwrap()
}

/// The number of games an engine has begun, by its transcript.
fn games(engine: &LeasedEngine) -> usize {
    engine.transcript().matches("> ucinewgame\n").count()
}

#[test]
fn an_engine_is_used_again_with_the_same_options() {
    let pool = pool([spec("uci", &[])]);
    for game in 1..=3 {
        let mut room = pool.reserve(&["scripted"], &never).unwrap();
        let mut engine = take(&mut room, &hash(1));
        assert_eq!(games(&engine), game);
        choose(&mut engine, limits()).unwrap();
    }
    let mut room = pool.reserve(&["scripted"], &never).unwrap();
    assert_eq!(games(&take(&mut room, &hash(2))), 1);
}

#[test]
fn an_engine_with_limits_that_it_cannot_forget_is_not_used_without_them() {
    let pool = pool([spec("gtp", &[])]);
    let unlimited = Conditions { limits: Limits::default(), ..conditions() };
    let play = |conditions: &Conditions| {
        let mut room = pool.reserve(&["scripted"], &never).unwrap();
        let engine = room.take("scripted", &Options::new(), conditions, &never).unwrap();
        let transcript = engine.transcript();
        let sent_count = |end: &str| {
            transcript.lines().filter(|line| line.starts_with("> ") && line.ends_with(end)).count()
        };
        (sent_count(" clear_board"), sent_count(" level 1"))
    };
    play(&conditions());
    assert_eq!(play(&conditions()), (2, 2));
    assert_eq!(play(&unlimited), (1, 0));
}

#[test]
fn an_engine_that_ended_is_started_again() {
    for (word, first_plays) in
        [("dies-between-games", true), ("dies-idle", true), ("dies-in-search", false)]
    {
        let pool = pool([spec("uci", &[word])]);
        for _ in 0..4 {
            let mut room = pool.reserve(&["scripted"], &never).unwrap();
            let mut engine = take(&mut room, &Options::new());
            assert_eq!(games(&engine), 1, "{word}");
            assert_eq!(choose(&mut engine, limits()).is_ok(), first_plays, "{word}");
        }
    }
}

#[test]
fn an_engine_that_cannot_be_started_is_said_each_time() {
    let pool = pool([spec("uci", &["dies-at-start"])]);
    for _ in 0..2 {
        let mut room = pool.reserve(&["scripted"], &never).unwrap();
        let failure =
            room.take("scripted", &Options::new(), &conditions(), &never).map(|_| ()).unwrap_err();
        assert!(matches!(failure.kind, FailureKind::Crash(_)), "{failure}");
        let failure = pool.reserve(&["scripted"], &never).unwrap().take(
            "scripted",
            &hash(1_000_000),
            &conditions(),
            &never,
        );
        let failure = failure.map(|_| ()).unwrap_err();
        assert!(matches!(failure.kind, FailureKind::NotAllowed(_)), "{failure}");
    }
}

#[test]
fn there_is_room_for_a_game_or_none() {
    let pool = pool([EngineSpec { at_once: 2, ..spec("uci", &[]) }]);
    let names = ["scripted"; 3];
    assert_eq!(
        pool.reserve(&names, &never).unwrap_err().to_string(),
        "the game needs 3 instances of `scripted`, but at most 2 may run here"
    );
    assert_eq!(
        pool.reserve(&["sf"], &never).unwrap_err().to_string(),
        "this machine has no engine `sf`"
    );
    let first = pool.reserve(&names[..1], &never).unwrap();
    // Two do not fit beside one; nobody waits for ever.
    assert_eq!(pool.reserve(&names[..2], &|| true).unwrap_err(), NoRoom::Aborted);
    let _another = pool.reserve(&names[..1], &|| true).unwrap();
    drop(first);
    pool.reserve(&names[..1], &|| true).unwrap();
}

#[test]
fn an_engine_in_use_takes_room_whatever_becomes_of_its_reservation() {
    let pool = pool([EngineSpec { at_once: 1, ..spec("uci", &[]) }]);
    let engine = take(&mut pool.reserve(&["scripted"], &never).unwrap(), &hash(1));
    assert_eq!(pool.reserve(&["scripted"], &|| true).unwrap_err(), NoRoom::Aborted);
    drop(engine);
    pool.reserve(&["scripted"], &|| true).unwrap();
}

#[test]
fn an_engine_that_is_leaving_takes_room_until_it_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let hold = folder.path().join("hold");
    std::fs::write(&hold, "").unwrap();
    let word = format!("hold={}", hold.display());
    let pool = pool([EngineSpec { at_once: 1, ..spec("uci", &["holds-on", &word]) }]);
    drop(take(&mut pool.reserve(&["scripted"], &never).unwrap(), &hash(1)));
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| pool.close_idle());
        wait_until("it is told to go", || folder.path().join("hold.seen").exists());
        let room = pool.reserve(&["scripted"], &|| true).map(|_| ());
        std::fs::remove_file(&hold).unwrap();
        closing.join().unwrap();
        assert_eq!(room, Err(NoRoom::Aborted));
    });
    pool.reserve(&["scripted"], &|| true).unwrap();
}

/// A problem of one engine does not affect the others of its name.
#[test]
fn a_game_that_does_not_begin_costs_one_engine_at_most() {
    let pool = pool([spec("gtp", &[])]);
    let mut room = pool.reserve(&["scripted"; 3], &never).unwrap();
    drop([0; 3].map(|_| take(&mut room, &Options::new())));
    drop(room);
    let kind_of = |conditions: &Conditions, aborted: &dyn Fn() -> bool| {
        let mut room = pool.reserve(&["scripted"], &never).unwrap();
        let taken = room.take("scripted", &Options::new(), conditions, aborted);
        taken.map(|_| ()).unwrap_err().kind
    };
    assert_eq!(kind_of(&conditions(), &|| true), FailureKind::Aborted);
    let large = Conditions { board_size: Some(19), ..conditions() };
    let kind = kind_of(&large, &never);
    assert!(matches!(kind, FailureKind::Refused { .. }), "{kind:?}");
    let mut room = pool.reserve(&["scripted"; 3], &never).unwrap();
    let engines = [0; 3].map(|_| take(&mut room, &Options::new()));
    let games = engines.each_ref().map(|engine| {
        let transcript = engine.transcript();
        let sent = transcript.lines().filter(|line| line.starts_with("> "));
        sent.filter(|line| line.ends_with(" clear_board")).count()
    });
    assert_eq!(games, [2, 2, 1]);
}

/// Slots survive panics of their games.
#[test]
fn an_engine_is_not_reused_after_a_panic_while_it_thought() {
    let pool = pool([spec("uci", &["ignores-stop"])]);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut room = pool.reserve(&["scripted"], &never).unwrap();
        let mut engine = take(&mut room, &Options::new());
        let (start, to_move) = (Start::Usual, Colour::White);
        let situation = Situation { start, moves: &[], to_move, limits: limits(), clock: None };
        let _ = engine.choose(&situation, &|| panic!("somebody pulled the plug"));
    }));
    assert!(panicked.is_err());
    let mut room = pool.reserve(&["scripted"], &never).unwrap();
    assert_eq!(games(&take(&mut room, &Options::new())), 1);
}

#[test]
fn a_waiting_game_gets_the_room_that_is_given_back() {
    let pool = pool([EngineSpec { at_once: 1, ..spec("uci", &[]) }]);
    let room = pool.reserve(&["scripted"], &never).unwrap();
    let (sender, received) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _room = pool.reserve(&["scripted"], &never).unwrap();
            sender.send(()).unwrap();
        });
        assert!(received.try_recv().is_err());
        drop(room);
        received.recv_timeout(GENEROUS).unwrap();
    });
}

#[test]
fn idle_engines_make_room_and_do_not_pile_up() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("mark={}", folder.path().display());
    // A guard and an engine each.
    let running = || processes_with(&mark).len() / 2;
    let pool_of = |at_once| pool([EngineSpec { at_once, ..spec("uci", &[&mark]) }]);
    let play = |pool: &Pool, mib| {
        let mut room = pool.reserve(&["scripted"], &never).unwrap();
        drop(take(&mut room, &hash(mib)));
    };
    let bounded = pool_of(2);
    for mib in 1..=5 {
        play(&bounded, mib);
        assert!(running() <= 2, "{}", running());
    }
    bounded.close_idle();
    assert_eq!(running(), 0);
    // Where many may run, as many wait as the pool was told.
    let free = pool_of(100);
    for mib in 1..=6 {
        play(&free, mib);
    }
    assert_eq!(running(), 4);
    drop(free);
    assert_eq!(running(), 0);
}

/// Concurrent engines share no folder, even in the same game; a later one takes over a folder.
#[test]
fn each_engine_that_runs_has_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("{}/log-{{slot}}", folder.path().display());
    let directory = folder.path().join("work/{slot}");
    let pool = pool([EngineSpec { directory, ..spec("uci", &[&mark]) }]);
    let place_of = |number: u32| {
        let word = folder.path().join(format!("log-{number}")).display().to_string();
        // The engine, and its guard, which runs in the same directory.
        let places: std::collections::BTreeSet<_> = processes_with(&word)
            .into_iter()
            .map(|(process, _)| std::fs::read_link(format!("/proc/{process}/cwd")).unwrap())
            .collect();
        places.into_iter().collect::<Vec<_>>()
    };
    let work = folder.path().canonicalize().unwrap().join("work");
    let mut room = pool.reserve(&["scripted"; 2], &never).unwrap();
    let [first, second] = [1, 2].map(|mib| take(&mut room, &hash(mib)));
    assert_eq!([0, 1].map(place_of), [[work.join("0")], [work.join("1")]]);
    assert_eq!(first.identity().build, second.identity().build, "a place makes no other build");
    first.discard();
    let mut room = pool.reserve(&["scripted"], &never).unwrap();
    let _third = take(&mut room, &hash(3));
    assert_eq!([0, 1, 2].map(|number| place_of(number).len()), [1, 1, 0]);
    drop(second);
}
