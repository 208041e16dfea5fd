//! Error rates of an SPRT when many slots play and outcomes determine how long games take.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use spelrum_engine::Random;
use spelrum_statistics::{EloModel, OpeningTally, Sprt, StopRule, Tally, Verdict};

use super::{Points, Prefix, Reading, Settled};

/// Slots that play at once.
const SLOTS: usize = 256;
/// Longer matches have no result.
const GAMES_MAX: u64 = 20_000;
/// Number of matches in which each of the two hypotheses is true.
const MATCHES: u32 = 5_000;

const ALPHA: f64 = 0.05;
const BETA: f64 = 0.1;

/// A player's three outcomes of one game: half points 0, 1 and 2.
type Chances = [f64; 3];

/// Both games of a pair, independent of each other: the player moves first in one of them.
struct Pairing {
    moving_first: Chances,
    moving_second: Chances,
}

impl Pairing {
    /// A third of the games are drawn; the player who moves first has this advantage in points, and the
    /// player one that puts a pair's mean this many of its standard deviations above one half.
    fn from_t_value(t: f64) -> Self {
        Self::from_edge(edge_where(t, |edge| Self::from_edge(edge).t_value()))
    }

    fn from_edge(edge: f64) -> Self {
        let game = |lead: f64| [(2.0 / 3.0 - lead) / 2.0, 1.0 / 3.0, (2.0 / 3.0 + lead) / 2.0];
        Self { moving_first: game(0.2 + edge), moving_second: game(edge - 0.2) }
    }

    fn t_value(&self) -> f64 {
        t_value(self.moments())
    }

    /// The mean of a pair's score, and that of its square.
    fn moments(&self) -> [f64; 2] {
        let (mut mean, mut square) = (0.0, 0.0);
        for (first, p) in self.moving_first.iter().enumerate() {
            for (second, q) in self.moving_second.iter().enumerate() {
                let score = (first + second) as f64 / 4.0;
                mean += p * q * score;
                square += p * q * score * score;
            }
        }
        [mean, square]
    }

    fn play(&self, number: u64, random: &mut Random) -> Points {
        let chances = if number.is_multiple_of(2) { self.moving_first } else { self.moving_second };
        let drawn = random.unit();
        if drawn < chances[0] {
            Points::Zero
        } else if drawn < chances[0] + chances[1] {
            Points::Half
        } else {
            Points::One
        }
    }
}

/// The edge that has this t value, which grows with it.
fn edge_where(t: f64, t_value: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-0.4, 0.4);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if t_value(middle) < t { low = middle } else { high = middle }
    }
    low
}

fn t_value([mean, square]: [f64; 2]) -> f64 {
    (mean - 0.5) / (square - mean * mean).sqrt()
}

/// Wins are short and draws long: the first arrivals overstate the player's strength.
fn duration(points: Points, random: &mut Random) -> u64 {
    let usual = match points {
        Points::One => 100,
        Points::Zero => 400,
        Points::Half => 1_500,
    };
    usual / 2 + u64::from(random.below(usual as u32))
}

/// Plays a match to its verdict, and returns the number of games too.
fn play(rule: StopRule, pairing: &Pairing, random: &mut Random) -> (Option<Verdict>, u64) {
    let StopRule::Sprt(sprt) = rule else { return (None, 0) };
    let mut prefix = Prefix::from(Reading::from_start(rule, true, Vec::new()));
    let mut playing: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let mut results = Vec::new();
    let mut begin = |now: u64, results: &mut Vec<Points>, playing: &mut BinaryHeap<_>| {
        let number = results.len() as u64;
        let points = pairing.play(number, random);
        results.push(points);
        playing.push(Reverse((now + duration(points, random), number)));
    };
    for _ in 0..SLOTS {
        begin(0, &mut results, &mut playing);
    }
    while let Some(Reverse((now, number))) = playing.pop() {
        prefix.tell(number, Settled::Played(results[number as usize], number));
        if let Some(stop) = prefix.stop_number() {
            let mut tally = Tally::new(true);
            for pair in results[..stop as usize].chunks(2) {
                tally.add(pair.iter().map(|points| points.half_points()).sum());
            }
            return (sprt.verdict(tally.llr(&sprt)), stop);
        }
        if (results.len() as u64) < GAMES_MAX {
            begin(now, &mut results, &mut playing);
        }
    }
    (None, GAMES_MAX)
}

/// 10,000 matches, half of them where each hypothesis is true: errors are as rare as the test promises,
/// within three standard deviations of this many matches.
#[test]
fn a_sequential_test_is_wrong_as_often_as_it_says() {
    let sprt = Sprt::new(0.0, 60.0, ALPHA, BETA, EloModel::Normalized).unwrap();
    let rule = StopRule::Sprt(sprt);
    let mut random = Random::from_key([12; 32]);
    for (elo, wrong, nominal) in [(0.0, Verdict::Elo1, ALPHA), (60.0, Verdict::Elo0, BETA)] {
        let t = elo * 2.0_f64.sqrt() * core::f64::consts::LN_10 / 800.0;
        let pairing = Pairing::from_t_value(t);
        let (mut errors, mut games) = (0, 0);
        for _ in 0..MATCHES {
            let (verdict, played) = play(rule, &pairing, &mut random);
            assert!(verdict.is_some(), "a match has no end");
            errors += u32::from(verdict == Some(wrong));
            games += played;
        }
        let rate = f64::from(errors) / f64::from(MATCHES);
        let sampling = 3.0 * (nominal * (1.0 - nominal) / f64::from(MATCHES)).sqrt();
        println!("{elo} Elo: wrong {rate:.4} for {nominal}, {} games", games / u64::from(MATCHES));
        assert!(rate <= nominal + sampling, "{elo} Elo: wrong in {rate} for {nominal}");
        // A test that is never wrong plays far too long.
        assert!(rate >= nominal / 2.0, "{elo} Elo: wrong in {rate} for {nominal}");
    }
}

/// A book whose openings deviate by up to this many points from the mean in one player's favour, evenly
/// spread.
struct Book {
    openings: u64,
    leans: f64,
    /// Whether a game whose opening recurs is identical.
    repeats: bool,
}

/// Maximum number of rounds through a book's openings.
const ROUNDS: u64 = 8;

impl Book {
    /// The edge at which pairs from all such openings have this t value.
    fn edge_of_t_value(&self, t: f64) -> f64 {
        const STEPS: u32 = 64;
        let lean = |step| self.leans * (2.0 * (f64::from(step) + 0.5) / f64::from(STEPS) - 1.0);
        edge_where(t, |edge| {
            let moments = (0..STEPS).map(|step| Pairing::from_edge(edge + lean(step)).moments());
            let sums =
                moments.fold([0.0, 0.0], |sum, moments| [sum[0] + moments[0], sum[1] + moments[1]]);
            t_value(sums.map(|sum| sum / f64::from(STEPS)))
        })
    }

    /// Draws openings, and plays them round by round to a verdict, if there is one.
    fn play(&self, sprt: &Sprt, edge: f64, random: &mut Random) -> Option<Verdict> {
        let lean = |random: &mut Random| self.leans * (2.0 * random.unit() - 1.0);
        let openings: Vec<Pairing> =
            (0..self.openings).map(|_| Pairing::from_edge(edge + lean(random))).collect();
        let reading = Reading::from_start(StopRule::Sprt(*sprt), true, Vec::new());
        let mut prefix = Prefix::from(reading.with_openings(Some(self.openings)));
        let (mut tally, mut by_opening) =
            (Tally::new(true), OpeningTally::new(Some(self.openings))?);
        let mut first = Vec::new();
        for pair in 0..ROUNDS * self.openings {
            let opening = (pair % self.openings) as usize;
            let points = match first.get(opening) {
                Some(&before) if self.repeats => before,
                _ => [2 * pair, 2 * pair + 1].map(|game| openings[opening].play(game, random)),
            };
            if first.len() == opening {
                first.push(points);
            }
            let half_points = points.iter().map(|points| points.half_points()).sum();
            tally.add(half_points);
            by_opening.add(pair, 1, half_points as u64);
            for (number, points) in (2 * pair..).zip(points) {
                prefix.tell(number, Settled::Played(points, number));
            }
            if prefix.stop_number().is_some() {
                return sprt.verdict(tally.llr_over(sprt, Some(&by_opening)));
            }
        }
        None
    }
}

/// Books that run out, with and without openings that favour one player, where repeated openings give new
/// games or the same ones: no error is more frequent than the test promises, within three standard deviations
/// of this many matches. `SPELRUM_COVERAGE_ROUNDS` plays more of them.
#[test]
fn a_sequential_test_over_a_small_book_is_wrong_no_more_often_than_it_says() {
    let rounds = std::env::var("SPELRUM_COVERAGE_ROUNDS").ok().and_then(|text| text.parse().ok());
    let matches: u32 = rounds.unwrap_or(120);
    let sprt = Sprt::new(0.0, 60.0, ALPHA, BETA, EloModel::Normalized).unwrap();
    let mut random = Random::from_key([14; 32]);
    for openings in [12, 50, 200] {
        for (leans, repeats) in [(0.0, false), (0.25, false), (0.0, true), (0.25, true)] {
            let book = Book { openings, leans, repeats };
            for (elo, wrong, nominal) in [(0.0, Verdict::Elo1, ALPHA), (60.0, Verdict::Elo0, BETA)]
            {
                let t = elo * 2.0_f64.sqrt() * core::f64::consts::LN_10 / 800.0;
                let edge = book.edge_of_t_value(t);
                let (mut errors, mut open) = (0, 0);
                for _ in 0..matches {
                    let verdict = book.play(&sprt, edge, &mut random);
                    errors += u32::from(verdict == Some(wrong));
                    open += u32::from(verdict.is_none());
                }
                let [rate, open] =
                    [errors, open].map(|count| f64::from(count) / f64::from(matches));
                println!(
                    "{openings} openings, leaning {leans}, repeated {repeats}, {elo} Elo: wrong {rate:.4} for \
                     {nominal}, without a verdict {open:.3}"
                );
                let sampling = 3.0 * (nominal * (1.0 - nominal) / f64::from(matches)).sqrt();
                assert!(rate <= nominal + sampling, "wrong in {rate} for {nominal}");
            }
        }
    }
}
