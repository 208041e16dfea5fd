//! Forecasts against a slow reference: the experiment played to its end, game by game.

use spelrum_engine::Random;

use super::*;

/// An experiment: the true mean time of each cell's games, their number, and their order.
struct Twin {
    random: Random,
    means_us: Vec<f64>,
    games_of_cell: u64,
    slots: usize,
    /// Games of all cells in turn, as opposed to cell after cell.
    in_turn: bool,
    /// The variation of a cell's games: times are between mean / (1 + this) and about as far above.
    variation: f64,
}

/// A game that was played.
struct Played {
    cell: usize,
    start_us: f64,
    end_us: f64,
}

impl Twin {
    fn new(seed: u8, cells: usize, means_factor: f64, in_turn: bool) -> Self {
        let mut random = Random::from_key([seed; 32]);
        let means_us =
            (0..cells).map(|_| 1e5 * libm::exp(libm::log(means_factor) * random.unit())).collect();
        let games_of_cell = u64::from(8 + random.below(60));
        let slots = 1 + random.below(12) as usize;
        let variation = random.unit();
        Self { random, means_us, games_of_cell, slots, in_turn, variation }
    }

    /// Every game, each begun by the first slot that is free.
    fn play(&mut self) -> Vec<Played> {
        let cells = self.means_us.len();
        let order: Vec<usize> = if self.in_turn {
            (0..self.games_of_cell).flat_map(|_| 0..cells).collect()
        } else {
            (0..cells).flat_map(|cell| (0..self.games_of_cell).map(move |_| cell)).collect()
        };
        let mut free_us = vec![0.0_f64; self.slots];
        let mut played = Vec::new();
        for cell in order {
            let slot = (0..self.slots).min_by(|&a, &b| free_us[a].total_cmp(&free_us[b])).unwrap();
            let off = 1.0 + self.variation * (2.0 * self.random.unit() - 1.0);
            let start_us = free_us[slot];
            let end_us = start_us + self.means_us[cell] * off;
            free_us[slot] = end_us;
            played.push(Played { cell, start_us, end_us });
        }
        played
    }

    /// The sums of a database at this moment.
    fn seen(&self, played: &[Played], now_us: f64) -> (Backlog, GameSpread, Vec<CellWork>) {
        let mut cells = vec![
            CellWork { games_left: self.games_of_cell, ..CellWork::default() };
            self.means_us.len()
        ];
        let done = || played.iter().filter(|game| game.end_us <= now_us);
        for game in done() {
            let cell = &mut cells[game.cell];
            cell.games += 1;
            cell.games_left -= 1;
            cell.wall_us += game.end_us - game.start_us;
        }
        let mut spread = GameSpread::default();
        for game in done() {
            let cell = cells[game.cell];
            spread.add(game.end_us - game.start_us, cell.games, cell.wall_us / cell.games as f64);
        }
        let mut backlog = Backlog::default();
        cells.iter().for_each(|cell| backlog.add(*cell));
        (backlog, spread, cells)
    }
}

/// Over many moments in many experiments: how often the truth was within the range, and the ratio of the
/// range's ends, as a geometric mean.
fn coverage(means_factor: f64, in_turn: bool, moments: &[f64]) -> (f64, f64) {
    let (mut within, mut all, mut width) = (0.0, 0.0, 0.0);
    for seed in 0..=255 {
        let mut twin = Twin::new(seed, 24, means_factor, in_turn);
        let played = twin.play();
        let end_us = played.iter().map(|game| game.end_us).fold(0.0, f64::max);
        for moment in moments {
            let now_us = end_us * moment;
            let (backlog, spread, _) = twin.seen(&played, now_us);
            let Some(forecast) = backlog.forecast(twin.slots as f64, spread) else { continue };
            let truth_us = end_us - now_us;
            all += 1.0;
            within += f64::from((forecast.low_us..=forecast.high_us).contains(&truth_us));
            width += libm::log(forecast.high_us / forecast.low_us.max(forecast.high_us / 1e3));
        }
    }
    assert!(all > 200.0, "{all} forecasts");
    (within / all, libm::exp(width / all))
}

#[test]
fn the_truth_is_in_the_range_about_as_often_as_it_says() {
    // Cells alike or a hundredfold apart, all begun early or one after the other.
    let settings = [(1.0, true), (100.0, true), (100.0, false), (3.0, false)];
    for (means_factor, in_turn) in settings {
        let (within, width) = coverage(means_factor, in_turn, &[0.3, 0.5, 0.7]);
        assert!(within >= 0.75, "{means_factor} {in_turn}: {within} within");
        assert!(width < 20.0, "{means_factor} {in_turn}: {width} wide");
    }
}

#[test]
fn where_every_cell_has_games_the_range_is_narrow() {
    let (within, width) = coverage(100.0, true, &[0.5]);
    assert!(within >= 0.75, "{within} within");
    assert!(width < 1.8, "{width} wide");
}

/// Forty cells of a millisecond come before forty of a second: an average rate would promise the
/// end within the blink of an eye.
#[test]
fn slow_cells_to_come_are_not_forgotten() {
    let mut backlog = Backlog::default();
    for _ in 0..40 {
        backlog.add(CellWork { games_left: 0, games: 100, wall_us: 1e5 });
        backlog.add(CellWork { games_left: 99, games: 1, wall_us: 1e6 });
    }
    let forecast = backlog.forecast(2.0, GameSpread::default()).unwrap();
    let truth_us = 40.0 * 99.0 * 1e6 / 2.0;
    assert!((forecast.left_us / truth_us - 1.0).abs() < 1e-9, "{forecast:?}");
    assert!(forecast.low_us < truth_us && truth_us < forecast.high_us, "{forecast:?}");
}

#[test]
fn cells_without_games_make_the_range_wide() {
    let cell = |games_left, games| CellWork { games_left, games, wall_us: games as f64 * 1e6 };
    let mut seen = Backlog::default();
    let mut unseen = Backlog::default();
    for _ in 0..4 {
        seen.add(cell(100, 100));
        seen.add(cell(100, 100));
        unseen.add(cell(100, 100));
        unseen.add(cell(100, 0));
    }
    let forecast = |backlog: &Backlog| backlog.forecast(4.0, GameSpread::default()).unwrap();
    let (seen, unseen) = (forecast(&seen), forecast(&unseen));
    assert!((seen.left_us - unseen.left_us).abs() < 1.0);
    assert!(unseen.high_us > 1.5 * seen.high_us, "{seen:?} {unseen:?}");
    assert!(unseen.low_us < seen.low_us, "{seen:?} {unseen:?}");
}

#[test]
fn nothing_known_is_said_to_be_nothing() {
    let mut backlog = Backlog::default();
    assert_eq!(backlog.forecast(1.0, GameSpread::default()), Some(Forecast::default()));
    backlog.add(CellWork { games_left: 10, games: 0, wall_us: 0.0 });
    assert_eq!(backlog.forecast(1.0, GameSpread::default()), None);
    backlog.add(CellWork { games_left: 0, games: 10, wall_us: 1e6 });
    for nobody in [0.0, -1.0, f64::NAN] {
        assert_eq!(backlog.forecast(nobody, GameSpread::default()), None);
    }
    assert!(backlog.forecast(1.0, GameSpread::default()).is_some());
}

/// Sums come from other machines: times below zero are no reason to end.
#[test]
fn times_below_zero_leave_no_time() {
    let backlog = Backlog { games_left: 1, seen_cells: 1, seen_us: -1e9, ..Backlog::default() };
    let forecast = backlog.forecast(1.0, GameSpread::default()).unwrap();
    assert_eq!(forecast.low_us, 0.0);
}

/// For any sums, the ends are in order and finite.
#[test]
fn ends_are_in_order() {
    let mut random = Random::from_key([7; 32]);
    for _ in 0..20_000 {
        let mut backlog = Backlog::default();
        let mut spread = GameSpread::default();
        for _ in 0..=random.below(5) {
            let games = u64::from(random.below(4) * random.below(1_000));
            let mean_us = libm::exp(random.unit() * 30.0 - 5.0);
            let games_left = u64::from(random.below(3) * random.below(1_000));
            backlog.add(CellWork { games_left, games, wall_us: games as f64 * mean_us });
            spread.add(mean_us * random.unit() * 3.0, games, mean_us);
        }
        let at_once = libm::exp(random.unit() * 8.0 - 2.0);
        let Some(Forecast { left_us, low_us, high_us }) = backlog.forecast(at_once, spread) else {
            continue;
        };
        assert!(0.0 <= low_us && low_us <= left_us && left_us <= high_us, "{backlog:?}");
        assert!(high_us.is_finite(), "{backlog:?}");
    }
}

/// Cells whose games take no measurable time.
#[test]
fn games_without_time_take_none() {
    let mut backlog = Backlog::default();
    backlog.add(CellWork { games_left: 5, games: 5, wall_us: 0.0 });
    backlog.add(CellWork { games_left: 5, games: 0, wall_us: 0.0 });
    assert_eq!(backlog.forecast(2.0, GameSpread::default()), Some(Forecast::default()));
}
