//! How many leaves alpha-beta looks at in chess, from the worst order of moves to the best, beside those of minimax and
//! the fewest that any search needs.
//!
//! ```sh
//! cargo build --release -p spelrum-engine --example chess_bounds
//! target/release/examples/chess_bounds 4              # the table for one to four plies
//! target/release/examples/chess_bounds 4 plot         # the points of its picture
//! ```
//!
//! Leaves are summed over the start and seven openings. Nothing is drawn by lot, and no clock is read.

#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

use spelrum_engine::games::Chess;
use spelrum_engine::games::chess::evaluation::{ChessMaterial, ChessPositional};
use spelrum_engine::search::Evaluate;
use spelrum_engine::tree::{MoveOrder, ValueTree};
use spelrum_engine::{Game, Player, Position, Rules, Timeless, analyze};

/// The positions: the start, and well-known openings some moves on.
const OPENINGS: [(&str, &str); 8] = [
    ("start", ""),
    ("Italian", "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"),
    ("Ruy Lopez", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6"),
    ("Sicilian", "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6"),
    ("French", "e2e4 e7e6 d2d4 d7d5 b1c3 f8b4"),
    ("Caro-Kann", "e2e4 c7c6 d2d4 d7d5 b1c3 d5e4 c3e4 c8f5"),
    ("Queen's Gambit", "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7"),
    ("King's Indian", "d2d4 g8f6 c2c4 g7g6 b1c3 f8g7 e2e4 d7d6"),
];

/// The most nodes of a tree, of some 30 bytes each.
const NODES_MAX: usize = 1 << 25;

/// Alpha-beta's orders for chess without what changes the tree, and without null windows, which visit leaves again.
const OWN_ORDER: &str = r#""iterative": true, "captures": true, "killers": true, "history": true"#;

/// A row: what is counted, and the leaves of each depth from one ply on.
struct Row {
    name: &'static str,
    leaves: Vec<f64>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let depth_max = arguments.next().and_then(|depth| depth.parse().ok());
    let Some(depth_max) = depth_max.filter(|depth| (1..=5).contains(depth)) else {
        println!("usage: chess_bounds DEPTH [plot], DEPTH being 1 to 5");
        return;
    };
    if arguments.next().is_some() {
        let rows = count(&ChessPositional::default(), "positional", depth_max).0;
        plot(&rows);
        return;
    }
    let material = count(&ChessMaterial::default(), "material", depth_max);
    let positional = count(&ChessPositional::default(), "positional", depth_max);
    for (name, (rows, cutoffs)) in [("material", material), ("positional", positional)] {
        println!("\nevaluation `{name}`: leaves of {} positions\n", OPENINGS.len());
        print(&rows);
        let [ties, beyond] = cutoffs;
        println!(
            "\nthe worst first, at {depth_max} plies: {ties} cut-offs by equal values, {beyond} by others"
        );
    }
}

/// All rows, and the cut-offs of the worst order at the greatest depth: by equal values, and by others.
fn count<E: Evaluate<Chess>>(evaluation: &E, name: &str, depth_max: u32) -> (Vec<Row>, [u64; 2]) {
    let names = [
        "minimax",
        "alpha-beta, the worst first",
        "as listed",
        "by static value",
        "captures, killers, history",
        "the same with a table",
        "the best first",
        "the fewest that prove the value",
        "uniform tree: b^⌈d/2⌉ + b^⌊d/2⌋ − 1",
    ];
    let mut rows: Vec<Row> =
        names.into_iter().map(|name| Row { name, leaves: Vec::new() }).collect();
    let mut cutoffs = [0; 2];
    let rules = Chess::rules();
    for depth in 1..=depth_max {
        let mut sums = [0.0; 9];
        cutoffs = [0; 2];
        for (opening, moves) in OPENINGS {
            let root = after(&rules, moves);
            let tree = ValueTree::grow(&root, evaluation, depth, NODES_MAX)
                .unwrap_or_else(|error| panic!("{opening}: {error}"));
            let worst = tree.examine(MoveOrder::WorstFirst);
            cutoffs = [cutoffs[0] + worst.ties, cutoffs[1] + worst.beyond];
            let own = |more: &str| last_iteration(&rules, &root, name, more, depth);
            let counts = [
                tree.leaves(),
                worst.leaves,
                tree.examine(MoveOrder::Listed).leaves,
                tree.examine(MoveOrder::Static).leaves,
                own(""),
                own(r#", "table": true"#),
                tree.examine(MoveOrder::BestFirst).leaves,
                tree.fewest_leaves(),
            ];
            let counts = counts.map(|count| count as f64);
            let uniform = uniform_bound(counts[0], depth);
            for (sum, count) in sums.iter_mut().zip(counts.into_iter().chain([uniform])) {
                *sum += count;
            }
        }
        for (row, sum) in rows.iter_mut().zip(sums) {
            row.leaves.push(sum);
        }
    }
    (rows, cutoffs)
}

/// The position after moves from the start.
fn after(rules: &Rules, moves: &str) -> Chess {
    let mut position = Chess::start(rules).expect("these are its rules");
    for mv in moves.split_whitespace() {
        let mv = position.parse_move(mv).expect("a move in the notation");
        assert!(position.is_legal(mv), "{mv} is legal");
        position.play_unchecked(mv);
    }
    position
}

/// What the last iteration of alpha-beta with its own order evaluates. Ends of games are not evaluated.
fn last_iteration(rules: &Rules, root: &Chess, evaluation: &str, more: &str, depth: u32) -> u64 {
    let evaluations = |depth: u32| {
        if depth == 0 {
            return 0;
        }
        let given = format!(
            r#"{{"algorithm": "alpha-beta", "evaluation": "{evaluation}", "depth": {depth},
                "shuffle": false, {OWN_ORDER}{more}}}"#
        );
        let given = serde_json::from_str(&given).expect("a player in JSON");
        let player = Player::from_parameters(rules, &given).expect("a player");
        let analysis = analyze(rules, &root.to_string(), &player, [1; 32], &Timeless);
        analysis.expect("it is searched").search.evaluations
    };
    evaluations(depth) - evaluations(depth - 1)
}

/// The leaves that a uniform tree with as many leaves needs, with the branching that gives it so many (Knuth & Moore 1975).
fn uniform_bound(leaves: f64, depth: u32) -> f64 {
    let branching = libm::pow(leaves, 1.0 / f64::from(depth));
    libm::pow(branching, f64::from(depth.div_ceil(2))) + libm::pow(branching, f64::from(depth / 2))
        - 1.0
}

fn print(rows: &[Row]) {
    let depths = rows[0].leaves.len();
    let heading: String = (1..=depths).map(|depth| format!(" {depth} |")).collect();
    println!("| plies |{heading} of minimax's |\n|---|{}---|", "---|".repeat(depths));
    for Row { name, leaves } in rows {
        let counts: String =
            leaves.iter().map(|leaves| format!(" {} |", grouped(leaves.round() as u64))).collect();
        let share = 100.0 * leaves[depths - 1] / rows[0].leaves[depths - 1];
        println!("| {name} |{counts} {share:.2} % |");
    }
}

/// A number with commas.
fn grouped(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}

/// The points of six lines, as CSV with logarithms.
fn plot(rows: &[Row]) {
    let drawn = [0, 1, 2, 4, 6, 7];
    let points = drawn.iter().flat_map(|&row| {
        let Row { name, leaves } = &rows[row];
        let point = move |(leaves, depth): (&f64, u32)| {
            format!("{name:?},{depth},{:.4}", libm::log10(*leaves))
        };
        leaves.iter().zip(1..).map(point)
    });
    let points: Vec<String> = points.collect();
    println!("moves,plies,log10 of leaves\n{}", points.join("\n"));
}
