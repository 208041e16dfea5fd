//! Overruns of a time limit: searches of Pentago under 10 ms, with a real clock.
//!
//! The clock is the thread's processor time, so other programs' time is not counted.

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]

use spelrum_engine::games::Pentago;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::{Host, Player, analyze};

const MOVE_TIME_US: u64 = 10_000;
const SEARCHES: u64 = 200;
const BOARDS: &[&str] =
    &["....................................", ".w..b....w.....b..b.....w....b..w..."];
const PLAYERS: &[&str] = &[
    r#"{"algorithm": "minimax", "move_time": "10ms", "depth": 5}"#,
    r#"{"algorithm": "alpha-beta", "move_time": "10ms", "iterative": true}"#,
    r#"{"algorithm": "alpha-beta", "move_time": "10ms", "iterative": true, "order": true}"#,
    r#"{"algorithm": "alpha-beta", "move_time": "10ms", "preset": "full"}"#,
    r#"{"algorithm": "exact", "move_time": "10ms"}"#,
    r#"{"algorithm": "genetic-minimax", "move_time": "10ms", "depth": 3, "generations": "unlimited"}"#,
    r#"{"algorithm": "genetic-minimax", "move_time": "10ms", "depth": 4, "generations": "unlimited", "preset": "study"}"#,
    r#"{"algorithm": "mcts", "move_time": "10ms"}"#,
    r#"{"algorithm": "mcts", "move_time": "10ms", "playout": "uniform", "first_play_urgency": 1000}"#,
    r#"{"algorithm": "genetic-minimax", "move_time": "10ms", "depth": "unlimited", "preset": "strong"}"#,
];

struct Clock;

impl Host for Clock {
    fn wall(&self) -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }
}

fn main() {
    let rules = Pentago::rules(true);
    println!("microseconds over {MOVE_TIME_US}:  median     99%     max  player");
    for json in PLAYERS {
        let player = Player::from_parameters(&rules, &serde_json::from_str(json).unwrap()).unwrap();
        let mut over_us: Vec<u64> = (0..SEARCHES)
            .map(|search| {
                let board = BOARDS[search as usize % BOARDS.len()];
                let key = [search as u8; 32];
                let analysis = analyze(&rules, board, &player, key, &Clock).unwrap();
                analysis.wall_us.saturating_sub(MOVE_TIME_US)
            })
            .collect();
        over_us.sort_unstable();
        let at = |share: usize| over_us[(over_us.len() - 1) * share / 100];
        println!("{:>32} {:>7} {:>7}  {json}", at(50), at(99), at(100));
    }
}
