//! The test of lack of fit and the size of cycles: against a slow reference, cases by hand, and simulated tournaments.

#![expect(clippy::disallowed_methods, reason = "the simulations' arithmetic is not the fit's")]

use spelrum_engine::Random;

use super::*;

/// What simulated players are like.
#[derive(Clone, Copy)]
struct World<'a> {
    elo: &'a [f64],
    /// How much stronger each player is than its next ones around a circle, in Elo, beside the ratings.
    cycle: f64,
    openings: u32,
    /// Standard deviations in Elo of what an opening is worth to the first mover, and to each player.
    of_openings: f64,
    of_players: f64,
    /// The weight of draws.
    nu: f64,
}

impl World<'_> {
    /// Every two players meet twice from each opening, with colours swapped.
    fn play(&self, random: &mut Random) -> Vec<Tally> {
        let count = self.elo.len();
        let mut tallies = Vec::new();
        for cluster in 0..self.openings {
            let first_move = 40.0 + normal(random, self.of_openings);
            let here: Vec<f64> =
                self.elo.iter().map(|elo| elo + normal(random, self.of_players)).collect();
            for first in 0..count {
                for second in (0..count).filter(|&second| second != first) {
                    let ahead = (second + count - first) % count;
                    let around = match (2 * ahead).cmp(&count) {
                        std::cmp::Ordering::Less => self.cycle,
                        std::cmp::Ordering::Equal => 0.0,
                        std::cmp::Ordering::Greater => -self.cycle,
                    };
                    let share = 1.0 - self.nu / (2.0 + self.nu);
                    let lead =
                        (here[first] - here[second] + first_move + around) / model::ELO / share;
                    let [win, draw, loss] = [(lead / 2.0).exp(), self.nu, (-lead / 2.0).exp()];
                    let drawn_at = random.unit() * (win + draw + loss);
                    let [wins, draws, losses] = if drawn_at < win {
                        [1, 0, 0]
                    } else if drawn_at < win + draw {
                        [0, 1, 0]
                    } else {
                        [0, 0, 1]
                    };
                    let (first, second) = (first as u32, second as u32);
                    tallies.push(Tally { cluster, first, second, wins, draws, losses });
                }
            }
        }
        tallies
    }

    fn fit(&self, random: &mut Random) -> LackOfFit {
        let tallies = self.play(random);
        let rated = rate(self.elo.len(), usize::MAX, &tallies).unwrap();
        rated[0].lack_of_fit().unwrap().clone()
    }
}

/// The sum of twelve uniform numbers is nearly normal.
fn normal(random: &mut Random, deviation: f64) -> f64 {
    deviation * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0)
}

const FIVE: [f64; 5] = [250.0, 100.0, 60.0, 0.0, -150.0];
const LADDER: [f64; 10] =
    [900.0, 700.0, 500.0, 300.0, 100.0, -100.0, -300.0, -500.0, -700.0, -900.0];

/// Shares of simulated tournaments: one scale rejected, any pairing said to depart, the size within its interval.
fn shares(world: &World<'_>, rounds: u32, key: u8) -> [f64; 3] {
    let random = &mut Random::from_key([key; 32]);
    // What varies with the opening is not quite on one scale in the mean either.
    let truth = if world.cycle + world.of_openings + world.of_players == 0.0 {
        0.0
    } else {
        World { openings: 20_000, ..*world }.fit(random).cycles.elo
    };
    let mut counts = [0; 3];
    for _ in 0..rounds {
        let fit = world.fit(random);
        let is_any = fit.pairings.iter().any(|pairing| pairing.p_value <= 0.05);
        let is_within = fit.cycles.low <= truth && truth <= fit.cycles.high;
        for (count, holds) in counts.iter_mut().zip([fit.is_rejected(), is_any, is_within]) {
            *count += u32::from(holds);
        }
    }
    counts.map(|count| f64::from(count) / f64::from(rounds))
}

/// `SPELRUM_COVERAGE_ROUNDS=1000 cargo test -p spelrum-statistics --lib -- --nocapture one_scale_is_rejected` prints the
/// figures of `docs/statistics.md`, in minutes.
#[test]
fn one_scale_is_rejected_where_it_does_not_fit() {
    let five =
        World { elo: &FIVE, cycle: 0.0, openings: 50, of_openings: 0.0, of_players: 0.0, nu: 0.5 };
    for (of_openings, of_players) in [(0.0, 0.0), (200.0, 0.0), (100.0, 200.0)] {
        let fitting = World { of_openings, of_players, ..five };
        let [rejected, any, within] = shares(&fitting, 250, 1);
        assert!(rejected <= 0.085, "{of_openings} {of_players}: {rejected}");
        assert!(any <= 0.085, "{of_openings} {of_players}: {any}");
        assert!(within >= 0.93, "{of_openings} {of_players}: {within}");
        let [rejected, _, within] = shares(&World { cycle: 60.0, ..fitting }, 250, 2);
        assert!(rejected >= 0.87, "{of_openings} {of_players}: {rejected}");
        assert!(within >= 0.91, "{of_openings} {of_players}: {within}");
    }
    let Some(rounds) = crate::coverage_rounds::asked() else { return };
    let three = [60.0, 0.0, -60.0];
    let steep = [2000.0, 1000.0, 0.0, -1000.0, -2000.0];
    let worlds = [("three", &three[..]), ("five", &FIVE), ("ladder", &LADDER), ("steep", &steep)];
    for (name, elo) in worlds {
        for openings in [6, 10, 20, 50, 100] {
            for (of_openings, of_players) in [(0.0, 0.0), (200.0, 0.0), (100.0, 200.0)] {
                for cycle in [0.0, 60.0] {
                    let world = World { elo, cycle, openings, of_openings, of_players, nu: 0.5 };
                    let [rejected, any, within] = shares(&world, rounds, 7);
                    println!(
                        "{name}, {openings} openings, {of_openings}, {of_players}, cycle {cycle}: \
                         rejected {rejected:.3}, a pairing {any:.3}, size within {within:.3}"
                    );
                }
            }
        }
    }
}

fn tally(cluster: u32, first: u32, second: u32, [wins, draws, losses]: [u32; 3]) -> Tally {
    Tally { cluster, first, second, wins, draws, losses }
}

fn one(players: usize, tallies: &[Tally]) -> Component {
    rate(players, usize::MAX, tallies).unwrap().remove(0)
}

/// Rock, paper and scissors, with a fourth player that loses to all.
fn rock_paper_scissors(openings: u32) -> Vec<Tally> {
    let mut tallies = Vec::new();
    for cluster in 0..openings {
        for (winner, loser) in [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)] {
            tallies.push(tally(cluster, winner, loser, [1, 0, 0]));
            tallies.push(tally(cluster, loser, winner, [0, 0, 1]));
        }
    }
    tallies
}

#[test]
fn rock_paper_and_scissors_are_on_no_scale() {
    let rated = one(4, &rock_paper_scissors(20));
    let fit = rated.lack_of_fit().unwrap();
    assert!(fit.is_rejected());
    assert_eq!(fit.freedom, 3);
    assert!(fit.cycles.low > 200.0, "{:?}", fit.cycles);
    for departure in &fit.pairings {
        let of_cycle = departure.opponent < 3;
        assert_eq!(departure.p_value <= 0.05, of_cycle, "{departure:?}");
        assert!(!of_cycle || departure.score.abs() > 0.4, "{departure:?}");
        assert_eq!(departure.score.abs() > departure.error, of_cycle, "{departure:?}");
    }
    let disc = rated.disc().unwrap();
    // The three are a third of a turn apart, each gaining against the next.
    for (player, next) in [(0, 1), (1, 2), (2, 0)] {
        let [of_player, of_next] = [player, next].map(|index: usize| disc.players[index]);
        let ahead = (of_next.angle - of_player.angle).rem_euclid(360.0);
        assert!((ahead - 120.0).abs() < 3.0, "{:?}", disc.players);
        assert!(of_player.radius > 10.0, "{:?}", disc.players);
        // Against 950 to the fourth: scores of 1 leave the strengths open.
        assert!((of_player.elo - of_next.elo).abs() < 30.0, "{:?}", disc.players);
    }
    assert!(disc.players[3].radius < disc.players[0].radius / 10.0);
    let nash = nash_average(disc);
    for player in &nash[..3] {
        assert!((player.share - 1.0 / 3.0).abs() < 0.01, "{nash:?}");
        assert!(player.score.abs() < 0.005, "{nash:?}");
    }
    assert!(nash[3].share < 0.001 && nash[3].score < -0.4, "{nash:?}");
}

#[test]
fn what_cannot_fail_is_not_tested() {
    // A tree of meetings, and too few clusters.
    let game = |cluster, first, second| {
        [tally(cluster, first, second, [1, 0, 1]), tally(cluster, second, first, [1, 1, 0])]
    };
    let tree = |cluster| [game(cluster, 0, 1), game(cluster, 1, 2), game(cluster, 1, 3)].concat();
    let tree: Vec<Tally> = (0..50).flat_map(tree).collect();
    assert_eq!(one(4, &tree).lack_of_fit(), None);
    assert_eq!(one(4, &rock_paper_scissors(5)).lack_of_fit(), None);
    assert!(one(4, &rock_paper_scissors(6)).lack_of_fit().is_some());
    // A triangle in which each pairing has its side: the first move takes the last degree of freedom.
    let sides = |cluster| [(0, 1), (1, 2), (2, 0)].map(|(a, b)| tally(cluster, a, b, [2, 1, 1]));
    let sides: Vec<Tally> = (0..50).flat_map(sides).collect();
    assert_eq!(one(3, &sides).lack_of_fit(), None);
    // A player behind a bridge adds nothing to test.
    let bridge = (0..20).flat_map(|cluster| [tally(cluster, 3, 4, [1, 0, 0])]);
    let bridged: Vec<Tally> = rock_paper_scissors(20).into_iter().chain(bridge).collect();
    let fit = one(5, &bridged);
    let fit = fit.lack_of_fit().unwrap();
    assert_eq!((fit.freedom, fit.pairings.len()), (3, 6));
}

/// Players of whom the better one always wins are on one scale, however many games show it.
#[test]
fn perfect_scores_are_no_misfit() {
    for players in [3, 5, 10] {
        for openings in [6, 10, 20, 200] {
            let game = |(cluster, first, second): (u32, u32, u32)| {
                let outcome = if first < second { [1, 0, 0] } else { [0, 0, 1] };
                tally(cluster, first, second, outcome)
            };
            let all = (0..openings).flat_map(|cluster| {
                (0..players).flat_map(move |first| {
                    let others = (0..players).filter(move |&second| second != first);
                    others.map(move |second| (cluster, first, second))
                })
            });
            let tallies: Vec<Tally> = all.map(game).collect();
            let rated = one(players as usize, &tallies);
            if let Some(fit) = rated.lack_of_fit() {
                assert!(!fit.is_rejected(), "{players} {openings}: {fit:?}");
                assert!(fit.pairings.iter().all(|departure| departure.p_value > 0.05));
                assert!(fit.cycles.low < 1.0, "{:?}", fit.cycles);
            }
        }
    }
}

/// A disc that was put in comes out again, and with it scores on which the scale fails.
#[test]
fn a_disc_is_recovered() {
    let elo = [120.0, 40.0, 0.0, -60.0, -100.0];
    // Radii in the root of Elo, angles in degrees.
    let places = [(12.0, 0.0), (8.0, 100.0), (10.0, 220.0), (4.0, 300.0), (9.0, 140.0)];
    let lead = |i: usize, j: usize| {
        let [(r, from), (s, to)]: [(f64, f64); 2] = [places[i], places[j]];
        elo[i] - elo[j] + r * s * (to - from).to_radians().sin()
    };
    let random = &mut Random::from_key([5; 32]);
    let mut tallies = Vec::new();
    for cluster in 0..4_000 {
        for first in 0..5_usize {
            for second in (0..5).filter(|&second| second != first) {
                let win = 1.0 / (1.0 + (-lead(first, second) / model::ELO).exp());
                let outcome = if random.unit() < win { [1, 0, 0] } else { [0, 0, 1] };
                tallies.push(tally(cluster, first as u32, second as u32, outcome));
            }
        }
    }
    let rated = one(5, &tallies);
    let found = &rated.disc().unwrap().players;
    for i in 0..5 {
        for j in 0..i {
            let angle = (found[j].angle - found[i].angle).to_radians();
            let is = found[i].elo - found[j].elo + found[i].radius * found[j].radius * angle.sin();
            assert!((is - lead(i, j)).abs() < 12.0, "{i} {j}: {is} for {}", lead(i, j));
        }
    }
}

/// A mix of rows is an equilibrium if no row gains against it; copies of a row share its part.
#[test]
fn an_equilibrium_is_beaten_by_no_row() {
    let random = &mut Random::from_key([6; 32]);
    for players in [1, 2, 3, 5, 8, 20, 50] {
        for _ in 0..3 {
            let mut scores = nalgebra::DMatrix::zeros(players, players);
            for i in 0..players {
                for j in 0..i {
                    scores[(i, j)] = random.unit() - 0.5;
                    scores[(j, i)] = -scores[(i, j)];
                }
            }
            let mix = nash::equilibrium(&scores);
            assert!((mix.sum() - 1.0).abs() < 1e-9);
            assert!((&scores * &mix).max() < 0.002, "{players}: {}", (&scores * &mix).max());
        }
    }
    // Rock twice, paper and scissors.
    let rows = [
        [0.0, 0.0, -0.5, 0.5],
        [0.0, 0.0, -0.5, 0.5],
        [0.5, 0.5, 0.0, -0.5],
        [-0.5, -0.5, 0.5, 0.0],
    ];
    let twice = nalgebra::DMatrix::from_fn(4, 4, |row, column| rows[row][column]);
    let mix = nash::equilibrium(&twice);
    for (share, should) in mix.iter().zip([1.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0]) {
        assert!((share - should).abs() < 0.005, "{mix}");
    }
}

/// The slow reference: the residual by numeric derivatives of expected points and of the log-likelihood.
#[test]
fn residuals_agree_with_the_slow_twin() {
    let world = World {
        elo: &[200.0, 0.0, -100.0, 90.0],
        cycle: 50.0,
        openings: 12,
        of_openings: 100.0,
        of_players: 50.0,
        nu: 0.5,
    };
    let mut tallies = world.play(&mut Random::from_key([3; 32]));
    // A pairing with games from some openings only, and self-play.
    tallies.retain(|tally| tally.first + tally.second != 5 || tally.cluster % 3 == 0);
    tallies.extend((0..12).map(|cluster| tally(cluster, 1, 1, [2, 1, cluster % 2])));
    tallies.sort_unstable();
    let rated = one(4, &tallies);
    let fit = rated.lack_of_fit().unwrap();
    // Parameters: strengths, first move, logarithm of nu; from the ratings, which have a twin of their own.
    let nu = 2.0 * rated.draw_rate() / (1.0 - rated.draw_rate());
    let scale = model::ELO * (1.0 - rated.draw_rate());
    let mut at: Vec<f64> = (0..4).map(|player| rated.difference(player, 0).elo / scale).collect();
    // The prior holds the mean: the players' virtual games are even together.
    let even = |shift: f64| {
        let scores = at.iter().map(|strength| {
            let [win, loss] = [1.0, -1.0].map(|sign: f64| (sign * (strength + shift) / 2.0).exp());
            (win - loss) / (win + nu + loss)
        });
        scores.sum::<f64>()
    };
    let (mut low, mut high) = (-20.0, 20.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if even(middle) < 0.0 { low = middle } else { high = middle }
    }
    at.iter_mut().for_each(|strength| *strength += low);
    at.extend([rated.first_move().unwrap().elo / scale, nu.ln()]);
    let chances = |at: &[f64], tally: &Tally| {
        let lead = at[tally.first as usize] - at[tally.second as usize] + at[4];
        let weights = [(lead / 2.0).exp(), at[5].exp(), (-lead / 2.0).exp()];
        let sum: f64 = weights.iter().sum();
        weights.map(|weight| weight / sum)
    };
    let outcome = |tally: &Tally| [tally.wins, tally.draws, tally.losses].map(f64::from);
    let value = |at: &[f64], of: &[Tally]| -> f64 {
        let logs = of.iter().flat_map(|tally| {
            outcome(tally)
                .into_iter()
                .zip(chances(at, tally))
                .map(|(games, chance)| games * chance.ln())
        });
        logs.sum()
    };
    let gradient = |at: &[f64], value: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        (0..at.len())
            .map(|parameter| {
                let moved = |by: f64| {
                    let mut at = at.to_vec();
                    at[parameter] += by;
                    value(&at)
                };
                (moved(1e-4) - moved(-1e-4)) / 2e-4
            })
            .collect()
    };
    let curvature: Vec<Vec<f64>> = (0..6)
        .map(|row| {
            let of_row = |at: &[f64]| gradient(at, &|at| value(at, &tallies))[row];
            gradient(&at, &of_row).iter().map(|second| -second).collect()
        })
        .collect();
    let held = |row: usize, column: usize| f64::from(u8::from(row < 4 && column < 4)) * 10.0;
    let inverse =
        nalgebra::DMatrix::from_fn(6, 6, |row, column| curvature[row][column] + held(row, column))
            .try_inverse()
            .unwrap();
    for departure in &fit.pairings {
        let is_of = |tally: &&Tally| {
            let pair = [tally.first as usize, tally.second as usize];
            pair == [departure.player, departure.opponent]
                || pair == [departure.opponent, departure.player]
        };
        let expected = |at: &[f64]| -> f64 {
            let points = tallies.iter().filter(is_of).map(|tally| {
                let [win, _, loss] = chances(at, tally);
                let lead = f64::from(tally.games()) * (win - loss) / 2.0;
                if tally.first as usize == departure.player { lead } else { -lead }
            });
            points.sum()
        };
        let points: f64 = tallies
            .iter()
            .filter(is_of)
            .map(|tally| {
                let lead = (f64::from(tally.wins) - f64::from(tally.losses)) / 2.0;
                if tally.first as usize == departure.player { lead } else { -lead }
            })
            .sum();
        let games: f64 = tallies.iter().filter(is_of).map(|tally| f64::from(tally.games())).sum();
        let score = nalgebra::DVector::from_vec(gradient(&at, &|at| value(at, &tallies)));
        let by = nalgebra::DVector::from_vec(gradient(&at, &expected));
        let should = (points - expected(&at) - by.dot(&(&inverse * score))) / games;
        assert!((departure.score - should).abs() < 1e-4, "{departure:?}: {should}");
    }
}
