//! How long 200 players and a million games take to rate: `cargo bench -p spelrum-statistics --bench
//! ratings`.
//!
//! The peer is plain gradient ascent, without the virtual games, which would slow it down a thousandfold, and
//! without a covariance to show for it. Times differ between machines,
//! their ratio hardly does.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, and need not be exact"
)]
#![expect(clippy::print_stdout, reason = "a benchmark tells what it measured")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use spelrum_engine::Random;
use spelrum_statistics::ratings::{Tally, rate};

const PLAYERS: u32 = 200;
const OPENINGS: u32 = 25;
/// Elo for each unit of strength.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

fn main() {
    let tallies = tournament();
    let started = Instant::now();
    let rated = rate(PLAYERS as usize, usize::MAX, black_box(&tallies)).expect("there is no bound");
    let rating = started.elapsed();
    let started = Instant::now();
    let errors: f64 = (0..PLAYERS as usize)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .filter_map(|(a, b)| rated[0].difference(a, b).error)
        .sum();
    black_box(errors);
    let comparing = started.elapsed();
    let started = Instant::now();
    let (elo, steps) = ascent(&tallies);
    let peer = started.elapsed();
    let apart = (1..PLAYERS as usize)
        .map(|player| (rated[0].difference(player, 0).elo - (elo[player] - elo[0])).abs());
    println!(
        "{PLAYERS} players, {} games from {OPENINGS} openings: {:.3} s, {:.3} s more for the intervals of \
         all differences; {:.2} of the peer's {:.3} s ({steps} steps), at most {:.3} Elo apart",
        tallies.len(),
        rating.as_secs_f64(),
        comparing.as_secs_f64(),
        rating.as_secs_f64() / peer.as_secs_f64(),
        peer.as_secs_f64(),
        apart.fold(0.0, f64::max),
    );
}

/// Every two meet twice from each opening.
fn tournament() -> Vec<Tally> {
    let mut random = Random::from_key([1; 32]);
    let mut tallies = Vec::new();
    for cluster in 0..OPENINGS {
        for first in 0..PLAYERS {
            for second in (0..PLAYERS).filter(|&second| second != first) {
                let lead = (f64::from(first) - f64::from(second)) / 50.0 + 0.2;
                let chances = [(lead / 2.0).exp(), 0.4, (-lead / 2.0).exp()];
                let at = random.unit() * chances.iter().sum::<f64>();
                let (win, draw) = (at < chances[0], at < chances[0] + chances[1]);
                let [wins, draws, losses] = [win, !win && draw, !draw].map(u32::from);
                tallies.push(Tally { cluster, first, second, wins, draws, losses });
            }
        }
    }
    tallies
}

/// The most likely ratings, one small step after another.
fn ascent(tallies: &[Tally]) -> (Vec<f64>, u32) {
    let players = PLAYERS as usize;
    let (first_move, draws) = (players, players + 1);
    let mut matches: BTreeMap<(u32, u32), [f64; 3]> = BTreeMap::new();
    for tally in tallies {
        let sums = matches.entry((tally.first, tally.second)).or_default();
        for (sum, games) in sums.iter_mut().zip([tally.wins, tally.draws, tally.losses]) {
            *sum += f64::from(games);
        }
    }
    let mut at = vec![0.0; players + 2];
    let mut steps = 0;
    loop {
        steps += 1;
        let (mut gradient, mut games) = (vec![0.0; at.len()], vec![0.0; at.len()]);
        let mut add = |lead: &[(usize, f64)], [won, drawn, lost]: [f64; 3]| {
            let by: f64 = lead.iter().map(|&(parameter, sign)| sign * at[parameter]).sum();
            let chances = [(by / 2.0).exp(), f64::exp(at[draws]), (-by / 2.0).exp()];
            let sum: f64 = chances.iter().sum();
            let count = won + drawn + lost;
            let points = (won - lost) / 2.0 - count * (chances[0] - chances[2]) / sum / 2.0;
            for &(parameter, sign) in lead {
                gradient[parameter] += sign * points;
                games[parameter] += count;
            }
            gradient[draws] += drawn - count * chances[1] / sum;
            games[draws] += count;
        };
        for (&(first, second), &counts) in &matches {
            add(&[(first as usize, 1.0), (second as usize, -1.0), (first_move, 1.0)], counts);
        }
        let mut largest: f64 = 0.0;
        for parameter in 0..at.len() {
            // No parameter's curvature is more than a quarter for each game; half the step that this
            // allows, since others move too.
            let step = 2.0 * gradient[parameter] / games[parameter];
            at[parameter] += step;
            largest = largest.max(step.abs());
        }
        if largest < 1e-8 || steps == 10_000 {
            let scale = ELO * 2.0 / (2.0 + at[draws].exp());
            return (at[..players].iter().map(|strength| strength * scale).collect(), steps);
        }
    }
}
