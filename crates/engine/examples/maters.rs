//! Maters with king and rook: how often, how fast and in what time each mates against the table's defence.
//!
//! ```sh
//! cargo run --release -p spelrum-engine --example maters -- 60      # positions of each distance
//! ```

#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::games::Chess;
use spelrum_engine::tables::{self, TableValue};
use spelrum_engine::{
    GameSetup, Outcome, Parameters, Player, Random, Rules, Timeless, analyze, play_game,
};

/// 50 moves.
const MAX_PLIES: u32 = 100;

const NETWORK: &str = r#"{"ending": "KRK", "inputs": "coordinates", "rotations": true, "networks": "one",
    "hidden": [20], "activation": "sigmoid", "target_start": 1.0, "target_over": 32, "examples": 10000,
    "validation": 500, "epochs": 200, "patience": 20, "rate": 0.5, "schedule": "constant", "seed": 0}"#;

fn main() {
    let each = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(60);
    let rules = Chess::rules();
    let openings = openings(each);
    let table = player(&rules, r#"{"algorithm": "table"}"#);
    let network = |depth| {
        format!(
            r#"{{"algorithm": "alpha-beta", "depth": {depth}, "evaluation": "network", "network": {NETWORK}}}"#
        )
    };
    println!("{} games each", openings.len());
    for (name, mater) in [
        ("rules", r#"{"algorithm": "ajedrecista"}"#.to_owned()),
        ("table", r#"{"algorithm": "table"}"#.to_owned()),
        ("random", r#"{"algorithm": "random"}"#.to_owned()),
        ("network, 1 ply", network(1)),
        ("network, 2 plies", network(2)),
        ("network, 3 plies", network(3)),
    ] {
        let mater = player(&rules, &mater);
        let (mut mates, mut more, mut most) = (0, 0, 0);
        for (seed, (opening, plies)) in (0..).zip(&openings) {
            let setup = GameSetup {
                rules: &rules,
                opening,
                players: [&mater, &table],
                keys: [key(2 * seed), key(2 * seed + 1)],
                max_plies: Some(MAX_PLIES),
                adjudication: None,
                stops: None,
            };
            let game = play_game(&setup, &Timeless).expect("a game");
            if game.outcome == Outcome::Win {
                let slower = (game.moves.len() as u32 - plies) / 2;
                mates += 1;
                more += slower;
                most = most.max(slower);
            }
        }
        let share = f64::from(mates) * 100.0 / openings.len() as f64;
        let mean = f64::from(more) / f64::from(mates.max(1));
        let begun = cpu();
        for (opening, _) in &openings {
            analyze(&rules, opening, &mater, key(1), &Timeless).expect("a move");
        }
        let took = (cpu() - begun).as_secs_f64() * 1e6 / openings.len() as f64;
        println!(
            "{name}: mates {share:.1} %, {mean:.2} moves more, {most} at most, {took:.1} µs a move"
        );
    }
}

/// As many positions of each distance to mate, with white to move, as far as there are so many; and their plies.
fn openings(each: usize) -> Vec<(String, u32)> {
    let table = tables::shared(&"KRK".parse().expect("an ending"));
    let mut random = Random::from_key(key(1912));
    let mut openings = Vec::new();
    for wanted in (1..=31).step_by(2) {
        let mut places: Vec<usize> = (0..table.len())
            .filter(|place| {
                let value = table.position(*place).map(|position| position.value);
                value == Some(TableValue::Win { plies: wanted })
                    && table.first_place(*place) == *place
            })
            .collect();
        random.shuffle(&mut places);
        for place in places.into_iter().take(each) {
            let position = table.position(place).expect("a position");
            openings.push((table.turned_fen(&position, random.below(8) as u8), wanted));
        }
    }
    openings
}

fn player(rules: &Rules, json: &str) -> Player {
    let parameters: Parameters = serde_json::from_str(json).expect("parameters");
    Player::from_parameters(rules, &parameters).expect("a player")
}

fn key(seed: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
