//! Pentago's solver: processor time by marbles on the board, and how many times the plain solver
//! takes; the values of all moves, of positions in which the side to move does not win at once, and how
//! many of these have moves of differing value.
//!
//! `cargo bench -p spelrum-engine --bench solver` (add `-- 20` to go down to 20 marbles; 24 by
//! default; `-- all-moves` leaves the first table out).
//!
//! `-- values` prints only the time of the values, once, from 28 marbles down, and what they are;
//! `-- positions` the positions themselves, one a line, to give to another program.

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::PentagoSolver;
use spelrum_engine::search::{Budget, Limits};
use spelrum_engine::{Game, PlainSolver, Position, Random, Rules, Solver, Timeless};

const POSITIONS: usize = 100;
/// From here on the plain solver is timed too, on a part of the positions.
const PLAIN_FROM: u32 = 30;
const PLAIN_POSITIONS: usize = 10;
/// Each time is the least of so many.
const REPEATS: usize = 3;

fn main() {
    let rules = Pentago::rules(true);
    let least = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(24);
    let is_asked = |word: &str| std::env::args().any(|argument| argument == word);
    if is_asked("positions") {
        for marbles in (least..=28).rev().step_by(2) {
            for position in random_positions(&rules, marbles, |_| true) {
                println!("{position}");
            }
        }
        return;
    }
    if is_asked("values") {
        time_values(&rules, least);
        return;
    }
    println!("milliseconds, of {POSITIONS} random positions each");
    if std::env::args().all(|argument| argument != "all-moves") {
        time_optimal_moves(&rules, least);
    }
    time_all_moves(&rules, least);
}

/// Values alone, each found once, with the memory that `spelrum solve` grants.
fn time_values(rules: &Rules, least: u32) {
    println!("marbles  value: mean  median      max  won  drawn  lost");
    for marbles in (least..=28).rev().step_by(2) {
        let positions = random_positions(rules, marbles, |_| true);
        let mut found = [0; 3];
        let times = times_of(1, &positions, |_, position, budget| {
            let mut solver = PentagoSolver::default();
            solver.grant_memory(1 << 30);
            let value = solver.value(position, budget).unwrap();
            found[(1 - value) as usize] += 1;
        });
        let [won, drawn, lost] = found;
        println!("{marbles:7}  {}  {won:3}  {drawn:5}  {lost:4}", row(&times));
    }
}

fn time_all_moves(rules: &Rules, least: u32) {
    println!("marbles  all moves: mean  median      max  of differing value");
    for marbles in (least..=34).rev().step_by(2) {
        let positions =
            random_positions(rules, marbles, |position| position.winning_move().is_none());
        let mut differing = vec![false; positions.len()];
        let all_moves = times(&positions, |index, position, budget| {
            let mut values = Vec::new();
            PentagoSolver::default().move_values(position, budget, &mut values).unwrap();
            differing[index] = values.iter().any(|&(_, value)| value != values[0].1);
        });
        let differing = differing.into_iter().filter(|&differs| differs).count();
        println!("{marbles:7}      {}  {:16}%", row(&all_moves), 100 * differing / POSITIONS);
    }
}

fn time_optimal_moves(rules: &Rules, least: u32) {
    println!("marbles  value: mean  median      max  moves: mean  median      max  plain / moves");
    for marbles in (least..=32).rev().step_by(2) {
        let positions = random_positions(rules, marbles, |_| true);
        let value = times(&positions, |_, position, budget| {
            PentagoSolver::default().value(position, budget).unwrap();
        });
        let moves = times(&positions, |_, position, budget| {
            PentagoSolver::default().optimal_moves(position, budget, &mut Vec::new()).unwrap();
        });
        let row = format!("{marbles:7}  {}  {}", row(&value), row(&moves));
        if marbles < PLAIN_FROM {
            println!("{row}");
            continue;
        }
        let plain = times(&positions[..PLAIN_POSITIONS], |_, position, budget| {
            PlainSolver::default().optimal_moves(position, budget, &mut Vec::new()).unwrap();
        });
        let same: Duration = moves[..PLAIN_POSITIONS].iter().sum();
        let ratio = plain.iter().sum::<Duration>().as_secs_f64() / same.as_secs_f64();
        println!("{row}  {ratio:13.0}");
    }
}

/// Positions after random moves from the start, none over, that are wanted; always the same.
fn random_positions(
    rules: &Rules,
    marbles: u32,
    is_wanted: impl Fn(&Pentago) -> bool,
) -> Vec<Pentago> {
    let mut random = Random::from_key([marbles as u8; 32]);
    let mut positions = Vec::new();
    while positions.len() < POSITIONS {
        let mut position = Pentago::start(rules).unwrap();
        while !position.is_over() && position.marbles() < marbles {
            let mv = position.random_move(&mut random);
            position.play_unchecked(mv);
        }
        if !position.is_over() && is_wanted(&position) {
            positions.push(position);
        }
    }
    positions
}

/// Processor time of each position, the least of several.
fn times(
    positions: &[Pentago],
    solve: impl FnMut(usize, &Pentago, &mut Budget<'_>),
) -> Vec<Duration> {
    times_of(REPEATS, positions, solve)
}

fn times_of(
    repeats: usize,
    positions: &[Pentago],
    mut solve: impl FnMut(usize, &Pentago, &mut Budget<'_>),
) -> Vec<Duration> {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let mut time = |index: usize| {
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let before = now();
        solve(index, &positions[index], &mut budget);
        std::hint::black_box(budget.nodes());
        now() - before
    };
    let least = |index| (0..repeats).map(|_| time(index)).min().unwrap();
    (0..positions.len()).map(least).collect()
}

fn row(times: &[Duration]) -> String {
    let mut ms: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    ms.sort_by(f64::total_cmp);
    let mean = ms.iter().sum::<f64>() / ms.len() as f64;
    format!("{mean:11.4}  {:6.4}  {:7.3}", ms[ms.len() / 2], ms[ms.len() - 1])
}
