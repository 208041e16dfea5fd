//! The rank of the line that genetic minimax evolves among all lines of the minimax tree, beside the rank of its move.
//!
//! ```sh
//! cargo build --release -p spelrum-engine --example line_rank
//! target/release/examples/line_rank 100               # 100 positions of Pentago of each number of marbles
//! ```
//!
//! Of two lines the better one is that which has the move of the greater minimax value at the position where they part, for
//! the side that moves there ([`spelrum_engine::tree::LineRank`]). Positions are those of random play, distinct up to
//! symmetry, none won in one move. No clock is read: the table is the same on every machine.
//!
//! Stated before the first run, for a mean share of better lines, with an error of 5% for all fourteen comparisons together:
//!
//! 1. No line is better than that of alpha-beta, or of `strong`.
//! 2. At two and three plies, with either evaluation, `study` has fewer better lines than a line drawn at random;
//! 3. `study` has fewer than `simple`;
//! 4. `tuned` has fewer than `study`.
//! 5. With either evaluation `study` has more at three plies than at two.

#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

use std::collections::BTreeSet;

use spelrum_engine::evaluation::GameEvaluation;
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::search::alpha_beta::{AlphaBeta, Options};
use spelrum_engine::search::genetic::{GeneticMinimax, GeneticParameters, NodeId};
use spelrum_engine::search::{Budget, Limits, Search};
use spelrum_engine::tree::{LineRank, ValueTree};
use spelrum_engine::{Line, Position, Random, Timeless};

const MARBLES: [u32; 8] = [20, 22, 24, 26, 28, 30, 32, 34];
const DEPTHS: [u32; 3] = [1, 2, 3];
/// The presets of genetic minimax, then alpha-beta and a line of random moves.
const PLAYERS: [&str; 6] = ["study", "simple", "tuned", "strong", "alpha-beta", "random"];
/// Pairs of players of which the first has fewer better lines, at two and three plies.
const CLAIMED: [[usize; 2]; 3] = [[0, 5], [0, 1], [2, 0]];

/// Half widths of intervals are so many standard errors: at 95%, and for fourteen intervals that hold together.
const AT_95: f64 = 1.960;
const TOGETHER: f64 = 2.914;

type Move = <Pentago as Position>::Move;

fn main() {
    let positions = std::env::args().nth(1).and_then(|number| number.parse().ok());
    let Some(positions) = positions.filter(|&number| number > 1) else {
        println!("usage: line_rank POSITIONS, more than 1 of each number of marbles");
        return;
    };
    let positions = draw_positions(positions);
    println!("{} positions\n", positions.len());
    println!(
        "| depth | evaluation | player | rank of the move | of moves | rank of the line | of lines | share of better lines (95%) | \
         no better line |\n|---|---|---|---|---|---|---|---|---|"
    );
    let mut comparisons = Vec::new();
    measure(&positions, &PentagoRuns::default(), &mut comparisons);
    measure(&positions, &PentagoLines::default(), &mut comparisons);
    println!(
        "\nDifferences in the share of better lines, with intervals that hold together at 95%:\n"
    );
    for comparison in comparisons {
        println!("- {comparison}");
    }
}

/// So many positions of each number of marbles.
fn draw_positions(of_each: usize) -> Vec<Pentago> {
    let mut random = Random::from_key([20; 32]);
    let mut positions = Vec::new();
    for marbles in MARBLES {
        let mut seen = BTreeSet::new();
        while seen.len() < of_each {
            let mut position = Pentago::empty(true);
            for _ in 0..marbles {
                if !position.is_over() {
                    position.play_unchecked(position.random_move(&mut random));
                }
            }
            let is_open = !position.is_over() && position.winning_move().is_none();
            if is_open && seen.insert(position.canonical_key()) {
                positions.push(position);
            }
        }
    }
    positions
}

/// Prints the rows of an evaluation, and adds its comparisons.
fn measure<E: GameEvaluation<Pentago>>(
    positions: &[Pentago],
    evaluation: &E,
    comparisons: &mut Vec<String>,
) {
    let name = E::INFO.name;
    let mut before: Option<Vec<f64>> = None;
    for depth in DEPTHS {
        let ranks = ranks(positions, evaluation, depth);
        for (player, ranks) in PLAYERS.iter().zip(&ranks) {
            print_row(depth, name, player, ranks);
        }
        let shares: Vec<Vec<f64>> =
            ranks.iter().map(|ranks| ranks.iter().map(share).collect()).collect();
        if depth > 1 {
            for [first, second] in CLAIMED {
                let difference = paired(&shares[first], &shares[second], TOGETHER);
                let [first, second] = [PLAYERS[first], PLAYERS[second]];
                comparisons.push(format!(
                    "`{first}` less `{second}`, {depth} plies, `{name}`: {difference}"
                ));
            }
            if let Some(before) = before.replace(shares[0].clone()) {
                let difference = paired(&shares[0], &before, TOGETHER);
                comparisons.push(format!(
                    "`study` at {depth} plies less one ply fewer, `{name}`: {difference}"
                ));
            }
        }
    }
}

/// The rank of each player's line in every position.
fn ranks<E: GameEvaluation<Pentago>>(
    positions: &[Pentago],
    evaluation: &E,
    depth: u32,
) -> [Vec<LineRank>; 6] {
    let mut genetic: Vec<_> = PLAYERS
        .iter()
        .filter_map(|preset| GeneticParameters::preset(preset, depth))
        .map(|parameters| GeneticMinimax::new(parameters, evaluation.clone()))
        .collect();
    let mut ranks = [const { Vec::new() }; 6];
    for (position, number) in positions.iter().zip(0_u64..) {
        let tree = ValueTree::grow(position, evaluation, depth, usize::MAX)
            .expect("no limit is given, and it is far from 2^32 nodes");
        let mut key = [depth as u8; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let mut lines: Vec<Vec<Move>> =
            genetic.iter_mut().map(|search| evolved_line(search, position, key)).collect();
        lines.push(alpha_beta_line(position, evaluation, depth, key));
        lines.push(random_line(position, depth, key));
        for (ranks, line) in ranks.iter_mut().zip(lines) {
            ranks.push(tree.rank(&line).expect("its moves are legal"));
        }
    }
    ranks
}

/// The move that the search chooses, then the best known play in its tree.
fn evolved_line<E: GameEvaluation<Pentago>>(
    search: &mut GeneticMinimax<Pentago, E>,
    position: &Pentago,
    key: [u8; 32],
) -> Vec<Move> {
    let first = choose(search, position, key);
    let tree = search.tree();
    let node = tree.children(NodeId::ROOT).find(|&(mv, _)| mv == first);
    let rest = std::iter::successors(node, |&(_, node)| tree.best_child(node, 0));
    rest.map(|(mv, _)| mv).collect()
}

/// A principal line of alpha-beta, each move by a search of the plies that are left.
fn alpha_beta_line<E: GameEvaluation<Pentago>>(
    position: &Pentago,
    evaluation: &E,
    depth: u32,
    key: [u8; 32],
) -> Vec<Move> {
    let mut position = *position;
    let mut line = Vec::new();
    for plies in (1..=depth).rev() {
        if position.is_over() {
            break;
        }
        let options = Options { depth: Some(plies), ..Options::default() };
        let mut search = AlphaBeta::new(options, evaluation.clone());
        let mv = choose(&mut search, &position, key);
        line.push(mv);
        position.play_unchecked(mv);
    }
    line
}

fn random_line(position: &Pentago, depth: u32, key: [u8; 32]) -> Vec<Move> {
    let mut random = Random::from_key(key);
    let mut position = *position;
    let mut line = Vec::new();
    while line.len() < depth as usize && !position.is_over() {
        let mv = position.random_move(&mut random);
        line.push(mv);
        position.play_unchecked(mv);
    }
    line
}

fn choose(search: &mut impl Search<Pentago>, position: &Pentago, key: [u8; 32]) -> Move {
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let mut random = Random::from_key(key);
    let found = search.search(Line::from_start(position), &mut budget, &mut random);
    found.expect("nothing aborts it").mv
}

fn share(rank: &LineRank) -> f64 {
    rank.better as f64 / rank.lines as f64
}

fn print_row(depth: u32, evaluation: &str, player: &str, ranks: &[LineRank]) {
    let mean =
        |value: fn(&LineRank) -> f64| ranks.iter().map(value).sum::<f64>() / ranks.len() as f64;
    let shares: Vec<f64> = ranks.iter().map(share).collect();
    let share = estimate(&shares, AT_95);
    let rank_of_move = mean(|rank| rank.better_moves as f64 + 1.0);
    let moves = mean(|rank| rank.moves as f64);
    let rank_of_line = mean(|rank| rank.better as f64 + 1.0);
    let lines = mean(|rank| rank.lines as f64);
    let first = mean(|rank| f64::from(u8::from(rank.better == 0)));
    println!(
        "| {depth} | `{evaluation}` | {player} | {rank_of_move:.1} | {moves:.0} | {rank_of_line:.0} | {lines:.0} | {share} | \
         {first:.3} |"
    );
}

fn paired(first: &[f64], second: &[f64], errors: f64) -> String {
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    estimate(&differences, errors)
}

/// A mean with its interval of so many standard errors to each side.
fn estimate(values: &[f64], errors: f64) -> String {
    let number = values.len() as f64;
    let mean = values.iter().sum::<f64>() / number;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let half = errors * (squares / (number - 1.0) / number).sqrt();
    format!("{mean:.4} ({:.4} to {:.4})", mean - half, mean + half)
}
