//! Timed games on quiet slots, as the kernel sees them.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU32;

use serde_json::Value;
use spelrum_test_support::skip;
use spelrum_worker::{Cores, ExclusiveSlots};

use crate::sandbox::{Sandbox, playing_process, wait_until};

/// Games of tens of milliseconds, with a time limit or without.
fn sweep(name: &str, limit: &str, games: u32) -> String {
    format!(
        "name = \"{name}\"\ngame = \"tic-tac-toe\"\ngames = {games}\n\
         [players.strong]\nalgorithm = \"alpha-beta\"\n{limit}\n[players.random]\nalgorithm = \"random\"\n"
    )
}

/// What a worker with two slots plans here; `None` where no slot can be quiet.
fn planned() -> Option<ExclusiveSlots> {
    let planned = Cores::here().plan(NonZeroU32::new(2).unwrap(), None).if_allowed();
    if planned.count() > 0 {
        return Some(planned);
    }
    skip(format!("no slot can be quiet here: {}", planned.why_not_more()));
    None
}

/// The threads of a process, with the hardware threads that each may run on.
fn threads(process: i32) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let statuses =
        entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("status")).ok());
    let said = |status: &str, key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim().to_owned())
    };
    statuses
        .filter_map(|text| Some((said(&text, "Name:")?, said(&text, "Cpus_allowed_list:")?)))
        .collect()
}

#[test]
fn everything_keeps_off_the_quiet_cores_while_timed_games_are_played() {
    let Some(planned) = planned() else { return };
    let text = planned.to_string();
    let (_, others) = text.split_once(" of ").unwrap();
    let (all, rest) = others.split_once(", rest ").unwrap();
    let sandbox = Sandbox::new();
    sandbox.write("timed.toml", &sweep("timed", "move_time = \"5ms\"", 100_000));
    sandbox.write("other.toml", &sweep("other", "depth = 9", 100_000));
    let coordinator = sandbox.coordinator("quiet.db", "127.0.0.1:0");
    let url = &coordinator.url;
    let worker = sandbox.worker(url, "2", &[]);
    let mut playing = None;
    wait_until("a playing process is there", || {
        playing = playing_process(&worker);
        playing.is_some()
    });
    let playing = playing.unwrap().as_raw_nonzero().get();
    let own = i32::try_from(worker.0.id()).unwrap();
    let is_slot = |name: &str| name.starts_with("slot ");

    sandbox.run(&["submit", "timed.toml", "--coordinator", url]).expect_exit(0);
    wait_until("timed games are played in quiet", || {
        let threads = threads(playing);
        let slots = threads.iter().filter(|thread| is_slot(&thread.0) && thread.1 != rest);
        let kept: BTreeSet<&str> = slots.map(|thread| &*thread.1).collect();
        let is_quiet =
            |cpus: &&str| cpus.parse().is_ok_and(|cpu: u32| planned.cpus().contains(&cpu));
        let others_keep_off =
            threads.iter().filter(|thread| !is_slot(&thread.0)).all(|thread| thread.1 == rest);
        let worker_keeps_off = self::threads(own).iter().all(|thread| thread.1 == rest);
        !kept.is_empty() && kept.iter().all(is_quiet) && others_keep_off && worker_keeps_off
    });

    sandbox.run(&["cancel", "timed", "--coordinator", url]).expect_exit(0);
    sandbox.run(&["submit", "other.toml", "--coordinator", url]).expect_exit(0);
    wait_until("other games are played everywhere", || {
        let both = [playing, own].map(threads);
        both.iter().all(|thread| !thread.is_empty())
            && both.iter().flatten().all(|thread| thread.1 == all)
    });
}

/// Both kinds at once, on one worker: by what it says of when its games began and ended, none of one kind was
/// played beside one of the other, and both came to their end.
#[test]
fn no_timed_game_is_played_beside_another() {
    if planned().is_none() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("timed.toml", &sweep("timed", "move_time = \"3ms\"", 400));
    sandbox.write("other.toml", &sweep("other", "depth = 9", 400));
    let coordinator = sandbox.coordinator("quiet.db", "127.0.0.1:0");
    let url = &coordinator.url;
    for name in ["timed.toml", "other.toml"] {
        sandbox.run(&["submit", name, "--coordinator", url]).expect_exit(0);
    }
    let mut worker = sandbox.worker(url, "2", &["--exit-when-done"]);
    assert!(worker.wait().success());
    let ran = sandbox.run(&[
        "sql",
        "--db",
        "quiet.db",
        "--csv",
        "SELECT g.started_unix_us, g.started_unix_us + g.wall_us, c.timed
         FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id ORDER BY 1",
    ]);
    ran.expect_exit(0);
    let games: Vec<[i64; 3]> = ran
        .stdout()
        .lines()
        .skip(1)
        .map(|line| {
            let numbers: Vec<i64> = line.split(',').map(|number| number.parse().unwrap()).collect();
            numbers.try_into().unwrap()
        })
        .collect();
    assert_eq!(games.len(), 800);
    let mut last_end = [0; 2];
    for [began, ended, timed] in games {
        let other = last_end[usize::from(timed == 0)];
        // The time of day and the time that a game took come from two clocks.
        assert!(
            began + 2_000 > other,
            "a game began {} us before one of the other kind ended",
            other - began
        );
        let own = &mut last_end[usize::from(timed == 1)];
        *own = (*own).max(ended);
    }
    let said = "SELECT quiet_slots >= 1 AND cores <> '' FROM workers";
    assert_eq!(sandbox.sql("quiet.db", said), "1");
}

#[test]
fn more_than_there_can_be_are_refused_with_a_remedy() {
    let sandbox = Sandbox::new();
    sandbox.write("timed.toml", &sweep("timed", "move_time = \"1ms\"", 2));
    let ran = sandbox.run(&["run", "timed.toml", "--slots", "1", "--quiet-slots", "2"]);
    ran.expect_exit(3);
    assert!(ran.stderr().contains("keep 2 slots quiet"), "{}", ran.stderr());
    assert!(ran.stderr().contains("--quiet-slots "), "{}", ran.stderr());
    let ran = sandbox.run(&["run", "timed.toml", "--slots", "1", "--quiet-slots", "0"]);
    ran.expect_exit(0);
    assert!(ran.stderr().contains("none of them is quiet"), "{}", ran.stderr());
}

/// What timed games take is reckoned with the slots that play them.
#[test]
fn a_dry_run_says_on_how_many_slots_timed_games_are_played() {
    let slots = std::thread::available_parallelism().unwrap();
    let slots = NonZeroU32::try_from(u32::try_from(slots.get()).unwrap()).unwrap();
    let quiet = Cores::here().plan(slots, None).if_allowed().count();
    let (all, timed) = (format!("on {slots} slot"), format!("on {quiet} quiet slot"));
    let none = "none of them quiet for timed games";
    let sandbox = Sandbox::new();
    sandbox.write("timed.toml", &sweep("timed", "move_time = \"1ms\"", 2));
    sandbox.write("other.toml", &sweep("other", "depth = 2", 2));
    let measured =
        sweep("measured", "depth = 2", 2).replace("games =", "measure = \"time\"\ngames =");
    sandbox.write("measured.toml", &measured);
    let vary = "vary = { move_time = [\"1ms\", \"unlimited\"] }\ndepth = 2";
    sandbox.write("both.toml", &sweep("both", vary, 2));
    let on_quiet = if quiet > 0 { &*timed } else { none };
    let beside = if quiet > 0 { &*format!(", timed games on {quiet}\n") } else { none };
    for (name, said) in
        [("timed", on_quiet), ("measured", on_quiet), ("other", &*all), ("both", beside)]
    {
        let ran = sandbox.run(&["submit", &format!("{name}.toml"), "--dry-run"]);
        ran.expect_exit(0);
        assert!(ran.stdout().contains(said), "{name}: {said:?} is not in {}", ran.stdout());
    }
    let ran = sandbox.run(&["submit", "timed.toml", "--dry-run", "--json"]);
    let estimate: Value = serde_json::from_str(ran.stdout()).unwrap();
    assert_eq!(
        (&estimate["slots"], &estimate["quiet_slots"]),
        (&slots.get().into(), &quiet.into())
    );
}
