//! Engines that are used again, by one game after the other and never by more than may be.

use std::sync::mpsc;

use spelrum_external::{
    Conditions, EngineFile, EngineSpec, FailureKind, Lent, Limits, NoRoom, OptionValue, Options,
    Pool, Reservation,
};

use crate::harness::{GENEROUS, choose, conditions, guard, limits, never, processes_with, spec};

fn pool(specs: impl IntoIterator<Item = EngineSpec>) -> Pool {
    Pool::new(specs.into_iter().collect::<EngineFile>(), guard(), 4)
}

fn hash(mib: i64) -> Options {
    [("Hash".to_owned(), OptionValue::Number(mib))].into()
}

fn take(room: &mut Reservation, options: &Options) -> Lent {
    room.take("scripted", options, &conditions(), &never).unwrap()
}

/// How many games an engine has begun, by what was said to it.
fn games(engine: &Lent) -> usize {
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
        let said = |what: &str| {
            transcript.lines().filter(|it| it.starts_with("> ") && it.ends_with(what)).count()
        };
        (said(" clear_board"), said(" level 1"))
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
        "the game needs 3 of `scripted` at once, and 2 may run here"
    );
    assert_eq!(
        pool.reserve(&["sf"], &never).unwrap_err().to_string(),
        "this machine has no engine `sf`"
    );
    let one = pool.reserve(&names[..1], &never).unwrap();
    // Two do not fit beside one; nobody waits for ever.
    assert_eq!(pool.reserve(&names[..2], &|| true).unwrap_err(), NoRoom::Aborted);
    let _another = pool.reserve(&names[..1], &|| true).unwrap();
    drop(one);
    pool.reserve(&names[..1], &|| true).unwrap();
}

#[test]
fn whoever_waits_gets_the_room_that_is_given_back() {
    let pool = pool([EngineSpec { at_once: 1, ..spec("uci", &[]) }]);
    let room = pool.reserve(&["scripted"], &never).unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _room = pool.reserve(&["scripted"], &never).unwrap();
            tell.send(()).unwrap();
        });
        assert!(told.try_recv().is_err());
        drop(room);
        told.recv_timeout(GENEROUS).unwrap();
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
