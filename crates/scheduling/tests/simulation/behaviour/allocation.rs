//! Which cells go first.

use std::collections::VecDeque;

use spelrum_model::demands::Offer;
use spelrum_model::{
    Allocation, CellId, ExperimentId, GameId, LeaseId, SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::{
    CellState, Effect, Event, Policy, Report, Scheduler, Snapshot, Time,
};
use spelrum_scheduling::stopping::Points;

use crate::dice::Dice;
use crate::script::check;

/// Of nothing is known least, and what is leased is as good as known.
#[test]
fn the_least_known_cell_goes_first() {
    check(
        "submit e1 10x100 20x100 30x100 informative ->
         w1 wants 1                -> lease 1: 10:0-1
         w2 wants 1                -> lease 2: 20:0-1
         w1 played 1/10:0-1        -> counts, counts
         w1 wants 1                -> lease 3: 30:0-1 20:2-3 10:2-3
         w1 wants 1                -> lease 4: 30:2-3 20:4-5 10:4-5
         restart                   ->
         w3 wants 1                -> lease 5: 30:4-5",
    );
}

/// Its last games are played all the same, and a lost game of it comes first.
#[test]
fn a_cell_that_is_known_well_gets_its_games() {
    check(
        "submit e1 10x4 20x2 informative ->
         w1 wants 1                -> lease 1: 10:0-1
         w1 played 1/10:0          -> counts
         w1 returns 1              ->
         w1 wants 9                -> lease 2: 20:0-1
         w1 wants 1                -> lease 3: 10:1
         w1 wants 1                -> lease 4: 10:2-3
         w1 played 2/20:0-1        -> counts, counts
         w1 played 3/10:1          -> counts
         w1 played 4/10:2-3        -> counts, counts, e1 finished",
    );
}

/// Another allocation holds from the next lease on; what was played under the first one is known.
#[test]
fn a_sweep_may_change_its_mind() {
    check(
        "submit e1 10x100 20x100 30x100    ->
         w1 wants 1                -> lease 1: 10:0-1
         w1 played 1/10:0-1        -> counts, counts
         restart                   ->
         submit e1 10x100 20x100 30x100 informative ->
         w1 wants 1                -> lease 2: 20:0-1
         submit e1 10x100 20x100 30x100    ->
         w1 wants 1                -> lease 3: 10:2-3",
    );
}

const CELLS: i64 = 24;
const GAMES: u64 = 200;

/// Plays half of a sweep's games, of which every other cell is even and the others are one-sided; returns of each cell, with the chance that a game of it is won, how many
/// of its games were played.
fn half_of_a_sweep(allocation: Allocation) -> Vec<(f64, u64)> {
    let chance = |cell: i64| if cell % 2 == 0 { 0.5 } else { 0.97 };
    let mut scheduler = Scheduler::restore(Snapshot::default(), Policy::default(), Time(0));
    let experiment = ExperimentId(1);
    let cells = (0..CELLS).map(|cell| CellState::new(CellId(cell), GAMES)).collect();
    let attempts = Vec::new();
    let settings = SchedulingSettings { allocation, ..SchedulingSettings::default() };
    scheduler
        .handle(Event::Submitted { experiment, settings, open: false, cells, attempts }, Time(0));
    let (mut dice, worker) = (Dice::new(1), WorkerId(1));
    let mut played = vec![0; CELLS as usize];
    let mut leased: VecDeque<(LeaseId, GameId)> = VecDeque::new();
    while played.iter().sum::<u64>() < CELLS as u64 * GAMES / 2 {
        let Some((lease, game)) = leased.pop_front() else {
            let asked = Event::LeaseWanted {
                worker,
                slots: 4,
                quiet_slots: 0,
                memory_bytes: None,
                offer: Offer::default(),
                trains: true,
                verifies: true,
            };
            let effects = scheduler.handle(asked, Time(0));
            let [Effect::Grant { lease, ranges, .. }] = &effects[..] else { panic!("{effects:?}") };
            for range in ranges {
                let game = |number| GameId { cell: range.cell, number };
                leased.extend((range.first..range.end()).map(|number| (*lease, game(number))));
            }
            continue;
        };
        let is_won = dice.chance((1_000.0 * chance(game.cell.0)) as u64);
        let of_first_player = if is_won { Points::One } else { Points::Zero };
        let moves_first = game.number % 2 == 0;
        let points = if moves_first { of_first_player } else { of_first_player.swapped() };
        let report = Report::Played { wall_us: 100_000, points, moves_hash: 0, forfeit: None };
        let (settled, leased) = (false, true);
        let reported = Event::Reported { worker, lease, game, report, settled, leased };
        scheduler.handle(reported, Time(0));
        scheduler.take_changes();
        played[game.cell.0 as usize] += 1;
    }
    (0..CELLS).map(chance).zip(played).collect()
}

/// The standard error of the cell that is known least, had its score the variance that it has.
fn worst_error(played: &[(f64, u64)]) -> f64 {
    let error = |&(chance, games): &(f64, u64)| (chance * (1.0 - chance) / games as f64).sqrt();
    played.iter().map(error).fold(0.0, f64::max)
}

/// What a sweep that is ended halfway is worth. In the order of the grid, half of its cells are not known at
/// all; with equally many games in each, the even ones are known least.
#[test]
fn half_of_a_sweep_tells_of_all_its_cells() {
    let grid = half_of_a_sweep(Allocation::Grid);
    assert_eq!(grid.iter().filter(|(_, games)| *games > 0).count(), 12);
    let informative = half_of_a_sweep(Allocation::Informative);
    let equal: Vec<(f64, u64)> = informative.iter().map(|&(chance, _)| (chance, 100)).collect();
    let (ours, plain) = (worst_error(&informative), worst_error(&equal));
    println!("worst standard error: {ours:.4}, with equally many games {plain:.4}");
    assert!(ours < 0.85 * plain, "{ours} {plain} {informative:?}");
}
