//! A solver whose table the system refuses.

use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spelrum_engine::games::Othello;
use spelrum_engine::search::{Limits, MemoryRefused};
use spelrum_engine::{
    MoveValuesError, PlayError, Player, Rules, SolveError, Timeless, analyze, move_values, solve,
};
use spelrum_test_support::skip;

use super::{random, random_position};

/// Set for the process whose memory is limited.
const LIMITED: &str = "SPELRUM_TEST_LIMITED_MEMORY";
/// What the process may take beyond what it has at the start: less than a table of 48 MiB.
const SPARE_BYTES: u64 = 24 << 20;

const REFUSED: MemoryRefused = MemoryRefused { parameter: None, bytes: 48 << 20 };

/// The test runs itself again in a process of its own, since a limit applies to the whole process.
#[test]
fn refused_memory_is_an_answer_and_never_another_result() {
    if std::env::var_os(LIMITED).is_some() {
        return solve_with_little_memory();
    }
    if bytes_in_use().is_none() {
        return skip("it needs /proc/self/statm");
    }
    let name = "solver::memory::refused_memory_is_an_answer_and_never_another_result";
    let mut limited = Command::new(std::env::current_exe().unwrap());
    limited.args(["--exact", name, "--nocapture"]).env(LIMITED, "1");
    // glibc reserves addresses for each thread, in which the table would find room.
    limited.env("MALLOC_ARENA_MAX", "1");
    // A failure's backtrace would take memory of its own.
    limited.env("RUST_BACKTRACE", "0");
    let output = limited.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("1 passed"), "{printed}");
}

fn solve_with_little_memory() {
    let current = Some(bytes_in_use().unwrap() + SPARE_BYTES);
    setrlimit(Resource::As, Rlimit { current, ..getrlimit(Resource::As) }).unwrap();

    let rules = Othello::rules();
    let position = |empty: u32| -> String {
        random_position::<Othello>(&rules, 60 - empty, &mut random(1)).to_string()
    };
    let player = exact(&rules);
    for _ in 0..2 {
        let large = position(24);
        let refused = solve(&rules, &large, &Limits::default(), &Timeless);
        assert_eq!(refused, Err(SolveError::Memory(REFUSED)));
        let refused = move_values(&rules, &large, &player, &Timeless);
        assert_eq!(refused, Err(MoveValuesError::Memory(REFUSED)));
        let refused = analyze(&rules, &large, &player, [1; 32], &Timeless).unwrap_err();
        assert!(matches!(refused, PlayError::Memory(REFUSED)), "{refused}");

        // A small table is granted.
        let found = solve(&rules, &position(10), &Limits::default(), &Timeless);
        assert!(found.is_ok(), "{found:?}");
    }
}

fn exact(rules: &Rules) -> Player {
    let json = r#"{"algorithm": "exact", "nodes": 100000}"#;
    Player::from_parameters(rules, &serde_json::from_str(json).unwrap()).unwrap()
}

/// The addresses that this process uses.
fn bytes_in_use() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').next()?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
