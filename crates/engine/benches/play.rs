//! Whole games of players that do not search: the cost of playing itself.

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::{Game, GameSetup, Player, Random, Rules, Timeless, play_game, with_game};

const GAMES: u64 = 100;

fn key(game: u64, side: u8) -> [u8; 32] {
    let mut key = [side; 32];
    key[..8].copy_from_slice(&game.to_le_bytes());
    key
}

/// As a worker does it, records included.
fn random_games(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("random_games");
    group.throughput(Throughput::Elements(GAMES));
    for name in Rules::games().iter().map(|game| game.name) {
        let rules = Rules::from_name(name).unwrap();
        let given = serde_json::from_str(r#"{"algorithm": "random"}"#).unwrap();
        let random = Player::from_parameters(&rules, &given).unwrap();
        let opening = with_game!(&rules, G => G::start(&rules).unwrap().to_string());
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for game in 0..GAMES {
                    let setup = GameSetup {
                        rules: &rules,
                        opening: &opening,
                        players: [&random, &random],
                        keys: [key(game, 0), key(game, 1)],
                        max_plies: None,
                        adjudication: None,
                        stops: None,
                    };
                    black_box(play_game(&setup, &Timeless).unwrap());
                }
            });
        });
    }
    group.finish();
}

/// The same games bare: no players, no records.
fn bare_random_games(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bare_random_games");
    group.throughput(Throughput::Elements(GAMES));
    for name in Rules::games().iter().map(|game| game.name) {
        let rules = Rules::from_name(name).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| with_game!(&rules, G => play_bare::<G>(&rules)));
        });
    }
    group.finish();
}

fn play_bare<G: Game>(rules: &Rules) {
    let start = G::start(rules).unwrap();
    for game in 0..GAMES {
        let mut random = Random::from_key(key(game, 0));
        let mut position = start.clone();
        while !position.is_over() {
            let count = position.legal_move_count();
            position.play_unchecked(position.nth_legal_move(random.below(count)));
        }
        black_box(position);
    }
}

criterion_group!(benches, random_games, bare_random_games);
criterion_main!(benches);
