//! Othello's solver: processor time by the number of empty squares, of the disc difference, the value, all moves
//! that reach it and the values of all moves.
//!
//! `cargo bench -p spelrum-engine --bench othello` (add `-- 20` to go up to 20 empty squares; 16 by default;
//! `-- ffo` solves the positions 40 to 44 of the FFO endgame test; `-- problems 16` prints the positions with 16
//! empty squares for Edax: `-solve FILE -n-tasks 1 -level 60`).

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use spelrum_engine::games::Othello;
use spelrum_engine::games::othello::OthelloSolver;
use spelrum_engine::search::{Budget, Limits};
use spelrum_engine::{Game, PlainSolver, Position, Random, Side, Solver, Timeless};

/// Numbers of empty squares, with the number of random positions for each.
const SETS: [(u32, usize); 6] = [(10, 100), (12, 100), (14, 60), (16, 30), (18, 20), (20, 10)];
/// Up to so many empty squares the plain solver is timed too, on a part of the positions.
const PLAIN_UP_TO: u32 = 12;
const PLAIN_POSITIONS: usize = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let is_given = |word: &str| arguments.iter().any(|argument| argument == word);
    let number: Option<u32> = arguments.iter().find_map(|argument| argument.parse().ok());
    if is_given("problems") {
        let empty = number.unwrap_or(16);
        let positions = SETS.iter().find(|set| set.0 == empty).map_or(30, |set| set.1);
        for position in random_positions(empty, positions) {
            println!("{}", problem(&position));
        }
    } else if is_given("ffo") {
        solve_ffo();
    } else {
        time_random_positions(number.unwrap_or(16));
    }
}

fn time_random_positions(most: u32) {
    println!("milliseconds in the mean");
    println!("empty  positions     discs     value     moves  all moves  plain / moves");
    for (empty, count) in SETS.into_iter().filter(|set| set.0 <= most) {
        let positions = random_positions(empty, count);
        let discs = mean(&positions, |position, budget| {
            OthelloSolver::default().disc_difference(position, budget).unwrap();
        });
        let value = mean(&positions, |position, budget| {
            OthelloSolver::default().value(position, budget).unwrap();
        });
        let moves = |position: &Othello, budget: &mut Budget<'_>| {
            OthelloSolver::default().optimal_moves(position, budget, &mut Vec::new()).unwrap();
        };
        let all_moves = mean(&positions, |position, budget| {
            OthelloSolver::default().move_values(position, budget, &mut Vec::new()).unwrap();
        });
        let [discs, value, optimal, all_moves] =
            [discs, value, mean(&positions, moves), all_moves].map(milliseconds);
        print!("{empty:5}  {count:9}  {discs:8.3}  {value:8.3}  {optimal:8.3}  {all_moves:9.3}");
        if empty <= PLAIN_UP_TO {
            let positions = &positions[..PLAIN_POSITIONS];
            let plain = mean(positions, |position, budget| {
                PlainSolver::default().optimal_moves(position, budget, &mut Vec::new()).unwrap();
            });
            let ratio = plain.as_secs_f64() / mean(positions, moves).as_secs_f64();
            print!("  {ratio:13.0}");
        }
        println!();
    }
}

#[derive(Deserialize)]
struct File {
    positions: Vec<Published>,
}

#[derive(Deserialize)]
struct Published {
    number: u32,
    position: String,
    scores: BTreeMap<String, i32>,
}

fn solve_ffo() {
    let text = include_str!("../tests/vectors/othello/endgames.json");
    let file: File = serde_json::from_str(text).unwrap();
    println!("number  empty  discs       nodes  seconds");
    for Published { number, position, scores } in file.positions {
        if number < 40 {
            continue;
        }
        let position = Othello::parse(&Othello::rules(), &position).unwrap();
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let before = processor_time();
        let discs = OthelloSolver::default().disc_difference(&position, &mut budget).unwrap();
        let seconds = (processor_time() - before).as_secs_f64();
        assert_eq!(Some(&discs), scores.values().max(), "the published score");
        let (empty, nodes) = (position.empty_squares(), budget.nodes());
        println!("{number:6}  {empty:5}  {discs:5}  {nodes:10}  {seconds:7.2}");
    }
}

/// Positions after random moves from the start, none over; always the same.
fn random_positions(empty: u32, count: usize) -> Vec<Othello> {
    let mut random = Random::from_key([empty as u8; 32]);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut position = Othello::initial();
        while !position.is_over() && position.empty_squares() > empty {
            position.play_unchecked(position.random_move(&mut random));
        }
        if !position.is_over() {
            positions.push(position);
        }
    }
    positions
}

/// The position as a line of a file of problems: the squares, the side to move, nothing known.
fn problem(position: &Othello) -> String {
    let text = position.to_string();
    let squares = text[..64].replace('b', "X").replace('w', "O").replace('.', "-");
    let side = if position.to_move() == Side::First { 'X' } else { 'O' };
    format!("{squares} {side};")
}

/// The mean processor time of the positions.
fn mean(positions: &[Othello], solve: impl Fn(&Othello, &mut Budget<'_>)) -> Duration {
    let before = processor_time();
    for position in positions {
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        solve(position, &mut budget);
        std::hint::black_box(budget.nodes());
    }
    (processor_time() - before) / positions.len() as u32
}

fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
