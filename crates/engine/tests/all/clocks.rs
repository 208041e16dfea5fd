//! Built-in players with clocks: they plan their moves, lose on time, and their games replay.

use std::cell::Cell;
use std::time::Duration;

use insta::assert_snapshot;
use proptest::prelude::*;
use spelrum_engine::games::{Pentago, TicTacToe};
use spelrum_engine::{
    GameRecord, Host, Outcome, Player, Rules, Termination, TimeLeft, Timeless, Value,
    time_for_move_us,
};

use crate::common::{
    Irregular, all_rules, play, play_and_replay, player, replay, stops, without_times,
};

const SEARCHES: [&str; 5] = [
    r#""algorithm": "alpha-beta", "iterative": true"#,
    r#""algorithm": "minimax", "depth": 3"#,
    r#""algorithm": "mcts""#,
    r#""algorithm": "genetic-minimax", "depth": 3"#,
    r#""algorithm": "exact""#,
];

fn clocked(rules: &Rules, search: &str, clock: &str, margin: &str) -> Player {
    player(rules, &format!(r#"{{{search}, "clock": "{clock}", "margin": "{margin}"}}"#))
}

fn error(json: &str) -> String {
    let given = serde_json::from_str(json).unwrap();
    Player::from_parameters(&Pentago::rules(true), &given).unwrap_err().to_string()
}

#[test]
fn every_algorithm_with_a_time_limit_has_a_clock() {
    let rules = Pentago::rules(true);
    for search in SEARCHES {
        let clocked = player(&rules, &format!(r#"{{{search}, "clock": "40/60+0.5"}}"#));
        assert!(clocked.is_timed() && !clocked.is_deterministic() && !clocked.repeats());
        let clock = clocked.clock().unwrap();
        assert_eq!(clock.to_string(), "40/60s+500ms");
        assert_eq!(clocked.margin_us(), 50_000);
        assert_eq!(clocked.limits().move_time_us, None);
        assert_eq!(clocked.parameters()["clock"], Value::Text("40/60s+500ms".to_owned()));
        assert_eq!(clocked.parameters()["margin_us"], Value::Integer(50_000));
        let again = Player::from_parameters(&rules, clocked.parameters()).unwrap();
        assert_eq!(again, clocked);
        let half = clocked.with_time_factor(500);
        assert_eq!(half.clock().unwrap().to_string(), "40/30s+250ms");
        assert_eq!((half.margin_us(), &half), (50_000, &clocked));
    }
    // A player without a clock is the one that it was before there were any.
    let without = player(&rules, r#"{"algorithm": "alpha-beta", "depth": 3}"#);
    assert!(
        !without.parameters().keys().any(|key| key.contains("clock") || key.contains("margin"))
    );
}

#[test]
fn errors_name_the_key_and_the_remedy() {
    assert_snapshot!(error(r#"{"algorithm": "random", "clock": "8+0.08"}"#), @"`random` has no parameter `clock`; time cannot limit its moves; leave the clock out, or give it to the other player alone");
    assert_snapshot!(error(r#"{"algorithm": "alpha-beta", "clock": "8+0.08", "move_time": "10ms"}"#), @"a built-in player with a `clock` decides itself how long a move may take; leave out `move_time` or `clock`");
    assert_snapshot!(error(r#"{"algorithm": "alpha-beta", "depth": 3, "margin": "10ms"}"#), @"`margin` has no effect here; leave it out, or give a `clock`");
    assert_snapshot!(error(r#"{"algorithm": "mcts", "clock": "8+0.08", "margin": "unlimited"}"#), @r#"an unlimited margin would let any move be late; write a time, such as "50ms""#);
    assert_snapshot!(error(r#"{"algorithm": "mcts", "clock": "soon"}"#), @r#"`clock` cannot be "soon"; write a clock such as "10s", "10s+100ms" or "40/60s""#);
}

/// A host whose clock advances by this much at every reading.
struct Steady {
    now: Cell<Duration>,
    step: Duration,
}

impl Host for Steady {
    fn wall(&self) -> Duration {
        self.now.set(self.now.get() + self.step);
        self.now.get()
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }
}

fn steady(step: Duration) -> Steady {
    Steady { now: Cell::default(), step }
}

#[test]
fn a_move_beyond_clock_and_margin_loses_the_game() {
    for rules in all_rules() {
        let random = player(&rules, r#"{"algorithm": "random"}"#);
        for search in SEARCHES {
            let clocked = clocked(&rules, search, "1ms", "1ms");
            for is_first in [true, false] {
                let players = if is_first { [&clocked, &random] } else { [&random, &clocked] };
                let game = |step| play(&rules, players, 5, &steady(step));
                let lost = game(Duration::from_millis(5));
                assert_eq!(lost.termination, Termination::TIME_FORFEIT, "{rules:?} {search}");
                let outcome = if is_first { Outcome::Loss } else { Outcome::Win };
                assert_eq!(lost.outcome, outcome);
                assert_eq!(lost.moves.len(), usize::from(!is_first), "its move is not recorded");
                // The replay reads no clock, and loses where the record ends.
                let replayed = replay(&rules, players, 5, &stops(&lost), &Timeless);
                assert_eq!(without_times(&replayed), without_times(&lost));
                // With time left it plays on.
                let on = game(Duration::from_micros(1));
                assert_ne!(on.termination, Termination::TIME_FORFEIT, "{rules:?} {search}");
            }
        }
    }
}

/// The times of a side's moves, in microseconds.
fn took(record: &GameRecord, mover: u8) -> Vec<u64> {
    let own = record.moves.iter().filter(|record| record.mover == mover);
    own.map(|record| record.wall_us).collect()
}

#[test]
fn moves_keep_to_their_plan() {
    let rules = Pentago::rules(true);
    let clocked = clocked(&rules, SEARCHES[0], "6/3ms+100us", "1us");
    let record = play(&rules, [&clocked, &clocked], 1, &Irregular::new(1, 20));
    assert_ne!(record.termination, Termination::TIME_FORFEIT);
    let clock = clocked.clock().unwrap();
    for mover in [0, 1] {
        let took = took(&record, mover);
        assert!(took.len() > 2);
        for (made, &time_us) in took.iter().enumerate() {
            let left: TimeLeft = clock.left(took[..made].iter().copied());
            let planned = time_for_move_us(left, clock.increment_us);
            assert!(time_us <= planned + 100, "{time_us} µs, and {planned} were planned");
            assert!(time_us <= left.time_us);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Invariant 3, also for games that are lost on time.
    #[test]
    fn a_game_under_a_clock_replays_from_its_record(
        rules in prop::sample::select(all_rules()),
        searches in prop::array::uniform2(prop::sample::select(SEARCHES.to_vec())),
        time_us in 1_u64..20_000,
        increment_us in 1_u64..500,
        margin_us in 1_u64..500,
        step_us_max in 1_u32..400,
        seed in 0_u64..1_000_000,
    ) {
        let clock = format!("{time_us}us+{increment_us}us");
        let players =
            searches.map(|search| clocked(&rules, search, &clock, &format!("{margin_us}us")));
        let [first, second] = &players;
        play_and_replay(&rules, [first, second], seed, step_us_max);
    }
}

#[test]
fn analysis_takes_the_time_of_a_first_move() {
    let rules = TicTacToe::rules();
    let clocked = clocked(&rules, SEARCHES[0], "30s", "1ms");
    let host = steady(Duration::from_millis(200));
    let position = crate::common::start(&rules);
    let key = crate::common::key(1);
    let analysis = spelrum_engine::analyze(&rules, &position, &clocked, key, &host).unwrap();
    assert_eq!(analysis.search.ended_by, spelrum_engine::EndedBy::Time);
    assert!(analysis.wall_us < 3_000_000, "{analysis:?}");
}
