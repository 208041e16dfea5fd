//! Races against one that remembers every round, the sequence against its definition by integrals, and error rates and
//! games of simulated races.

use proptest::prelude::*;
use spelrum_engine::Random;

use super::sequence::{Sequence, Sums};
use super::*;
use crate::coverage_rounds::rounds_or;

fn rule(error_rate: f64, within: f64, rounds: u64) -> RaceRule {
    RaceRule::new(error_rate, within, rounds).unwrap()
}

#[test]
fn a_rule_is_in_its_range() {
    for (error_rate, within, rounds) in
        [(0.0, 0.0, 1), (0.6, 0.0, 1), (0.05, -0.1, 1), (0.05, 1.0, 1)]
    {
        assert_eq!(RaceRule::new(error_rate, within, rounds), None);
    }
    assert_eq!(RaceRule::new(0.05, 0.0, 0), None);
    assert_eq!(RaceRule::new(f64::NAN, 0.0, 1), None);
    assert_eq!(RaceRule::new(0.05, f64::NAN, 1), None);
    assert_eq!(rule(0.5, 0.0, 1).error_rate(), 0.5);
}

/// The likelihood ratio of its definition, by sums over a grid of the mean in deviations and of the deviation.
fn evidence_by_integrals(values: &[f64], prior: f64) -> f64 {
    let steps = |from: f64, to: f64, number: u32| {
        (0..number).map(move |at| from + (to - from) * (f64::from(at) + 0.5) / f64::from(number))
    };
    let log_likelihood = |mean: f64, deviation: f64| -> f64 {
        let square = |value: &f64| ((value / deviation - mean) * (value / deviation - mean)) / 2.0;
        -(values.len() as f64) * libm::log(deviation) - values.iter().map(square).sum::<f64>()
    };
    // The deviation is summed over its logarithm: that is Jeffreys' prior.
    let over_deviations = |mean: f64| -> f64 {
        steps(-4.0, 6.0, 500).map(|log| libm::exp(log_likelihood(mean, libm::exp(log)))).sum()
    };
    let end = 8.0 * prior.sqrt();
    let (mut sum, mut weights) = (0.0, 0.0);
    for mean in steps(-end, end, 801) {
        let weight = libm::exp(-mean * mean / (2.0 * prior));
        sum += weight * over_deviations(mean);
        weights += weight;
    }
    sum / weights / over_deviations(0.0)
}

/// Where the closed form says that a mean is just not rejected, the evidence is just that of the error.
#[test]
fn the_closed_form_is_that_of_the_definition() {
    for (error, planned, values) in [
        (0.05, 20, vec![1.0, -0.4, 0.7, 1.3, 0.2, 0.9, -0.1, 0.5]),
        (0.01, 200, vec![1.0, -2.0, 0.3, 0.4, -0.5, 1.6, 0.2, 0.9, -0.7, 0.1, 1.1, -1.4]),
        (0.005, 40, vec![0.2, 0.3, 0.5, 0.1, -0.2, 0.4, 0.9, 0.3, 0.6, 0.5, 0.2, 0.1, 0.4]),
    ] {
        let sequence = Sequence::new(error, planned, 1);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let lead = sequence.lead_allowed(count);
        assert!(lead.is_finite(), "{error}");
        let half = (lead * squares / (count - 1.0) / count).sqrt();
        let prior = (40.0 / planned as f64).min(1.0);
        let shifted: Vec<f64> = values.iter().map(|value| value - (mean - half)).collect();
        let evidence = evidence_by_integrals(&shifted, prior);
        let needed = (1.0 + error) / (2.0 * error);
        assert!((evidence / needed - 1.0).abs() < 1e-3, "{error}: {evidence}, {needed}");
    }
}

#[test]
fn few_or_equal_rounds_are_no_certainty() {
    let sequence = Sequence::new(0.05, 100, 5);
    let mut sums = Sums::default();
    assert_eq!(sums.mean(), None);
    for round in 0..100 {
        let [mean, low, high] = sequence.interval(&sums);
        assert!(low <= mean && mean <= high);
        assert!(round >= 5 || low < 0.0, "{round}: {low}");
        assert!(round < 20 || low > 0.0 && high > mean, "{round}: {low}");
        // All of a round's pairs better by a quarter of a point, time and again.
        sums.add(0.25);
    }
}

/// A race that remembers every round, and reckons all anew from them.
struct Slow {
    rule: RaceRule,
    pairs: u64,
    players: usize,
    rounds: Vec<Vec<Option<f64>>>,
    out: Vec<Option<u64>>,
}

impl Slow {
    /// The ends of the lead of a player over another.
    fn lead(&self, player: usize, over: usize) -> [f64; 2] {
        let both = |round: &Vec<Option<f64>>| Some(round[player]? - round[over]?);
        let leads: Vec<f64> = self.rounds.iter().filter_map(both).collect();
        let count = leads.len() as f64;
        let all = [-1.0, 1.0];
        let error = self.rule.error_rate() / (self.players as f64 - 1.0);
        let lead = Sequence::new(error, self.rule.rounds(), self.pairs).lead_allowed(count);
        if lead.is_infinite() {
            return all;
        }
        let mean = leads.iter().sum::<f64>() / count;
        let squares: f64 = leads.iter().map(|lead| (lead - mean) * (lead - mean)).sum();
        let unseen = 2.0 / (self.pairs * self.pairs) as f64 * count / (count + 1.0);
        let half = (lead * (squares + unseen) / (count - 1.0) / count).sqrt();
        [(mean - half).max(-1.0), (mean + half).min(1.0)]
    }

    fn is_in(&self, player: usize) -> bool {
        self.out[player].is_none()
    }

    /// Adds a round, and returns the verdict.
    fn add(&mut self, round: Vec<Option<f64>>) -> Option<RaceVerdict> {
        let masked = (0..self.players).map(|player| round[player].filter(|_| self.is_in(player)));
        self.rounds.push(masked.collect());
        let number = self.rounds.len() as u64;
        for player in 0..self.players {
            let beats =
                |by: usize| self.is_in(by) && by != player && self.lead(by, player)[0] > 0.0;
            if self.is_in(player) && (0..self.players).any(beats) {
                self.out[player] = Some(number);
            }
        }
        let left: Vec<usize> = (0..self.players).filter(|&player| self.is_in(player)).collect();
        let mean = |player: usize| {
            let scores: Vec<f64> = self.rounds.iter().filter_map(|round| round[player]).collect();
            if scores.is_empty() { 0.0 } else { scores.iter().sum::<f64>() / scores.len() as f64 }
        };
        let mut leader = left[0];
        for &player in &left {
            if mean(player) > mean(leader) + 1e-12 {
                leader = player;
            }
        }
        if left.len() == 1 {
            return Some(RaceVerdict::First(leader));
        }
        let is_close = |other: &usize| self.lead(*other, leader)[1] <= self.rule.within();
        if left.iter().filter(|&&other| other != leader).all(is_close) {
            return Some(RaceVerdict::Within(leader));
        }
        (number == self.rule.rounds()).then_some(RaceVerdict::Unknown)
    }
}

fn any_rounds() -> impl Strategy<Value = (usize, Vec<Vec<Option<f64>>>)> {
    (1_usize..6).prop_flat_map(|players| {
        let strengths = prop::collection::vec(0_u32..60, players);
        (
            strengths,
            prop::collection::vec(prop::collection::vec((0_u32..41, 0_u32..25), players), 1..40),
        )
            .prop_map(move |(strengths, noise)| {
                let score = |(at, &(noise, lost)): (usize, &(u32, u32))| {
                    (lost > 0).then(|| f64::from(strengths[at] + noise) / 100.0)
                };
                let round = |noise: &Vec<(u32, u32)>| noise.iter().enumerate().map(score).collect();
                (players, noise.iter().map(round).collect())
            })
    })
}

proptest! {
    #[test]
    fn a_race_is_that_of_all_its_rounds(
        (players, rounds) in any_rounds(),
        within in prop_oneof![Just(0.0), 0.01..0.3_f64],
        error_rate in 0.01..0.3_f64,
        pairs in 1_u64..30,
    ) {
        let rule = rule(error_rate, within, 30);
        let mut race = Race::new(rule, players, pairs);
        let mut slow =
            Slow { rule, pairs, players, rounds: Vec::new(), out: vec![None; players] };
        let mut verdict = (players == 1).then_some(RaceVerdict::First(0));
        for round in rounds {
            race.add_round(&round);
            if verdict.is_none() {
                verdict = slow.add(round);
            }
            prop_assert_eq!(race.verdict(), verdict);
            prop_assert_eq!(race.rounds(), slow.rounds.len() as u64);
            for (player, chance) in race.chances().iter().enumerate() {
                match *chance {
                    Chance::In => prop_assert_eq!(slow.out[player], None),
                    Chance::Out { after, by } => {
                        prop_assert_eq!(slow.out[player], Some(after));
                        prop_assert!(by != player);
                    }
                }
                for other in (0..players).filter(|&other| other != player) {
                    let [mean, low, high] = race.lead(player, other);
                    let [slow_low, slow_high] = slow.lead(player, other);
                    prop_assert!((low - slow_low).abs() < 1e-9 && (high - slow_high).abs() < 1e-9);
                    prop_assert!((-1.0..=1.0).contains(&mean));
                }
            }
        }
    }
}

/// Players in an invented tournament against common opponents.
struct World {
    name: &'static str,
    /// Their strengths in Elo; the first is best.
    elo: Vec<f64>,
    /// The share of draws between equals.
    draws: f64,
    /// The deviation, in logits, of what an opening gives to the first mover, and to all players.
    spread: f64,
    /// Pairs of a player in a round.
    pairs: u32,
    rule: RaceRule,
}

/// The mean result of many races.
#[derive(Debug, Default)]
struct Raced {
    /// The share in which a wrong player was called first.
    wrong: f64,
    /// The share that ended without a verdict.
    unknown: f64,
    rounds: f64,
    /// Games, divided by those of all players in as many rounds.
    games_ratio: f64,
}

fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - random.unit())).sqrt();
    radius * libm::cos(core::f64::consts::TAU * random.unit())
}

/// The points of a game in which this many are expected.
fn play(random: &mut Random, expected: f64, draws: f64) -> f64 {
    let draws = draws.min(2.0 * expected).min(2.0 - 2.0 * expected);
    let wins = expected - draws / 2.0;
    let x = random.unit();
    if x < wins {
        1.0
    } else if x < wins + draws {
        0.5
    } else {
        0.0
    }
}

impl World {
    fn expected(logit: f64) -> f64 {
        1.0 / (1.0 + libm::exp(-logit))
    }

    /// The scores of a round, in which all players meet the same openings.
    fn round(&self, random: &mut Random, chances: &[Chance]) -> Vec<Option<f64>> {
        let mut points = vec![0.0; self.elo.len()];
        for _ in 0..self.pairs {
            let first = normal(random) * self.spread;
            let all = normal(random) * self.spread;
            for (player, points) in points.iter_mut().enumerate() {
                if chances[player] == Chance::In {
                    let own = normal(random) * self.spread / 2.0;
                    let logit = self.elo[player] * core::f64::consts::LN_10 / 400.0 + all + own;
                    for expected in [logit + first, logit - first].map(Self::expected) {
                        *points += play(random, expected, self.draws) / 2.0;
                    }
                }
            }
        }
        let is_in = |player: usize| chances[player] == Chance::In;
        let share = |(player, points)| is_in(player).then(|| points / f64::from(self.pairs));
        points.into_iter().enumerate().map(share).collect()
    }

    /// The true mean score of a player.
    fn mean_score(&self, player: usize) -> f64 {
        let mut random = Random::from_key([5; 32]);
        let logit = self.elo[player] * core::f64::consts::LN_10 / 400.0;
        let spread = self.spread * (1.0_f64 + 1.0 + 0.25).sqrt();
        let draws = 20_000;
        let one = |_| {
            let off = spread * normal(&mut random);
            Self::expected(logit + off) + Self::expected(logit - off)
        };
        (0..draws).map(one).sum::<f64>() / f64::from(2 * draws)
    }

    fn run(&self, races: u32) -> Raced {
        let players = self.elo.len();
        let scores: Vec<f64> = (0..players).map(|player| self.mean_score(player)).collect();
        let mut raced = Raced::default();
        let mut games = [0.0; 2];
        for number in 0..races {
            let mut key = [31; 32];
            key[..4].copy_from_slice(&number.to_be_bytes());
            let mut random = Random::from_key(key);
            let mut race = Race::new(self.rule, players, u64::from(self.pairs));
            while race.verdict().is_none() {
                let still_in = race.chances().iter().filter(|&&chance| chance == Chance::In);
                games[0] += still_in.count() as f64;
                games[1] += players as f64;
                let round = self.round(&mut random, race.chances());
                race.add_round(&round);
            }
            raced.rounds += race.rounds() as f64 / f64::from(races);
            let share = 1.0 / f64::from(races);
            match race.verdict() {
                Some(RaceVerdict::First(first)) if self.elo[first] < self.elo[0] => {
                    raced.wrong += share
                }
                Some(RaceVerdict::Within(first))
                    if scores[0] - scores[first] > self.rule.within() =>
                {
                    raced.wrong += share;
                }
                Some(RaceVerdict::First(_) | RaceVerdict::Within(_)) => {}
                Some(RaceVerdict::Unknown) | None => raced.unknown += share,
            }
        }
        raced.games_ratio = games[0] / games[1];
        let Raced { wrong, unknown, rounds, games_ratio } = raced;
        println!(
            "{}: wrong {:.2} %, unknown {:.1} %, {rounds:.1} rounds, {games_ratio:.2} of equal allocation",
            self.name,
            100.0 * wrong,
            100.0 * unknown
        );
        raced
    }
}

/// Strengths that fall by the same step.
fn falling(players: u32, step: f64) -> Vec<f64> {
    (0..players).map(|player| -step * f64::from(player)).collect()
}

/// One player ahead of all others by this much.
fn ahead(players: usize, base: f64, by: f64) -> Vec<f64> {
    let mut elo = vec![base - by; players];
    elo[0] = base;
    elo
}

/// A share that is three standard deviations above the rate.
fn most_errors(rate: f64, races: u32) -> f64 {
    rate + 3.0 * (rate * (1.0 - rate) / f64::from(races)).sqrt()
}

/// The figures of docs/statistics.md, which used more races (`SPELRUM_COVERAGE_ROUNDS`).
#[test]
fn wrong_players_are_called_first_as_seldom_as_stated() {
    let races = rounds_or(100);
    let world = |name, elo, draws, pairs, within, rounds| World {
        name,
        elo,
        draws,
        spread: 0.5,
        pairs,
        rule: rule(0.05, within, rounds),
    };
    for world in [
        world("2 players all but equal", ahead(2, 0.0, 0.01), 0.3, 5, 0.0, 100),
        world(
            "2 players all but equal, one pair in a round",
            ahead(2, 0.0, 0.01),
            0.3,
            1,
            0.0,
            200,
        ),
        world("2 players, just beyond 0.02", vec![-16.0, 0.0], 0.3, 10, 0.02, 200),
        world("10 players all but equal", ahead(10, 0.0, 0.01), 0.3, 5, 0.0, 100),
        world("10 players, most games drawn", ahead(10, 0.0, 0.01), 0.95, 5, 0.0, 100),
        world("10 players far above their opponents", ahead(10, 500.0, 0.01), 0.02, 5, 0.0, 100),
        world("10 players, just beyond 0.02", ahead(10, 0.0, 16.0), 0.3, 10, 0.02, 200),
        world("40 players all but equal", ahead(40, 0.0, 0.01), 0.3, 5, 0.0, 60),
    ] {
        let mut world = world;
        // The best is the last, so that the order of players favours the others.
        world.elo.sort_by(f64::total_cmp);
        world.elo.reverse();
        let raced = world.run(races);
        assert!(raced.wrong <= most_errors(0.05, races), "{}: {raced:?}", world.name);
    }
}

/// Where players differ, the race comes to its end, with fewer games than equal allocation.
#[test]
fn races_take_fewer_games_than_equal_allocation() {
    let races = rounds_or(60);
    for (name, elo, within, rounds, most) in [
        ("10 players, 40 Elo apart", falling(10, 40.0), 0.0, 100, 0.5),
        ("10 players, 100 Elo apart", falling(10, 100.0), 0.0, 100, 0.75),
        ("20 players, one 60 Elo ahead", ahead(20, 0.0, 60.0), 0.0, 100, 0.75),
        ("20 players, 20 Elo apart", falling(20, 20.0), 0.0, 400, 0.3),
        ("20 players, 20 Elo apart, within 0.02", falling(20, 20.0), 0.02, 400, 0.4),
    ] {
        let rule = rule(0.05, within, rounds);
        let world = World { name, elo, draws: 0.3, spread: 0.5, pairs: 15, rule };
        let raced = world.run(races);
        assert!(raced.wrong <= most_errors(0.05, races), "{name}: {raced:?}");
        assert!(raced.unknown < 0.2 && raced.games_ratio < most, "{name}: {raced:?}");
    }
}

/// Pairs of a player's two games by points, and of another with the same mean that wins nearly all rounds and loses
/// much in a few: what a sequence of normal values is weakest against.
#[test]
fn rare_disasters_do_not_call_a_player_first() {
    let races = rounds_or(400);
    let draw = |random: &mut Random, classes: &[f64; 5]| -> f64 {
        let mut x = random.unit();
        let class = classes.iter().position(|p| {
            x -= p;
            x < 0.0
        });
        class.unwrap_or(4) as f64 / 4.0
    };
    for (name, first, second) in [
        ("usual", [0.1, 0.2, 0.4, 0.2, 0.1], [0.1, 0.2, 0.4, 0.2, 0.1]),
        ("disasters", [0.0, 0.0, 0.1, 0.0, 0.9], [0.05, 0.0, 0.0, 0.0, 0.95]),
        ("disasters against steadiness", [0.0, 0.0, 0.0, 0.2, 0.8], [0.05, 0.0, 0.0, 0.0, 0.95]),
        (
            "ahead but for disasters",
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [1.0 / 3.0, 0.0, 0.0, 2.0 / 3.0, 0.0],
        ),
    ] {
        for pairs in [1, 2, 5, 20] {
            let mut random = Random::from_key([33; 32]);
            let mut wrong = 0.0;
            for _ in 0..races {
                let mut race = Race::new(rule(0.05, 0.0, 100), 2, pairs);
                while race.verdict().is_none() {
                    let mut mean = |classes| {
                        let points: f64 = (0..pairs).map(|_| draw(&mut random, classes)).sum();
                        points / pairs as f64
                    };
                    race.add_round(&[Some(mean(&first)), Some(mean(&second))]);
                }
                if race.verdict() == Some(RaceVerdict::First(1)) {
                    wrong += 1.0 / f64::from(races);
                }
            }
            println!("{name}, {pairs} pairs in a round: {:.2} %", 100.0 * wrong);
            assert!(wrong <= most_errors(0.05, races), "{name}, {pairs}: {wrong}");
        }
    }
}
